"""The asynchronous reader: one snapshot a load, verified, deadlines, errors, no lock lost."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TypeVar, cast

import pytest
from sqlalchemy import column, func, select, table

from persistence.engines import landlock
from persistence.engines.gate import gate_for
from persistence.engines.reader import open_reader
from persistence.engines.sqlite import SqliteReader
from persistence.errors import (
    BusyError,
    CopyRefusedError,
    DeadlineError,
    MissingTableError,
    NotAStoreError,
    ReadOnlyStoreError,
    StoreDamagedError,
    StoreError,
    StoreMissingError,
)
from persistence.location import locate
from persistence.records import Route
from tests.persistence.engines.states import (
    ROWS,
    beside,
    can_write,
    crashed_log,
    hot_journal,
    make,
    traces,
    writer,
)

T = TypeVar("T")
TABLE = table("t", column("a"), column("b"))
COUNT = select(func.count()).select_from(TABLE)
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"


def reader_of(path: Path) -> SqliteReader:
    return cast(SqliteReader, open_reader(locate(path)))


@pytest.fixture
async def settled(tmp_path: Path) -> AsyncIterator[SqliteReader]:
    reader = reader_of(make(tmp_path / "s.db"))
    yield reader
    await reader.close()


# -- statements --------------------------------------------------------------------------------------


async def test_statements_of_core_and_of_text(settled: SqliteReader) -> None:
    async with settled.snapshot() as snapshot:
        assert await snapshot.scalar(COUNT) == ROWS
        assert await snapshot.rows(select(TABLE.c.a).where(TABLE.c.a <= 3).order_by(TABLE.c.a)) == [
            (1,),
            (2,),
            (3,),
        ]
        assert await snapshot.first("SELECT a FROM t WHERE a = :n", {"n": 7}) == (7,)
        assert await snapshot.first("SELECT a FROM t WHERE a = -1") is None
        assert await snapshot.scalar("SELECT a FROM t WHERE a = -1") is None
        assert await snapshot.rows(select(TABLE).where(TABLE.c.a == -1)) == []
        assert await snapshot.on_driver(lambda c: c.execute("SELECT max(a) FROM t").fetchone()) == (ROWS,)
        assert snapshot.dialect == settled.dialect == "sqlite"


async def test_how_it_was_read_is_told(settled: SqliteReader) -> None:
    assert settled.last is None
    async with settled.snapshot() as snapshot:
        assert snapshot.info.route is Route.SETTLED  # what is to be expected
        await snapshot.scalar(COUNT)
        info = snapshot.info
    assert settled.last == info and info.token == await settled.token()
    assert info.kernel_held == landlock.available() and info.snapshots == 1
    assert abs(info.at - time.time()) < 60


async def test_text_that_is_not_utf8_comes_with_its_bytes_escaped(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    connection = sqlite3.connect(store)
    connection.execute("INSERT INTO t VALUES (5000, CAST(x'61ff00e282' AS TEXT))")
    connection.commit()
    connection.close()
    async with reader_of(store).snapshot() as snapshot:
        text = await snapshot.scalar(select(TABLE.c.b).where(TABLE.c.a == 5000))
    assert text == "a\udcff\0\udce2\udc82" and text.encode("utf-8", "surrogateescape") == b"a\xff\0\xe2\x82"


async def test_a_blob_is_opened_for_its_head_alone(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    connection = sqlite3.connect(store)
    connection.execute("INSERT INTO t VALUES (5000, zeroblob(20000000))")
    connection.commit()
    connection.close()

    def head(driver: sqlite3.Connection) -> tuple[int, bytes]:
        with driver.blobopen("t", "b", 5000, readonly=True) as blob:
            return len(blob), blob.read(4)

    async with reader_of(store).snapshot() as snapshot:
        assert await snapshot.on_driver(head) == (20_000_000, b"\0\0\0\0")


async def test_what_is_compiled_is_kept_between_snapshots(settled: SqliteReader) -> None:
    for number in range(3):
        async with settled.snapshot() as snapshot:
            await snapshot.rows(select(TABLE.c.a).where(TABLE.c.a == number))
    cache = settled._engine._compiled_cache
    assert cache is not None and len(cache) == 1


async def test_25_reads_at_once(settled: SqliteReader) -> None:
    """A pool of a size would make some of them wait, and fail (OpenHands PR 391)."""

    async def read() -> int:
        async with settled.snapshot() as snapshot:
            await asyncio.sleep(0)
            return int(await snapshot.scalar(COUNT))

    assert await asyncio.gather(*(read() for _ in range(25))) == [ROWS] * 25


async def test_nothing_is_held_between_snapshots(settled: SqliteReader) -> None:
    threads = threading.active_count()
    async with settled.snapshot() as snapshot:
        await snapshot.scalar(COUNT)
        assert gate_for(snapshot.info.token.identity).readers == 1  # type: ignore[attr-defined]
    assert gate_for(snapshot.info.token.identity).readers == 0  # type: ignore[attr-defined]
    assert threading.active_count() == threads


# -- refusals ----------------------------------------------------------------------------------------


async def test_entering_refuses_what_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreMissingError):
        async with reader_of(tmp_path / "none" / "s.db").snapshot():
            raise AssertionError
    (tmp_path / "s.db").write_text("hello")
    with pytest.raises(NotAStoreError):
        async with reader_of(tmp_path / "s.db").snapshot():
            raise AssertionError
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("statement", "kind", "code"),
    [
        ("SELECT * FROM absent", MissingTableError, "no-such-table"),
        ("SELECT absent FROM t", MissingTableError, "no-such-column"),
        ("SELEC", StoreError, "bad-query"),
        ("DELETE FROM t", ReadOnlyStoreError, "read-only"),
        ("CREATE TABLE x(a)", ReadOnlyStoreError, "read-only"),
        ("CREATE TEMP TABLE x(a)", ReadOnlyStoreError, "read-only"),
        ("PRAGMA user_version=9", ReadOnlyStoreError, "read-only"),
    ],
)
async def test_statements_that_fail_say_why(
    settled: SqliteReader, statement: str, kind: type[StoreError], code: str
) -> None:
    with pytest.raises(kind) as caught:
        async with settled.snapshot() as snapshot:
            await snapshot.rows(statement)
    assert caught.value.code == code and caught.value.where and caught.value.observed


async def test_a_failed_statement_does_not_end_the_snapshot(settled: SqliteReader) -> None:
    async with settled.snapshot() as snapshot:
        with pytest.raises(MissingTableError):
            await snapshot.rows("SELECT * FROM absent")
        assert await snapshot.scalar(COUNT) == ROWS


@pytest.mark.parametrize("mode", ["wal", "delete"])
async def test_damage_is_told_as_damage_and_good_rows_show(tmp_path: Path, mode: str) -> None:
    store = make(tmp_path / "s.db", mode)
    size = store.stat().st_size
    data = bytearray(store.read_bytes())
    data[size - 4096 :] = b"\xff" * 4096
    store.write_bytes(data)
    async with reader_of(store).snapshot() as snapshot:
        assert await snapshot.scalar("SELECT count(*) FROM t WHERE a < 50") == 49
        with pytest.raises(StoreDamagedError) as caught:
            await snapshot.rows("SELECT b FROM t")
        assert caught.value.code == "damaged" and "untouched" not in caught.value.message
        assert await snapshot.scalar("SELECT b FROM t WHERE a = 1")


async def test_a_schema_with_a_broken_entry_is_read_without_it(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("CREATE TABLE broken(a)")
    connection.execute("PRAGMA writable_schema=1")
    connection.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE broken(' WHERE name = 'broken'")
    connection.close()
    before = traces(tmp_path)
    async with reader_of(store).snapshot() as snapshot:
        assert await snapshot.scalar(COUNT) == ROWS
        assert [notice.code for notice in snapshot.info.notices] == ["schema-damaged"]
        with pytest.raises(ReadOnlyStoreError):
            await snapshot.rows("DELETE FROM sqlite_master")
    assert traces(tmp_path) == before


# -- deadlines and busy ------------------------------------------------------------------------------


async def test_a_statement_past_its_deadline_is_ended(settled: SqliteReader) -> None:
    async with settled.snapshot(deadline=0.05) as snapshot:
        with pytest.raises(DeadlineError, match=r"0\.05 s"):
            await snapshot.rows(ENDLESS)
        assert await snapshot.scalar(COUNT) == ROWS  # each statement has its own


async def test_many_short_statements_in_one_hop_end_at_its_deadline(settled: SqliteReader) -> None:
    """None of them runs long enough for SQLite to ask whether to go on."""

    def many(driver: sqlite3.Connection) -> None:
        while True:
            driver.execute("SELECT 1").fetchone()

    async with settled.snapshot(deadline=0.05) as snapshot:
        with pytest.raises(DeadlineError):
            await snapshot.on_driver(many)


async def test_busy_past_the_deadline_is_called_busy(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db", "delete")
    reader = reader_of(store)
    with writer(store, "BEGIN EXCLUSIVE") as other:
        with pytest.raises(BusyError):
            async with reader.snapshot(deadline=0.1) as snapshot:
                await snapshot.scalar(COUNT)
        other.do("COMMIT")
        async with reader.snapshot(deadline=0.1) as snapshot:
            assert await snapshot.scalar(COUNT) == ROWS


_NO_LOCKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
static int refuse(const char *name, int fd, int command, void *argument) {
    int (*real)(int, int, void *) = dlsym(RTLD_NEXT, name);
    if (command == F_SETLK || command == F_SETLKW || command == F_GETLK) { errno = ENOLCK; return -1; }
    return real(fd, command, argument);
}
int fcntl(int fd, int command, ...) {
    va_list rest; va_start(rest, command); void *a = va_arg(rest, void *); va_end(rest);
    return refuse("fcntl", fd, command, a);
}
int fcntl64(int fd, int command, ...) {
    va_list rest; va_start(rest, command); void *a = va_arg(rest, void *); va_end(rest);
    return refuse("fcntl64", fd, command, a);
}
"""
_COUNT = """
import sys
from persistence.engines import direct
from persistence.location import locate
rows, info = direct.read(locate(sys.argv[1]), lambda c: c.execute("SELECT count(*) FROM t").fetchone()[0])
print(rows, info.route.value)
"""


