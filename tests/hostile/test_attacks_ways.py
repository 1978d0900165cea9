"""Attempts on a guarded store by other ways than the text of a statement: by methods and by values."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from persistence.engines.compatibility import CompatibilityEngine
from persistence.engines.driver_thread import on_thread
from persistence.engines.statements import Steps
from persistence.errors import StateCompatibilityRefused, StoreError
from tests.persistence.guard import kit

PROGRESSION = kit.PROGRESSION.compiled("sqlite").sql
MESSAGE = kit.MESSAGE.compiled("sqlite").sql


path, engine = kit.path, kit.engine  # fixtures


async def refused_within(
    engine: CompatibilityEngine, attack: Callable[[], object], *, caught: bool
) -> StoreError:
    """What an operation comes to that is attacked between two of its statements."""

    def steps() -> Steps[str]:
        yield kit.PROGRESSION(id="a1", at=1.0, collection="[]", owner="kim")
        try:
            attack()
        except Exception:
            if not caught:
                raise
        yield kit.PROGRESSION(id="a2", at=1.0, collection="[]", owner="kim")
        return "done"

    with pytest.raises(StoreError) as refused:
        await engine.run("create_progression", steps, transaction="progression")
    return refused.value


async def still_works(engine: CompatibilityEngine) -> None:
    assert await engine.run("persist_live_message", partial(kit.live_message, 1), transaction="message") == 1


# -- methods of the connection ----------------------------------------------------------------------------

Method = Callable[[Any], object]


def _other() -> sqlite3.Connection:
    other = sqlite3.connect(":memory:")
    other.execute("CREATE TABLE x (a)")
    return other


def _iterdump(connection: Any) -> object:
    return list(connection.iterdump())


def _with(connection: Any) -> object:
    with connection as inner:
        return inner


METHODS: dict[str, Method] = {
    "blobopen for writing": lambda c: c.blobopen("messages", "content", 1),
    "blobopen for reading": lambda c: c.blobopen("messages", "content", 1, readonly=True),
    "blobopen in the temp schema": lambda c: c.blobopen("sqlite_temp_master", "sql", 1, name="temp"),
    "backup out of it": lambda c: c.backup(sqlite3.connect(":memory:")),
    "deserialize": lambda c: c.deserialize(b"x" * 512),
    "serialize": lambda c: c.serialize(),
    "iterdump": _iterdump,
    "executescript": lambda c: c.executescript("COMMIT; DELETE FROM messages;"),
    "executescript of a cursor": lambda c: c.cursor().executescript("COMMIT; DELETE FROM messages;"),
    "executemany": lambda c: c.executemany("DELETE FROM messages WHERE id = ?", [("lee-msg",)]),
    "executemany of a cursor": lambda c: c.cursor().executemany(
        "DELETE FROM messages WHERE id = ?", [("x",)]
    ),
    "set_authorizer": lambda c: c.set_authorizer(None),
    "set_progress_handler": lambda c: c.set_progress_handler(lambda: 1, 1),
    "set_trace_callback": lambda c: c.set_trace_callback(print),
    "enable_load_extension": lambda c: c.enable_load_extension(True),
    "load_extension": lambda c: c.load_extension("x"),
    "create_function": lambda c: c.create_function("json_insert", 3, lambda *_: "x"),
    "create_function in the guard's place": lambda c: c.create_function("store_inspector_refused", 1, print),
    "create_aggregate": lambda c: c.create_aggregate("max", 1, object),
    "create_window_function": lambda c: c.create_window_function("x", 1, None),
    "create_collation": lambda c: c.create_collation("BINARY", lambda a, b: 0),
    "setlimit": lambda c: c.setlimit(sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 0),
    "setconfig": lambda c: c.setconfig(1003, False),  # SQLITE_DBCONFIG_ENABLE_TRIGGER
    "commit": lambda c: c.commit(),
    "rollback": lambda c: c.rollback(),
    "enter": lambda c: c.__enter__(),
    "exit": lambda c: c.__exit__(None, None, None),
    "with": _with,
    "init again": lambda c: c.__init__(":memory:"),
}
NOT_EVERYWHERE = {"setconfig", "load_extension", "enable_load_extension"}
"""From Python 3.12 on, and where it was built with extensions."""


@pytest.mark.parametrize("caught", [False, True], ids=["raised", "caught"])
@pytest.mark.parametrize("name", METHODS)
async def test_a_method_within_an_operation(
    path: Path, engine: CompatibilityEngine, name: str, caught: bool
) -> None:
    if name in NOT_EVERYWHERE and not hasattr(sqlite3.Connection, name):
        pytest.skip("not in this Python")
    before = kit.digest(path)
    for connection in (kit.dug_out(engine), engine._driver._conn):
        error = await refused_within(engine, partial(METHODS[name], connection), caught=caught)
        assert isinstance(error, StateCompatibilityRefused)
        assert kit.digest(path) == before
    await still_works(engine)


@pytest.mark.parametrize("name", METHODS)
async def test_a_method_outside_an_operation(path: Path, engine: CompatibilityEngine, name: str) -> None:
    if name in NOT_EVERYWHERE and not hasattr(sqlite3.Connection, name):
        pytest.skip("not in this Python")
    before = kit.digest(path)
    front = engine._driver._conn
    for connection in (kit.dug_out(engine), front):
        if connection is front and name in ("commit", "rollback"):
            await on_thread(engine._driver, partial(METHODS[name], connection))  # pools do; it is nothing
            continue
        with pytest.raises(StateCompatibilityRefused):
            await on_thread(engine._driver, partial(METHODS[name], connection))
    assert kit.digest(path) == before
    await still_works(engine)


PAST_THE_CLASS: dict[str, Method] = {
    "execute": lambda c: sqlite3.Connection.execute(c, "DELETE FROM messages"),
    "executemany": lambda c: sqlite3.Connection.executemany(c, "DELETE FROM messages", [()]),
    "executescript": lambda c: sqlite3.Connection.executescript(c, "DELETE FROM messages"),
    "cursor": lambda c: sqlite3.Cursor(c).execute("DELETE FROM messages"),
    "cursor of the base": lambda c: sqlite3.Connection.cursor(c).execute("DELETE FROM messages"),
    "blobopen": lambda c: sqlite3.Connection.blobopen(c, "messages", "content", 1),
    "backup into it": lambda c: _other().backup(c),
    "backup out of it": lambda c: sqlite3.Connection.backup(c, sqlite3.connect(":memory:")),
    "deserialize": lambda c: sqlite3.Connection.deserialize(c, b"x" * 512),
    "set_authorizer": lambda c: sqlite3.Connection.set_authorizer(c, None),
    "create_function": lambda c: sqlite3.Connection.create_function(c, "max", 2, print),
}


@pytest.mark.parametrize("name", PAST_THE_CLASS)
async def test_the_base_class_finds_no_store_behind_what_the_driver_holds(
    path: Path, engine: CompatibilityEngine, name: str
) -> None:
    before = kit.digest(path)
    with pytest.raises(sqlite3.ProgrammingError):
        await on_thread(engine._driver, partial(PAST_THE_CLASS[name], engine._driver._conn))
    assert kit.digest(path) == before
    await still_works(engine)


SETTINGS = ("isolation_level", "row_factory", "text_factory", "autocommit", "total_changes", "in_transaction")


@pytest.mark.parametrize("name", SETTINGS)
async def test_attributes_of_what_the_driver_holds(
    path: Path, engine: CompatibilityEngine, name: str
) -> None:
    if not hasattr(sqlite3.Connection, name):
        pytest.skip("not in this Python")
    with pytest.raises((StateCompatibilityRefused, AttributeError)):
        setattr(engine._driver._conn, name, None)
    await still_works(engine)


async def test_no_attribute_leads_to_the_guarded_connection(engine: CompatibilityEngine) -> None:
    real = kit.dug_out(engine)
    seen: set[int] = set()
    waiting: list[Any] = [engine]
    while waiting and len(seen) < 20_000:
        now = waiting.pop()
        assert now is not real
        if id(now) in seen or isinstance(now, str | bytes | int | float | type):
            continue
        seen.add(id(now))
        with contextlib.suppress(Exception):
            waiting += list(vars(now).values())
        for kind in type(now).__mro__:
            slots = vars(kind).get("__slots__", ())
            for slot in (slots,) if isinstance(slots, str) else slots:
                with contextlib.suppress(Exception):
                    waiting.append(getattr(now, slot, None))
        if isinstance(now, dict):
            waiting += list(now.values())
        elif isinstance(now, list | tuple | set | frozenset):
            waiting += list(now)
        with contextlib.suppress(Exception):
            waiting.append(now.__self__)
    assert len(seen) > 100


# -- values of declared statements --------------------------------------------------------------------------


class Sly(str):
    """A text that compares as another one."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(PROGRESSION)


