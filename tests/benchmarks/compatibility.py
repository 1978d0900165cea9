"""What a live message costs in a managed store: beside the same statements bare, and beside lionagi 0.36.0.

`python -m tests.benchmarks.compatibility [--python PYTHON_WITH_LIONAGI] [--messages N] [--rounds N]` prints
milliseconds a message, by the clock and by the processor's time of the process, and each of our ways beside
each of the others: more than 1 says that ours is quicker, and at least 0.7 is asked for.

Ours goes through the facade, every guard on, and then through the recorder of runs; once with each message
awaited before the next is begun, once from sixteen tasks, which share hops to the driver's thread. Bare is
one thread of sqlite3 with no check at all, in the same transactions on the same store (WAL, a busy timeout
of five seconds): at `synchronous=NORMAL`, which ours has; at `synchronous=FULL`, as `sqlite3.connect` leaves
it, where each commit waits for the disk. Ours is also opened at FULL, for the two to be compared alike.
Rounds alternate on new stores and the median counts, so that what else the machine does falls on all.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from inspector.demo.acme_desk.store import initialize
from persistence import StateDB
from persistence.engines import compatibility_opening
from persistence.engines.patience import BUSY_TIMEOUT
from persistence.runs import record_run
from tests.interop.compatibly import Call, run_compat
from tests.managed import make_run, profile_of

MESSAGE = {
    "created_at": 1_770_000_000.0,
    "content": {"text": "x" * 200},
    "role": "user",
    "node_metadata": {"lion_class": "lionagi.protocols.messages.instruction.Instruction"},
}
SETTINGS = ("foreign_keys=ON", "synchronous=NORMAL")
RATIO = " beside "
TASKS = 16
LIVE = {"session_id": "s", "branch_progression_id": "bp", "session_progression_id": "sp"}


class Took(NamedTuple):
    """Milliseconds a message. `processor` is 0 where another process did the work."""

    clock: float
    processor: float


class Timed:
    """Times a block, for so many messages."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.took = Took(0, 0)

    def __enter__(self) -> Timed:
        self._began = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_raised: object) -> None:
        clock, processor = self._began
        per = 1000 / self._count
        self.took = Took((time.perf_counter() - clock) * per, (time.process_time() - processor) * per)


def new_store(folder: Path) -> Path:
    path = Path(tempfile.mkdtemp(dir=folder)) / "desk.db"
    initialize(path, sample=True)
    return path


@contextmanager
def synced(level: str) -> Iterator[None]:
    """Opens our writers with another `synchronous` than they have (NORMAL): FULL waits for the disk."""
    had = compatibility_opening.SETTINGS
    compatibility_opening.SETTINGS = tuple(
        f"synchronous={level}" if setting.startswith("synchronous") else setting for setting in had
    )
    try:
        yield
    finally:
        compatibility_opening.SETTINGS = had


async def of_tasks(one: Callable[[int], Awaitable[None]], count: int, tasks: int) -> None:
    """Each number once: awaited one after another by each of so many tasks."""

    async def every(first: int) -> None:
        for number in range(first, count, tasks):
            await one(number)

    if tasks == 1:
        await every(0)
    else:
        await asyncio.gather(*(every(first) for first in range(tasks)))


async def ours(path: Path, count: int, tasks: int = 1) -> Took:
    """`count` live messages through the facade."""
    async with StateDB(path, profile=profile_of(), owner="kim") as db:
        await make_run(db)

        async def one(number: int) -> None:
            await db.persist_live_message({**MESSAGE, "id": f"live-{number}"}, **LIVE)

        with Timed(count) as timed:
            await of_tasks(one, count, tasks)
        return timed.took


async def recorded(path: Path, count: int, tasks: int = 1) -> Took:
    """`count` live messages through the recorder of a run; what waits when it ends is waited for."""
    async with StateDB(path, profile=profile_of(), owner="kim") as db, record_run(db) as run:

        async def one(number: int) -> None:
            await run.message({**MESSAGE, "id": f"live-{number}"})

        with Timed(count) as timed:
            await of_tasks(one, count, tasks)
        return timed.took


