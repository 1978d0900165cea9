"""Interrupt first: cancelling ends what runs, at every await, and leaves no thread, descriptor or copy."""

from __future__ import annotations

import asyncio
import gc
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from persistence.engines import copies, guard, session, thread
from persistence.engines.gate import gate_for
from persistence.engines.reader import open_reader
from persistence.engines.sqlite import SqliteReader
from persistence.errors import CancelledReadError
from persistence.location import locate
from tests.persistence.engines.states import ROWS, crashed_log, hot_journal, make

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
COUNT = "SELECT count(*) FROM t"


def reader_of(path: Path) -> SqliteReader:
    return cast(SqliteReader, open_reader(locate(path)))


def connections(path: Path) -> int:
    """How many descriptors of a store are open, besides the one that is held for good."""
    wanted, found = path.stat(), 0
    for entry in Path("/proc/self/fd").iterdir():
        try:
            status = os.fstat(int(entry.name))
        except OSError:
            continue
        found += (status.st_dev, status.st_ino) == (wanted.st_dev, wanted.st_ino)
    return found - 1


async def gone(path: Path, threads: int) -> None:
    """Waits until the threads that were left to end by themselves have."""
    until = time.monotonic() + 5
    while (threading.active_count() > threads or connections(path)) and time.monotonic() < until:
        await asyncio.sleep(0.005)
    assert threading.active_count() == threads, threading.enumerate()
    assert connections(path) == 0
    status = path.stat()
    assert gate_for((status.st_dev, status.st_ino)).readers == 0


async def read(reader: SqliteReader) -> int:
    async with reader.snapshot() as snapshot:
        first = await snapshot.scalar(COUNT)
        assert first == await snapshot.on_driver(lambda c: c.execute(COUNT).fetchone()[0])
        return int(first)


async def load(reader: SqliteReader) -> int:
    return int(await reader.load(lambda snapshot: snapshot.scalar(COUNT)))


async def token(reader: SqliteReader) -> int:
    await reader.token()
    return ROWS


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("work", [read, load, token])
@pytest.mark.parametrize("state", [make, crashed_log, hot_journal], ids=["settled", "live log", "copy"])
async def test_cancelled_at_every_await_nothing_is_left(
    tmp_path: Path, state: Callable[[Path], Path], work: Callable[[SqliteReader], Awaitable[int]]
) -> None:
    """A cancelled open used to leave a thread and a descriptor (aiosqlite #259), each time."""
    store = state(tmp_path / "s.db")
    reader = reader_of(store)
    await work(reader)
    threads = threading.active_count()
    await gone(store, threads)
    finished = 0
    for steps in range(60):
        if finished >= 2:
            break
        if state is hot_journal:
            reader.shelf.clear()
        task = asyncio.ensure_future(work(reader))
        for _ in range(steps):
            # A turn of the loop, with time for the thread to answer: every await is met in some round.
            await asyncio.sleep(0.0005)
        if task.done():
            finished += 1
            assert await task >= ROWS
            continue
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert finished == 2
    await reader.close()
    await gone(store, threads)


@pytest.mark.parametrize("turns", range(12))
async def test_cancelled_after_a_few_turns_of_the_loop(tmp_path: Path, turns: int) -> None:
    store = make(tmp_path / "s.db")
    reader = reader_of(store)
    await read(reader)
    threads = threading.active_count()
    task = asyncio.ensure_future(read(reader))
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(store, threads)


async def test_a_running_query_is_interrupted(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    reader = reader_of(store)
    threads = threading.active_count()
    began = threading.Event()

    def endless(driver: sqlite3.Connection) -> None:
        began.set()
        driver.execute(ENDLESS).fetchall()

    async def run() -> None:
        async with reader.snapshot(deadline=None) as snapshot:
            await snapshot.on_driver(endless)

    task = asyncio.ensure_future(run())
    while not began.is_set():
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 30)
    await gone(store, threads)
    assert await read(reader) == ROWS


async def test_many_short_statements_are_ended_too(tmp_path: Path) -> None:
    """An interrupt between two of them would be lost; the next one does not begin."""
    store = make(tmp_path / "s.db")
    threads = threading.active_count()
    rounds = 0

    def many(driver: sqlite3.Connection) -> None:
        nonlocal rounds
        while True:
            driver.execute("SELECT 1").fetchone()
            rounds += 1

    async def run() -> None:
        async with reader_of(store).snapshot(deadline=None) as snapshot:
            await snapshot.on_driver(many)

    task = asyncio.ensure_future(run())
    while rounds < 100:
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(store, threads)


