"""Reading a store that moves: verified, begun again, never two states taken for one."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TypeVar, cast

import pytest
from sqlalchemy import func, select, table

from persistence.engines import bound, session
from persistence.engines.gate import gate_for
from persistence.engines.reader import Snapshot, open_reader
from persistence.engines.sqlite import SqliteReader
from persistence.errors import (
    CopyRefusedError,
    DeadlineError,
    MissingTableError,
    StoreDamagedError,
    StoreMovedError,
)
from persistence.location import locate
from persistence.records import Route
from tests.persistence.engines.states import ROWS, hot_journal, make, writer

T = TypeVar("T")
COUNT = select(func.count()).select_from(table("t"))
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


def reader_of(path: Path) -> SqliteReader:
    return cast(SqliteReader, open_reader(locate(path)))


@pytest.fixture
async def settled(tmp_path: Path) -> AsyncIterator[SqliteReader]:
    reader = reader_of(make(tmp_path / "s.db"))
    yield reader
    await reader.close()


def on_the_loops_thread(work: Callable[[], T]) -> Callable[[], T]:
    """For what a reader's own thread may not do: `work`, done by the event loop meanwhile."""
    loop = asyncio.get_running_loop()

    async def run() -> T:
        return work()

    return lambda: asyncio.run_coroutine_threadsafe(run(), loop).result(10)


async def test_a_settled_read_the_store_moved_under_is_done_again(
    tmp_path: Path, settled: SqliteReader
) -> None:
    runs: list[int] = []

    def write() -> None:
        with writer(tmp_path / "s.db", "INSERT INTO t VALUES (9000, 'meanwhile')") as other:
            other.close()

    meanwhile = on_the_loops_thread(write)

    def read(driver: sqlite3.Connection) -> int:
        rows = int(driver.execute("SELECT count(*) FROM t").fetchone()[0])
        runs.append(rows)
        if len(runs) == 1:
            meanwhile()
        return rows

    async with settled.snapshot() as snapshot:
        assert await snapshot.on_driver(read) == ROWS + 1
    assert runs == [ROWS, ROWS + 1]
    assert snapshot.info.token == await settled.token() and snapshot.info.snapshots == 1


async def test_a_store_that_moves_under_every_read_is_given_up(tmp_path: Path, settled: SqliteReader) -> None:
    runs = 0
    meanwhile = on_the_loops_thread(lambda: os.utime(tmp_path / "s.db", ns=(runs, runs)))

    def moving(driver: sqlite3.Connection) -> None:
        nonlocal runs
        driver.execute("SELECT count(*) FROM t").fetchone()
        runs += 1
        meanwhile()

    with pytest.raises(StoreMovedError) as caught:
        async with settled.snapshot(deadline=None) as snapshot:
            await snapshot.on_driver(moving)
    assert runs == 20 and caught.value.exit_status == 4


async def test_a_store_whose_log_is_emptied_after_every_commit_is_read_as_live(tmp_path: Path) -> None:
    """It looks settled each time it is looked at, and never is for as long as a read takes."""
    store = make(tmp_path / "s.db")
    routes: list[Route] = []
    with writer(store, "PRAGMA busy_timeout=0") as other:

        def commit() -> None:
            other.do("INSERT INTO t (b) VALUES ('meanwhile')")
            other.ask("PRAGMA wal_checkpoint(TRUNCATE)")  # cannot, while it is read as live

        commit()
        meanwhile = on_the_loops_thread(commit)

        def read(driver: sqlite3.Connection) -> int:
            rows = int(driver.execute("SELECT count(*) FROM t").fetchone()[0])
            routes.append(snapshot.info.route)
            meanwhile()
            assert driver.execute("SELECT count(*) FROM t").fetchone() == (rows,)
            return rows

        async with reader_of(store).snapshot() as snapshot:
            assert await snapshot.on_driver(read) == ROWS + len(routes)
        assert routes == [Route.SETTLED] * session._RESTLESS + [Route.LIVE_LOG]
        other.close()
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.db"]


@pytest.mark.parametrize("mode", ["wal", "delete"])
async def test_a_file_replaced_during_a_read_is_not_shown(tmp_path: Path, mode: str) -> None:
    """The read was of a file that has this name no longer (exomem PR 246)."""
    store = make(tmp_path / "s.db", mode)
    other = make(tmp_path / "other.db", mode, rows=3)
    runs: list[int] = []
    replace = on_the_loops_thread(lambda: other.replace(store))

    def read(driver: sqlite3.Connection) -> int:
        rows = int(driver.execute("SELECT count(*) FROM t").fetchone()[0])
        if not runs:
            replace()
        runs.append(rows)
        return rows

    async with reader_of(store).snapshot() as snapshot:
        assert await snapshot.on_driver(read) == 3
    assert runs == [ROWS, 3]


