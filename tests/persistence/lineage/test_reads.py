"""The reads of D7: their order, what each may touch, when a copy is made and what becomes of it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from persistence import files
from persistence.engines import copies
from persistence.errors import UnreadableStoreError
from persistence.lineage import LineageReport, examine, reads
from persistence.location import locate
from tests.persistence.engines.states import can_write, name_super_journal, traces, writer
from tests.persistence.lineage.craft import (
    META,
    beside,
    complete,
    edit,
    foreign,
    hot,
    logged,
    meta,
    small,
    state_of,
)
from tests.persistence.lineage.probe import examine_elsewhere


def look(path: Path) -> LineageReport:
    return examine(locate(path), surroundings=False)


def ways(report: LineageReport) -> list[str]:
    return [step.way for step in report.reads if step.way in ("immutable", "readonly_shm", "private copy")]


def deciding(report: LineageReport) -> str:
    (step,) = [step for step in report.reads if step.decides]
    return step.way


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The temporary directory of this test, and of the processes it starts; nothing is left in it."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def no_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_arguments: Any, **_named: Any) -> Any:
        raise AssertionError("a copy was made")

    monkeypatch.setattr(copies, "make", never)


def between(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object], times: int) -> list[int]:
    """Does something to the store in the middle of each of the first copies; the calls counted."""
    calls: list[int] = []
    real = copies._copy_all

    def copy_all(*arguments: Any) -> None:
        calls.append(len(calls))
        real(*arguments)
        if len(calls) <= times:
            act()

    monkeypatch.setattr(copies, "_copy_all", copy_all)
    return calls


# -- the first read -----------------------------------------------------------------------------------


@pytest.mark.adr("0128-D7-27", "0128-D7-45", "0128-D7-64")
@pytest.mark.parametrize("make", [complete, foreign], ids=["log format", "rollback format"])
def test_at_rest_one_immutable_read_decides(
    make: Callable[[Path], Path], tmp_path: Path, no_copies: None
) -> None:
    report = look(make(tmp_path))
    assert ways(report) == ["immutable"]
    assert deciding(report) == "immutable"
    assert report.seen is not None and report.seen.tables and report.seen.version
    assert report.seen.meta_columns


@pytest.mark.adr("0128-D7-45")
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_the_first_read_takes_no_lock_and_opens_only_the_file(tmp_path: Path) -> None:
    path = complete(tmp_path)
    log = tmp_path / "trace"
    examine_elsewhere(
        [(tmp_path, str(path))],
        prefix=["strace", "-f", "-y", "-e", "trace=openat,fcntl,flock", "-o", str(log)],
    )
    lines = [line for line in log.read_text().splitlines() if "store.db" in line]
    opened = [line for line in lines if "openat(" in line]
    assert opened
    for line in opened:
        assert re.search(r'store\.db", O_RDONLY', line), line
    locks = [line for line in lines if "F_SETLK" in line or "F_OFD_SETLK" in line or "flock(" in line]
    assert not locks


def test_a_store_another_process_has_locked_whole_is_read(tmp_path: Path) -> None:
    path = foreign(tmp_path)
    with writer(path, "BEGIN EXCLUSIVE"):
        report = look(path)
    assert type(report.native.refusal).__name__ == "ForeignLineageError"


@pytest.mark.adr("0128-D7-46", "0128-D7-48")
def test_what_an_interrupted_transaction_left_half_written_is_skipped(tmp_path: Path) -> None:
    path = hot(tmp_path, "acme-desk", "lionagi")
    root = _root_page(path, "schema_meta")
    data = bytearray(path.read_bytes())
    data[(root - 1) * 4096 : root * 4096] = b"\xee" * 4096
    path.write_bytes(data)
    report = look(path)
    first = next(step for step in report.reads if step.way == "immutable")
    assert "skipped schema_meta" in first.answer
    assert deciding(report) == "private copy"
    assert report.application == "acme-desk"


def test_a_schema_with_an_entry_half_written_does_not_end_the_first_read(tmp_path: Path) -> None:
    path = hot(tmp_path, "acme-desk", "lionagi")
    data = path.read_bytes()
    path.write_bytes(data.replace(b"CREATE TABLE filler", b"CREATE TABLX filler", 1))
    report = look(path)
    first = next(step for step in report.reads if step.way == "immutable")
    assert "lineage 'lionagi'" in first.answer
    # The schema's page was not in the journal, so the copy is broken in the same place: nothing opens it.
    assert report.native.opens is False


def _root_page(path: Path, table: str) -> int:
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    connection.close()
    return int(page)


# -- beside a journal ---------------------------------------------------------------------------------


@pytest.mark.adr("0128-D7-47", "0128-D7-48")
@pytest.mark.parametrize(
    ("committed", "pending", "drop"),
    [("acme-desk", "lionagi", False), ("acme-desk", "", True), ("lionagi", "acme-desk", False)],
)
def test_beside_a_hot_journal_the_rolled_back_row_decides(
    committed: str, pending: str, drop: bool, tmp_path: Path
) -> None:
    path = hot(tmp_path, committed, pending, drop_row=drop)
    before = state_of(tmp_path)
    report = look(path)
    assert ways(report) == ["immutable", "private copy"]
    assert report.application == committed
    assert report.file_rows is not None
    assert report.file_rows.lineage == (() if drop else (pending,))
    assert report.read_only.route == "copy"
    assert state_of(tmp_path) == before


def test_a_complete_store_behind_a_hot_journal_opens_natively(tmp_path: Path) -> None:
    base = complete(tmp_path, name="base.db")
    edit(base, "PRAGMA journal_mode=DELETE")
    content = base.read_bytes()
    base.unlink()
    path = hot(tmp_path, "lionagi", "acme-desk", base=content)
    report = look(path)
    assert report.native.opens is True
    assert deciding(report) == "private copy"


@pytest.mark.parametrize("there", [True, False], ids=["there", "gone"])
def test_a_super_journal_decides_as_sqlite_would_and_is_never_touched(there: bool, tmp_path: Path) -> None:
    path = hot(tmp_path, "acme-desk", "lionagi")
    name = tmp_path / "store.db-mj12345678"
    if there:
        name.write_bytes(b"not empty")
    name_super_journal(beside(path, "-journal"), os.fsencode(name))
    before = state_of(tmp_path)
    report = look(path)
    # With it there the transaction was not committed; with it gone it was, and what the file shows stands.
    assert report.application == ("acme-desk" if there else "lionagi")
    assert any(step.what == str(name) for step in report.reads)
    assert state_of(tmp_path) == before


def test_a_journal_at_rest_is_not_copied(tmp_path: Path, no_copies: None) -> None:
    path = foreign(tmp_path)
    beside(path, "-journal").write_bytes(bytes(28) + b"left of an earlier transaction" * 40)
    assert deciding(look(path)) == "immutable"


def test_a_writer_at_work_is_told_from_one_that_was_interrupted(tmp_path: Path) -> None:
    path = complete(tmp_path)
    edit(path, "PRAGMA journal_mode=DELETE")
    with writer(path, "PRAGMA cache_size=2", "BEGIN IMMEDIATE", "CREATE TABLE pending (a)") as other:
        other.do("INSERT INTO pending SELECT randomblob(9000) FROM message_types")
        other.do("UPDATE schema_meta SET value = 'acme-desk' WHERE key = 'lineage'")
        other.do("INSERT INTO pending SELECT randomblob(9000) FROM message_types")
        assert beside(path, "-journal").read_bytes()[:8] == b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
        report = look(path)
        assert report.native.opens is True  # the committed row still says lionagi
        assert report.read_only.route == "live"
        other.do("COMMIT")
    assert look(path).application == "acme-desk"


# -- beside a log -------------------------------------------------------------------------------------


@pytest.mark.adr("0128-D7-49", "0128-D7-50")
def test_beside_a_log_it_is_read_through_its_index_whatever_the_file_says(
    tmp_path: Path, no_copies: None
) -> None:
    path = logged(tmp_path, "lionagi", "acme-desk", native=True)
    before = state_of(tmp_path)
    report = look(path)
    assert ways(report) == ["immutable", "readonly_shm"]
    assert report.application == "acme-desk"
    assert report.file_rows is not None and report.file_rows.lineage == ("lionagi",)
    assert state_of(tmp_path) == before  # the index too


@pytest.mark.adr("0128-D7-49")
def test_a_live_writers_log_is_read_through_the_index_they_share(tmp_path: Path, no_copies: None) -> None:
    path = complete(tmp_path)
    with writer(path, "PRAGMA wal_autocheckpoint=0") as other:
        other.do("UPDATE schema_meta SET value = 'acme-desk' WHERE key = 'lineage'")
        before = traces(tmp_path)
        report = look(path)
        assert traces(tmp_path) == before
    assert deciding(report) == "readonly_shm"
    assert report.application == "acme-desk"
    assert any("in use, not checked" in step.answer for step in report.reads)


@pytest.mark.adr("0128-D7-51")
def test_without_an_index_the_log_is_read_from_a_copy(tmp_path: Path) -> None:
    report = look(logged(tmp_path, "-", "acme-desk", shm=False))
    assert ways(report) == ["immutable", "private copy"]
    assert report.application == "acme-desk"


@pytest.mark.adr("0128-D7-52")
def test_when_the_read_through_the_index_fails_a_copy_is_read(tmp_path: Path) -> None:
    path = logged(tmp_path, "lionagi", "lionagi", native=True)
    index = beside(path, "-shm").read_bytes()
    with writer(path, "PRAGMA locking_mode=EXCLUSIVE", "PRAGMA wal_autocheckpoint=0") as other:
        # The writer holds every lock of the store and keeps its index to itself.
        other.do("UPDATE schema_meta SET value = 'acme-desk' WHERE key = 'lineage'")
        beside(path, "-shm").write_bytes(index)
        report = look(path)
    failed = next(step for step in report.reads if step.way == "readonly_shm")
    assert failed.answer.startswith("failed: ")
    assert deciding(report) == "private copy"
    assert report.application == "acme-desk"


def test_a_log_beside_a_rollback_file_is_read_as_sqlite_would_and_said(tmp_path: Path) -> None:
    path = complete(tmp_path)
    log = logged(tmp_path, "lionagi", "acme-desk", native=True, shm=False)
    edit(shutil.copyfile(log, tmp_path / "other.db"), "PRAGMA journal_mode=DELETE")
    shutil.copyfile(tmp_path / "other.db", path)
    report = look(path)
    assert {notice.code for notice in report.notices} == {"log-beside-rollback"}
    assert any("rollback format" in text for text in report.read_only.notices)
    assert deciding(report) == "private copy"


# -- copies -------------------------------------------------------------------------------------------


@pytest.mark.adr("0128-D7-53", "0128-D7-54", "0128-D7-55")
def test_a_copy_is_in_a_directory_of_its_own_that_only_this_user_reads(
    tmp_path: Path, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    store.mkdir()
    path = logged(store, "-", "acme-desk", shm=False)
    seen: list[tuple[int, list[str]]] = []
    real = copies._recover

    def recover(copy: copies.PrivateCopy, display: str) -> None:
        (folder,) = temporary.iterdir()
        seen.append((stat.S_IMODE(folder.stat().st_mode), sorted(entry.name for entry in folder.iterdir())))
        real(copy, display)

    monkeypatch.setattr(copies, "_recover", recover)
    assert look(path).application == "acme-desk"
    assert seen == [(0o700, ["in-use", "store", "store-wal"])]
    assert list(temporary.iterdir()) == []


@pytest.mark.adr("0128-D7-55")
def test_a_copy_that_cannot_be_read_is_removed_all_the_same(tmp_path: Path, temporary: Path) -> None:
    path = hot(tmp_path, "acme-desk", "lionagi")
    data = bytearray(path.read_bytes())
    data[100:4000] = b"\xee" * 3900  # the first page, which the journal does not have whole any more
    path.write_bytes(data)
    journal = beside(path, "-journal")
    journal.write_bytes(journal.read_bytes().replace(b"SQLite format 3", b"SQLite format X"))
    report = look(path)
    assert report.native.opens is False
    assert list(temporary.iterdir()) == []


@pytest.mark.adr("0128-D7-57")
def test_a_copy_is_byte_for_byte_whatever_the_pages_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = logged(tmp_path, "-", "acme-desk", shm=False)
    path.write_bytes(path.read_bytes() + b"\xff" * 4096 + b"\x00" * 100)
    same: list[bool] = []
    real = copies._recover

    def recover(copy: copies.PrivateCopy, display: str) -> None:
        same.append(Path(os.fsdecode(copy.path)).read_bytes() == path.read_bytes())
        same.append(Path(os.fsdecode(copy.path + b"-wal")).read_bytes() == beside(path, "-wal").read_bytes())
        real(copy, display)

    monkeypatch.setattr(copies, "_recover", recover)
    look(path)
    assert same == [True, True]


@pytest.mark.adr("0128-D7-58", "0128-D7-60")
def test_each_store_copied_keeps_one_descriptor_and_no_more(tmp_path: Path) -> None:
    path = logged(tmp_path, "-", "acme-desk", shm=False)
    look(path)
    kept = _descriptors(path)
    assert len(kept) == 1
    for _ in range(3):
        look(path)
    link = tmp_path / "another.db"
    link.symlink_to(path)
    look(link)
    assert _descriptors(path) == kept


def _descriptors(path: Path) -> list[str]:
    found = path.stat()
    kept = []
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            now = entry.stat()
            if (now.st_dev, now.st_ino) == (found.st_dev, found.st_ino):
                kept.append(entry.name)
    return kept


@pytest.mark.adr("0128-D7-61")
def test_where_locks_belong_to_handles_files_are_opened_as_usual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "KEEPS", False)
    path = logged(tmp_path, "-", "acme-desk", shm=False)
    assert look(path).application == "acme-desk"
    assert _descriptors(path) == []
    assert _descriptors(beside(path, "-wal")) == []


@pytest.mark.adr("0128-D7-59")
@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_copying_drops_no_lock_of_this_process(mode: str, tmp_path: Path) -> None:
    path = complete(tmp_path)
    edit(path, f"PRAGMA journal_mode={mode}")
    own = sqlite3.connect(path, isolation_level=None)
    try:
        own.execute("PRAGMA cache_size=2")
        own.execute("BEGIN IMMEDIATE")
        own.execute("CREATE TABLE pending (a)")
        own.execute("INSERT INTO pending SELECT randomblob(9000) FROM message_types")
        assert can_write(path) == "SQLITE_BUSY"
        if mode == "wal":
            beside(path, "-shm").rename(tmp_path / "away")  # so that it has to be copied
        report = look(path)
        assert deciding(report) in ("private copy", "immutable")
        if mode == "wal":
            (tmp_path / "away").rename(beside(path, "-shm"))
        assert can_write(path) == "SQLITE_BUSY"
        own.execute("COMMIT")
    finally:
        own.close()
    assert can_write(path) == "ok"


@pytest.mark.adr("0128-D7-62")
def test_a_copy_the_store_committed_under_is_taken_again_from_the_first_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = complete(tmp_path)
    edit(path, "PRAGMA journal_mode=DELETE")
    with writer(path, "PRAGMA cache_size=2", "BEGIN IMMEDIATE", "CREATE TABLE pending (a)") as other:
        other.do("INSERT INTO pending SELECT randomblob(9000) FROM message_types")
        other.do("UPDATE schema_meta SET value = 'acme-desk' WHERE key = 'lineage'")
        other.do("INSERT INTO pending SELECT randomblob(9000) FROM message_types")
        calls = between(monkeypatch, lambda: other.do("COMMIT"), 1)
        report = look(path)
    assert len(calls) == 1
    assert ways(report) == ["immutable", "private copy", "immutable"]
    moved = [step for step in report.reads if step.moved]
    assert [step.way for step in moved] == ["private copy"]
    assert report.application == "acme-desk"


@pytest.mark.adr("0128-D7-62")
def test_a_copy_a_checkpoint_began_the_log_anew_under_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = complete(tmp_path)
    with writer(path, "PRAGMA wal_autocheckpoint=0", "PRAGMA locking_mode=EXCLUSIVE") as other:
        other.do("UPDATE schema_meta SET value = 'one' WHERE key = 'lineage'")

        def restart() -> None:
            other.do("PRAGMA wal_checkpoint(RESTART)")
            other.do("UPDATE schema_meta SET value = 'two' WHERE key = 'lineage'")

        calls = between(monkeypatch, restart, 1)
        report = look(path)
    assert len(calls) == 2
    assert report.application == "two"
    assert ways(report) == ["immutable", "private copy"] * 2


@pytest.mark.adr("0128-D7-63", "0128-D7-29")
def test_a_store_that_moves_under_every_copy_is_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = complete(tmp_path)
    monkeypatch.setattr(reads.time, "sleep", lambda _seconds: None)
    with writer(path, "PRAGMA wal_autocheckpoint=0", "PRAGMA locking_mode=EXCLUSIVE") as other:
        other.do("UPDATE schema_meta SET value = '0' WHERE key = 'version'")

        def restart() -> None:
            other.do("PRAGMA wal_checkpoint(RESTART)")
            other.do("UPDATE schema_meta SET value = value + 1 WHERE key = 'version'")

        calls = between(monkeypatch, restart, 1000)
        report = look(path)
    assert len(calls) == reads.TRIES
    assert isinstance(report.native.refusal, UnreadableStoreError)
    assert report.native.refusal.code == "store-moving"
    assert report.read_only.opens is False
    assert report.seen is None


def test_a_file_that_takes_the_name_during_the_read_is_not_mistaken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = complete(tmp_path)
    (tmp_path / "away").mkdir()
    other = meta(complete(tmp_path / "away"), "lineage", "acme-desk")
    real = reads._Reads._first
    swapped: list[int] = []

    def swap(self: Any, parts: Any) -> Any:
        found = real(self, parts)
        if not swapped:
            swapped.append(1)
            other.replace(path)
        return found

    monkeypatch.setattr(reads._Reads, "_first", swap)
    report = look(path)
    assert report.application == "acme-desk"
    assert any(step.moved for step in report.reads)


# -- damage -------------------------------------------------------------------------------------------


def test_a_torn_last_transaction_is_normal_and_said(tmp_path: Path) -> None:
    path = logged(tmp_path, "lionagi", "lionagi", native=True, shm=False, rows=3)
    log = beside(path, "-wal")
    log.write_bytes(log.read_bytes()[:-2000] + b"\x77" * 2000)
    report = look(path)
    assert report.native.opens is True
    assert [notice.code for notice in report.notices] == ["log-torn"]


@pytest.mark.parametrize("index", [True, False])
def test_a_log_that_breaks_off_before_two_commits_decides_nothing(index: bool, tmp_path: Path) -> None:
    path = logged(tmp_path, "lionagi", "lionagi", native=True, shm=index)
    log = beside(path, "-wal")
    data = bytearray(log.read_bytes())
    data[32 + 24 + 100] ^= 0x55  # the first frame's page
    log.write_bytes(data)
    report = look(path)
    assert isinstance(report.native.refusal, UnreadableStoreError)
    assert report.native.refusal.code == "log-broken"
    assert report.read_only.opens is True and report.read_only.route == "copy"
    assert report.read_only.notices


def test_a_file_shorter_than_it_says_is_not_opened(tmp_path: Path) -> None:
    path = complete(tmp_path)
    path.write_bytes(path.read_bytes()[: 4096 * 100])
    refusal = look(path).native.refusal
    assert isinstance(refusal, UnreadableStoreError)
    assert refusal.code == "file-short"
    assert "409,600" in (refusal.observed or "")


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_an_empty_file_beside_one_that_is_not_is_no_new_store(suffix: str, tmp_path: Path) -> None:
    path = logged(tmp_path, "-", "acme-desk") if suffix == "-wal" else hot(tmp_path, "acme-desk", "x")
    path.write_bytes(b"")
    report = look(path)
    assert isinstance(report.native.refusal, UnreadableStoreError)
    assert report.native.refusal.code == "empty-beside"
    assert report.compatibility.opens is False


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda data: data[: len(data) // 2], "journal-short"),
        (lambda data: data[:20] + b"\x00\x00\x00\x00" + data[24:], "journal-odd"),
        (lambda data: data[:24] + b"\x00\x00\x00\x03" + data[28:], "journal-odd"),
        (lambda data: b"X" + data[1:], "journal-odd"),
        (lambda data: data[:512] + b"\xff" * 4104 + data[512 + 4104 :], "journal-broken"),
    ],
    ids=["cut", "sector", "page", "first byte", "record"],
)
def test_a_journal_that_cannot_put_back_what_it_promises_decides_nothing(
    change: Callable[[bytes], bytes], code: str, tmp_path: Path
) -> None:
    path = hot(tmp_path, "acme-desk", "lionagi")
    journal = beside(path, "-journal")
    journal.write_bytes(change(journal.read_bytes()))
    for verdict in (look(path).native, look(path).compatibility):
        assert isinstance(verdict.refusal, UnreadableStoreError)
        assert verdict.refusal.code == code


def test_a_second_name_refuses_both_writable_modes(tmp_path: Path) -> None:
    path = meta(complete(tmp_path), "lineage", "acme-desk")
    os.link(path, tmp_path / "other.db")
    report = look(path)
    assert report.links == 2
    for verdict in (report.native, report.compatibility):
        assert verdict.opens is False and verdict.refusal is not None
        assert verdict.refusal.code == "second-name"
    assert report.read_only.opens is True
    assert any("2 names" in text for text in report.read_only.notices)


@pytest.mark.adr("0128-D7-29")
@pytest.mark.parametrize("lineage", ["lionagi", "acme-desk"])
def test_beside_an_unreadable_log_the_files_own_row_decides_nothing(lineage: str, tmp_path: Path) -> None:
    path = meta(complete(tmp_path), "lineage", lineage)
    beside(path, "-wal").mkdir()
    refusal = look(path).native.refusal
    assert isinstance(refusal, UnreadableStoreError)
    assert refusal.lineage is None  # no conclusion is drawn from it


# -- what a table cannot hide -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        'CREATE TABLE schema_meta ("key" TEXT COLLATE NOCASE PRIMARY KEY, value TEXT)',
        'CREATE TABLE schema_meta ("key" TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID',
        'CREATE TABLE schema_meta ("key" TEXT PRIMARY KEY, value TEXT) STRICT',
        'CREATE TABLE schema_meta ("key" NUMERIC PRIMARY KEY, value NUMERIC)',
        'CREATE TABLE schema_meta (a, "key" TEXT PRIMARY KEY, b, value TEXT, c)',
    ],
)
def test_no_declaration_hides_the_row(table: str, tmp_path: Path) -> None:
    path = small(
        tmp_path,
        table,
        "INSERT INTO schema_meta (key, value) VALUES ('LINEAGE', 'lionagi')"
        if "NOCASE" not in table
        else "INSERT INTO schema_meta (key, value) VALUES ('created_at', '1')",
        "INSERT INTO schema_meta (key, value) VALUES ('lineage', 'acme-desk')",
    )
    assert look(path).application == "acme-desk"


def test_an_index_that_lost_the_row_does_not_hide_it(tmp_path: Path) -> None:
    path = small(
        tmp_path,
        META,
        "INSERT INTO schema_meta VALUES ('lineage', 'acme-desk')",
        "CREATE TABLE sessions (id)",
    )
    connection = sqlite3.connect(path, isolation_level=None)
    (page,) = connection.execute(
        "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_schema_meta_1'"
    ).fetchone()
    connection.close()
    data = bytearray(path.read_bytes())
    data[(page - 1) * 4096 + 3 : (page - 1) * 4096 + 5] = b"\0\0"  # the index has no cells any more
    path.write_bytes(data)
    assert look(path).application == "acme-desk"


def test_rows_of_another_key_type_are_not_taken_for_it(tmp_path: Path) -> None:
    path = small(tmp_path, 'CREATE TABLE schema_meta ("key", value)')
    edit(path, ("INSERT INTO schema_meta VALUES (?, ?)", (b"lineage", "acme-desk")))
    assert look(path).application is None


def test_a_utf16_store_is_read_the_same(tmp_path: Path) -> None:
    path = small(
        tmp_path,
        "PRAGMA encoding='UTF-16'",
        META,
        "INSERT INTO schema_meta VALUES ('lineage', 'acme-désk')",
        "INSERT INTO schema_meta VALUES ('version', '7')",
    )
    report = look(path)
    assert (report.application, report.version) == ("acme-désk", "7")


def test_text_that_is_not_utf8_is_kept_apart_exactly(tmp_path: Path) -> None:
    path = small(tmp_path, META, "INSERT INTO schema_meta VALUES ('lineage', CAST(x'6c69ff' AS TEXT))")
    assert look(path).application == "li\udcff"
