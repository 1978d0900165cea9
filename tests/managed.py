"""Stores that acme-desk manages, and handles on them in compatibility mode.

A plugin that conftest registers. `desk` is a store with a few rows of lee's and kim's, `kim` an open handle
of kim's whose profile names every operation, `run` the same with the rows of a run that it made.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from inspector.demo.acme_desk.store import initialize
from persistence import StateDB
from persistence.profiles.catalogue import load_profile
from persistence.profiles.records import Profile
from persistence.writing.compatibility.manifest import OPERATIONS

ALL = tuple(OPERATIONS)
AGENT = "acme.messages.Note"  # a class the store does not know


@cache
def shipped() -> Profile:
    """The catalogue's profile for acme-desk."""
    return load_profile("acme-desk-fresh-run", directories=())


@cache
def profile_of(*operations: str) -> Profile:
    """The same, for these operations (none: all of the manifest)."""
    return replace(shipped(), operations=operations or ALL)


def message(identity: str, text: str = "hello", **more: Any) -> dict[str, Any]:
    return {"id": identity, "content": {"text": text}, "role": "user", "lion_class_str": AGENT, **more}


def dump(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, and the schema under "", over a connection that reads."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        out = {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for (name,) in tables}
        out[""] = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
        return {name: sorted(rows, key=repr) for name, rows in out.items()}


def stamps(path: Path) -> list[tuple[int, int] | None]:
    """Size and time of the file, its log and journal. Nothing is opened: the test's process has it open."""
    found = []
    for suffix in ("", "-wal", "-journal"):
        beside = Path(f"{path}{suffix}")
        status = beside.stat() if beside.exists() else None
        found.append(None if status is None else (status.st_size, status.st_mtime_ns))
    return found


def manager(path: Path, *statements: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """What acme-desk itself does, on a connection of its own; the rows of the last statement."""
    rows: list[tuple[Any, ...]] = []
    with closing(sqlite3.connect(path, isolation_level=None, timeout=5)) as connection:
        for statement in statements:
            rows = connection.execute(statement, values if "?" in statement else ()).fetchall()
    return rows


@pytest.fixture(scope="session")
def _made_desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("desk") / "desk.db"
    initialize(path, sample=True)
    return path


@pytest.fixture
def desk(_made_desk: Path, tmp_path: Path) -> Path:
    path = tmp_path / "managed" / "desk.db"
    path.parent.mkdir()
    shutil.copyfile(_made_desk, path)
    return path


@pytest.fixture
async def kim(desk: Path) -> AsyncIterator[StateDB]:
    async with StateDB(desk, profile=profile_of(), owner="kim") as opened:
        yield opened


async def make_run(db: StateDB, key: str = "", **session: Any) -> None:
    """The rows of a run: `s`, `b`, `sp`, `bp` and a message `m`, each with `key` behind it."""
    await db.create_progression(f"sp{key}")
    await db.create_progression(f"bp{key}")
    row = {"status": "running", **session, "id": f"s{key}", "progression_id": f"sp{key}"}
    await db.create_session(row)
    await db.create_branch({"id": f"b{key}", "session_id": f"s{key}", "progression_id": f"bp{key}"})
    await live(db, f"m{key}", key)


async def live(db: StateDB, identity: str, key: str = "", **more: Any) -> None:
    """A live message of the run that `make_run` made."""
    named = {
        "session_id": f"s{key}",
        "branch_progression_id": f"bp{key}",
        "session_progression_id": f"sp{key}",
    }
    await db.persist_live_message(message(identity), **{**named, **more})


@pytest.fixture
async def run(kim: StateDB) -> StateDB:
    """A handle that made a run."""
    await make_run(kim)
    return kim


class Spied:
    """The statements that an open handle's writer ran, as the texts SQLite was given, by operation."""

    def __init__(self) -> None:
        self.texts: list[tuple[str, str]] = []

    def clear(self) -> None:
        self.texts.clear()

    def of(self, operation: str) -> list[str]:
        return [text for named, text in self.texts if named == operation]


@pytest.fixture
def spied(monkeypatch: pytest.MonkeyPatch) -> Iterator[Spied]:
    """Sees every statement an operation's steps run on any guarded connection, on its driver's thread."""
    from persistence.guard.connection import GuardedCursor

    seen = Spied()
    execute: Callable[..., Any] = GuardedCursor.execute

    def spy(self: Any, sql: Any, parameters: Any = (), /) -> Any:
        if self.connection.hold.operation is not None and not self.connection.hold.authorizer.inspecting:
            seen.texts.append((self.connection.hold.operation, sql))
        return execute(self, sql, parameters)

    monkeypatch.setattr(GuardedCursor, "execute", spy)
    yield seen
