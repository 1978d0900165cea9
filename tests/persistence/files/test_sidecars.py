"""Journals and logs, read as SQLite's own recovery reads them."""

from __future__ import annotations

import shutil
import sqlite3
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persistence.sidecars import JournalFacts, LogFacts, read_journal, read_log
from tests.persistence.engines.states import (
    beside,
    crashed_log,
    flip,
    hot_journal,
    make,
    name_super_journal,
)

FRAME = 24 + 4096


def log_of(path: Path) -> LogFacts:
    data = path.read_bytes()
    return read_log(lambda count, offset: data[offset : offset + count], len(data))


def journal_of(path: Path) -> JournalFacts:
    data = path.read_bytes()
    return read_journal(lambda count, offset: data[offset : offset + count], len(data))


def recovered_frames(store: Path) -> int:
    """How many frames SQLite's recovery accepts, on a copy: it is the oracle."""
    copy = store.with_name("oracle.db")
    shutil.copy(store, copy)
    shutil.copy(beside(store, "-wal"), beside(copy, "-wal"))
    connection = sqlite3.connect(copy)
    log = connection.execute("PRAGMA wal_checkpoint").fetchone()[1]
    connection.close()
    return int(log)


def test_a_sound_log(tmp_path: Path) -> None:
    store = crashed_log(tmp_path / "s.db", commits=7)
    facts = log_of(beside(store, "-wal"))
    assert (facts.valid, facts.commits, facts.passed_over, facts.earlier) == (True, 7, 0, 0)
    assert facts.committed == facts.frames == recovered_frames(store)
    assert facts.words == f"{facts.frames} frames, 7 commits, sound"
    assert not facts.contradicts and not facts.torn


def test_a_transaction_that_was_never_committed_is_torn_not_wrong(tmp_path: Path) -> None:
    store = crashed_log(tmp_path / "s.db", unfinished=True)
    facts = log_of(beside(store, "-wal"))
    assert facts.commits == 5 and facts.passed_over > 0 and facts.passed_over_commits == 0
    assert facts.torn and not facts.contradicts
    assert facts.committed == recovered_frames(store)


@pytest.mark.parametrize("behind", [0, 1, 2, 4])
def test_a_break_hides_what_is_behind_it(tmp_path: Path, behind: int) -> None:
    store = crashed_log(tmp_path / "s.db", commits=5)
    log = beside(store, "-wal")
    whole = log_of(log)
    assert whole.frames == 5  # one page a commit: frame n ends commit n
    flip(log, 32 + (4 - behind) * FRAME + 24 + 99)
    facts = log_of(log)
    assert facts.committed == 4 - behind == recovered_frames(store)
    assert facts.passed_over == facts.passed_over_commits == behind + 1
    assert facts.contradicts == (behind >= 1)
    assert facts.torn == (behind == 0)


def test_frames_of_an_earlier_generation_are_normal(tmp_path: Path) -> None:
    store = make(tmp_path / "s.db")
    connection = sqlite3.connect(store, isolation_level=None)
    for number in range(6):
        connection.execute("INSERT INTO t VALUES (?, 'first')", (10_000 + number,))
    connection.execute("PRAGMA wal_checkpoint(RESTART)")
    connection.execute("INSERT INTO t VALUES (20000, 'second')")
    copy = tmp_path / "copy-wal"
    shutil.copy(beside(store, "-wal"), copy)
    connection.close()
    facts = log_of(copy)
    assert facts.commits == 1 and facts.earlier >= 4 and facts.passed_over == 0
    assert not facts.contradicts and not facts.torn


@pytest.mark.parametrize("offset", [0, 4, 8, 16, 24])
def test_a_header_that_is_not_valid(tmp_path: Path, offset: int) -> None:
    store = crashed_log(tmp_path / "s.db")
    log = beside(store, "-wal")
    flip(log, offset)
    facts = log_of(log)
    assert not facts.valid and facts.contradicts and facts.frames == 0
    log.write_bytes(b"\x37\x7f")
    assert log_of(log).contradicts


def test_an_empty_log_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "s.db-wal").write_bytes(b"")
    facts = log_of(tmp_path / "s.db-wal")
    assert facts.words == "empty" and not facts.contradicts


def test_big_endian_checksums_are_read(tmp_path: Path) -> None:
    """A log a big-endian machine wrote: only the sums differ."""
    store = crashed_log(tmp_path / "s.db", commits=2)
    data = bytearray(beside(store, "-wal").read_bytes())

    def sums(part: bytes, one: int, two: int) -> tuple[int, int]:
        words = struct.unpack(f">{len(part) // 4}I", part)
        for first, second in zip(words[::2], words[1::2], strict=True):
            one = (one + first + two) % 2**32
            two = (two + second + one) % 2**32
        return one, two

    data[3] = 0x83
    state = sums(bytes(data[:24]), 0, 0)
    data[24:32] = struct.pack(">II", *state)
    for start in range(32, len(data), FRAME):
        state = sums(bytes(data[start : start + 8]), *state)
        state = sums(bytes(data[start + 24 : start + FRAME]), *state)
        data[start + 16 : start + 24] = struct.pack(">II", *state)
    beside(store, "-wal").write_bytes(data)
    facts = log_of(beside(store, "-wal"))
    assert facts.commits == 2 and facts.passed_over == 0
    assert facts.committed == recovered_frames(store)


def test_a_hot_journal(tmp_path: Path) -> None:
    store = hot_journal(tmp_path / "s.db")
    facts = journal_of(beside(store, "-journal"))
    assert facts.hot_header and not facts.short and facts.super_journal is None
    assert facts.page_size == 4096 and facts.records and facts.promised <= facts.size
    assert facts.words.startswith("hot header, ")


def test_a_journal_cut_short(tmp_path: Path) -> None:
    store = hot_journal(tmp_path / "s.db")
    journal = beside(store, "-journal")
    journal.write_bytes(journal.read_bytes()[: journal_of(journal).promised - 1])
    assert journal_of(journal).short


def test_a_journal_at_rest_is_not_hot(tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    make(store, "persist")
    facts = journal_of(beside(store, "-journal"))
    assert facts.size > 0 and not facts.hot_header and facts.words == "at rest"


@pytest.mark.parametrize("name", [b"/tmp/some-mj0123ABCD", "/tmp/ü-mj".encode(), b"x" * 512])
def test_a_super_journal_is_read(tmp_path: Path, name: bytes) -> None:
    journal = beside(hot_journal(tmp_path / "s.db"), "-journal")
    name_super_journal(journal, name)
    assert journal_of(journal).super_journal == name


def test_a_name_sqlite_would_not_read_is_not_read(tmp_path: Path) -> None:
    journal = beside(hot_journal(tmp_path / "s.db"), "-journal")
    whole = journal.read_bytes()
    name_super_journal(journal, b"x" * 513)
    assert journal_of(journal).super_journal is None
    journal.write_bytes(whole)
    name_super_journal(journal, b"/tmp/some-mj")
    flip(journal, journal.stat().st_size - 20)  # its checksum no longer fits
    assert journal_of(journal).super_journal is None


@given(st.binary(max_size=400), st.booleans())
def test_hostile_bytes_are_read_to_an_end(data: bytes, as_log: bool) -> None:
    head = b"\x37\x7f\x06\x82" if as_log else b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"

    def read(count: int, offset: int) -> bytes:
        return (head + data)[offset : offset + count] if offset >= 0 else b""

    size = len(head) + len(data)
    assert (read_log if as_log else read_journal)(read, size).words
