"""The live shape of whatever a SQLite file holds."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from persistence import StateDB
from persistence.records import TableShape
from persistence.schema.known import TABLES, group_of
from tests.persistence.schema.facts import FACTS
from tests.persistence.stores import make_store, marks_of, run_sql


async def shapes_of(path: Path) -> dict[str, TableShape]:
    async with StateDB(path) as db:
        return {shape.name: shape for shape in await db.catalogue()}


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A file with everything a schema can hold."""
    path = tmp_path / "odd.db"
    run_sql(
        path,
        'CREATE TABLE parent (a TEXT, b TEXT COLLATE NOCASE, "we""ird" INT DEFAULT (1 + 1), '
        "PRIMARY KEY (b, a)) WITHOUT ROWID",
        "CREATE TABLE child (id INTEGER PRIMARY KEY, x TEXT, y TEXT, z INT REFERENCES child, "
        "n INT CHECK (n > 0 /* ) */), total AS (n * 2) STORED, more GENERATED ALWAYS AS (n + 1), "
        "CONSTRAINT c CHECK (x <> ')' OR y IS NULL), FOREIGN KEY (x, y) REFERENCES Parent ON DELETE CASCADE "
        "ON UPDATE SET NULL, UNIQUE (x, y))",
        "CREATE TABLE strict_one (a INT, b ANY) STRICT",
        "CREATE TABLE keyless (a, b)",
        "CREATE TABLE hides (rowid INT, oid INT, _rowid_ INT)",
        "CREATE INDEX part ON child (x DESC, lower(y)) WHERE n > 3 -- why",
        "CREATE UNIQUE INDEX one ON child (n)",
        "CREATE VIEW good AS SELECT a, b FROM parent",
        "CREATE VIEW broken AS SELECT gone FROM nowhere",
        "CREATE TRIGGER watch AFTER INSERT ON child BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE words USING fts5(body, tokenize='porter')",
        "CREATE TABLE `back``tick` ([br acket] TEXT, 'quo''ted' TEXT)",
        'CREATE TABLE "tab""le; DROP" ("a;b" TEXT)',
        "CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT)",
        "ANALYZE",
    )
    return path


async def test_everything_is_listed_and_sqlite_s_own_is_not(odd: Path) -> None:
    found = await shapes_of(odd)
    assert set(found) == {
        *("parent", "child", "strict_one", "keyless", "hides", "good", "broken", "words", "counted"),
        *("back`tick", 'tab"le; DROP'),
        *("words_config", "words_content", "words_data", "words_docsize", "words_idx"),
    }
    assert list(found) == sorted(found, key=str.lower)
    assert {name for name, shape in found.items() if shape.kind == "shadow"} == {
        name for name in found if name.startswith("words_")
    }
    assert found["words"].kind == "virtual"
    assert [column.name for column in found["words"].columns if not column.hidden] == ["body"]


async def test_keys_columns_and_checks(odd: Path) -> None:
    found = await shapes_of(odd)
    parent, child = found["parent"], found["child"]
    assert parent.primary_key == ("b", "a")
    assert not parent.has_rowid
    assert [column.name for column in parent.columns] == ["a", "b", 'we"ird']
    weird = parent.column('we"ird')
    assert weird is not None and weird.default == "1 + 1"
    b = parent.column("b")
    assert b is not None and b.collation == "NOCASE" and b.primary_key == 1
    assert child.has_rowid and child.primary_key == ("id",)
    assert child.checks == ("n > 0 /* ) */", "x <> ')' OR y IS NULL")
    assert child.unique == (("n",), ("x", "y"))
    total, more = child.column("total"), child.column("more")
    assert total is not None and total.generated == "n * 2"
    assert more is not None and more.generated == "n + 1"
    assert found["strict_one"].strict and not child.strict
    assert found["keyless"].primary_key == () and found["keyless"].has_rowid
    assert not found["hides"].has_rowid
    assert [column.name for column in found["back`tick"].columns] == ["br acket", "quo'ted"]


async def test_foreign_keys_both_ways(odd: Path) -> None:
    found = await shapes_of(odd)
    keys = {key.columns: key for key in found["child"].foreign_keys}
    pair = keys["x", "y"]
    # The parent's columns were left out: its primary key is meant, in its own order.
    assert (pair.table, pair.references) == ("parent", ("b", "a"))
    assert (pair.on_delete, pair.on_update) == ("CASCADE", "SET NULL")
    assert keys[("z",)].references == ("id",)
    assert found["parent"].referenced_by == (("child", pair),)
    assert found["child"].referenced_by == (("child", keys[("z",)]),)


