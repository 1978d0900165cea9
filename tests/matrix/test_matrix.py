"""A whole run in a managed store, guarded, on whatever versions are installed (ADR-0128 D8.8)."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from persistence import StateDB
from persistence.engines.driver_thread import on_thread
from persistence.errors import StateCompatibilityRefused, StoreError
from tests.managed import live, make_run
from tests.persistence.guard import kit

PROFILE = "acme-desk-fresh-run"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return kit.managed(tmp_path)


@pytest.fixture
async def db(path: Path) -> AsyncIterator[StateDB]:
    async with StateDB(path, profile=PROFILE, owner="kim") as opened:
        yield opened


async def test_a_whole_run_and_what_is_kept(path: Path, db: StateDB) -> None:
    before = kit.contents(path)
    await make_run(db)
    for number in range(20):
        await live(db, f"live-{number}")
    assert await db.update_status("session", "s", new_status="completed", reason_code="run.completed.ok")
    after = kit.contents(path)
    for name, rows in before.items():
        assert set(rows) <= set(after[name]), name
    assert len(after["messages"]) == len(before["messages"]) + 21
    owners = {
        row[-1] for name in ("messages", "progressions") for row in set(after[name]) - set(before[name])
    }
    assert owners == {"kim"}
    assert {row["id"] for row in await db.list_sessions()} >= {"s"}


async def test_sqlalchemy_and_the_driver_reach_no_store(path: Path) -> None:
    before = kit.digest(path)
    engine = await kit.opened(path)
    try:
        async with engine._alchemy.connect() as connection:
            raw = await connection.get_raw_connection()
            driver: Any = raw.driver_connection
            for attempt in (
                lambda: connection.exec_driver_sql("DELETE FROM messages"),
                lambda: driver.execute("DELETE FROM messages"),
                lambda: driver.executescript("DELETE FROM messages"),
                lambda: driver.set_authorizer(None),
                lambda: driver.create_function("x", 1, print),
                lambda: on_thread(driver, lambda: driver._conn.blobopen("messages", "content", 1)),
            ):
                with pytest.raises(StateCompatibilityRefused):
                    await attempt()
            await connection.rollback()
            await connection.invalidate()
            await connection.get_raw_connection()
            with pytest.raises(StateCompatibilityRefused):
                await connection.exec_driver_sql("DELETE FROM messages")
            with pytest.raises(sqlite3.ProgrammingError):
                other = sqlite3.connect(":memory:")
                await on_thread(engine._driver, lambda: other.backup(engine._driver._conn))
    finally:
        await engine.close()
    assert kit.digest(path) == before


async def test_a_cancelled_write_is_whole_or_not_there(path: Path) -> None:
    engine = await kit.opened(path)
    try:
        before = kit.digest(path)
        manager = sqlite3.connect(path, isolation_level=None)
        manager.execute("BEGIN IMMEDIATE")
        running = asyncio.create_task(
            engine.run("create_progression", kit.progression, transaction="progression")
        )
        await asyncio.sleep(0.05)
        running.cancel()
        manager.execute("ROLLBACK")
        manager.close()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert kit.digest(path) == before
        assert await engine.run("create_progression", kit.progression, transaction="progression") == "p1"
    finally:
        await engine.close()


async def test_a_closed_driver_says_so(path: Path) -> None:
    engine = await kit.opened(path)
    await engine._driver.close()
    with pytest.raises(StoreError) as refused:
        await engine.run("create_progression", kit.progression, transaction="progression")
    assert refused.value.code == "not-open"
    await engine.close()
