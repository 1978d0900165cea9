"""ADR-0128 D3: enforcement at the connection and at the operation."""

from __future__ import annotations

import importlib.metadata
import sqlite3
import tomllib
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from persistence import StateDB
from persistence.engines import compatibility_opening
from persistence.engines.compatibility import CompatibilityEngine
from persistence.engines.driver_thread import on_thread
from persistence.engines.statements import Steps
from persistence.errors import StateCompatibilityRefused, StoreError
from persistence.guard.authorizer import Authorizer
from persistence.guard.connection import GuardedConnection
from tests.managed import make_run, message
from tests.persistence.guard import kit

ROOT = Path(__file__).resolve().parents[2]
PROFILE = "acme-desk-fresh-run"


path, engine = kit.path, kit.engine  # fixtures


@pytest.fixture
async def db(path: Path) -> AsyncIterator[StateDB]:
    async with StateDB(path, profile=PROFILE, owner="kim") as opened:
        yield opened


class Order:
    """What happened on guarded connections, in order: when each was made, guarded, and given a statement."""

    def __init__(self) -> None:
        self.events: list[tuple[int, str]] = []

    def of(self, number: int) -> list[str]:
        return [event for connection, event in self.events if connection == number]


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> Order:
    seen = Order()
    connections: list[Any] = []
    make, authorize = GuardedConnection.__init__, sqlite3.Connection.set_authorizer

    def made(self: Any, *arguments: Any, **named: Any) -> None:
        make(self, *arguments, **named)
        connections.append(self)
        number = len(connections) - 1

        def told(statement: str) -> None:
            word = statement.split()[0]
            seen.events.append((number, "statement" if word in ("INSERT", "UPDATE", "DELETE") else word))

        sqlite3.Connection.set_trace_callback(self, told)

    class Base(sqlite3.Connection):
        def set_authorizer(self, callback: Any) -> None:
            if self in connections:
                seen.events.append((connections.index(self), "authorizer"))
            authorize(self, callback)

    class Module:
        """`sqlite3` as the guard's own module sees it, with a base whose authorizer is noted down."""

        Connection = Base

        def __getattr__(self, name: str) -> Any:
            return getattr(sqlite3, name)

    from persistence.guard import transaction

    monkeypatch.setattr(GuardedConnection, "__init__", made)
    monkeypatch.setattr(transaction, "sqlite3", Module())
    return seen


# -- the authorizer is there first ---------------------------------------------------------------------------


@pytest.mark.adr("0128-D3-01", "0128-D3-25")
async def test_the_first_connection_has_it_before_any_statement(path: Path, order: Order) -> None:
    engine = await kit.opened(path)
    try:
        assert "authorizer" in order.of(0)
        assert "statement" not in order.of(0)
        await engine.run("create_progression", kit.progression, transaction="progression")
        events = order.of(0)
        assert events.index("authorizer") < events.index("statement")
    finally:
        await engine.close()


@pytest.mark.adr("0128-D3-02", "0128-D3-03")
async def test_later_connections_have_it_as_well(path: Path, order: Order) -> None:
    engine = await kit.opened(path)
    try:
        async with engine._alchemy.connect() as grown:
            await grown.get_raw_connection()
            assert "authorizer" in order.of(1)
            await grown.invalidate()  # the pool connects again
            await grown.get_raw_connection()
            assert "authorizer" in order.of(2)
            for attempt in ("DELETE FROM messages", "INSERT INTO message_types (lion_class) VALUES ('x')"):
                with pytest.raises(StateCompatibilityRefused):
                    await grown.exec_driver_sql(attempt)
        assert "statement" not in order.of(1) + order.of(2)
    finally:
        await engine.close()