async def test_indexes_and_triggers(odd: Path) -> None:
    child = (await shapes_of(odd))["child"]
    part = next(index for index in child.indexes if index.name == "part")
    assert part.columns == ("x", None)
    assert part.descending == (True, False)
    assert part.where is not None and part.where.startswith("n > 3")
    assert not part.unique and part.origin == "c"
    assert [index.origin for index in child.indexes if index.columns == ("x", "y")] == ["u"]
    assert [name for name, _ in child.triggers] == ["watch"]


async def test_what_cannot_be_read_is_listed_with_the_reason(odd: Path, tmp_path: Path) -> None:
    broken = (await shapes_of(odd))["broken"]
    assert broken.kind == "view" and broken.unreadable is not None and "nowhere" in broken.unreadable
    connection = sqlite3.connect(tmp_path / "virtual.db")
    connection.execute("CREATE TABLE here (a)")
    connection.execute("PRAGMA writable_schema=ON")
    connection.execute(
        "INSERT INTO sqlite_master VALUES ('table', 'elsewhere', 'elsewhere', 0, "
        "'CREATE VIRTUAL TABLE elsewhere USING not_a_module(a)')"
    )
    connection.commit()
    connection.close()
    found = await shapes_of(tmp_path / "virtual.db")
    assert found["elsewhere"].kind == "virtual"
    assert "not_a_module" in (found["elsewhere"].unreadable or "")
    assert found["here"].unreadable is None


async def test_a_view_has_columns_and_no_key(odd: Path) -> None:
    good = (await shapes_of(odd))["good"]
    assert [column.name for column in good.columns] == ["a", "b"]
    assert good.kind == "view" and good.primary_key == () and not good.has_rowid
    assert good.unreadable is None


async def test_the_operational_schema(tmp_path: Path) -> None:
    path = make_store(tmp_path / "state.db")
    before = marks_of(path)
    found = await shapes_of(path)
    assert marks_of(path) == before
    assert set(found) == set(TABLES)
    for name, shape in found.items():
        facts = FACTS["sqlite"]["tables"][name]
        assert [column.name for column in shape.columns] == [column["name"] for column in facts["columns"]]
        assert list(shape.primary_key) == facts["primary_key"]
        assert len(shape.foreign_keys) == len(facts["foreign_keys"])
        assert sorted(shape.checks) == sorted(check["expression"] for check in facts["checks"])
        assert shape.group == group_of(name)


async def test_an_empty_file_has_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    assert await shapes_of(path) == {}


async def test_spelling_hides_nothing(tmp_path: Path) -> None:
    run_sql(
        tmp_path / "tabs.db",
        "CREATE TABLE t (\n\ta\tTEXT\tUNIQUE\t,\tb INT -- , c TEXT\n,\tcheck\t(\tb\t>\t0\t)\t)",
        "CREATE INDEX\ti\nON\tt(b)\nwhere\tb\tIS\tNOT\tNULL",
    )
    table = (await shapes_of(tmp_path / "tabs.db"))["t"]
    assert [column.name for column in table.columns] == ["a", "b"]
    assert table.unique == (("a",),)
    assert table.checks == ("b\t>\t0",)
    assert [index.where for index in table.indexes if index.name == "i"] == ["b\tIS\tNOT\tNULL"]


async def test_a_changed_schema_is_seen_and_an_unchanged_one_is_remembered(tmp_path: Path) -> None:
    path = tmp_path / "growing.db"
    run_sql(path, "CREATE TABLE one (a)")
    async with StateDB(path) as db:
        first = await db.catalogue()
        assert await db.catalogue() is first
        run_sql(path, "INSERT INTO one VALUES (1)")
        assert await db.catalogue() is first
        run_sql(path, "ALTER TABLE one ADD COLUMN b", "CREATE TABLE two (c)")
        names = {shape.name: [column.name for column in shape.columns] for shape in await db.catalogue()}
        assert names == {"one": ["a", "b"], "two": ["c"]}


async def test_two_files_that_trade_places_are_told_apart(tmp_path: Path) -> None:
    run_sql(tmp_path / "a.db", "CREATE TABLE first (a)")
    run_sql(tmp_path / "b.db", "CREATE TABLE other (a, b)")
    async with StateDB(tmp_path / "a.db") as db:
        assert [shape.name for shape in await db.catalogue()] == ["first"]
        (tmp_path / "b.db").rename(tmp_path / "a.db")
        assert [shape.name for shape in await db.catalogue()] == ["other"]
