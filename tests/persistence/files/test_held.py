"""Held descriptors: opened once, never closed, no lock of this process ever lost."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from persistence import files
from persistence.errors import NotAStoreError, StoreMissingError, StorePermissionError
from persistence.location import locate
from tests.persistence.engines.states import (
    beside,
    can_write,
    crashed_log,
    flip,
    hot_journal,
    make,
    traces,
    writer,
)


def open_descriptors() -> list[int]:
    return [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]


def descriptors(path: Path) -> int:
    """How many descriptors of this process are open on a file."""
    wanted, found = path.stat(), 0
    for name in open_descriptors():
        try:
            status = os.fstat(name)
        except OSError:
            continue
        found += (status.st_dev, status.st_ino) == (wanted.st_dev, wanted.st_ino)
    return found


def test_a_file_has_one_descriptor_however_it_is_named(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    (tmp_path / "link.db").symlink_to(store)
    os.link(store, tmp_path / "second.db")
    names = [store, tmp_path / "link.db", tmp_path / "second.db", tmp_path / "." / "s.db"]
    held = {files.hold(os.fsencode(name)).fd for name in names for _ in range(3)}
    assert len(held) == 1 and descriptors(store) == 1


def test_a_replaced_file_is_another_and_the_old_one_stays_held(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    before = files.hold(os.fsencode(store))
    make(tmp_path / "new.db")
    (tmp_path / "new.db").replace(store)
    after = files.hold(os.fsencode(store))
    assert after.identity != before.identity and after.fd != before.fd
    assert os.fstat(before.fd).st_nlink == 0


def test_descriptors_of_logs_that_came_and_went_are_let_go(tmp_path: Path) -> None:
    log = tmp_path / "s.db-wal"
    start = len(open_descriptors())
    for number in range(40):
        log.write_bytes(b"\x37\x7f\x06\x82" + bytes([number] * 60))
        with files.held(os.fsencode(log), sidecar=True) as file:
            assert file.read(1, 4) == bytes([number])
        log.unlink()
    assert len(open_descriptors()) <= start + 1


def test_a_log_in_use_is_not_let_go(tmp_path: Path) -> None:
    log, other = tmp_path / "s.db-wal", tmp_path / "o.db-wal"
    log.write_bytes(b"one")
    other.write_bytes(b"two")
    with files.held(os.fsencode(log), sidecar=True) as file:
        log.unlink()
        with files.held(os.fsencode(other), sidecar=True):
            assert file.read(3, 0) == b"one"


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_looking_drops_no_lock_of_this_process(tmp_path: Path, mode: str) -> None:
    """One open and close of the file would: another process could write then, and rows be lost."""
    store = make(tmp_path / "s.db", mode)
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO t VALUES (9999, 'mine')")
    assert can_write(store) == "SQLITE_BUSY"
    for _ in range(3):
        files.describe(locate(store))
        files.looks(os.fsencode(store))
        files.read_header(files.hold(os.fsencode(store)))
        files.someone_holds(files.hold(os.fsencode(store)))
    assert can_write(store) == "SQLITE_BUSY"
    connection.execute("COMMIT")
    connection.close()
    with writer(store) as other:
        assert "(1,)" in other.do("SELECT count(*) FROM t WHERE b = 'mine'")


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_somebody_having_a_store_open_is_asked_without_a_lock(tmp_path: Path, mode: str) -> None:
    store = make(tmp_path / "s.db", mode)
    held = files.hold(os.fsencode(store))
    assert files.someone_holds(held) is False
    with writer(store, "BEGIN", "SELECT * FROM t LIMIT 1"):
        assert files.someone_holds(held) is True
        assert can_write(store) == "ok"
    assert files.someone_holds(held) is False


def test_this_process_having_it_open_counts_too(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    connection = sqlite3.connect(store)
    connection.execute("SELECT * FROM t LIMIT 1").fetchall()
    assert files.someone_holds(files.hold(os.fsencode(store))) is True
    connection.close()
    assert files.someone_holds(files.hold(os.fsencode(store))) is False


def test_the_header(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    connection = sqlite3.connect(store)
    connection.execute("PRAGMA page_size=65536")
    connection.execute("PRAGMA encoding='UTF-16be'")
    connection.execute("PRAGMA user_version=7")
    connection.execute("PRAGMA application_id=99")
    connection.execute("PRAGMA journal_mode=wal")
    connection.execute("CREATE TABLE t(a)")
    connection.close()
    header = files.read_header(files.hold(os.fsencode(store)))
    assert header.sqlite and header.log_format and header.page_size == 65536
    assert (header.encoding, header.user_version, header.application_id) == ("UTF-16be", 7, 99)
    assert header.size == store.stat().st_size == header.pages * header.page_size
    version = [int(part) for part in sqlite3.sqlite_version.split(".")]
    assert header.written_by == version[0] * 1_000_000 + version[1] * 1000 + version[2]


def test_short_files_have_no_header(tmp_path: Path) -> None:
    (tmp_path / "s.db").write_bytes(b"SQLite format 3\0" + b"x" * 20)
    header = files.read_header(files.hold(os.fsencode(tmp_path / "s.db")))
    assert header.sqlite and header.page_size == 0 and header.encoding is None


def states(path: Path) -> dict[str, str]:
    return {fact.name.removeprefix("s.db"): fact.state for fact in files.describe(locate(path))}


def test_describing_what_lies_there(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db", "delete")
    assert states(store) == {
        "": "rollback journal format",
        "-wal": "none",
        "-shm": "none",
        "-journal": "none",
    }
    hot_journal(store.with_name("hot.db"))
    facts = {fact.name: fact for fact in files.describe(locate(tmp_path / "hot.db"))}
    assert facts["hot.db-journal"].state.startswith("hot header, ")
    assert (
        facts["hot.db"].links == 1 and facts["hot.db"].mode == (tmp_path / "hot.db").stat().st_mode & 0o7777
    )


def test_describing_a_log_and_its_index(tmp_path: Path) -> None:
    store = crashed_log(tmp_path / "s.db", commits=3)
    before = traces(tmp_path)
    assert states(store) == {
        "": "write-ahead log format",
        "-wal": "3 frames, 3 commits, sound",
        "-shm": "readable",
        "-journal": "none",
    }
    assert traces(tmp_path) == before
    flip(beside(store, "-wal"), 8)
    assert states(store)["-wal"] == "its header is not valid"


def test_describing_never_fails(tmp_path: Path) -> None:
    assert states(tmp_path / "none" / "s.db") == dict.fromkeys(("", "-wal", "-shm", "-journal"), "none")
    (tmp_path / "s.db").mkdir()
    (tmp_path / "s.db-wal").mkdir()
    os.mkfifo(tmp_path / "s.db-journal")
    found = states(tmp_path / "s.db")
    assert (found[""], found["-wal"], found["-journal"]) == ("a directory", "a directory", "a pipe")
    assert files.describe(locate("postgresql://u@h/d")) == ()


def test_checked_logs_are_remembered_until_they_move(tmp_path: Path) -> None:
    log = os.fsencode(beside(crashed_log(tmp_path / "s.db"), "-wal"))
    calls: list[int] = []
    first = files.log_facts(log, lambda done, total: calls.append(total))
    assert files.log_facts(log, lambda done, total: calls.append(total)) is first
    assert calls == [5]
    flip(Path(os.fsdecode(log)), 60)
    assert files.log_facts(log).commits == 0


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (PermissionError(13, "Permission denied"), StorePermissionError, "no-permission"),
        (FileNotFoundError(2, "No such file"), StoreMissingError, "no-such-store"),
        (OSError(40, "Too many levels of symbolic links"), NotAStoreError, "not-a-database"),
        (OSError(24, "Too many open files"), Exception, "too-many-files"),
        (OSError(5, "Input/output error"), Exception, "io-error"),
    ],
)
def test_what_the_system_said_is_a_typed_refusal(error: OSError, kind: type, code: str) -> None:
    refusal = files.os_refusal(error, "~/s.db")
    assert isinstance(refusal, kind) and refusal.code == code and refusal.where == "~/s.db"
