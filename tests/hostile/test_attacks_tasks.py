"""Attempts on a guarded store by transactions, tasks, threads, pools, pickles and handles that are closed."""

from __future__ import annotations

import asyncio
import copy
import pickle
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from persistence.engines.compatibility import CompatibilityEngine
from persistence.engines.driver_thread import on_thread
from persistence.engines.native_sqlite import Stop
from persistence.engines.statements import Steps
from persistence.errors import StateCompatibilityRefused, StoreError
from tests.persistence.guard import kit

APPEND = kit.APPEND.compiled("sqlite").sql
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


# -- transactions -------------------------------------------------------------------------------------------


async def test_an_operation_within_an_operation(path: Path, engine: CompatibilityEngine) -> None:
    before = kit.digest(path)
    assert engine._hand is not None
    again = partial(
        engine._hand.transact, "create_progression", kit.progression, Stop(engine._driver._conn), None
    )
    for caught in (False, True):
        error = await refused_within(engine, again, caught=caught)
        assert isinstance(error, StateCompatibilityRefused)
        assert kit.digest(path) == before
    await still_works(engine)


async def test_closing_within_an_operation(path: Path, engine: CompatibilityEngine) -> None:
    before = kit.digest(path)
    error = await refused_within(engine, engine._driver._conn.close, caught=True)
    assert error.code == "guard-poisoned"
    assert kit.digest(path) == before
    await still_works(engine)


async def test_an_operation_the_profile_does_not_name(path: Path, engine: CompatibilityEngine) -> None:
    """Even when its statements would pass."""
    before = kit.digest(path)
    for name in ("set_progression", "create_branch", "", "create_progression "):
        with pytest.raises(StateCompatibilityRefused) as refused:
            await engine.run(name, kit.progression, transaction="x")
        assert refused.value.code == "not-in-profile"
    assert kit.digest(path) == before


async def test_an_operation_that_was_not_asked_for_at_admission(path: Path) -> None:
    engine = await kit.opened(path, operations=("insert_message",))
    try:
        before = kit.digest(path)
        with pytest.raises(StateCompatibilityRefused):
            await engine.run("create_progression", kit.progression, transaction="x")
        assert kit.digest(path) == before
    finally:
        await engine.close()


async def test_an_error_of_the_operation_itself_undoes_it(path: Path, engine: CompatibilityEngine) -> None:
    before = kit.digest(path)

    def steps() -> Steps[None]:
        yield kit.PROGRESSION(id="a1", at=1.0, collection="[]", owner="kim")
        raise RuntimeError("its own")

    with pytest.raises(RuntimeError, match="its own"):
        await engine.run("create_progression", steps, transaction="x")
    assert kit.digest(path) == before
    await still_works(engine)


# -- tasks, threads, pools, pickles -------------------------------------------------------------------------


async def test_statements_from_another_thread(path: Path, engine: CompatibilityEngine) -> None:
    before = kit.digest(path)
    met: list[BaseException] = []

    def attack(connection: Any, call: Callable[[Any], object]) -> None:
        try:
            call(connection)
        except BaseException as error:
            met.append(error)

    calls: tuple[Callable[[Any], object], ...] = (
        lambda c: c.execute("DELETE FROM messages"),
        lambda c: c.execute(PROGRESSION, ("x", 1.0, "[]", "kim")),
        lambda c: c.cursor().execute(PROGRESSION, ("x", 1.0, "[]", "kim")),
        lambda c: c.blobopen("messages", "content", 1),
        lambda c: sqlite3.Connection.blobopen(c, "messages", "content", 1),
        lambda c: sqlite3.Cursor(c).execute("DELETE FROM messages"),
        lambda c: c.undo(),
        lambda c: c.set_authorizer(None),
        lambda c: sqlite3.Connection.set_authorizer(c, None),
    )
    for target in (kit.dug_out(engine), engine._driver._conn):
        for call in calls:
            thread = threading.Thread(target=attack, args=(target, call))
            thread.start()
            thread.join()
    assert len(met) >= 2 * len(calls) - 1  # `undo` without a transaction is nothing
    assert kit.digest(path) == before
    await still_works(engine)


