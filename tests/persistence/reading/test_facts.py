"""What a store is, in one answer."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from persistence import StateDB
from persistence.reading.facts import exposed_to_wal_reset
from persistence.schema.known import TABLES
from tests.persistence.stores import make_store, marks_of, run_sql


@pytest.mark.parametrize(
    ("version", "exposed"),
    [
        ((3, 6, 23), False),
        ((3, 7, 0), True),
        ((3, 40, 1), True),
        ((3, 44, 5), True),
        ((3, 44, 6), False),
        ((3, 45, 0), True),
        ((3, 50, 6), True),
        ((3, 50, 7), False),
        ((3, 51, 2), True),
        ((3, 51, 3), False),
        ((3, 52, 0), False),
        ((4, 0, 0), False),
    ],
)
def test_the_wal_reset_race(version: tuple[int, int, int], exposed: bool) -> None:
    assert exposed_to_wal_reset(version) is exposed


@pytest.mark.parametrize("wal", [False, True])
async def test_a_store_of_this_lineage(tmp_path: Path, wal: bool) -> None:
    path = make_store(tmp_path / "state.db", wal=wal)
    run_sql(path, "PRAGMA user_version = 7")
    before = marks_of(path)
    async with StateDB(path) as db:
        facts = await db.facts()
    assert marks_of(path) == before
    assert (facts.lineage, facts.version) == ("lionagi", "4")
    assert facts.meta == (("lineage", "lionagi"), ("version", "4"))
    assert facts.journal_mode == ("wal" if wal else "delete")
    assert facts.size == path.stat().st_size
    assert [file.exists for file in facts.files] == [True, False, False, False]
    assert facts.tables == facts.known_tables == len(TABLES)
    assert facts.missing_tables == ()
    assert facts.library == f"SQLite {sqlite3.sqlite_version}"
    assert facts.exposed_to_wal_reset is exposed_to_wal_reset(sqlite3.sqlite_version_info)
    assert (facts.user_version, facts.page_size, facts.encoding) == (7, 4096, "UTF-8")
    assert facts.read is not None and facts.backend == "sqlite"


async def test_an_older_release_s_store(tmp_path: Path) -> None:
    async with StateDB(make_store(tmp_path / "state.db", "0.26.0")) as db:
        facts = await db.facts()
    assert facts.known_tables == 9
    assert "artifacts" in facts.missing_tables and "sessions" not in facts.missing_tables


async def test_any_sqlite_file(tmp_path: Path) -> None:
    run_sql(tmp_path / "any.db", "CREATE TABLE notes (a)", "CREATE VIEW v AS SELECT 1")
    async with StateDB(tmp_path / "any.db") as db:
        facts = await db.facts()
    assert (facts.lineage, facts.version, facts.meta) == (None, None, ())
    assert (facts.tables, facts.known_tables) == (2, 0)
    assert len(facts.missing_tables) == len(TABLES)


async def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    async with StateDB(tmp_path / "empty.db") as db:
        facts = await db.facts()
    assert facts.size == 0 and facts.tables == 0


@pytest.mark.parametrize(
    ("made", "lineage"),
    [
        ("CREATE TABLE schema_meta (key TEXT, value TEXT)", "acme-desk"),
        ("CREATE TABLE schema_meta (key, value BLOB)", "acme-desk"),
        ("CREATE TABLE schema_meta (k TEXT, v TEXT)", None),
    ],
)
async def test_whatever_the_rows_hold(tmp_path: Path, made: str, lineage: str | None) -> None:
    path = tmp_path / "state.db"
    run_sql(
        path,
        made,
        "INSERT INTO schema_meta VALUES ('lineage', 'acme-desk'), ('version', 7), ('odd', x'00ff')",
    )
    async with StateDB(path) as db:
        facts = await db.facts()
    assert facts.lineage == lineage
    assert facts.version == (None if lineage is None else "7")
    if lineage is not None and "BLOB" in made:
        assert dict(facts.meta)["odd"] == b"\x00\xff"
