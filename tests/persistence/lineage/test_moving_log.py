"""A log that is cut off or begun anew while it is looked at is no damage; one that stays odd is."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from persistence import files
from persistence.lineage import examine
from persistence.lineage.parts import look
from persistence.location import locate
from tests.persistence.stores import make_store


def with_log(tmp_path: Path) -> tuple[Path, sqlite3.Connection]:
    path = make_store(tmp_path / "state.db", wal=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("INSERT INTO schema_meta VALUES ('note', 'in the log')")
    return path, connection


def codes(path: Path) -> list[str]:
    return [damage.code for damage in look(bytes(path), "x").damage]


def test_a_checkpoint_that_cuts_the_log_off_between_two_looks_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, connection = with_log(tmp_path)
    real, met = files.log_header, []

    def cut_off(log: bytes) -> bool:
        if not met:
            met.append(log)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return False  # what is read of a file that has just become empty
        return real(log)

    monkeypatch.setattr(files, "log_header", cut_off)
    assert codes(path) == [] and met
    met.clear()
    connection.execute("INSERT INTO schema_meta VALUES ('more', 'in the log')")
    report = examine(locate(str(path)))
    assert met and report.native.refusal is None and report.application == "lionagi"
    connection.close()


def test_a_header_that_is_written_at_that_moment_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, connection = with_log(tmp_path)
    real, asked = files.log_header, []

    def half_written(log: bytes) -> bool:
        asked.append(log)
        return len(asked) > 3 and real(log)

    monkeypatch.setattr(files, "log_header", half_written)
    assert codes(path) == [] and len(asked) == 4
    connection.close()


def test_a_header_that_stays_odd_is_damage_and_is_not_asked_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, connection = with_log(tmp_path)
    asked: list[bytes] = []
    monkeypatch.setattr(files, "log_header", lambda log: bool(asked.append(log)))
    assert codes(path) == ["log-header"] and 1 < len(asked) < 30
    connection.close()


def test_a_log_at_rest_is_looked_at_once(tmp_path: Path) -> None:
    path = make_store(tmp_path / "state.db", wal=True)
    (tmp_path / "state.db-wal").write_bytes(b"no log at all" * 10)
    assert codes(path) == ["log-header"]
