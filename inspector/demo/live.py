"""`night-watch.db`, and the child that goes on writing it: `python -m inspector.demo.live STORE`.

The child stops when its standard input ends, which is when the program that started it stops, however it
stops: there is never more than one, and never an orphan.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from inspector.demo.ids import uuid
from inspector.demo.runs import BranchTold, RunTold, message_row, write_run
from inspector.demo.store import StoreWriter, natively
from inspector.demo.world import AGENTS, MODELS
from persistence import StateDB
from persistence.errors import StoreError

__all__ = ["build", "watch"]

PACE = 1.2  # seconds between two messages, or so
LENGTH = 36  # messages of a watch, then the next one begins
_SEEN = (
    "Ferry light abeam, bound in.", "Shower over the bar, 12 minutes.", "The lamp turned at 10.0 s.",
    "Three fishing boats out past buoy 4.", "Swell 1.1 m at the mole.", "Nothing to report, and that is a report.",
    "A seal on the slipway.", "Radio check with Gull Head: loud and clear.", "Meteor, bright, towards the west.",
    "霧が薄くなってきた。", "Wind backed to south.", "Tide gauge 3.42 m, falling.",
)  # fmt: skip


def build(path: Path, files: Path, clock: float) -> dict[str, int]:
    """Writes the store as it is before anybody goes on: three watches of the last nights."""
    messages = 0
    store = StoreWriter()
    for number, ago in enumerate((3, 2, 1)):
        messages += len(write_run(store, _watch(number, clock - ago * 86_400.0, LENGTH)))
    store.make(path, clock - 4 * 86_400)
    return {"runs": 3, "messages": messages}


def _watch(number: int, at: float, length: int) -> RunTold:
    chance = random.Random(number)
    steps: list[tuple[float, str, Any]] = [
        (0.0, "system", AGENTS["lookout"]),
        (2.0, "user", ("Keep the watch. Say what you see when you see it.", [])),
    ]
    while len(steps) < length:
        steps += _turn(chance)
    return RunTold(
        f"watch-{number}", at, f"Watch of night {number + 1}", "lookout", MODELS[1], None, "completed",
        [BranchTold("main", steps)], ends=sum(step[0] for step in steps) + 5,
    )  # fmt: skip


def _turn(chance: random.Random) -> list[tuple[float, str, Any]]:
    if chance.random() < 0.3:
        seen = {"visibility_nm": chance.randint(1, 12), "wind_kn": chance.randint(4, 30)}
        call = ("look_around", {"sector": chance.choice(("north", "bar", "Gull Head"))})
        return [(20.0, "call", call), (1.5, "result", (*call, seen))]
    return [(chance.uniform(30, 200), "say", chance.choice(_SEEN))]


async def watch(path: Path, pace: float) -> None:
    """Appends a message every `pace` seconds or so until standard input ends, then closes the store."""
    chance = random.Random()
    unwanted = asyncio.Event()

    def heard() -> None:
        if not os.read(sys.stdin.fileno(), 1):
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            unwanted.set()

    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), heard)
    async with natively(path) as db:
        while not unwanted.is_set():
            await _Watch(db, chance).keep(pace, unwanted)


class _Watch:
    """One watch: a session whose conversation grows a message a transaction."""

    def __init__(self, db: StateDB, chance: random.Random) -> None:
        self._db, self._chance = db, chance
        seed = f"live-{time.time_ns()}"
        self._run = RunTold(
            seed, time.time(), "Night watch, now", "lookout", MODELS[1], None, "running",
            [BranchTold("main", [(0.0, "system", AGENTS["lookout"])])], phase="watching",
            signals=[(0.0, "run.started", {"attempt": 1})],
        )  # fmt: skip
        self._said = 1
        self._branch = uuid("branch", seed, 0)
        self._lists = (uuid("progression", seed, 0), uuid("progression", seed, "all"))

    async def keep(self, pace: float, unwanted: asyncio.Event) -> None:
        """Goes on until the watch is over or nobody listens any more; then it stays unfinished."""
        store = StoreWriter()
        write_run(store, self._run)
        await store.write(self._db)
        while self._said < LENGTH:
            for _, kind, content in _turn(self._chance):
                with suppress(TimeoutError):
                    await asyncio.wait_for(unwanted.wait(), pace * self._chance.uniform(0.7, 1.3))
                    return
                await self._say(kind, content)
        await self._finish()

    async def _say(self, kind: str, content: Any) -> None:
        now = time.time()
        message = uuid("message", self._run.seed, self._said)
        self._said += 1
        row = message_row(message, now, kind, content, self._branch, "ines")
        async with self._db.transaction() as transaction:
            await transaction.insert_messages(
                [row], progression_ids=self._lists, session_id=self._run.id, activity_at=now
            )
            await transaction.update_session(self._run.id, last_msg_id=message)

    async def _finish(self) -> None:
        now = time.time()
        async with self._db.transaction() as transaction:
            await transaction.update_session(
                self._run.id,
                duration_ms=round((now - self._run.at) * 1000),
                name=f"Night watch of {time.strftime('%H:%M', time.gmtime(self._run.at))}",
            )
            await transaction.finalize_branch(self._branch, status="completed", ended_at=now)
            await transaction.update_status(
                "session",
                self._run.id,
                new_status="completed",
                reason_code="run.completed.ok",
                reason_summary="the watch is over",
                actor="live-hook",
            )


if __name__ == "__main__":
    try:
        asyncio.run(watch(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else PACE))
    except (StoreError, KeyboardInterrupt):
        sys.exit(1)