async def test_statements_of_one_snapshot_on_a_live_log_agree(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    with writer(store, "INSERT INTO t VALUES (1000, 'x')") as other:
        async with reader_of(store).snapshot() as snapshot:
            assert await snapshot.scalar(COUNT) == ROWS + 1
            other.do("INSERT INTO t VALUES (1001, 'y')")
            assert await snapshot.scalar(COUNT) == ROWS + 1
            assert (snapshot.info.route, snapshot.info.snapshots) == (Route.LIVE_LOG, 1)
        async with reader_of(store).snapshot() as snapshot:
            assert await snapshot.scalar(COUNT) == ROWS + 2


async def test_a_snapshot_does_not_hold_the_writers_log_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Held too long it is let go between two statements; the next one says that it saw another state."""
    monkeypatch.setattr(bound, "LAPSE", 0.1)
    store = make(tmp_path / "s.db")
    with writer(store, "INSERT INTO t VALUES (1000, 'x')") as other:
        async with reader_of(store).snapshot() as snapshot:
            assert await snapshot.scalar(COUNT) == ROWS + 1
            gate = gate_for(snapshot.info.token.identity)  # type: ignore[attr-defined]
            assert gate.readers == 1
            while gate.readers:
                await asyncio.sleep(0.01)
            assert other.do("PRAGMA wal_checkpoint(TRUNCATE)") == "ok [(0, 0, 0)]"
            other.do("INSERT INTO t VALUES (1001, 'y')")
            assert await snapshot.scalar(COUNT) == ROWS + 2
            assert snapshot.info.snapshots == 2


async def test_a_writer_that_closes_folds_its_log_in_when_no_read_is_in_progress(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    reader = reader_of(store)
    with writer(store, "INSERT INTO t VALUES (1000, 'x')") as other:
        async with reader.snapshot() as snapshot:
            assert await snapshot.scalar(COUNT) == ROWS + 1
        other.close()
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.db"]
    async with reader.snapshot() as snapshot:
        assert await snapshot.scalar(COUNT) == ROWS + 1 and snapshot.info.route is Route.SETTLED


async def test_beside_a_writer_that_is_about_to_close_a_read_waits_for_the_store_to_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In while the last writer closes, it would keep that from taking its log away."""
    monkeypatch.setattr(session, "_YOUNG", 5.0)
    store = make(tmp_path / "s.db")
    with writer(store, "INSERT INTO t VALUES (1000, 'x')") as other:
        reading = asyncio.ensure_future(reader_of(store).load(lambda snapshot: snapshot.scalar(COUNT)))
        await asyncio.sleep(0.03)
        assert not reading.done()
        other.close()
        assert await reading == ROWS + 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.db"]


async def test_a_log_that_stays_is_read_as_it_is(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    reader = reader_of(store)
    with writer(store) as other:
        for number in range(1, 5):
            other.do(f"INSERT INTO t VALUES ({1000 + number}, 'x')")
            assert await reader.load(lambda snapshot: snapshot.scalar(COUNT)) == ROWS + number
            assert reader.last is not None and reader.last.route is Route.LIVE_LOG


@pytest.mark.parametrize("waits", [False, True])
async def test_a_load_is_of_one_state_or_begins_again(tmp_path: Path, waits: bool) -> None:
    """In one hop, on the thread that reads; or, when it waits for something else, statement by statement."""
    store = make(tmp_path / "s.db")
    threads: list[int] = []

    def write() -> None:
        with writer(store, "INSERT INTO t VALUES (1000, 'x')") as other:
            other.close()

    meanwhile = on_the_loops_thread(write)

    async def work(snapshot: Snapshot) -> tuple[int, int]:
        first = await snapshot.scalar(COUNT)
        if waits:
            await asyncio.sleep(0)
        threads.append(threading.get_ident())
        if len(threads) == 1:
            write() if waits else meanwhile()
        return int(first), int(await snapshot.scalar(COUNT))

    reader = reader_of(store)
    assert await reader.load(work) == (ROWS + 1, ROWS + 1) and len(threads) == 2
    assert (threading.get_ident() in threads) == waits
    assert reader.last is not None and reader.last.token == await reader.token()


@pytest.mark.parametrize("waits", [False, True])
async def test_a_load_that_never_agrees_is_given_up(tmp_path: Path, waits: bool) -> None:
    store = make(tmp_path / "s.db")
    meanwhile = on_the_loops_thread(lambda: os.utime(store))

    async def work(snapshot: Snapshot) -> None:
        await snapshot.scalar(COUNT)
        if waits:
            await asyncio.sleep(0.001)
            os.utime(store)
        else:
            meanwhile()
        await snapshot.scalar(COUNT)

    with pytest.raises(StoreMovedError):
        await reader_of(store).load(work)


async def test_a_loads_statements_fail_as_a_snapshots_do(settled: SqliteReader) -> None:
    async def work(snapshot: Snapshot) -> int:
        with pytest.raises(MissingTableError):
            await snapshot.rows("SELECT * FROM absent")
        with pytest.raises(DeadlineError):
            await snapshot.rows(ENDLESS)
        assert await snapshot.first(COUNT) == (ROWS,) and snapshot.dialect == "sqlite"
        assert snapshot.info.route is Route.SETTLED
        return int(await snapshot.on_driver(lambda driver: driver.execute("SELECT 7").fetchone()[0]))

    assert await settled.load(work, deadline=0.1) == 7
    with pytest.raises(ZeroDivisionError):
        await settled.load(lambda snapshot: snapshot.on_driver(lambda driver: 1 // 0))
    with pytest.raises(StoreDamagedError):
        await settled.load(_fails)


async def _fails(snapshot: Snapshot) -> None:
    await snapshot.scalar(COUNT)
    raise StoreDamagedError("as the reader of a value does")


async def test_a_load_of_a_copy(tmp_path: Path) -> None:
    reader = reader_of(hot_journal(tmp_path / "s.db"))
    with pytest.raises(CopyRefusedError):
        await reader.load(lambda snapshot: snapshot.scalar(COUNT), auto=True)
    assert await reader.load(lambda snapshot: snapshot.scalar(COUNT)) == ROWS
    assert reader.last is not None and reader.last.route is Route.COPY
    await reader.close()


async def test_a_snapshot_over_two_states_says_so(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    async with reader_of(store).snapshot() as snapshot:
        await snapshot.scalar(COUNT)
        with writer(store, "INSERT INTO t VALUES (1000, 'x')") as other:
            other.close()
        assert await snapshot.scalar(COUNT) == ROWS + 1
        assert snapshot.info.snapshots == 2
