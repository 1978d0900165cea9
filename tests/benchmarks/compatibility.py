"""What a live message costs in a managed store: beside the same statements bare, and beside lionagi 0.36.0.

`python -m tests.benchmarks.compatibility [--python PYTHON_WITH_LIONAGI] [--messages N] [--rounds N]` prints
milliseconds a message and its ratio to each: more than 1 says that ours is quicker. Bare is one thread of
sqlite3 with no check at all, once as `sqlite3.connect` opens a store (each commit waits for the disk), and
once with the settings ours has, so that neither waits; ours is also opened so that both wait. Rounds
alternate on new stores and the median counts, so that what else the machine does falls on all of them.
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
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from inspector.demo.acme_desk.store import initialize
from persistence import StateDB
from persistence.engines import compatibility_opening
from tests.interop.compatibly import Call, run_compat
from tests.managed import make_run, profile_of

MESSAGE = {
    "created_at": 1_770_000_000.0,
    "content": {"text": "x" * 200},
    "role": "user",
    "node_metadata": {"lion_class": "lionagi.protocols.messages.instruction.Instruction"},
}
SETTINGS = ("foreign_keys=ON", "synchronous=NORMAL")
RATIO = "ours is quicker than "
LIVE = {"session_id": "s", "branch_progression_id": "bp", "session_progression_id": "sp"}


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


async def ours(path: Path, count: int) -> float:
    """Seconds for `count` live messages through the facade."""
    async with StateDB(path, profile=profile_of(), owner="kim") as db:
        await make_run(db)
        began = time.perf_counter()
        for number in range(count):
            await db.persist_live_message({**MESSAGE, "id": f"live-{number}"}, **LIVE)
        return time.perf_counter() - began


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


def bare(path: Path, count: int, *settings: str) -> float:
    """Seconds for the same statements through sqlite3 in one thread, without a check."""
    ran = asyncio.run(statements(path))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for setting in settings:
            connection.execute(f"PRAGMA {setting}")
        began = time.perf_counter()
        for number in range(count):
            identity = f"live-{number}"
            json.dumps(MESSAGE["content"]), json.dumps(MESSAGE["node_metadata"])
            connection.execute("BEGIN IMMEDIATE")
            for sql, values in ran:
                bound = tuple([identity if value == "one" else value for value in values])
                connection.execute(sql, bound).fetchall()
            connection.execute("COMMIT")
        return time.perf_counter() - began


def theirs(python: str, path: Path, count: int) -> float:
    begin: list[Call] = [
        ("create_progression", ["sp"], {}),
        ("create_progression", ["bp"], {}),
        ("create_session", [{"id": "s", "progression_id": "sp", "status": "running"}], {}),
        ("create_branch", [{"id": "b", "session_id": "s", "progression_id": "bp"}], {}),
    ]
    answers = run_compat(python, path.parent, path, begin, messages=count, message=MESSAGE, named=LIVE)
    return float(answers["seconds"])


def measure(python: str | None, count: int, rounds: int) -> dict[str, float]:
    """Milliseconds a message, and the ratios (more than 1: ours is quicker)."""

    def durable(path: Path) -> float:
        with synced("FULL"):
            return asyncio.run(ours(path, count))

    ways: dict[str, Callable[[Path], float]] = {
        "ours": lambda path: asyncio.run(ours(path, count)),
        "ours, waiting for the disk": durable,
        "bare, as sqlite3 opens": lambda path: bare(path, count),
        "bare, ours' settings": lambda path: bare(path, count, *SETTINGS),
    }
    if python is not None:
        ways["lionagi 0.36.0"] = lambda path: theirs(python, path, count)
    taken: dict[str, list[float]] = {name: [] for name in ways}
    with tempfile.TemporaryDirectory(prefix="compatibility-") as folder:
        for _ in range(rounds):
            for name, way in ways.items():
                taken[name].append(way(new_store(Path(folder))) / count * 1000)
    out = {name: statistics.median(times) for name, times in taken.items()}
    ratios = {f"{RATIO}{name}": out[name] / out["ours"] for name in ways if not name.startswith("ours")}
    equal = out["bare, as sqlite3 opens"] / out["ours, waiting for the disk"]
    return out | ratios | {f"{RATIO}bare, both waiting for the disk": equal}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=os.environ.get("STORE_INSPECTOR_INTEROP_PYTHON"))
    parser.add_argument("--messages", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    found = measure(asked.python, asked.messages, asked.rounds)
    for name, figure in found.items():
        print(f"{name:40} {figure:8.3f}{' times' if name.startswith(RATIO) else ' ms a message'}")
    if asked.json is not None:
        asked.json.write_text(json.dumps(found, indent=1), "utf-8")


if __name__ == "__main__":
    main()