async def statements(path: Path) -> list[tuple[str, tuple[Any, ...]]]:
    """The statements of one live message of a class that is known, with their values, as they were run."""
    from persistence.guard.connection import GuardedCursor

    seen: list[tuple[str, tuple[Any, ...]]] = []
    execute = GuardedCursor.execute

    def spy(self: Any, sql: Any, parameters: Any = (), /) -> Any:
        if self.connection.hold.operation == "persist_live_message":
            seen.append((sql, parameters))
        return execute(self, sql, parameters)

    async with StateDB(path, profile=profile_of(), owner="kim") as db:
        await make_run(db)
        await db.persist_live_message({**MESSAGE, "id": "before"}, **LIVE)
        GuardedCursor.execute = spy  # type: ignore[method-assign, assignment]
        try:
            await db.persist_live_message({**MESSAGE, "id": "one"}, **LIVE)
        finally:
            GuardedCursor.execute = execute  # type: ignore[method-assign]
    return seen


def bare(path: Path, count: int, *settings: str) -> Took:
    """The same statements through sqlite3 in one thread, without a check."""
    ran = asyncio.run(statements(path))
    with closing(sqlite3.connect(path, isolation_level=None, timeout=BUSY_TIMEOUT / 1000)) as connection:
        for setting in settings:
            connection.execute(f"PRAGMA {setting}")
        with Timed(count) as timed:
            for number in range(count):
                identity = f"live-{number}"
                json.dumps(MESSAGE["content"]), json.dumps(MESSAGE["node_metadata"])
                connection.execute("BEGIN IMMEDIATE")
                for sql, values in ran:
                    bound = tuple([identity if value == "one" else value for value in values])
                    connection.execute(sql, bound).fetchall()
                connection.execute("COMMIT")
        return timed.took


def theirs(python: str, path: Path, count: int) -> Took:
    begin: list[Call] = [
        ("create_progression", ["sp"], {}),
        ("create_progression", ["bp"], {}),
        ("create_session", [{"id": "s", "progression_id": "sp", "status": "running"}], {}),
        ("create_branch", [{"id": "b", "session_id": "s", "progression_id": "bp"}], {}),
    ]
    answers = run_compat(python, path.parent, path, begin, messages=count, message=MESSAGE, named=LIVE)
    return Took(float(answers["seconds"]) / count * 1000, 0)


OURS: dict[str, Callable[[Path, int], Coroutine[Any, Any, Took]]] = {
    "facade, each awaited": ours,
    f"facade, {TASKS} tasks": lambda path, count: ours(path, count, TASKS),
    "recorder, each awaited": recorded,
    f"recorder, {TASKS} tasks": lambda path, count: recorded(path, count, TASKS),
}
NORMAL, FULL, THEIRS = "bare sqlite3, NORMAL", "bare sqlite3, FULL", "lionagi 0.36.0"
AT_FULL = "facade at FULL, each awaited"


def measure(python: str | None, count: int, rounds: int) -> dict[str, dict[str, float]]:
    """Milliseconds a message by the clock and by the processor, then the ratios (more than 1: ours is
    quicker); each under its name."""

    def durable(path: Path) -> Took:
        with synced("FULL"):
            return asyncio.run(ours(path, count))

    ways: dict[str, Callable[[Path], Took]] = {
        NORMAL: lambda path: bare(path, count, *SETTINGS),
        **{name: lambda path, way=way: asyncio.run(way(path, count)) for name, way in OURS.items()},
        AT_FULL: durable,
        FULL: lambda path: bare(path, count, "foreign_keys=ON"),
    }
    if python is not None:
        ways[THEIRS] = lambda path: theirs(python, path, count)
    taken: dict[str, list[Took]] = {name: [] for name in ways}
    with tempfile.TemporaryDirectory(prefix="compatibility-") as folder:
        for _ in range(rounds):
            for name, way in ways.items():
                taken[name].append(way(new_store(Path(folder))))
    middle = {
        name: Took(*(statistics.median(figures) for figures in zip(*times, strict=True)))
        for name, times in taken.items()
    }
    pairs = [(mine, other) for other in (NORMAL, FULL, THEIRS) if other in middle for mine in OURS]
    found = {name: took._asdict() for name, took in middle.items()}
    for mine, other in [*pairs, (AT_FULL, FULL)]:
        found[mine + RATIO + other] = {
            kind: getattr(middle[other], kind) / getattr(middle[mine], kind)
            for kind in Took._fields
            if getattr(middle[other], kind)
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--python", default=os.environ.get("STORE_INSPECTOR_INTEROP_PYTHON"))
    parser.add_argument("--messages", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    found = measure(asked.python, asked.messages, asked.rounds)
    for name, figures in found.items():
        unit = "times" if RATIO in name else "ms"
        print(f"{name:56}" + "".join(f" {figure:8.3f} {unit} ({kind})" for kind, figure in figures.items()))
    if asked.json is not None:
        asked.json.write_text(json.dumps(found, indent=1), "utf-8")


if __name__ == "__main__":
    main()