async def test_a_thread_that_asks_while_an_operation_runs(path: Path, engine: CompatibilityEngine) -> None:
    """The mark belongs to the connection, and what another thread is denied spoils the transaction."""
    before = kit.digest(path)
    real = kit.dug_out(engine)

    def from_elsewhere() -> None:
        def attack() -> None:
            with pytest.raises(StateCompatibilityRefused):
                real.execute(PROGRESSION, ("x", 1.0, "[]", "kim"))

        thread = threading.Thread(target=attack)
        thread.start()
        thread.join()

    error = await refused_within(engine, from_elsewhere, caught=False)
    assert error.code == "guard-poisoned"
    assert kit.digest(path) == before
    await still_works(engine)


async def test_another_task_during_an_operation(path: Path, engine: CompatibilityEngine) -> None:
    """A task that uses the driver meanwhile comes after the operation, and is refused."""
    begun, go = threading.Event(), threading.Event()

    def steps() -> Steps[str]:
        yield kit.PROGRESSION(id="a1", at=1.0, collection="[]", owner="kim")
        begun.set()
        go.wait(5)
        return "done"

    running = asyncio.create_task(engine.run("create_progression", steps, transaction="progression"))
    while not begun.is_set():
        await asyncio.sleep(0.001)
    other = asyncio.create_task(engine._driver.execute(PROGRESSION, ("a2", 1.0, "[]", "kim")))
    await asyncio.sleep(0.01)
    go.set()
    assert await running == "done"
    with pytest.raises(StateCompatibilityRefused):
        await other
    rows = [row[1] for row in kit.contents(path)["progressions"]]
    assert "a1" in rows
    assert "a2" not in rows


@pytest.mark.parametrize("moment", ["before", "between", "after"])
async def test_a_cancelled_task_leaves_all_or_nothing(
    path: Path, engine: CompatibilityEngine, moment: str
) -> None:
    before = kit.digest(path)
    begun, go = threading.Event(), threading.Event()
    kept: list[str] = []

    def steps() -> Steps[str]:
        if moment == "before":
            begun.set()
            go.wait(5)
        yield kit.PROGRESSION(id="a1", at=1.0, collection="[]", owner="kim")
        if moment == "between":
            begun.set()
            go.wait(5)
        yield kit.PROGRESSION(id="a2", at=1.0, collection="[]", owner="kim")
        return "done"

    def told(result: str) -> None:
        kept.append(result)
        if moment == "after":
            begun.set()
            go.wait(5)

    running = asyncio.create_task(
        engine.run("create_progression", steps, transaction="progression", kept=told)
    )
    while not begun.is_set():
        await asyncio.sleep(0.001)
    running.cancel()
    await asyncio.sleep(0.01)
    running.cancel()  # again, while the first is being waited for
    await asyncio.sleep(0.01)
    assert not running.done()  # the hop is not over
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    if moment == "after":
        assert kept == ["done"]  # what was committed is known to have been
        assert {"a1", "a2"} <= {row[1] for row in kit.contents(path)["progressions"]}
    else:
        assert kept == []
        assert kit.digest(path) == before
    await still_works(engine)


async def test_further_connections_of_the_pool(path: Path, engine: CompatibilityEngine) -> None:
    before = kit.digest(path)
    for _ in range(3):
        async with engine._alchemy.connect() as connection:
            raw = await connection.get_raw_connection()
            driver: Any = raw.driver_connection
            assert driver is not engine._driver
            for attempt in (
                lambda c=connection: c.exec_driver_sql("DELETE FROM messages"),
                lambda c=connection: c.exec_driver_sql(PROGRESSION, ("x", 1.0, "[]", "kim")),
                lambda d=driver: d.execute("SELECT 1"),
                lambda d=driver: d.set_authorizer(None),
                lambda d=driver: on_thread(d, lambda: d._conn.blobopen("messages", "content", 1)),
            ):
                with pytest.raises(StateCompatibilityRefused):
                    await attempt()
    assert kit.digest(path) == before
    await still_works(engine)


async def test_a_reconnect(path: Path, engine: CompatibilityEngine) -> None:
    before = kit.digest(path)
    async with engine._alchemy.connect() as connection:
        raw = await connection.get_raw_connection()
        first: Any = raw.driver_connection
        await connection.invalidate()
        again = await connection.get_raw_connection()
        second: Any = again.driver_connection
        assert second is not first
        with pytest.raises(StateCompatibilityRefused):
            await connection.exec_driver_sql("DELETE FROM messages")
    assert kit.digest(path) == before
    await still_works(engine)


