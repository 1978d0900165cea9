"""What every guard together costs on one thread: transactions of live messages beside the same ones bare.

`python -m tests.benchmarks.guards [--messages N] [--rounds N] [--json FILE]` prints the milliseconds one
takes, by the processor's time of that thread and by the clock, and the rate beside bare sqlite3's (at least
0.7). Rounds of the two alternate on new stores and the median counts. What a message costs before and after
it reaches the driver's thread is in `tests.benchmarks.compatibility`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from persistence import StateDB
from persistence.engines.driver_thread import on_thread
from persistence.engines.native_sqlite import Stop
from persistence.writing.compatibility.running import Running
from tests.benchmarks.compatibility import LIVE, MESSAGE, new_store, statements
from tests.managed import make_run, profile_of

LEAST = 0.7


class Took(NamedTuple):
    """Seconds a message, by the thread's own processor time and by the clock."""

    processor: float
    clock: float


async def guarded(path: Path, count: int) -> Took:
    """The transactions alone, on the driver's thread, with everything that holds them."""
    async with StateDB(path, profile=profile_of(), owner="kim") as db:
        await make_run(db)
        await db.persist_live_message({**MESSAGE, "id": "before"}, **LIVE)
        writer: Any = db._writer
        engine = writer._engine
        operation = writer._book.operations["persist_live_message"]
        prepared = []
        for number in range(count):
            run = Running(writer._book, operation, "kim", writer._created, None)
            prepared.append(operation.prepare(run, {**MESSAGE, "id": f"live-{number}"}, **LIVE))
        stop = Stop(engine._front)

        def all_of_them() -> Took:
            processor, clock = time.thread_time(), time.perf_counter()
            for steps in prepared:
                engine._hand.transact("persist_live_message", steps, stop, None)
            return Took((time.thread_time() - processor) / count, (time.perf_counter() - clock) / count)

        return await on_thread(engine._driver, all_of_them)


def bare(path: Path, count: int) -> Took:
    """The same statements on a plain connection with the same settings."""
    ran = asyncio.run(statements(path))
    with closing(sqlite3.connect(path, isolation_level=None, cached_statements=512)) as connection:
        for setting in ("foreign_keys=ON", "synchronous=NORMAL"):
            connection.execute(f"PRAGMA {setting}")
        processor, clock = time.thread_time(), time.perf_counter()
        for number in range(count):
            identity = f"live-{number}"
            connection.execute("BEGIN IMMEDIATE")
            for sql, values in ran:
                bound = tuple([identity if value == "one" else value for value in values])
                connection.execute(sql, bound).fetchall()
            connection.execute("COMMIT")
        return Took((time.thread_time() - processor) / count, (time.perf_counter() - clock) / count)


def measure(count: int, rounds: int) -> dict[str, float]:
    """Milliseconds, and the two rates beside bare sqlite3's."""
    taken: dict[str, list[Took]] = {"bare": [], "guarded": []}
    with tempfile.TemporaryDirectory(prefix="guards-") as folder:
        for _ in range(rounds):
            taken["bare"].append(bare(new_store(Path(folder)), count))
            taken["guarded"].append(asyncio.run(guarded(new_store(Path(folder)), count)))
    out: dict[str, float] = {}
    for kind in Took._fields:
        middle = {name: statistics.median(getattr(one, kind) for one in all_) for name, all_ in taken.items()}
        out |= {f"{name}, {kind}, ms": round(value * 1000, 4) for name, value in middle.items()}
        out[f"rate, {kind}"] = round(middle["bare"] / middle["guarded"], 3)
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--messages", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    found = measure(asked.messages, asked.rounds)
    for name, value in found.items():
        print(f"{name:28}{value:10}")
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return 0 if found["rate, processor"] >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
