"""Private copies: what SQLite's recovery would give, elsewhere, and nothing of it left."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from persistence import files
from persistence.engines import copies, direct
from persistence.engines.shelf import Shelf
from persistence.engines.token import take
from persistence.errors import CancelledReadError, CopyRefusedError, StoreMissingError, StoreMovedError
from persistence.location import locate
from persistence.records import Progress, Route
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


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary directory of this test's own, which must be empty at its end."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def count(copy: copies.PrivateCopy, what: str = "count(*)") -> int:
    connection = sqlite3.connect(copy.uri, uri=True)
    try:
        return int(connection.execute(f"SELECT {what} FROM t").fetchone()[0])
    finally:
        connection.close()


def test_a_copy_is_private_recovered_and_gone_after(tmp_path: Path, temporary: Path) -> None:
    store = crashed_log(tmp_path / "s.db", commits=5)
    before = traces(tmp_path)
    with copies.private_copy(locate(store)) as copy:
        folder = Path(os.fsdecode(copy.directory))
        assert folder.parent == temporary and folder.stat().st_mode & 0o777 == 0o700
        assert all(entry.stat().st_mode & 0o077 == 0 for entry in folder.iterdir())
        assert sorted(entry.name for entry in folder.iterdir()) == ["in-use", "store"]
        assert count(copy) == ROWS + 5
        assert copy.size == folder.joinpath("store").stat().st_size and copy.token == take(os.fsencode(store))
        assert abs(copy.taken - time.time()) < 60
    assert copy.removed and not folder.exists()
    copy.remove()
    assert traces(tmp_path) == before


def test_the_log_or_the_journal_can_be_left_out(tmp_path: Path) -> None:
    store = crashed_log(tmp_path / "s.db", commits=5)
    with copies.private_copy(locate(store), with_log=False) as copy:
        assert count(copy) == ROWS
    other = hot_journal(tmp_path / "o.db")
    with copies.private_copy(locate(other), with_journal=False) as copy:
        assert count(copy, "sum(b LIKE 'half%')") > 0


def test_a_failing_reader_leaves_nothing(tmp_path: Path) -> None:
    store = crashed_log(tmp_path / "s.db")
    with pytest.raises(ZeroDivisionError), copies.private_copy(locate(store)):
        _ = 1 / 0
    with pytest.raises(StoreMissingError), copies.private_copy(locate(tmp_path / "none")):
        raise AssertionError
    with pytest.raises(CopyRefusedError), copies.private_copy(locate("postgresql://h/d")):
        raise AssertionError


def test_a_forgotten_copy_is_removed(tmp_path: Path, temporary: Path) -> None:
    copy = copies.make(os.fsencode(make(tmp_path / "s.db")), "s.db")
    assert len(list(temporary.iterdir())) == 1
    del copy
    assert list(temporary.iterdir()) == []


# -- locks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_copying_drops_no_lock_of_this_process(tmp_path: Path, mode: str) -> None:
    store = make(tmp_path / "s.db", mode)
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO t VALUES (9999, 'mine')")
    with copies.private_copy(locate(store)) as copy:
        assert count(copy) == ROWS
    with writer(store, "PRAGMA busy_timeout=0") as other:
        assert other.ask("BEGIN IMMEDIATE") == "failed SQLITE_BUSY"
    connection.execute("COMMIT")
    connection.close()
    assert (
        direct.read(locate(store), lambda c: c.execute("SELECT count(*) FROM t").fetchone()[0])[0] == ROWS + 1
    )


# -- size, room, cancelling --------------------------------------------------------------------------


def test_a_large_copy_is_not_made_unasked(tmp_path: Path) -> None:
    store = crashed_log(tmp_path / "s.db")
    size = store.stat().st_size + beside(store, "-wal").stat().st_size
    with pytest.raises(CopyRefusedError) as caught, copies.private_copy(locate(store), limit=size - 1):
        raise AssertionError
    assert caught.value.code == "copy-too-large" and f"{size:,}" in (caught.value.observed or "")
    with copies.private_copy(locate(store), limit=size) as copy:
        assert count(copy) > ROWS
    with copies.private_copy(locate(store), limit=None) as copy:
        assert count(copy) > ROWS


def test_no_room_is_said_as_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = crashed_log(tmp_path / "s.db")
    before = traces(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**9, 10**9, 1000))
        with pytest.raises(CopyRefusedError) as caught, copies.private_copy(locate(store)):
            raise AssertionError
        assert caught.value.code == "no-room" and "TMPDIR" in (caught.value.remedy or "")

    def full(*arguments: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "copy_file_range", full)
        with pytest.raises(CopyRefusedError) as caught, copies.private_copy(locate(store)):
            raise AssertionError
        assert caught.value.code == "no-room"
    assert traces(tmp_path) == before


def test_a_full_disk_while_recovering_is_no_room_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = crashed_log(tmp_path / "s.db")
    connect = sqlite3.connect

    class Full(sqlite3.Connection):
        def execute(self, sql: str, *arguments: object) -> sqlite3.Cursor:  # type: ignore[override]
            if "checkpoint" in sql:
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorname = "SQLITE_FULL"
                raise error
            return super().execute(sql, *arguments)

    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **k, factory=Full))
    with pytest.raises(CopyRefusedError, match="no room"), copies.private_copy(locate(store)):
        raise AssertionError


def test_a_directory_that_cannot_be_made_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(CopyRefusedError, match="no directory"):
        copies.make(os.fsencode(make(tmp_path / "s.db")), "s.db")


def test_progress_is_told_and_a_copy_can_be_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_CHUNK", 4096)
    store = crashed_log(tmp_path / "s.db")
    seen: list[Progress] = []
    with copies.private_copy(locate(store), progress=seen.append):
        assert seen[-1].done == seen[-1].total and seen[0].what == "bytes" and len(seen) > 10
    seen.clear()
    with (
        pytest.raises(CancelledReadError),
        copies.private_copy(locate(store), progress=seen.append, stopped=lambda: len(seen) > 3),
    ):
        raise AssertionError
    assert len(seen) == 4


@pytest.mark.parametrize("error", [errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM])
def test_where_ranges_cannot_be_copied_bytes_are(
    tmp_path: Path, error: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(*arguments: object) -> int:
        raise OSError(error, "no")

    monkeypatch.setattr(os, "copy_file_range", cannot)
    monkeypatch.setattr(copies, "_CHUNK", 5000)
    with copies.private_copy(locate(crashed_log(tmp_path / "s.db"))) as copy:
        assert count(copy) == ROWS + 5


def test_where_ranges_come_back_empty_bytes_are_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "copy_file_range", lambda *arguments: 0)
    with copies.private_copy(locate(make(tmp_path / "s.db"))) as copy:
        assert count(copy) == ROWS


# -- a store that moves ------------------------------------------------------------------------------


def test_a_store_that_moves_once_is_copied_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make(tmp_path / "s.db", "delete")
    copied: list[bytes] = []
    real = copies._copy_file

    def moving(source: files.Held, target: bytes, size: int, step: object) -> None:
        real(source, target, size, step)  # type: ignore[arg-type]
        copied.append(target)
        if len(copied) == 1:
            with writer(store) as other:
                other.do("INSERT INTO t VALUES (7777, 'while it was copied')")

    monkeypatch.setattr(copies, "_copy_file", moving)
    with copies.private_copy(locate(store)) as copy:
        assert len(copied) == 2 and count(copy) == ROWS + 1


def test_a_store_that_never_stands_still_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make(tmp_path / "s.db", "delete")
    real = copies._copy_file
    with writer(store) as other:

        def moving(source: files.Held, target: bytes, size: int, step: object) -> None:
            real(source, target, size, step)  # type: ignore[arg-type]
            other.do("UPDATE t SET b = b || 'x' WHERE a = 1")

        monkeypatch.setattr(copies, "_copy_file", moving)
        with pytest.raises(StoreMovedError, match="8 copies"), copies.private_copy(locate(store)):
            raise AssertionError


def test_a_growing_log_does_not_spoil_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames are only ever added behind those copied, until the log is begun anew."""
    store = make(tmp_path / "s.db")
    real = copies._copy_file
    with writer(store, "PRAGMA wal_autocheckpoint=0", "INSERT INTO t VALUES (5000, 'logged')") as other:
        made: list[bytes] = []

        def growing(source: files.Held, target: bytes, size: int, step: object) -> None:
            real(source, target, size, step)  # type: ignore[arg-type]
            made.append(target)
            other.do(f"INSERT INTO t VALUES ({6000 + len(made)}, 'more')")

        monkeypatch.setattr(copies, "_copy_file", growing)
        with copies.private_copy(locate(store)) as copy:
            assert len(made) == 2 and count(copy) == ROWS + 1