@pytest.mark.parametrize(("state", "route"), [("delete", "copy"), ("wal", "settled"), ("log", "copy")])
def test_where_the_file_system_does_not_lock_it_is_read_all_the_same(
    tmp_path: Path, state: str, route: str
) -> None:
    """`locking protocol`, at start, on a network disk (crush #3461)."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here to take the locks away with")
    (tmp_path / "no_locks.c").write_text(_NO_LOCKS)
    library = tmp_path / "no_locks.so"
    build = [compiler, "-shared", "-fPIC", "-o", str(library), str(tmp_path / "no_locks.c"), "-ldl"]
    subprocess.run(build, check=True)
    (tmp_path / "store").mkdir()
    store = tmp_path / "store" / "s.db"
    _ = crashed_log(store) if state == "log" else make(store, state)
    before = traces(store.parent)
    done = subprocess.run(
        [sys.executable, "-c", _COUNT, str(store)],
        env={**os.environ, "LD_PRELOAD": str(library)},
        cwd=Path(__file__).resolve().parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split(" ", 1) == [str(ROWS + 5 * (state == "log")), f"{route}\n"], done.stderr
    assert traces(store.parent) == before


# -- locks of this process ---------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["wal", "delete"])
async def test_reading_drops_no_lock_of_this_process(tmp_path: Path, mode: str) -> None:
    store = make(tmp_path / "s.db", mode)
    reader = reader_of(store)
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO t VALUES (9999, 'mine')")
    for _ in range(3):
        async with reader.snapshot() as snapshot:
            assert await snapshot.scalar(COUNT) == ROWS
        await reader.token()
    assert can_write(store) == "SQLITE_BUSY"
    connection.execute("COMMIT")
    connection.close()


async def test_reads_wait_while_a_writer_is_being_opened(tmp_path: Path, settled: SqliteReader) -> None:
    identity = (await settled.token()).identity
    assert identity is not None
    with gate_for(identity).opening(None), pytest.raises(BusyError, match="opening"):
        async with settled.snapshot(deadline=0.1) as snapshot:
            await snapshot.scalar(COUNT)
    async with settled.snapshot() as snapshot:
        assert await snapshot.scalar(COUNT) == ROWS


async def test_a_writer_opened_in_its_moment_is_not_poisoned(tmp_path: Path) -> None:
    """One opened while a live-log read is in progress fails on every write."""
    store = make(tmp_path / "s.db")
    reader = reader_of(store)
    with writer(store, "INSERT INTO t VALUES (1000, 'x')"):
        async with reader.snapshot() as snapshot:
            await snapshot.scalar(COUNT)
            gate = gate_for(snapshot.info.token.identity)  # type: ignore[attr-defined]
            with pytest.raises(BusyError), gate.opening(time.monotonic() + 0.01):
                raise AssertionError
        with gate.opening(time.monotonic() + 1):
            mine = sqlite3.connect(store, isolation_level=None)
            mine.execute("BEGIN IMMEDIATE")
            mine.execute("ROLLBACK")
        async with reader.snapshot() as snapshot:
            await snapshot.scalar(COUNT)
            mine.execute("INSERT INTO t VALUES (1001, 'mine')")
        mine.close()


# -- copies ------------------------------------------------------------------------------------------


async def test_one_copy_serves_until_the_store_moves(tmp_path: Path) -> None:
    store = hot_journal(tmp_path / "s.db")
    reader = reader_of(store)
    seen = []
    for _ in range(2):
        async with reader.snapshot() as snapshot:
            assert await snapshot.scalar("SELECT sum(b LIKE 'half%') FROM t") == 0
            seen.append(snapshot.info)
    assert seen[0] == seen[1] and seen[0].route is Route.COPY
    os.utime(store)
    async with reader.snapshot() as snapshot:
        await snapshot.scalar(COUNT)
        assert snapshot.info.at > seen[0].at and snapshot.info.token == await reader.token()
    folder = Path(os.fsdecode(reader.shelf._current.directory))  # type: ignore[union-attr]
    assert folder.is_dir()
    await reader.close()
    assert not folder.exists()


async def test_a_refresh_nobody_asked_for_never_copies(tmp_path: Path) -> None:
    store = hot_journal(tmp_path / "s.db")
    reader = reader_of(store)
    with pytest.raises(CopyRefusedError) as caught:
        async with reader.snapshot(auto=True) as snapshot:
            await snapshot.scalar(COUNT)
    assert caught.value.code == "copy-not-asked" and reader.shelf._current is None
    async with reader.snapshot() as snapshot:
        await snapshot.scalar(COUNT)
    async with reader.snapshot(auto=True) as snapshot:
        assert await snapshot.scalar(COUNT) == ROWS  # there is one of this very state
    await reader.close()


async def test_a_large_copy_is_refused_until_it_is_allowed(tmp_path: Path) -> None:
    reader = reader_of(hot_journal(tmp_path / "s.db"))
    reader.copying(limit=10_000)
    with pytest.raises(CopyRefusedError) as caught:
        async with reader.snapshot() as snapshot:
            await snapshot.scalar(COUNT)
    assert caught.value.code == "copy-too-large"
    seen = []
    reader.copying(limit=None, progress=seen.append)
    async with reader.snapshot() as snapshot:
        assert await snapshot.scalar(COUNT) == ROWS and seen
    await reader.close()


async def test_a_log_whose_index_goes_is_read_by_copy_then(tmp_path: Path) -> None:
    store = crashed_log(tmp_path / "s.db", commits=4)
    reader = reader_of(store)
    async with reader.snapshot() as snapshot:
        assert await snapshot.scalar(COUNT) == ROWS + 4
        assert snapshot.info.route is Route.LIVE_LOG
    beside(store, "-shm").unlink()
    async with reader.snapshot() as snapshot:
        assert await snapshot.scalar(COUNT) == ROWS + 4
        assert snapshot.info.route is Route.COPY
    await reader.close()