@pytest.mark.adr("0128-D3-25")
async def test_the_listener_installs_it_on_the_drivers_thread(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    from sqlalchemy.engine.interfaces import AdaptedConnection

    through: list[str] = []
    run_async = AdaptedConnection.run_async

    def seen(self: Any, work: Any) -> Any:
        through.append("run_async")
        return run_async(self, work)

    monkeypatch.setattr(AdaptedConnection, "run_async", seen)
    engine = await kit.opened(path)
    try:
        assert through == ["run_async"]
        real = kit.dug_out(engine)
        thread = await on_thread(engine._driver, threading.get_ident)
        assert real.hold.thread == thread != threading.get_ident()
    finally:
        await engine.close()


@pytest.mark.adr("0128-D3-27")
async def test_a_connection_it_cannot_be_installed_on_refuses(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from persistence.guard import transaction

    class Module:
        class Connection(sqlite3.Connection):
            def set_authorizer(self, callback: Any) -> None:
                raise sqlite3.OperationalError("no authorizer in this library")

        def __getattr__(self, name: str) -> Any:
            return getattr(sqlite3, name)

    monkeypatch.setattr(transaction, "sqlite3", Module())
    before = kit.files(path)
    db = StateDB(path, profile=PROFILE, owner="kim")
    with pytest.raises(Exception, match=r"no authorizer|could not"):
        await db.open()
    assert not db.is_open
    assert kit.files(path) == before
    assert compatibility_opening.SETTINGS  # what else the open would have set


# -- it denies by default ------------------------------------------------------------------------------------


async def beneath(engine: CompatibilityEngine, path: Path, sql: str, *, operation: bool = True) -> Exception:
    """What SQLite itself says to a statement that went past everything else, in an operation."""
    before = kit.digest(path)
    real = kit.dug_out(engine)
    met: list[Exception] = []

    def attack() -> None:
        try:
            kit.beneath(real, sql)
        except Exception as error:
            met.append(error)
            raise

    def steps() -> Steps[None]:
        yield kit.PROGRESSION(id="a1", at=1.0, collection="[]", owner="kim")
        attack()

    with pytest.raises(StoreError):
        await engine.run("create_progression", steps, transaction="progression")
    assert kit.digest(path) == before
    (error,) = met
    return error


DENIED: dict[str, tuple[str, ...]] = {
    "0128-D3-05": (
        "INSERT INTO tickets VALUES (9, 'x', NULL, 'kim')", "INSERT INTO principals VALUES (1, 2, 3, 4)",
    ),
    "0128-D3-06": (
        "UPDATE sessions SET desk_pinned = 1", "UPDATE messages SET role = 'x'", "UPDATE tickets SET id = 1",
    ),
    "0128-D3-07": tuple(
        f"DELETE FROM {name}" for name in ("messages", "sessions", "message_types", "tickets")
    ),
    "0128-D3-08": (
        "CREATE TABLE x (a)", "CREATE INDEX x ON messages (id)", "CREATE VIEW x AS SELECT 1",
        "CREATE TRIGGER x AFTER INSERT ON messages BEGIN SELECT 1; END", "DROP TABLE ticket_notes",
        "DROP INDEX sessions_by_owner", "DROP VIEW open_tickets", "DROP TRIGGER ticket_notes_count",
        "ALTER TABLE messages ADD COLUMN x", "ALTER TABLE messages RENAME TO x", "REINDEX", "ANALYZE",
    ),
    "0128-D3-09": ("ATTACH ':memory:' AS x", "DETACH temp"),
    "0128-D3-10": (
        "CREATE TEMP TABLE x (a)", "CREATE TEMP VIEW x AS SELECT 1",
        "CREATE TEMP TRIGGER x AFTER INSERT ON main.messages BEGIN SELECT 1; END",
        'DROP TRIGGER temp."store inspector guard 0 delete 0"',
    ),
    "0128-D3-11": (
        "CREATE VIRTUAL TABLE x USING fts5(a)", "CREATE VIRTUAL TABLE temp.x USING rtree(a, b, c)",
    ),
    "0128-D3-12": (
        "PRAGMA user_version = 5", "PRAGMA user_version", "PRAGMA journal_mode = DELETE",
        "PRAGMA foreign_keys = OFF", "PRAGMA recursive_triggers = OFF", "PRAGMA wal_checkpoint",
        "PRAGMA optimize", "PRAGMA table_info(messages)", "PRAGMA writable_schema = ON",
        "PRAGMA wal_autocheckpoint = 0",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("identifier", "sql"),
    [
        pytest.param(identifier, sql, marks=pytest.mark.adr(identifier, "0128-D3-04", "0128-D3-13"))
        for identifier, statements in DENIED.items()
        for sql in statements
    ],
)
async def test_it_is_denied(path: Path, engine: CompatibilityEngine, identifier: str, sql: str) -> None:
    """The statement errors: SQLITE_DENY, and not a statement that goes on without its effect."""
    error = await beneath(engine, path, sql)
    assert isinstance(error, sqlite3.DatabaseError)
    assert error.sqlite_errorname == "SQLITE_AUTH", f"{identifier}: {error}"


@pytest.mark.adr("0128-D3-04", "0128-D3-13")
def test_whatever_is_not_listed_is_denied_and_never_ignored() -> None:
    authorizer = Authorizer()
    answers = {
        authorizer(kind, first, second, database, None)
        for kind in range(40)
        for first in ("messages", None)
        for second in ("content", None)
        for database in ("main", "temp", None)
    }
    assert answers == {sqlite3.SQLITE_DENY}


# -- shapes of statements, and the operation layer -----------------------------------------------------------


SHAPES = [
    pytest.param("INSERT OR REPLACE INTO message_types VALUES (0, 'x')", marks=pytest.mark.adr("0128-D3-19")),
    pytest.param("REPLACE INTO message_types VALUES (0, 'x')", marks=pytest.mark.adr("0128-D3-19")),
    pytest.param("UPDATE OR REPLACE messages SET content = '9'", marks=pytest.mark.adr("0128-D3-20")),
    pytest.param("INSERT INTO message_types (lion_class) VALUES ('x') RETURNING type_id",
                 marks=pytest.mark.adr("0128-D3-21")),
    pytest.param("UPDATE progressions SET collection = '[]' WHERE id = 'kim-old-prog' RETURNING id",
                 marks=pytest.mark.adr("0128-D3-21")),
    pytest.param("DELETE FROM messages RETURNING id", marks=pytest.mark.adr("0128-D3-21")),
    "INSERT INTO message_types (lion_class) VALUES ('x')",
    "WITH a AS (SELECT 'x' AS v) INSERT INTO message_types (lion_class) SELECT v FROM a",
    "UPDATE sessions SET desk_pinned = 1",
    "DELETE FROM messages",
    "CREATE TEMP TABLE x (a)",
    "BEGIN EXCLUSIVE",
    "SAVEPOINT x",
    "PRAGMA user_version = 5",
    "VACUUM",
    "ATTACH 'x' AS y",
]  # fmt: skip


@pytest.mark.parametrize("sql", SHAPES)
async def test_generic_sql_that_is_not_a_read_refuses(path: Path, db: StateDB, sql: str) -> None:
    before = kit.digest(path)
    for call in (db.execute, db.fetch_one, db.fetch_all):
        with pytest.raises(StateCompatibilityRefused) as refused:
            await call(sql)
        assert refused.value.profile == f"{PROFILE}@1"
    async with db.transaction() as transaction:
        with pytest.raises(StateCompatibilityRefused):
            await transaction.fetch_all(sql)
    assert kit.digest(path) == before
    await make_run(db)


@pytest.mark.adr("0128-D3-19", "0128-D3-20", "0128-D3-21")
@pytest.mark.parametrize(
    "sql", [shape if isinstance(shape, str) else shape.values[0] for shape in SHAPES[:6]]
)
async def test_the_writer_refuses_the_shapes_before_sqlite_sees_them(
    path: Path, engine: CompatibilityEngine, sql: str
) -> None:
    before = kit.digest(path)
    real = kit.dug_out(engine)
    ran: list[str] = []

    def steps() -> Steps[None]:
        yield kit.PROGRESSION(id="a1", at=1.0, collection="[]", owner="kim")
        sqlite3.Connection.set_trace_callback(real, ran.append)
        real.execute(sql)

    with pytest.raises(StateCompatibilityRefused) as refused:
        await engine.run("create_progression", steps, transaction="progression")
    assert refused.value.code == "guard-statement"
    assert [one for one in ran if one != "ROLLBACK"] == []
    assert kit.digest(path) == before


@pytest.mark.adr("0128-D3-16")
async def test_execute_reads_and_nothing_else(path: Path, db: StateDB) -> None:
    before = kit.digest(path)
    await db.execute("SELECT count(*) FROM messages")
    with pytest.raises(StateCompatibilityRefused):
        await db.execute("UPDATE messages SET content = '9'")
    assert kit.digest(path) == before


@pytest.mark.adr("0128-D3-17")
async def test_a_transaction_is_a_snapshot_that_a_write_ends(path: Path, db: StateDB) -> None:
    """DECISIONS 15."""
    before = kit.digest(path)
    async with db.transaction() as transaction:
        assert await transaction.fetch_one("SELECT count(*) AS n FROM messages") == {"n": 1}
        kit.manager(path, "INSERT INTO message_types (lion_class) VALUES ('desk')")
        assert await transaction.fetch_one(
            "SELECT count(*) AS n FROM message_types WHERE lion_class = 'desk'"
        ) == {"n": 0}
        with pytest.raises(StateCompatibilityRefused):
            await transaction.execute("INSERT INTO message_types (lion_class) VALUES ('x')")
        with pytest.raises(StoreError):  # it is over
            await transaction.fetch_one("SELECT 1")
    kit.manager(path, "DELETE FROM message_types WHERE lion_class = 'desk'")
    assert kit.digest(path) == before


@pytest.mark.adr("0128-D3-18")
async def test_fetching_reads_and_nothing_else(path: Path, db: StateDB) -> None:
    before = kit.digest(path)
    assert await db.fetch_one("SELECT id FROM messages") == {"id": "lee-msg"}
    assert await db.fetch_all("SELECT id FROM messages WHERE id = ?", ("x",)) == []
    for fetch in (db.fetch_one, db.fetch_all):
        with pytest.raises(StateCompatibilityRefused):
            await fetch("INSERT INTO message_types (lion_class) VALUES ('x')")
        with pytest.raises(StoreError):
            await fetch("SELECT 1; DELETE FROM messages")
    assert kit.digest(path) == before


@pytest.mark.adr("0128-D3-14")
async def test_an_operation_the_profile_does_not_name_refuses(path: Path) -> None:
    """`create_progression` is one the profile's statements would allow."""
    from dataclasses import replace

    from persistence.profiles.catalogue import load_profile

    full = load_profile(PROFILE, directories=())
    without = replace(
        full, operations=tuple(name for name in full.operations if name != "create_progression")
    )
    async with StateDB(path, profile=without, owner="kim") as db:
        before = kit.digest(path)
        calls: tuple[Callable[[], Any], ...] = (
            lambda: db.create_progression("x"),
            lambda: db.set_progression("kim-old-prog", []),
            db.vacuum,
            db.checkpoint,
        )
        for call in calls:
            with pytest.raises(StateCompatibilityRefused) as refused:
                await call()
            assert refused.value.committed == ()
        assert kit.digest(path) == before


@pytest.mark.adr("0128-D3-15")
async def test_rows_and_owners_are_the_operations_to_check(path: Path, db: StateDB) -> None:
    """Each of these is a statement the authorizer says yes to."""
    await make_run(db)
    before = kit.digest(path)
    calls: tuple[Callable[[], Any], ...] = (
        lambda: db.create_progression("x", ["lee-msg"]),
        lambda: db.create_progression("lee-prog"),
        lambda: db.create_branch({"id": "x", "session_id": "lee-sess", "progression_id": "sp"}),
        lambda: db.create_session({"id": "x", "progression_id": "lee-prog"}),
        lambda: db.persist_live_message(message("x"), session_id="lee-sess", branch_progression_id="bp"),
        lambda: db.persist_live_message(message("lee-msg"), session_id="s", branch_progression_id="bp"),
        lambda: db.insert_session_signal("lee-sess", {"kind": "x"}),
    )
    for call in calls:
        with pytest.raises((StateCompatibilityRefused, TypeError)) as refused:
            await call()
        assert not isinstance(refused.value, TypeError) or call is calls[-1]
    assert kit.digest(path) == before


# -- a denial ends the transaction ---------------------------------------------------------------------------


@pytest.mark.adr("0128-D3-22", "0128-D3-23")
@pytest.mark.parametrize("caught", [False, True], ids=["raised", "caught"])
@pytest.mark.parametrize("past", [False, True], ids=["by the connection", "past its class"])
async def test_a_denial_rolls_all_of_it_back(
    path: Path, engine: CompatibilityEngine, caught: bool, past: bool
) -> None:
    before = kit.digest(path)
    real = kit.dug_out(engine)
    attack = partial(kit.beneath, real) if past else real.execute
    went_on: list[bool] = []

    def steps() -> Steps[str]:
        yield kit.PROGRESSION(id="a1", at=1.0, collection="[]", owner="kim")
        try:
            attack("DELETE FROM messages")
        except (sqlite3.Error, StoreError):
            if not caught:
                raise
        went_on.append(True)
        return "done"

    with pytest.raises(StateCompatibilityRefused if caught or not past else StoreError) as refused:
        await engine.run("create_progression", steps, transaction="progression")
    assert went_on == ([True] if caught else [])
    assert refused.value.committed == ()
    assert kit.digest(path) == before
    assert await engine.run("create_progression", kit.progression, transaction="progression") == "p1"


# -- what it rests on ----------------------------------------------------------------------------------------


@pytest.mark.adr("0128-D3-24")
def test_the_floor_of_the_driver() -> None:
    import aiosqlite

    found = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    (floor,) = (one for one in found if one.startswith("aiosqlite"))
    assert floor.partition(">=")[2].split(",")[0].split(".")[:2] == ["0", "22"]
    assert callable(aiosqlite.Connection.set_authorizer)


@pytest.mark.adr("0128-D3-26")
async def test_the_whole_guard_on_the_versions_installed_here(path: Path) -> None:
    """`.ci/run` does the same on the lowest and the newest versions, in environments of their own."""
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    assert "matrix" in script
    assert importlib.metadata.version("sqlalchemy").split(".")[0] == "2"
    engine = await kit.opened(path)
    try:
        with pytest.raises(StateCompatibilityRefused):
            await engine._driver.execute("DELETE FROM messages")
        error = await beneath(engine, path, "DELETE FROM messages")
        assert "not authorized" in str(error)
    finally:
        await engine.close()