def test_a_log_begun_anew_while_it_was_copied_is_copied_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make(tmp_path / "s.db")
    real = copies._copy_file
    with writer(store, "INSERT INTO t VALUES (5000, 'logged')") as other:
        made: list[bytes] = []

        def restarting(source: files.Held, target: bytes, size: int, step: object) -> None:
            real(source, target, size, step)  # type: ignore[arg-type]
            made.append(target)
            if len(made) == 1:
                other.do("PRAGMA wal_checkpoint(RESTART)")
                other.do("INSERT INTO t VALUES (5001, 'in the new log')")

        monkeypatch.setattr(copies, "_copy_file", restarting)
        with copies.private_copy(locate(store)) as copy:
            assert len(made) == 4 and count(copy) == ROWS + 2


# -- super-journals ----------------------------------------------------------------------------------


def as_sqlite_does(folder: Path, there: bool) -> list[tuple[object, ...]]:
    """What SQLite itself makes of a journal that names a super-journal, on a store nobody minds."""
    store = hot_journal(folder / "oracle.db")
    named = folder / "oracle-mj0123ABCDE"
    if there:
        named.write_bytes(os.fsencode(beside(store, "-journal")) + b"\0")
    name_super_journal(beside(store, "-journal"), os.fsencode(named))
    connection = sqlite3.connect(store)
    rows = connection.execute("SELECT min(a), max(a), sum(b LIKE 'half%') FROM t").fetchall()
    connection.close()
    assert not named.exists()  # SQLite removed it: that is the trap
    return rows