class Two(list[Any]):
    """Values that are others when they are looked at again."""

    looks = 0

    def __getitem__(self, index: Any) -> Any:
        self.looks += 1
        return "kim" if self.looks == 1 else "lee"


VALUES: dict[str, tuple[Any, Any]] = {
    "another owner": (PROGRESSION, ("x", 1.0, "[]", "lee")),
    "no owner": (PROGRESSION, ("x", 1.0, "[]", None)),
    "the owner as bytes": (PROGRESSION, ("x", 1.0, "[]", b"kim")),
    "the owner as a sly text": (PROGRESSION, ("x", 1.0, "[]", Sly("lee"))),
    "too few values": (PROGRESSION, ("x", 1.0, "kim")),
    "too many values": (PROGRESSION, ("x", 1.0, "[]", "kim", "kim")),
    "values by name": (PROGRESSION, {"id": "x", "at": 1.0, "collection": "[]", "owner": "kim"}),
    "a list": (PROGRESSION, ["x", 1.0, "[]", "lee"]),
    "values that change": (PROGRESSION, Two(["x", 1.0, "[]", "lee"])),
    "a sly text": (Sly("DELETE FROM messages"), ("x", 1.0, "[]", "kim")),
    "a sly text of another": (Sly("DELETE FROM messages"), ()),
    "bytes": (PROGRESSION.encode(), ("x", 1.0, "[]", "kim")),
    "another operation's statement": (MESSAGE, ("x", 1.0, "1", 0, "kim")),
    "a space behind": (PROGRESSION + " ", ("x", 1.0, "[]", "kim")),
    "a semicolon behind": (PROGRESSION + ";", ("x", 1.0, "[]", "kim")),
    "another case": (PROGRESSION.lower() + "\n", ("x", 1.0, "[]", "kim")),
    "a NUL behind": (PROGRESSION + "\0", ("x", 1.0, "[]", "kim")),
    "a comment before": ("--\n" + PROGRESSION, ("x", 1.0, "[]", "kim")),
    "a read nobody declared": ("SELECT * FROM messages", ()),
    "nothing": ("", ()),
    "no text at all": (None, ()),
}


