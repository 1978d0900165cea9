"""When a private copy is made for a lineage, and what becomes of it."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest

from persistence import files
from persistence.engines import copies
from persistence.errors import UnreadableStoreError
from persistence.lineage import reads
from tests.persistence.engines.states import can_write, writer
from tests.persistence.lineage.craft import (
    beside,
    complete,
    edit,
    hot,
    logged,
    meta,
)
from tests.persistence.lineage.looking import between, deciding, look, ways

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