@pytest.mark.parametrize("there", [True, False])
def test_a_super_journal_decides_and_is_never_touched(tmp_path: Path, there: bool) -> None:
    (tmp_path / "oracle").mkdir()
    expected = as_sqlite_does(tmp_path / "oracle", there)
    (tmp_path / "store").mkdir()
    store = hot_journal(tmp_path / "store" / "s.db")
    named = tmp_path / "store" / "s.db-mj0123ABCDE"
    if there:
        named.write_bytes(os.fsencode(beside(store, "-journal")) + b"\0")
    name_super_journal(beside(store, "-journal"), os.fsencode(named))
    before = traces(tmp_path / "store")
    rows, info = direct.read(
        locate(store), lambda c: c.execute("SELECT min(a), max(a), sum(b LIKE 'half%') FROM t").fetchall()
    )
    assert info.route is Route.COPY and rows == expected
    assert (rows[0][2] == 0) == there
    assert traces(tmp_path / "store") == before


def test_an_empty_super_journal_counts_as_gone(tmp_path: Path) -> None:
    store = hot_journal(tmp_path / "s.db")
    (tmp_path / "mj").touch()
    name_super_journal(beside(store, "-journal"), os.fsencode(tmp_path / "mj"))
    before = traces(tmp_path)
    rows = direct.read(locate(store), lambda c: c.execute("SELECT sum(b LIKE 'half%') FROM t").fetchone())[0]
    assert rows[0] > 0 and traces(tmp_path) == before