@pytest.mark.parametrize("many", [False, True], ids=["execute", "executemany"])
@pytest.mark.parametrize("name", VALUES)
async def test_values_of_a_statement(path: Path, engine: CompatibilityEngine, name: str, many: bool) -> None:
    before = kit.digest(path)
    real = kit.dug_out(engine)
    sql, values = VALUES[name]
    given = [("y", 1.0, "[]", "kim"), values] if many else values

    def by_connection() -> object:
        return real.executemany(sql, given) if many else real.execute(sql, given)

    def by_cursor() -> object:
        return real.cursor().executemany(sql, given) if many else real.cursor().execute(sql, given)

    for run in (by_connection, by_cursor):
        for caught in (False, True):
            error = await refused_within(engine, run, caught=caught)
            assert isinstance(error, StateCompatibilityRefused)
            assert kit.digest(path) == before
    await still_works(engine)


async def test_rows_that_change_while_they_are_written(path: Path, engine: CompatibilityEngine) -> None:
    before = kit.digest(path)
    real = kit.dug_out(engine)

    def rows() -> Iterator[tuple[Any, ...]]:
        yield ("y1", 1.0, "[]", "kim")
        yield ("y2", 1.0, "[]", "lee")

    error = await refused_within(engine, lambda: real.executemany(PROGRESSION, rows()), caught=True)
    assert error.code == "guard-poisoned"
    assert kit.digest(path) == before


async def test_an_adapter_that_swaps_the_owner_meets_the_trigger(
    path: Path, engine: CompatibilityEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Adapters are the process's, and are asked behind the class: the rows are held inside SQLite."""
    before = kit.digest(path)
    key = (str, sqlite3.PrepareProtocol)
    monkeypatch.setitem(sqlite3.adapters, key, lambda text: "lee" if text == "kim" else text)
    sqlite3.register_adapter(str, sqlite3.adapters[key])
    try:
        with pytest.raises(StateCompatibilityRefused) as refused:
            await engine.run("create_progression", kit.progression, transaction="progression")
        assert refused.value.code in ("guard-row", "owner-gone")
    finally:
        sqlite3.register_adapter(str, str)
    assert kit.digest(path) == before
