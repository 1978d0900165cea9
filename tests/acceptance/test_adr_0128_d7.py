"""ADR-0128 D7, the reading side: whose store it is and how new it is never keep it from being read."""

from __future__ import annotations

from pathlib import Path

import pytest

from persistence import StateDB
from tests.persistence.stores import make_filled, marks_of, run_sql

META = {
    "another application": ("lineage", "acme-desk", "version", "7"),
    "another case": ("lineage", "LionAGI"),
    "blank": ("lineage", "  "),
    "empty": ("lineage", ""),
    "too new": ("lineage", "lionagi", "version", "99"),
    "not a number": ("version", "four"),
    "a padded number": ("version", " 4 "),
    "zero": ("version", "0"),
    "no rows": (),
}


@pytest.mark.adr("0128-D7-79")
@pytest.mark.parametrize("what", META)
@pytest.mark.parametrize("wal", [False, True])
async def test_no_lineage_or_version_refuses_a_reader(tmp_path: Path, what: str, wal: bool) -> None:
    path = make_filled(tmp_path / "state.db")
    rows = META[what]
    run_sql(path, "DELETE FROM schema_meta")
    for key, value in zip(rows[::2], rows[1::2], strict=True):
        run_sql(path, f"INSERT INTO schema_meta VALUES ('{key}', '{value}')")
    if wal:
        run_sql(path, "PRAGMA journal_mode = WAL")
    before = marks_of(path)
    async with StateDB(path) as db:
        assert len(await db.list_sessions()) == 4
        facts = await db.facts()
        assert facts.meta == tuple(sorted(zip(rows[::2], rows[1::2], strict=True)))
        assert facts.journal_mode == ("wal" if wal else "delete")
    assert marks_of(path) == before


@pytest.mark.adr("0128-D7-79")
@pytest.mark.parametrize(
    "changes",
    [
        ["DROP TABLE schema_meta"],
        ["DROP TABLE schema_meta", "CREATE TABLE schema_meta (KEY TEXT, VALUE TEXT)"],
        ["DROP TABLE schema_meta", "CREATE VIEW schema_meta AS SELECT 'lineage' AS key, 'x' AS value"],
        ["DROP TABLE artifacts", "CREATE TABLE principals (id TEXT PRIMARY KEY)"],
        ["ALTER TABLE sessions ADD COLUMN owner TEXT"],
        ["ALTER TABLE sessions DROP COLUMN user_label", "DROP INDEX idx_sessions_updated"],
    ],
)
async def test_nothing_is_applied_whatever_the_shape(tmp_path: Path, changes: list[str]) -> None:
    path = make_filled(tmp_path / "state.db")
    run_sql(path, *changes)
    before = marks_of(path)
    async with StateDB(path) as db:
        assert len(await db.list_sessions()) == 4
        await db.facts()
        shapes = {shape.name for shape in await db.catalogue()}
        await db.list_artifacts()
    assert marks_of(path) == before
    # No table, column or setting that would make it one of this lineage has appeared.
    async with StateDB(path) as db:
        assert {shape.name for shape in await db.catalogue()} == shapes
        assert ("artifacts" in shapes) is ("DROP TABLE artifacts" not in changes)


@pytest.mark.adr("0128-D7-79")
async def test_any_sqlite_file_opens(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    run_sql(path, "CREATE TABLE notes (a)", "PRAGMA user_version = 3")
    before = marks_of(path)
    async with StateDB(path) as db:
        assert [shape.name for shape in await db.catalogue()] == ["notes"]
        assert await db.list_sessions() == []
        assert await db.get_session("x") is None
    assert marks_of(path) == before
