"""Reading leaves no trace, by any route: call by call, as an ordinary user, beside writers, in a race."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from persistence.engines import landlock, session
from persistence.engines.reader import open_reader
from persistence.engines.sqlite import SqliteReader
from persistence.errors import StoreError, StoreMovedError
from persistence.location import locate
from tests import strace
from tests.persistence.engines.states import (
    ROWS,
    beside,
    crashed_log,
    hot_journal,
    make,
    name_super_journal,
    traces,
    writer,
)

ROOT = Path(__file__).resolve().parents[2]

# What a program does with stores, by both ways of reading: it prints what it saw of each, and the route.
_READ = """
import asyncio, sys, tempfile
from persistence import files
from persistence.engines import direct
from persistence.engines.reader import open_reader
from persistence.location import locate

tempfile.tempdir = sys.argv[1]
count = "SELECT count(*) FROM t"

async def both(location):
    reader = open_reader(location)
    for generic in (False, True):
        async with reader.snapshot(generic=generic) as snapshot:
            rows = await snapshot.scalar(count)
    await reader.token()
    await reader.close()
    return rows, snapshot.info.route.value, snapshot.info.kernel_held

for location in map(locate, sys.argv[2:]):
    files.describe(location)
    try:
        first = direct.read(location, lambda c: c.execute(count).fetchone()[0])
        again = asyncio.run(both(location))
    except Exception as error:
        print(0, type(error).__name__, False, sep="|")
    else:
        assert (first[0], first[1].route.value) == again[:2], (first, again)
        print(*again, sep="|")
