"""What native writes and reads cost, beside the same calls on the real lionagi 0.36.0, in one run.

`python -m tests.benchmarks.native [--python PYTHON_WITH_LIONAGI] [--json FILE] [--rounds N]` prints both
figures and their ratio. Rounds of the two alternate, each in a process of its own on a new store, and the
median counts, so that what else the machine does falls on both.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NAMES = {
    "live message": "one message with its append to two growing progressions and the session's clock",
    "batch insert": "1,000 messages in one call",
    "get session": "a session by its id",
    "get message": "a message by its id",
    "list sessions": "100 of 300 sessions",
    "get progression": "a progression of 1,000 ids",
    "append at 10": "one append to a progression of 10",
    "append at 1,000": "one append to a progression of 1,000",
    "append at 50,000": "one append to a progression of 50,000",
    "update status": "a status and its transition",
    "open": "opening a store that is current",
}


def _id(*parts: object) -> str:
    return f"{'-'.join(map(str, parts)):x<36}"[:36]


async def measure(db: Any, again: Callable[[], Awaitable[Any]], seconds: float) -> dict[str, float]:
    """Milliseconds of each call, the same calls whoever's `StateDB` it is."""
    out: dict[str, float] = {}

    async def bench(name: str, call: Callable[[int], Awaitable[Any]], most: int) -> None:
        await call(0)
        began, times = time.perf_counter(), []
        for number in range(1, most):
            start = time.perf_counter()
            await call(number)
            times.append(time.perf_counter() - start)
            if time.perf_counter() - began > seconds and number > 5:
                break
        out[name] = statistics.median(times) * 1000

    def message(*parts: object) -> dict[str, Any]:
        text = "The quick brown fox counts the boats. " * 8
        return {
            "id": _id(*parts),
            "created_at": 1.0,
            "content": {"assistant_response": text, "context": [{"n": [1, 2.5, None]}]},
            "role": "assistant",
            "sender": "kim",
            "node_metadata": {
                "lion_class": "lionagi.protocols.messages.assistant_response.AssistantResponse"
            },
        }

    for name, length in (("p", 0), ("q", 0), ("p10", 10), ("p1000", 1_000), ("p50000", 50_000)):
        await db.create_progression(name, [_id(name, n) for n in range(length)])
    for number in range(300):
        await db.create_session(
            {
                "id": _id("s", number),
                "progression_id": "p",
                "status": "running",
                "name": f"run {number}",
                "created_at": float(number),
                "updated_at": float(number),
                "node_metadata": {"cwd": "/srv/harbour", "tags": ["a", "b"], "nested": {"k": [1, 2]}},
                "model": "m",
            }
        )
    session = _id("s", 0)
    await bench(
        "live message",
        lambda n: db.insert_messages(
            [message("live", n)], progression_ids=["p", "q"], session_id=session, activity_at=2e9 + n
        ),
        400,
    )
    await bench(
        "batch insert", lambda n: db.insert_messages([message("batch", n, m) for m in range(1_000)]), 12
    )
    await bench("get session", lambda n: db.get_session(session), 400)
    await bench("get message", lambda n: db.get_message(_id("live", 1)), 400)
    await bench("list sessions", lambda n: db.list_sessions(limit=100), 100)
    await bench("get progression", lambda n: db.get_progression("p1000"), 300)
    for name, progression in (("10", "p10"), ("1,000", "p1000"), ("50,000", "p50000")):

        async def append(n: int, progression: str = progression) -> None:
            await db.append_to_progression(progression, _id("new", n))

        # Short ones are put back to their length now and then: they would not stay short.
        await bench(f"append at {name}", append, 30 if name == "10" else 300)
    running = iter(range(1, 300))

    async def finish(_: int) -> None:
        await db.update_status(
            "session", _id("s", next(running)), new_status="completed", reason_code="run.completed.ok"
        )

    await bench("update status", finish, 250)
    await db.close()

    async def reopen(_: int) -> None:
        await (await again()).close()

    await bench("open", reopen, 20)
    return out


async def ours(path: Path, seconds: float) -> dict[str, float]:
    from persistence import Mode, StateDB

    async def again() -> Any:
        return await StateDB(path, mode=Mode.NATIVE).open()

    return await measure(await again(), again, seconds)


async def theirs(path: Path, seconds: float) -> dict[str, float]:
    from lionagi.state import StateDB  # type: ignore[import-not-found]

    async def again() -> Any:
        db = StateDB(path=path)
        await db.open()
        return db

    return await measure(await again(), again, seconds)


def _round(python: str, whose: str, seconds: float) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="native-benchmark-") as folder:
        environment = {"PATH": os.defpath, "HOME": folder, "LIONAGI_HOME": folder, "LC_ALL": "C.UTF-8"}
        command = [python, "-W", "ignore", __file__, "--only", whose, "--store", f"{folder}/state.db"]
        done = subprocess.run(
            [*command, "--seconds", str(seconds)],
            env=environment | {"PYTHONPATH": str(ROOT) if whose == "ours" else ""},
            capture_output=True,
            text=True,
            check=True,
        )
        found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return found


def compare(python: str, rounds: int, seconds: float) -> dict[str, dict[str, float]]:
    """Both figures of each call (milliseconds, the median of the rounds), and theirs divided by ours."""
    taken: dict[str, list[dict[str, float]]] = {"ours": [], "theirs": []}
    for _ in range(rounds):
        taken["theirs"].append(_round(python, "theirs", seconds))
        taken["ours"].append(_round(sys.executable, "ours", seconds))
    out = {}
    for name in NAMES:
        mine = statistics.median(one[name] for one in taken["ours"])
        their = statistics.median(one[name] for one in taken["theirs"])
        out[name] = {"ours": round(mine, 4), "theirs": round(their, 4), "ratio": round(their / mine, 2)}
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=os.environ.get("STORE_INSPECTOR_INTEROP_PYTHON", sys.executable))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="the most a call is repeated for")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", choices=("ours", "theirs"))
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    if given.only:
        work = ours if given.only == "ours" else theirs
        print(json.dumps(asyncio.run(work(given.store, given.seconds))))
        return 0
    found = compare(given.python, given.rounds, given.seconds)
    print(f"{'':18}{'ours, ms':>10}{'theirs, ms':>12}{'ratio':>8}")
    for name, figures in found.items():
        print(
            f"{name:18}{figures['ours']:10.3f}{figures['theirs']:12.3f}{figures['ratio']:8.1f}  {NAMES[name]}"
        )
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return 0 if all(figures["ratio"] > 1 for figures in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
