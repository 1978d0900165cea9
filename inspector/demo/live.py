"""`night-watch.db`, and the child that goes on writing it: `python -m inspector.demo.live STORE`.

The child stops when its standard input ends, which is when the program that started it stops, however it
stops: there is never more than one, and never an orphan.
"""

from __future__ import annotations

import os
import random
import select
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

from inspector.demo.ids import hex_id, uuid
from inspector.demo.runs import BranchTold, RunTold, message_row, write_run
from inspector.demo.store import StoreWriter
from inspector.demo.world import AGENTS, MODELS

__all__ = ["build", "watch"]

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
    with StoreWriter(path, created_at=clock - 4 * 86_400) as store:
        for number, ago in enumerate((3, 2, 1)):
            messages += len(write_run(store, _watch(number, clock - ago * 86_400.0, LENGTH)))
        store.commit()
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


def watch(path: Path, pace: float) -> None:
    """Appends a message every `pace` seconds or so until standard input ends, then closes the store."""
    chance = random.Random()
    with StoreWriter(path) as store:
        store.wait(5000)
        while _Watch(store, chance).keep(pace):
            pass


class _Watch:
    """One watch: a session whose conversation grows a message a transaction."""

    def __init__(self, store: StoreWriter, chance: random.Random) -> None:
        self._store, self._chance = store, chance
        seed = f"live-{time.time_ns()}"
        self._run = RunTold(
            seed, time.time(), "Night watch, now", "lookout", MODELS[1], None, "running",
            [BranchTold("main", [(0.0, "system", AGENTS["lookout"])])], phase="watching",
            signals=[(0.0, "run.started", {"attempt": 1})],
        )  # fmt: skip
        store.begin()
        self._ids = write_run(store, self._run)
        store.commit()
        self._branch = uuid("branch", seed, 0)
        self._lists = (uuid("progression", seed, 0), uuid("progression", seed, "all"))

    def keep(self, pace: float) -> bool:
        """Goes on until the watch is over (True) or nobody listens any more (False)."""
        while len(self._ids) < LENGTH:
            for _, kind, content in _turn(self._chance):
                if not _still_wanted(pace * self._chance.uniform(0.7, 1.3)):
                    return False
                self._say(kind, content)
        self._finish()
        return True

    def _say(self, kind: str, content: Any) -> None:
        now = time.time()
        message = uuid("message", self._run.seed, len(self._ids))
        self._ids.append(message)
        store = self._store
        store.begin()
        store.add("messages", **message_row(message, now, kind, content, self._branch, "ines"))
        for progression in self._lists:
            store.change("progressions", progression, collection=self._ids)
        store.change("sessions", self._run.id, last_msg_id=message, last_message_at=now, updated_at=now)
        store.commit()

    def _finish(self) -> None:
        now = time.time()
        store = self._store
        store.begin()
        store.change(
            "sessions",
            self._run.id,
            status="completed",
            ended_at=now,
            updated_at=now,
            duration_ms=round((now - self._run.at) * 1000),
            name=f"Night watch of {time.strftime('%H:%M', time.gmtime(self._run.at))}",
        )
        store.change("branches", self._branch, status="completed", ended_at=now)
        store.add(
            "status_transitions",
            id=hex_id("transition", self._run.seed, "end"),
            entity_type="session",
            entity_id=self._run.id,
            previous_status="running",
            status="completed",
            reason_code="run.completed.ok",
            reason_summary="the watch is over",
            evidence_refs=[],
            source="executor",
            actor="live-hook",
            created_at=now,
            metadata={},
        )
        store.commit()


def _still_wanted(seconds: float) -> bool:
    """Waits so long; False as soon as standard input has ended."""
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return not ready or bool(os.read(sys.stdin.fileno(), 1))


if __name__ == "__main__":
    try:
        watch(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 1.2)
    except (sqlite3.Error, KeyboardInterrupt, BrokenPipeError):
        sys.exit(1)