"""

Answer = tuple[int, str, str]
"""Rows, route (or the error's type), and whether the kernel held the reader."""


def answers(done: subprocess.CompletedProcess[str]) -> list[Answer]:
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [line.split("|") for line in done.stdout.splitlines()]
    return [(int(rows), route, held) for rows, route, held in lines]


def without_index(path: Path) -> Path:
    crashed_log(path)
    beside(path, "-shm").unlink()
    return path


def super_journal(path: Path) -> Path:
    hot_journal(path)
    named = path.with_name("mj-0123ABCD")
    named.write_bytes(os.fsencode(beside(path, "-journal")) + b"\0")
    name_super_journal(beside(path, "-journal"), os.fsencode(named))
    return path


STATES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "rollback at rest": (lambda path: make(path, "delete"), "live"),
    "wal at rest": (make, "settled"),
    "log of a dead writer": (crashed_log, "live log"),
    "log without an index": (without_index, "copy"),
    "hot journal": (hot_journal, "copy"),
    "super-journal": (super_journal, "copy"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "store").mkdir()
    return tmp_path / "store"


@pytest.fixture
def temporary(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "temporary").mkdir()
    yield tmp_path / "temporary"
    assert list((tmp_path / "temporary").iterdir()) == []


def build(places: Path, names: Iterable[str]) -> list[Path]:
    """A store in each of the states, each alone in a directory."""
    stores = []
    for number, name in enumerate(names):
        (places / str(number)).mkdir()
        stores.append(STATES[name][0](places / str(number) / "s.db"))
    return stores


def read_traced(stores: Sequence[Path], temporary: Path) -> list[Answer]:
    """Reads the stores in a traced process; nothing in their directories may have changed."""
    reason = strace.why_not()
    if reason is not None:
        pytest.skip(reason)
    log = temporary.parent / "trace"
    before = [traces(store.parent) for store in stores]
    done = subprocess.run(
        strace.traced(log, [sys.executable, "-c", _READ, str(temporary), *map(str, stores)]),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=120,
    )
    found = answers(done)
    assert [traces(store.parent) for store in stores] == before
    seen = {path for call in strace.calls(log) for path in call.paths}
    for store in stores:
        assert str(store) in seen, "the trace saw nothing of the store"
        assert strace.changes(log, store.parent, opened=landlock.available()) == []
    return found


@pytest.mark.strace
def test_no_call_changes_anything(folder: Path, temporary: Path) -> None:
    found = read_traced(build(folder, STATES), temporary)
    assert [route for _, route, _ in found] == [route for _, route in STATES.values()]
    assert all(rows >= ROWS and held == str(landlock.available()) for rows, _, held in found)


@pytest.mark.strace
def test_no_call_changes_anything_beside_a_writer(folder: Path, temporary: Path) -> None:
    writers = [
        ("wal", ("INSERT INTO t VALUES (9000, 'x')",), "live log"),
        ("wal", ("INSERT INTO t VALUES (9000, 'x')", "BEGIN IMMEDIATE", "DELETE FROM t"), "live log"),
        ("wal", ("SELECT count(*) FROM t",), "settled"),
        ("delete", ("BEGIN IMMEDIATE", "DELETE FROM t"), "live"),
        ("delete", ("BEGIN", "SELECT * FROM t"), "live"),
    ]
    with contextlib.ExitStack() as stack:
        stores = []
        for number, (mode, statements, _) in enumerate(writers):
            (folder / str(number)).mkdir()
            stores.append(make(folder / str(number) / "s.db", mode))
            stack.enter_context(writer(stores[-1], *statements))
        found = read_traced(stores, temporary)
        assert [route for _, route, _ in found] == [route for _, _, route in writers]


# -- as an ordinary user -----------------------------------------------------------------------------


@pytest.fixture
def nobody() -> pwd.struct_passwd:
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    try:
        return pwd.getpwnam("nobody")
    except KeyError:
        pytest.skip("there is no user `nobody` here")


@pytest.fixture
def public() -> Iterator[Path]:
    """A directory an ordinary user can reach, with a temporary directory for its copies."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        for name in ("stores", "temporary"):
            Path(place, name).mkdir()
        Path(place, "temporary").chmod(0o777)
        yield Path(place)


def read_as(user: pwd.struct_passwd, stores: Sequence[Path], temporary: Path) -> list[Answer]:
    """Reads as another user. Its interpreter may lie where only root can go: all is loaded before."""
    become = (
        "import asyncio, concurrent.futures.thread, ctypes, os, shutil, sqlite3, tempfile\n"
        "import persistence.engines.copies, persistence.engines.direct, persistence.engines.sqlite\n"
        "import sqlalchemy.dialects.sqlite.pysqlite\n"
        f"os.setgroups([]); os.setgid({user.pw_gid}); os.setuid({user.pw_uid})\n"
    )
    return answers(
        subprocess.run(
            [sys.executable, "-c", become + _READ, str(temporary), *map(str, stores)],
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=False,
            timeout=60,
        )
    )


def test_an_ordinary_user_reads_where_nobody_may_write(nobody: pwd.struct_passwd, public: Path) -> None:
    """`attempt to write a readonly database`, on a read (grafana-sqlite-datasource #167)."""
    names = ["wal at rest", "rollback at rest", "log of a dead writer", "log without an index"]
    stores = build(public / "stores", names)
    with contextlib.ExitStack() as stack:
        stores.append(make(public / "stores" / "live.db"))
        stack.enter_context(writer(stores[-1], "INSERT INTO t VALUES (9000, 'x')"))
        for folder in [public / "stores", *(store.parent for store in stores[:-1])]:
            for entry in folder.iterdir():
                entry.chmod(0o555 if entry.is_dir() else 0o444)
            folder.chmod(0o555)
        before = [traces(store.parent) for store in stores]
        found = read_as(nobody, stores, public / "temporary")
        assert [traces(store.parent) for store in stores] == before
    assert [route for _, route, _ in found] == [*(STATES[name][1] for name in names), "live log"]
    assert [rows for rows, _, _ in found] == [ROWS, ROWS, ROWS + 5, ROWS + 5, ROWS + 1]
    assert list((public / "temporary").iterdir()) == []


def test_a_user_who_may_not_read_is_told_so(nobody: pwd.struct_passwd, public: Path) -> None:
    stores = build(public / "stores", ["wal at rest", "log without an index"])
    stores[0].chmod(0o600)
    beside(stores[1], "-wal").chmod(0o600)
    before = [traces(store.parent) for store in stores]
    assert [what for _, what, _ in read_as(nobody, stores, public / "temporary")] == [
        "StorePermissionError"
    ] * 2
    assert [traces(store.parent) for store in stores] == before


# -- races -------------------------------------------------------------------------------------------

# Opens, commits once and closes, over and over; tells when its last close began and ended.
_CLOSING = """
import sqlite3, sys, time
path, rounds = sys.argv[1], int(sys.argv[2])
for number in range(rounds):
    c = sqlite3.connect(path, isolation_level=None, timeout=5)
    c.execute("PRAGMA synchronous=OFF")
    c.execute("INSERT INTO t(b) VALUES ('raced')")
    time.sleep(0.005)
    began = time.monotonic()
    c.close()
    ended = time.monotonic()
    time.sleep(0.005)
print(began, ended)
"""


def reader_of(path: Path) -> SqliteReader:
    return cast(SqliteReader, open_reader(locate(path)))


@pytest.fixture
def holds(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, float]]:
    """When a read of this process had a store open, in the seconds all processes count by."""
    times: list[tuple[float, float]] = []
    prepared, disconnect = session.Session._prepared, session.Session._disconnect
    began: dict[int, float] = {}

    def opening(self: session.Session, *arguments: Any, **named: Any) -> sqlite3.Connection:
        began[id(self)] = time.monotonic()
        return prepared(self, *arguments, **named)

    def closing(self: session.Session) -> None:
        disconnect(self)
        if id(self) in began:
            times.append((began.pop(id(self)), time.monotonic()))

    monkeypatch.setattr(session.Session, "_prepared", opening)
    monkeypatch.setattr(session.Session, "_disconnect", closing)
    return times


async def follow(store: Path, process: subprocess.Popen[str]) -> list[int]:
    """Reads as fast as it goes while a process lives: the rows it saw."""
    reader = reader_of(store)
    seen: list[int] = []
    while process.poll() is None:
        with contextlib.suppress(StoreMovedError):
            seen.append(await reader.load(lambda snapshot: snapshot.scalar("SELECT count(*) FROM t")))
        await asyncio.sleep(0.002)
    await reader.close()
    return seen


@pytest.mark.parametrize(("mode", "runs"), [("wal", 25), ("delete", 6)])
async def test_a_race_against_a_writer_that_opens_and_closes_leaves_nothing(
    folder: Path,
    temporary: Path,
    mode: str,
    runs: int,
    monkeypatch: pytest.MonkeyPatch,
    holds: list[tuple[float, float]],
) -> None:
    """Only a read that is in while the last writer closes could keep it from taking its log away,
    and beside such a writer reads wait for the store to rest."""
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    total = 0
    for number in range(runs):
        holds.clear()
        store = make(folder / f"{number}.db", mode, rows=20)
        process = subprocess.Popen(
            [sys.executable, "-S", "-c", _CLOSING, str(store), "12"], stdout=subprocess.PIPE, text=True
        )
        seen = await follow(store, process)
        assert process.stdout is not None
        began, ended = map(float, process.stdout.read().split())
        process.stdout.close()
        assert seen == sorted(seen) and set(seen) <= set(range(20, 33))
        total += len(seen)
        left = sorted(entry.name.removeprefix(store.name) for entry in folder.glob(f"{number}.db*"))
        in_progress = any(start < ended and began < end for start, end in holds)
        assert left == [""] or (in_progress and left == ["", "-shm", "-wal"]), (number, left)
    assert total > 4 * runs


async def test_torn_pages_are_never_shown(folder: Path) -> None:
    """Immutable reads of a file somebody writes tear; ours are looked at again, or done again."""
    store = make(folder / "s.db", rows=300)
    script = """
import sqlite3, sys
n = 0
while True:
    c = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=5)
    c.execute("PRAGMA synchronous=OFF")
    n += 1
    c.execute("UPDATE t SET b = ? || substr(b, 9)", (f"{n:08}",))
    c.close()
"""
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("UPDATE t SET b = '00000000' || substr(b, 9)")
    connection.close()
    process = subprocess.Popen([sys.executable, "-S", "-c", script, str(store)])
    reader = reader_of(store)
    states, routes, moving = set(), set(), 0
    try:
        began = time.monotonic()
        # For a while; and as long as it takes, on a machine that is busy, until enough was seen.
        while (took := time.monotonic() - began) < 2.5 or (len(states) <= 20 and took < 60):
            try:
                async with reader.snapshot() as snapshot:
                    rows = await snapshot.rows("SELECT DISTINCT substr(b, 1, 8), count(*) FROM t GROUP BY 1")
                    routes.add(snapshot.info.route.value)
            except StoreMovedError:
                moving += 1
                continue
            assert len(rows) == 1 and rows[0][1] == 300, rows
            states.add(rows[0][0])
    finally:
        process.kill()
        process.wait()
        await reader.close()
    assert len(states) > 20, (routes, moving)


async def test_a_follower_sees_the_rows_of_a_writer_that_goes_on_writing(folder: Path) -> None:
    """Old rows for ever, for want of the log, is what immutable alone gives (bindery #2631)."""
    store = make(folder / "s.db")
    reader = reader_of(store)
    with writer(store, "PRAGMA wal_autocheckpoint=0") as other:
        last = await reader.token()
        for number in range(1, 6):
            other.do(f"INSERT INTO t(b) VALUES ('new {number}')")
            now = await reader.token()
            assert now != last
            async with reader.snapshot() as snapshot:
                assert await snapshot.scalar("SELECT count(*) FROM t") == ROWS + number
            last = await reader.token()
            assert last == now  # reading moved nothing
        other.do("PRAGMA wal_checkpoint(TRUNCATE)")
        async with reader.snapshot() as snapshot:
            assert await snapshot.scalar("SELECT count(*) FROM t") == ROWS + 5


async def test_a_reader_that_refreshes_does_not_pin_the_log(folder: Path) -> None:
    """Readers that overlap pin it for ever (loreai PR 1225): ours let go between reads."""
    store = make(folder / "s.db")
    reader = reader_of(store)
    with writer(store, "PRAGMA busy_timeout=20", "INSERT INTO t(b) VALUES ('x')") as other:

        async def refresh() -> None:
            for _ in range(15):
                async with reader.snapshot() as snapshot:
                    await snapshot.scalar("SELECT count(*) FROM t")
                await asyncio.sleep(0.01)

        reading = asyncio.gather(*(refresh() for _ in range(3)))
        done = ""
        while not reading.done():
            other.do("INSERT INTO t(b) VALUES ('x')")
            if (answer := other.ask("PRAGMA wal_checkpoint(TRUNCATE)")) == "ok [(0, 0, 0)]":
                done = answer
            await asyncio.sleep(0.005)
        await reading
        assert done


async def test_real_stores_are_left_as_they_are(shared_stores: Path, folder: Path) -> None:
    for source in sorted(shared_stores.glob("lionagi-*.db")):
        store = Path(shutil.copy(source, folder / source.name))
        store.chmod(0o644)
    before = traces(folder)
    for store in sorted(folder.iterdir()):
        reader = reader_of(store)
        async with reader.snapshot() as snapshot:
            assert await snapshot.scalar("SELECT count(*) FROM messages") > 90
            assert snapshot.info.route.value == "settled" and snapshot.info.notices == ()
        await reader.close()
    assert traces(folder) == before


async def test_nothing_is_made_for_a_store_that_is_not_there(folder: Path) -> None:
    for name in ("none.db", "none/none.db"):
        with pytest.raises(StoreError):
            async with reader_of(folder / name).snapshot():
                raise AssertionError
    assert list(folder.iterdir()) == []