# -- leftovers ---------------------------------------------------------------------------------------

_KILLED = """
import sys, time
from persistence.engines import copies
import tempfile; tempfile.tempdir = sys.argv[2]
copy = copies.make(sys.argv[1].encode(), "s.db")
print("made", flush=True)
time.sleep(60)
"""


def test_what_a_killed_process_left_is_told_from_what_lives(tmp_path: Path, temporary: Path) -> None:
    store = crashed_log(tmp_path / "s.db")
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(store), str(temporary)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None and process.stdout.readline() == b"made\n"
    mine = copies.make(os.fsencode(store), "s.db")
    assert len(list(temporary.iterdir())) == 2
    assert copies.sweep_leftovers(again=True) == 0
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert copies.sweep_leftovers(again=True) == 1
    assert [os.fsencode(entry) for entry in temporary.iterdir()] == [mine.directory]
    mine.remove()


def test_sweeping_touches_nothing_else(temporary: Path, tmp_path: Path) -> None:
    others = temporary / "store-inspector-copy-notes"
    others.mkdir(mode=0o700)
    (others / "notes.txt").write_text("mine")
    link = temporary / "store-inspector-copy-link"
    link.symlink_to(tmp_path)
    file = temporary / "store-inspector-copy-file"
    file.touch()
    begun = temporary / "store-inspector-copy-begun"
    begun.mkdir(mode=0o700)
    assert copies.sweep_leftovers(again=True) == 0
    os.utime(begun, (1, 1))
    assert copies.sweep_leftovers(again=True) == 1 and not begun.exists()
    (others / "notes.txt").unlink()
    others.rmdir()
    link.unlink()
    file.unlink()


# -- the shelf ---------------------------------------------------------------------------------------


def test_a_copy_is_kept_while_the_store_does_not_move(tmp_path: Path, temporary: Path) -> None:
    path = os.fsencode(crashed_log(tmp_path / "s.db"))
    shelf = Shelf()
    assert shelf.borrow(take(path)) is None
    first = shelf.make(path, "s.db", lambda: False)
    assert shelf.borrow(take(path)) is first
    beside(tmp_path / "s.db", "-wal").touch()
    assert shelf.borrow(take(path)) is None
    second = shelf.make(path, "s.db", lambda: False)
    assert second is not first and not first.removed
    shelf.give_back(first)
    assert not first.removed  # lent twice
    shelf.give_back(first)
    assert first.removed
    shelf.clear()
    assert not second.removed
    shelf.give_back(second)
    assert second.removed


def test_two_that_need_a_copy_at_once_share_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = os.fsencode(crashed_log(tmp_path / "s.db"))
    shelf, began, go_on = Shelf(), threading.Event(), threading.Event()
    real, made = copies.make, []

    def slow(*arguments: object, **named: object) -> copies.PrivateCopy:
        began.set()
        go_on.wait(5)
        made.append(real(*arguments, **named))  # type: ignore[arg-type]
        return made[-1]

    monkeypatch.setattr(copies, "make", slow)
    results: list[copies.PrivateCopy] = []
    threads = [
        threading.Thread(target=lambda: results.append(shelf.make(path, "s.db", lambda: False)))
        for _ in range(2)
    ]
    threads[0].start()
    began.wait(5)
    threads[1].start()
    time.sleep(0.05)
    go_on.set()
    for thread in threads:
        thread.join(5)
    assert len(made) == 1 and results == [made[0]] * 2
    for copy in results:
        shelf.give_back(copy)
    shelf.clear()


def test_waiting_for_anothers_copy_can_be_cancelled(tmp_path: Path) -> None:
    shelf = Shelf()
    shelf._making.acquire()
    with pytest.raises(CancelledReadError):
        shelf.make(os.fsencode(tmp_path / "s.db"), "s.db", lambda: True)
