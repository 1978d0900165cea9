"""A managed store and a small profile with a manifest of its own, for tests of the guard alone."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from sqlalchemy import text

from inspector.demo.acme_desk.store import initialize
from persistence.engines.compatibility import CompatibilityEngine, open_compatibility
from persistence.engines.statements import Statement, Steps
from persistence.guard.writeset import Allowed, WriteSet, allowed, write_set
from persistence.location import locate
from persistence.profiles.closure import read
from persistence.profiles.records import Closure, OwnerRule, Profile, WriteRule

OPERATIONS = ("create_progression", "insert_message", "persist_live_message", "insert_session_signal")
CLOSURE = (
    "progressions", "messages", "message_types", "sessions", "branches", "session_signals",
    "status_transitions", "admin_events", "invocations", "principals",
)  # fmt: skip

_UNWRITTEN_SESSION = "set by the managing application"
_MESSAGE = ("id", "created_at", "content", "role", "lion_class", "owner_id")


def _statement(sql: str, *, rows: bool = False) -> Statement:
    return Statement(lambda _: text(sql), rows=rows)


TYPE = _statement("SELECT type_id FROM message_types WHERE lion_class = :class", rows=True)
ADD_TYPE = _statement(
    "INSERT INTO message_types (lion_class) VALUES (:class) ON CONFLICT (lion_class) DO NOTHING"
)
MESSAGE = _statement(
    "INSERT INTO messages (id, created_at, content, role, lion_class, owner_id) "
    "VALUES (:id, :at, :content, 'user', :type, :owner)"
)
PROGRESSION = _statement(
    "INSERT INTO progressions (id, created_at, collection, owner_id) VALUES (:id, :at, :collection, :owner)"
)
APPEND = _statement(
    "UPDATE progressions SET collection = json_insert(collection, '$[#]', :message) "
    "WHERE id = :id AND owner_id = :owner AND NOT EXISTS "
    "(SELECT 1 FROM json_each(progressions.collection) WHERE value = :message)"
)
TOUCH = _statement(
    "UPDATE sessions SET last_message_at = max(coalesce(last_message_at, 0), :at), "
    "updated_at = max(updated_at, :at) WHERE id = :id AND owner_id = :owner"
)
SIGNAL = _statement(
    "INSERT INTO session_signals (id, session_id, seq, kind, ts, payload, owner_id) "
    "VALUES (:id, :session, :seq, 'note', :at, '{}', :owner)"
)

_ENTRIES: tuple[Callable[[], Allowed], ...] = (
    lambda: allowed(TYPE, "select", "message_types", operations=("insert_message", "persist_live_message")),
    lambda: allowed(
        ADD_TYPE,
        "insert",
        "message_types",
        operations=("insert_message", "persist_live_message"),
        changes=(0, 1),
    ),
    lambda: allowed(
        MESSAGE, "insert", "messages", operations=("insert_message", "persist_live_message"), owner=("owner",)
    ),
    lambda: allowed(
        PROGRESSION, "insert", "progressions", operations=("create_progression",), owner=("owner",)
    ),
    lambda: allowed(
        APPEND,
        "update",
        "progressions",
        operations=("persist_live_message",),
        owner=("owner",),
        changes=(0, 1),
    ),
    lambda: allowed(TOUCH, "update", "sessions", operations=("persist_live_message",), owner=("owner",)),
    lambda: allowed(
        SIGNAL, "insert", "session_signals", operations=("insert_session_signal",), owner=("owner",)
    ),
)


def factory(profile: Profile, owner: str | None) -> WriteSet:
    return write_set(profile, owner, [make() for make in _ENTRIES])


def ownerless(profile: Profile, owner: str | None) -> WriteSet:
    """The same statements where no parameter is held to an owner."""
    made = [make() for make in _ENTRIES]
    return write_set(profile, owner, [replace(entry, owner=()) for entry in made])


def live_message(number: int, owner: str = "kim") -> Steps[int]:
    """A message of an own session, appended to its progression: what a run does most."""
    found = yield TYPE(**{"class": "kit.Message"})
    if found.first is None:
        yield ADD_TYPE(**{"class": "kit.Message"})
        found = yield TYPE(**{"class": "kit.Message"})
    assert found.first is not None
    message, at = f"m{number:06}", 1_760_000_200.0 + number
    yield MESSAGE(id=message, at=at, content=json.dumps({"text": "x" * 40}), type=found.first[0], owner=owner)
    yield APPEND(id="kim-old-prog", message=message, owner=owner)
    yield TOUCH(id="kim-old-sess", at=at, owner=owner)
    return number


def progression(identifier: str = "p1", owner: str = "kim") -> Steps[str]:
    yield PROGRESSION(id=identifier, at=1.0, collection="[]", owner=owner)
    return identifier


@cache
def _managed() -> Path:
    folder = Path(mkdtemp(prefix="kit-", dir=Path.home()))  # which goes with the test run
    initialize(folder / "desk.db", sample=True)
    return folder / "desk.db"


def managed(folder: Path, name: str = "desk.db") -> Path:
    """acme-desk's store, schema 7, with rows of lee's and kim's."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(_managed(), folder / name)
    return folder / name