async def test_a_second_cancel_does_not_leave_things_behind(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    threads = threading.active_count()

    async def run() -> None:
        async with reader_of(store).snapshot(deadline=None) as snapshot:
            await snapshot.rows(ENDLESS)

    task = asyncio.ensure_future(run())
    await asyncio.sleep(0.02)
    for _ in range(4):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(store, threads)


async def test_what_cannot_be_interrupted_is_left_behind_and_cleans_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read of a dead network disk: cancelling returns all the same."""
    monkeypatch.setattr(thread, "PATIENCE", 0.05)
    store = make(tmp_path / "s.db")
    threads = threading.active_count()
    stuck, go_on = threading.Event(), threading.Event()

    def sleep(driver: sqlite3.Connection) -> None:
        stuck.set()
        go_on.wait(10)

    async def run() -> None:
        async with reader_of(store).snapshot() as snapshot:
            await snapshot.on_driver(sleep)

    task = asyncio.ensure_future(run())
    while not stuck.is_set():
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)
    assert connections(store) > 0
    go_on.set()
    await gone(store, threads)


async def test_a_timeout_around_a_statement_ends_it(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    threads = threading.active_count()
    async with reader_of(store).snapshot(deadline=None) as snapshot:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await snapshot.rows(ENDLESS)
        with pytest.raises(CancelledReadError):
            await snapshot.rows(COUNT)  # the snapshot is over
    await gone(store, threads)


async def test_a_copy_being_made_is_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = hot_journal(tmp_path / "s.db")
    threads = threading.active_count()
    began = threading.Event()
    monkeypatch.setattr(copies, "_CHUNK", 512)
    real = copies._copy_file

    def slow(source: Any, target: bytes, size: int, step: Callable[[int], None]) -> None:
        def slower(count: int) -> None:
            began.set()
            time.sleep(0.01)
            step(count)

        real(source, target, size, slower)

    monkeypatch.setattr(copies, "_copy_file", slow)
    task = asyncio.ensure_future(read(reader_of(store)))
    while not began.is_set():
        await asyncio.sleep(0.001)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await gone(store, threads)


@pytest.mark.parametrize("where", ["deny_writes", "settings", "first read"])
async def test_a_failure_after_opening_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Opened, and not yet handed over: whoever fails then must let go (GENesis #1900)."""
    store = make(tmp_path / "s.db")
    reader = reader_of(store)
    threads = threading.active_count()

    def fail(*arguments: object, **named: object) -> None:
        raise RuntimeError("cannot")

    if where == "deny_writes":
        monkeypatch.setattr(guard, "deny_writes", fail)
    elif where == "settings":
        monkeypatch.setattr(session._Connection, "setlimit", fail, raising=False)
    else:
        monkeypatch.setattr(session._Connection, "execute", fail)
    with pytest.raises(RuntimeError, match="cannot"):
        async with reader.snapshot(generic=True) as snapshot:
            await snapshot.rows(COUNT)
    await gone(store, threads)


async def test_a_forgotten_snapshot_ends_by_itself(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    threads = threading.active_count()
    snapshot = await reader_of(store).snapshot().__aenter__()
    await snapshot.scalar(COUNT)
    assert connections(store) > 0
    del snapshot
    gc.collect()
    await gone(store, threads)


_QUIT = """
import asyncio, sys
from persistence.location import locate
from persistence.engines.reader import open_reader

async def main():
    reader = open_reader(locate(sys.argv[1]))
    snapshot = await reader.snapshot(deadline=None).__aenter__()
    if sys.argv[2] == "query":
        asyncio.ensure_future(snapshot.rows(sys.argv[3]))
    await snapshot.scalar("SELECT 1")  if sys.argv[2] == "idle" else None
    await asyncio.sleep(0.05)
    if sys.argv[2] == "error":
        raise SystemExit("left by an error")

asyncio.run(main())
"""


@pytest.mark.parametrize("state", ["idle", "query", "error"])
def test_a_process_that_ends_ends(tmp_path: Path, state: str) -> None:
    """A thread that is not a daemon, left open, keeps the process alive for ever (ogx #4587)."""
    store = make(tmp_path / "s.db")
    subprocess.run(
        [sys.executable, "-c", _QUIT, str(store), state, ENDLESS], timeout=30, check=False, stderr=-3
    )
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.db"]
