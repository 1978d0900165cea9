"""Damage never decides in favour of opening (DECISIONS 18)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from persistence.errors import UnreadableStoreError
from tests.persistence.lineage.craft import (
    beside,
    complete,
    hot,
    logged,
    meta,
)
from tests.persistence.lineage.looking import look

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
