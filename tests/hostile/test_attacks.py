"""Attempts to write what the profile does not allow, on every level a connection can be reached by.

Each is made outside any operation and in the middle of one, by the guarded connection itself, past its class
by the base's own cursors, by the driver and by SQLAlchemy; caught and not. The whole store is compared.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from persistence.engines.compatibility import CompatibilityEngine
from persistence.engines.driver_thread import on_thread
from persistence.engines.statements import Steps
from persistence.errors import StateCompatibilityRefused, StoreError
from tests.hostile.attacks import STATEMENTS
from tests.persistence.guard import kit

Attack = Callable[[Any], object]

# Past the connection's class SQLite refuses these by itself, before it asks anybody: who catches its error
# goes on in a transaction that nothing has spoiled.
SQLITE_ITSELF = {
    "two statements", "a declared text and another", "create temp index", "vacuum", "write the schema table",
    "delete from the schema table", "delete the guard from the temp schema",
    "rewrite the guard in the temp schema", "write a file",
}  # fmt: skip


# Past the class, in the middle of an operation, these are rows that the profile lets this owner write.
WITHIN_THE_PROFILE = {name for name in STATEMENTS if name.endswith("by a text of one's own")}


def test_there_are_at_least_120_on_each_way() -> None:
    """Each is made by every way below; methods, values, threads, pools and pickles are in the other files."""
    assert len(STATEMENTS) >= 120 and len(set(STATEMENTS.values())) == len(STATEMENTS)


path, engine = kit.path, kit.engine  # fixtures


async def still_works(engine: CompatibilityEngine) -> None:
    """The handle goes on writing what it may."""
    assert await engine.run("persist_live_message", partial(kit.live_message, 1), transaction="message") == 1


def in_the_middle(attack: Attack, connection: Any, caught: bool) -> Callable[[], Steps[str]]:
    """An operation that is attacked between two statements of its own."""

    def steps() -> Steps[str]:
        yield kit.PROGRESSION(id="a1", at=1.0, collection="[]", owner="kim")
        try:
            attack(connection)
        except Exception:
            if not caught:
                raise
        yield kit.PROGRESSION(id="a2", at=1.0, collection="[]", owner="kim")
        return "done"

    return steps


def guarded(sql: str, connection: Any) -> object:
    return connection.execute(sql)


def cursor(sql: str, connection: Any) -> object:
    return connection.cursor(sqlite3.Cursor).execute(sql)


def beneath(sql: str, connection: Any) -> object:
    return kit.beneath(connection, sql)


@pytest.mark.parametrize("name", STATEMENTS)
async def test_outside_an_operation(path: Path, engine: CompatibilityEngine, name: str) -> None:
    sql = STATEMENTS[name]
    before = kit.digest(path)
    real, driver = kit.dug_out(engine), engine._driver
    for way in (guarded, cursor):
        with pytest.raises(StateCompatibilityRefused) as refused:
            await on_thread(driver, partial(way, sql, real))
        assert refused.value.code == "guard-outside"
    for attempt in (
        lambda: driver.execute(sql),
        lambda: driver.executescript(sql),
        lambda: driver.execute_fetchall(sql),
        lambda: driver.executemany(sql, [()]),
        lambda: engine._connection.exec_driver_sql(sql),  # type: ignore[union-attr]
    ):
        with pytest.raises(StateCompatibilityRefused):
            await attempt()
    with pytest.raises((sqlite3.Error, sqlite3.Warning)):
        await on_thread(driver, partial(beneath, sql, real))
    assert kit.digest(path) == before
    await still_works(engine)


@pytest.mark.parametrize("name", STATEMENTS)
async def test_in_the_middle_of_an_operation(path: Path, engine: CompatibilityEngine, name: str) -> None:
    sql = STATEMENTS[name]
    before = kit.digest(path)
    real = kit.dug_out(engine)
    front = engine._driver._conn
    for way, target in ((guarded, real), (cursor, real), (guarded, front), (cursor, front)):
        for caught in (False, True):
            steps = in_the_middle(partial(way, sql), target, caught)
            with pytest.raises(StateCompatibilityRefused) as refused:
                await engine.run("create_progression", steps, transaction="progression")
            assert refused.value.operation == "create_progression"
            assert refused.value.profile == "kit-desk@1"
            assert refused.value.committed == ()
        assert kit.digest(path) == before
    if name in WITHIN_THE_PROFILE:
        return
    with pytest.raises(StoreError):
        steps = in_the_middle(partial(beneath, sql), real, caught=False)
        await engine.run("create_progression", steps, transaction="progression")
    assert kit.digest(path) == before
    steps = in_the_middle(partial(beneath, sql), real, caught=True)
    if name in SQLITE_ITSELF:
        rows = kit.contents(path)
        assert await engine.run("create_progression", steps, transaction="progression") == "done"
        left = kit.contents(path)
        left["progressions"] = [row for row in left["progressions"] if row[1] not in ("a1", "a2")]
        assert left == rows
    else:
        with pytest.raises(StateCompatibilityRefused):
            await engine.run("create_progression", steps, transaction="progression")
        assert kit.digest(path) == before
    await still_works(engine)
