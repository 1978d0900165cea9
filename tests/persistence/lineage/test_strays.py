"""Frames of an earlier generation are told from damaged ones by what is true of real frames alone."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from persistence.files import log_facts
from persistence.lineage.journals import at_rest, broken_records, header_makes_sense
from persistence.sidecars import read_journal, read_log
from tests.persistence.engines.states import writer
from tests.persistence.lineage.craft import beside, hot, logged

FRAME = 24 + 4096


def facts(path: Path):  # type: ignore[no-untyped-def]
    data = path.read_bytes()
    return read_log(lambda count, offset: data[offset : offset + count], len(data))


def table(path: Path) -> Path:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE t (a)")
    connection.close()
    return path


def test_a_log_begun_anew_by_its_writer_keeps_old_frames_and_is_sound(tmp_path: Path) -> None:
    path = table(tmp_path / "s.db")
    with writer(path, "PRAGMA wal_autocheckpoint=0") as one:
        for number in range(9):
            one.do(f"INSERT INTO t VALUES ({number})")
        one.do("PRAGMA wal_checkpoint(RESTART)")
        one.do("INSERT INTO t VALUES (99)")
        found = facts(beside(path, "-wal"))
    assert found.earlier == 8 and found.strange_commits == 0
    assert not found.contradicts and not found.torn


def test_a_log_begun_anew_by_another_process_has_salts_of_its_own_and_is_sound(tmp_path: Path) -> None:
    path = table(tmp_path / "s.db")
    with (
        writer(path, "PRAGMA wal_autocheckpoint=0") as one,
        writer(path, "PRAGMA wal_autocheckpoint=0") as other,
    ):
        other.do("SELECT count(*) FROM t")
        for number in range(9):
            one.do(f"INSERT INTO t VALUES ({number})")
        one.do("PRAGMA wal_checkpoint(RESTART)")
        other.do("INSERT INTO t VALUES (99)")  # it counts no restarts of its own: its salts are new
        found = facts(beside(path, "-wal"))
    assert found.earlier == 8
    assert found.strange_commits <= 1
    assert not found.contradicts


def test_generations_lie_one_behind_the_other(tmp_path: Path) -> None:
    path = table(tmp_path / "s.db")
    with writer(path, "PRAGMA wal_autocheckpoint=0") as one:
        for length in (12, 7, 3):
            for number in range(length):
                one.do(f"INSERT INTO t VALUES ({number})")
            one.do("PRAGMA wal_checkpoint(RESTART)")
        one.do("INSERT INTO t VALUES (99)")
        found = facts(beside(path, "-wal"))
    assert found.frames == 12 and found.committed == 1 and found.earlier == 11
    assert not found.contradicts


@pytest.mark.parametrize("first", [0, 2])
def test_frames_whose_salts_alone_are_damaged_are_the_logs_own(first: int, tmp_path: Path) -> None:
    path = logged(tmp_path, "-", "acme-desk", shm=False, rows=20)
    log = beside(path, "-wal")
    data = bytearray(log.read_bytes())
    for number in range(first, (len(data) - 32) // FRAME):
        data[32 + number * FRAME + 8] ^= 0x40
    log.write_bytes(data)
    found = facts(log)
    assert found.strange_commits > 1
    assert found.contradicts
    assert "damaged frames" in found.words


def test_zeros_behind_the_frames_are_room_that_was_never_written(tmp_path: Path) -> None:
    path = logged(tmp_path, "-", "acme-desk", shm=False, rows=20)
    log = beside(path, "-wal")
    log.write_bytes(log.read_bytes() + bytes(FRAME * 10))
    found = facts(log)
    assert found.earlier == 10 and found.strange_commits == 0
    assert not found.contradicts


def test_random_frames_are_no_generation(tmp_path: Path) -> None:
    import random

    path = logged(tmp_path, "-", "acme-desk", shm=False, rows=20)
    log = beside(path, "-wal")
    log.write_bytes(log.read_bytes() + random.Random(3).randbytes(FRAME * 10))
    assert facts(log).contradicts


def test_what_is_remembered_of_a_log_is_what_it_is_now(tmp_path: Path) -> None:
    path = logged(tmp_path, "-", "acme-desk", shm=False, rows=20)
    log = beside(path, "-wal")
    assert not log_facts(bytes(log)).contradicts
    data = bytearray(log.read_bytes())
    data[100] ^= 1
    log.write_bytes(data)
    assert log_facts(bytes(log)).contradicts


def test_a_journals_pages_are_checked_one_by_one(tmp_path: Path) -> None:
    journal = beside(hot(tmp_path, "acme-desk", "lionagi", rows=60), "-journal")
    data = journal.read_bytes()

    def checked(given: bytes) -> tuple[int, bool]:
        def read(count: int, offset: int) -> bytes:
            return given[offset : offset + count]

        found = read_journal(read, len(given))
        return broken_records(read, found), header_makes_sense(found)

    assert checked(data) == (0, True)
    record = 4 + 4096 + 4
    for number in (0, 1):  # the first header promises two, the next one the rest
        spoiled = bytearray(data)
        spoiled[512 + number * record + 4 + 3896] ^= 1  # a byte the checksum counts
        assert checked(bytes(spoiled)) == (1, True)
    assert checked(data[:24] + b"\x00\x00\x10\x01" + data[28:])[1] is False
    assert at_rest(bytes(28)) and at_rest(bytes(8) + b"x" * 20) and not at_rest(b"\0" * 7 + b"x" * 20)