async def test_a_pool_made_again(path: Path, engine: CompatibilityEngine) -> None:
    before = kit.digest(path)
    pool = engine._alchemy.sync_engine.pool.recreate()
    assert pool.dispatch.connect is not None
    await engine._alchemy.dispose()
    async with engine._alchemy.connect() as connection:
        with pytest.raises(StateCompatibilityRefused):
            await connection.exec_driver_sql("DELETE FROM messages")
    assert kit.digest(path) == before


async def test_a_connection_without_the_listener_has_no_store(
    path: Path, engine: CompatibilityEngine
) -> None:
    from persistence.guard.front import Front

    before = kit.digest(path)
    front = Front(str(path), "kit-desk@1")
    for method in ("execute", "executescript", "backup", "blobopen"):
        with pytest.raises(StateCompatibilityRefused) as refused:
            getattr(front, method)("DELETE FROM messages")
        assert refused.value.code == "guard-not-installed"
    with pytest.raises(sqlite3.ProgrammingError):
        sqlite3.Connection.execute(front, "SELECT 1")
    assert kit.digest(path) == before


async def test_handles_cannot_be_pickled_or_copied(engine: CompatibilityEngine) -> None:
    for thing in (
        engine,
        engine._driver,
        engine._driver._conn,
        kit.dug_out(engine),
        engine._hand,
        engine._alchemy,
    ):
        with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
            pickle.dumps(thing)
    for thing in (engine._driver._conn, kit.dug_out(engine)):
        with pytest.raises(TypeError):
            copy.copy(thing)


async def test_a_closed_handle(path: Path) -> None:
    engine = await kit.opened(path)
    hand = engine._hand
    driver = engine._driver
    await engine.close()
    await engine.close()  # once more is nothing
    before = kit.digest(path)
    with pytest.raises(StoreError) as refused:
        await engine.run("create_progression", kit.progression, transaction="x")
    assert refused.value.code == "not-open"
    assert hand is not None
    with pytest.raises(StoreError):
        await on_thread(driver, lambda: None)
    with pytest.raises(Exception):  # noqa: B017 - whatever says that it is closed
        hand.transact("create_progression", kit.progression, Stop(sqlite3.connect(":memory:")), None)
    with pytest.raises(StoreError):
        await engine._alchemy.connect()
    assert kit.digest(path) == before


async def test_the_drivers_connection_closed_by_somebody(path: Path) -> None:
    engine = await kit.opened(path)
    try:
        await engine._driver.close()
        before = kit.digest(path)
        with pytest.raises(StoreError) as refused:
            await engine.run("create_progression", kit.progression, transaction="x")
        assert refused.value.code == "not-open"
        assert kit.digest(path) == before
    finally:
        await engine.close()


async def test_an_interrupt_by_somebody(path: Path, engine: CompatibilityEngine) -> None:
    """It ends what runs, as for any cancelled write, and nothing is written."""
    before = kit.digest(path)
    over = threading.Event()

    def interrupts() -> None:  # again and again: one that comes between two statements does nothing
        while not over.wait(0.005):
            engine._driver._conn.interrupt()

    somebody = threading.Thread(target=interrupts)

    def steps() -> Steps[None]:
        yield kit.PROGRESSION(id="a1", at=1.0, collection="[]", owner="kim")
        somebody.start()
        long = "[" + "1," * 200_000 + "1]"
        for number in range(200):
            yield kit.PROGRESSION(id=f"b{number}", at=1.0, collection=long, owner="kim")
            real.execute(APPEND, (f"m{number}", f"b{number}", "kim", f"m{number}"))

    real = kit.dug_out(engine)
    real.hold.statements[APPEND] = replace(
        real.hold.statements[APPEND], operations=frozenset(("create_progression",))
    )
    try:
        with pytest.raises(StoreError) as met:
            await engine.run("create_progression", steps, transaction="progression")
    finally:
        over.set()
        somebody.join()
    assert met.value.code == "cancelled"
    assert kit.digest(path) == before