def _closure(path: Path) -> Closure:
    connection = sqlite3.connect(path)
    try:
        return read(connection, CLOSURE)
    finally:
        connection.close()


@cache
def _closure_of_managed() -> Closure:
    return _closure(_managed())


def profile(path: Path | None = None, **changes: Any) -> Profile:
    """The kit's profile, with the closure of a store as it is."""
    closure = _closure_of_managed() if path is None else _closure(path)
    written = {
        "progressions": (("id", "created_at", "collection", "owner_id"), ("collection",)),
        "messages": (_MESSAGE, ("content",)),
        "message_types": (("lion_class",), ()),
        "sessions": ((), ("last_message_at", "updated_at")),
        "session_signals": (("id", "session_id", "seq", "kind", "ts", "payload", "owner_id"), ()),
    }
    writes: dict[str, WriteRule] = {}
    for name, (insert, update) in written.items():
        table = closure.table(name)
        assert table is not None
        left = [column.name for column in table.columns if insert and column.name not in insert]
        writes[name] = WriteRule(insert, update, dict.fromkeys(left, _UNWRITTEN_SESSION))
    fields: dict[str, Any] = {
        "name": "kit-desk",
        "version": 1,
        "lineage": "acme-desk",
        "closure": closure,
        "writes": writes,
        "operations": OPERATIONS,
        "owner": OwnerRule("owner_id", "principals", "id"),
    }
    return Profile(**{**fields, **changes})


async def opened(
    path: Path,
    *,
    using: Profile | None = None,
    owner: str | None = "kim",
    operations: Iterable[str] = OPERATIONS,
    make: Callable[[Profile, str | None], WriteSet] = factory,
    **named: Any,
) -> CompatibilityEngine:
    return await open_compatibility(locate(path), using or profile(), owner, tuple(operations), make, **named)


def contents(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, and the schema, as another program reads them."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        schema = connection.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2"
        ).fetchall()
        tables = [name for kind, name, _, _ in schema if kind == "table"]
        found = {
            name: sorted(connection.execute(f'SELECT rowid, * FROM "{name}"').fetchall(), key=repr)
            for name in tables
        }
        return {"sqlite_master": schema, **found}
    finally:
        connection.close()


def digest(path: Path) -> str:
    return hashlib.sha256(repr(sorted(contents(path).items())).encode()).hexdigest()


def manager(path: Path, *statements: str, values: Mapping[str, Any] | None = None) -> None:
    """What the managing application does meanwhile."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        for statement in statements:
            connection.execute(statement, values or {})
    finally:
        connection.close()


def files(path: Path) -> dict[str, bytes]:
    """The file, its journal and its log, byte for byte; the index is not among them."""
    return {
        entry.name: entry.read_bytes()
        for entry in sorted(path.parent.iterdir())
        if entry.name.startswith(path.name) and not entry.name.endswith("-shm")
    }


def dug_out(engine: CompatibilityEngine) -> Any:
    """The guarded connection itself, dug out of the closure that hides it: no attribute leads there."""
    assert engine._hand is not None
    cells = [cell.cell_contents for cell in engine._hand.transact.__closure__ or ()]
    guard = next(found for found in cells if type(found).__name__ == "TransactionGuard")
    return guard._connection


def beneath(connection: Any, sql: str, parameters: Any = ()) -> list[Any]:
    """Runs a statement past the connection class: what SQLite itself still holds."""
    return sqlite3.Cursor(connection).execute(sql, parameters).fetchall()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return managed(tmp_path)


@pytest.fixture
async def engine(path: Path) -> AsyncIterator[CompatibilityEngine]:
    held = await opened(path)
    yield held
    await held.close()
