"""The reads of D7: their order, and what each may touch."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from persistence.errors import UnreadableStoreError
from persistence.lineage import reads
from tests.persistence.engines.states import name_super_journal, traces, writer
from tests.persistence.lineage.craft import (
    META,
    beside,
    complete,
    edit,
    foreign,
    hot,
    logged,
    small,
    state_of,
)
from tests.persistence.lineage.looking import deciding, look, ways
from tests.persistence.lineage.probe import examine_elsewhere

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


def _busy(monkeypatch: pytest.MonkeyPatch, commit: Callable[[], object]) -> None:
    """Something is committed in the middle of every read of the file alone, and nobody waits."""
    real = reads._Reads._first

    def first(self: Any, parts: Any) -> Any:
        found = real(self, parts)
        commit()
        return found

    monkeypatch.setattr(reads._Reads, "_first", first)
    monkeypatch.setattr(reads.time, "sleep", lambda _seconds: None)


@pytest.mark.parametrize("mode", ["delete", "persist", "truncate"])
def test_a_rollback_store_written_without_a_pause_is_read_by_a_shared_lock(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_copies: None
) -> None:
    path = edit(complete(tmp_path), f"PRAGMA journal_mode={mode}", "CREATE TABLE filler (n)")
    with writer(path, f"PRAGMA journal_mode={mode}") as other:
        _busy(monkeypatch, lambda: other.do("INSERT INTO filler VALUES (1)"))
        report = look(path)
        assert report.native.opens
        assert ways(report) == ["immutable"] * (reads.POLITE + 1) + ["shared lock"]
        assert deciding(report) == "shared lock"
    assert (report.application, report.version) == ("lionagi", "4")


def test_a_busy_writer_that_holds_the_store_locked_makes_it_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_copies: None
) -> None:
    path = edit(complete(tmp_path), "PRAGMA journal_mode=DELETE", "CREATE TABLE filler (n)")
    monkeypatch.setattr(reads, "_LOCK_WITHIN", 0.0)
    with writer(path, "PRAGMA locking_mode=EXCLUSIVE") as other:
        _busy(monkeypatch, lambda: other.do("INSERT INTO filler VALUES (1)"))
        report = look(path)
    assert isinstance(report.native.refusal, UnreadableStoreError)
    assert report.native.refusal.code == "store-moving"
    assert ways(report).count("immutable") == reads.TRIES
    assert any(step.way == "shared lock" and "SQLITE_BUSY" in step.answer for step in report.reads)


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
