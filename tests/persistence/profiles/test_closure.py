"""Reading a closure: every fact of a table, what touches it, and what cannot be interpreted."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from persistence.profiles import closure as closures
from persistence.profiles.records import (
    CheckShape,
    Closure,
    ClosureTable,
    ColumnShape,
    Generated,
    Incoming,
    IndexShape,
    IndexTerm,
    KeyShape,
    LinkShape,
    UniqueShape,
    key_of,
)
from tests.persistence.profiles.acme import SQL, TABLES, admitted, build


def read(*statements: str, tables: tuple[str, ...] = ("t",)) -> Closure:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
        return closures.read(connection, tables)


def table(sql: str, *more: str) -> ClosureTable:
    found = read(sql, *more)
    assert found.uninterpreted == ()
    return found.tables["t"]


def test_columns_are_told_with_all_that_belongs_to_them() -> None:
    found = table(
        "CREATE TABLE t (a INTEGER NOT NULL ON CONFLICT FAIL DEFAULT (1 + 2), "
        "b VARCHAR(10, 2) COLLATE nocase DEFAULT 'x', c, d GENERATED ALWAYS AS (a + 1) STORED, "
        "e DOUBLE PRECISION AS (b || ''), \"f g\" TEXT COLLATE BINARY NOT NULL ON CONFLICT ABORT)"
    )
    assert found.columns == (
        ColumnShape("a", "INTEGER", False, "1 + 2", conflict="FAIL"),
        ColumnShape("b", "VARCHAR(10, 2)", True, "'x'", collation="NOCASE"),
        ColumnShape("c"),
        ColumnShape("d", generated=Generated("a + 1", True)),
        ColumnShape("e", "DOUBLE PRECISION", generated=Generated("b || ''")),
        ColumnShape("f g", "TEXT", False),
    )


@pytest.mark.parametrize(
    ("sql", "key"),
    [
        ("CREATE TABLE t (a INTEGER PRIMARY KEY)", key_of("a", rowid=True)),
        ("CREATE TABLE t (a INTEGER, PRIMARY KEY (a))", key_of("a", rowid=True)),
        ("CREATE TABLE t (a INT PRIMARY KEY)", key_of("a")),
        ("CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT)", KeyShape((IndexTerm("a"),), True, True)),
        (
            "CREATE TABLE t (a INTEGER, PRIMARY KEY (a AUTOINCREMENT))",
            KeyShape((IndexTerm("a"),), True, True),
        ),
        ("CREATE TABLE t (a INTEGER PRIMARY KEY DESC)", KeyShape((IndexTerm("a", descending=True),))),
        (
            "CREATE TABLE t (a, b, PRIMARY KEY (b COLLATE rtrim, a) ON CONFLICT IGNORE)",
            KeyShape((IndexTerm("b", collation="RTRIM"), IndexTerm("a")), conflict="IGNORE"),
        ),
        ("CREATE TABLE t (a TEXT PRIMARY KEY) WITHOUT ROWID", key_of("a")),
        ("CREATE TABLE t (a)", None),
    ],
)
def test_primary_keys(sql: str, key: KeyShape | None) -> None:
    assert table(sql).primary_key == key


def test_unique_constraints_and_unique_indexes() -> None:
    found = table(
        "CREATE TABLE t (a UNIQUE ON CONFLICT REPLACE, b COLLATE NOCASE, c, CONSTRAINT pair UNIQUE (b, c))",
        "CREATE UNIQUE INDEX part ON t (c DESC, lower(a)) WHERE c IS NOT NULL",
    )
    assert set(found.uniques) == {
        UniqueShape((IndexTerm("a"),), conflict="REPLACE"),
        UniqueShape((IndexTerm("b", collation="NOCASE"), IndexTerm("c")), name="pair"),
        UniqueShape(
            (IndexTerm("c", descending=True), IndexTerm(expression="lower(a)")), "c IS NOT NULL", None, "part"
        ),
    }


def test_plain_indexes_with_expressions_and_conditions() -> None:
    found = table(
        "CREATE TABLE t (a, b)",
        "CREATE INDEX one ON t (a COLLATE NOCASE ASC, (a + b) COLLATE RTRIM DESC, json_extract(b, '$.x, y'))",
        "CREATE INDEX two ON t (b) WHERE (a > 0) AND b IN (1, 2)",
    )
    assert found.indexes == (
        IndexShape(
            "one",
            (
                IndexTerm("a", collation="NOCASE"),
                IndexTerm(expression="(a + b)", collation="RTRIM", descending=True),
                IndexTerm(expression="json_extract(b, '$.x, y')"),
            ),
        ),
        IndexShape("two", (IndexTerm("b"),), "(a > 0) AND b IN (1, 2)"),
    )


def test_checks_of_columns_and_of_the_table() -> None:
    found = table(
        "CREATE TABLE t (a CONSTRAINT positive CHECK (a > 0) CHECK ((a) < 9), b, "
        "CHECK (a <> b) ON CONFLICT FAIL CONSTRAINT last CHECK (b LIKE '%)%'))"
    )
    assert found.checks == (
        CheckShape("a > 0", "positive"),
        CheckShape("(a) < 9"),
        CheckShape("a <> b"),
        CheckShape("b LIKE '%)%'", "last"),
    )


def test_links_are_grouped_by_constraint() -> None:
    found = table(
        "CREATE TABLE t (a REFERENCES p ON DELETE SET NULL, "
        "b REFERENCES p(x) NOT DEFERRABLE INITIALLY DEFERRED, "
        "c CONSTRAINT k REFERENCES q(y) MATCH FULL ON UPDATE NO ACTION ON DELETE CASCADE "
        "DEFERRABLE INITIALLY DEFERRED, d DEFAULT 1, "
        "FOREIGN KEY (c, d) REFERENCES q(y, z) ON UPDATE SET DEFAULT DEFERRABLE, "
        "FOREIGN KEY (d) REFERENCES p(x) DEFERRABLE INITIALLY IMMEDIATE)"
    )
    assert found.links == (
        LinkShape(("a",), "p", (), on_delete="SET NULL"),
        LinkShape(("b",), "p", ("x",)),
        LinkShape(("c",), "q", ("y",), on_delete="CASCADE", deferred=True),
        LinkShape(("c", "d"), "q", ("y", "z"), on_update="SET DEFAULT"),
        LinkShape(("d",), "p", ("x",)),
    )


@pytest.mark.parametrize(
    ("tail", "options"),
    [
        ("", (False, False)),
        (" STRICT", (True, False)),
        (" without rowid", (False, True)),
        (" WITHOUT ROWID, strict", (True, True)),
    ],
)
def test_table_options(tail: str, options: tuple[bool, bool]) -> None:
    found = table(f"CREATE TABLE t (a INTEGER NOT NULL PRIMARY KEY, b TEXT){tail}")
    assert (found.strict, found.without_rowid) == options


def test_a_table_changed_by_alter_is_read_as_it_is_now() -> None:
    found = table(
        "CREATE TABLE t (a, b, CHECK (a > 0), FOREIGN KEY (a) REFERENCES t (b))",
        "ALTER TABLE t ADD COLUMN c TEXT COLLATE NOCASE REFERENCES t (b) ON DELETE CASCADE",
        "ALTER TABLE t RENAME COLUMN b TO [b b]",
    )
    assert [column.name for column in found.columns] == ["a", "b b", "c"]
    assert found.columns[2].collation == "NOCASE"
    assert [(link.columns, link.on_delete) for link in found.links] == [
        (("c",), "CASCADE"),
        (("a",), "NO ACTION"),
    ]


def test_a_table_made_from_a_query_has_the_columns_sqlite_gave_it() -> None:
    found = table("CREATE TABLE t AS SELECT 1 AS a, 'x' AS [b c]")
    assert [column.name for column in found.columns] == ["a", "b c"]


def test_what_stands_under_a_tables_name_is_said() -> None:
    found = read(
        "CREATE TABLE x (a)",
        "CREATE VIEW v AS SELECT a FROM x",
        "CREATE VIRTUAL TABLE f USING fts5 (a)",
        tables=("v", "f", "f_data", "gone", "X"),
    )
    assert found.missing == {
        "v": "a view",
        "f": "a virtual table",
        "f_data": "a shadow table of a virtual table",
        "gone": None,
    }
    assert list(found.tables) == ["x"]


def test_links_of_other_tables_into_the_closure() -> None:
    found = read(
        "CREATE TABLE t (a PRIMARY KEY)",
        "CREATE TABLE out (b REFERENCES T ON DELETE CASCADE, c REFERENCES elsewhere, d REFERENCES t (a) "
        "DEFERRABLE INITIALLY DEFERRED)",
    )
    assert found.incoming == (
        Incoming("out", LinkShape(("b",), "T", (), on_delete="CASCADE")),
        Incoming("out", LinkShape(("d",), "t", ("a",), deferred=True)),
    )


TOUCHING = {
    "a trigger on a table": (
        "CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END",
        ("trigger", "x", ("t",)),
    ),
    "a trigger elsewhere that writes": (
        "CREATE TRIGGER x AFTER INSERT ON o BEGIN UPDATE 't' SET a = 1; END",
        ("trigger", "x", ("t",)),
    ),
    "a trigger elsewhere that reads": (
        "CREATE TRIGGER x AFTER INSERT ON o WHEN NEW.t IN t BEGIN SELECT 1; END",
        ("trigger", "x", ("t",)),
    ),
    "a view": ("CREATE VIEW x AS SELECT 1 FROM o, T", ("view", "x", ("t",))),
    "a search index over it": (
        "CREATE VIRTUAL TABLE x USING fts5(a, content='t', content_rowid=rowid)",
        ("virtual", "x", ("t",)),
    ),
    "an older search index over it": (
        'CREATE VIRTUAL TABLE x USING fts4(a, content="t")',
        ("virtual", "x", ("t",)),
    ),
}  # fmt: skip
APART = {
    "a string": "CREATE TRIGGER x AFTER INSERT ON o BEGIN UPDATE o SET a = 't'; END",
    "a column": "CREATE TRIGGER x AFTER UPDATE OF t ON o BEGIN UPDATE o SET t = 1; END",
    "a comment": "CREATE VIEW x AS SELECT a /* FROM t */ FROM o -- JOIN t",
    "a result's name": "CREATE VIEW x AS SELECT a AS t FROM o",
    "a search index's column": "CREATE VIRTUAL TABLE x USING fts5(t)",
    "a search index without content": "CREATE VIRTUAL TABLE x USING fts5(t, content='')",
    "a spatial index": "CREATE VIRTUAL TABLE x USING rtree(id, t, u)",
}
_BOTH = ("CREATE TABLE t (a)", "CREATE TABLE o (a, t)")


@pytest.mark.parametrize("name", TOUCHING)
def test_what_touches_the_closure_is_found(name: str) -> None:
    sql, expected = TOUCHING[name]
    found = read(*_BOTH, sql)
    assert [(shape.kind, shape.name, shape.touches) for shape in found.objects] == [expected]
    assert found.uninterpreted == ()


@pytest.mark.parametrize("name", APART)
def test_what_only_looks_alike_does_not_touch_it(name: str) -> None:
    assert read(*_BOTH, APART[name]).objects == ()


def test_views_of_views_and_triggers_on_what_they_show() -> None:
    found = read(
        *_BOTH,
        "CREATE VIEW three AS SELECT * FROM two",
        "CREATE VIEW two AS SELECT * FROM [One]",
        "CREATE VIEW one AS SELECT a FROM t",
        "CREATE TRIGGER copies AFTER INSERT ON o BEGIN INSERT INTO o SELECT * FROM three; END",
        "CREATE TRIGGER apart INSTEAD OF INSERT ON three BEGIN SELECT 1 FROM o; END",
        "CREATE TRIGGER into_it INSTEAD OF DELETE ON three BEGIN DELETE FROM t; END",
    )
    assert [(shape.name, shape.touches, shape.writes) for shape in found.objects] == [
        ("copies", ("t",), ("o",)),
        ("into_it", ("t",), ("t",)),
        ("one", ("t",), ()),
        ("three", ("t",), ()),
        ("two", ("t",), ()),
    ]


def test_what_reads_a_search_index_over_the_closure_or_its_shadow_tables_touches_it() -> None:
    found = read(
        *_BOTH,
        "CREATE VIRTUAL TABLE f USING fts5(a, content='t')",
        "CREATE VIEW hits AS SELECT a FROM f",
        "CREATE VIEW under AS SELECT id FROM f_data",
        "CREATE VIRTUAL TABLE words USING fts5vocab(f, 'row')",
    )
    assert [(shape.name, shape.touches) for shape in found.objects] == [
        ("hits", ("t",)),
        ("under", ("t",)),
        ("f", ("t",)),
        ("words", ("t",)),
    ]


def _tampered(sql: str, *setup: str) -> Closure:
    """A store whose schema's text was written by hand, as another program or damage might."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in setup:
            connection.execute(statement)
        connection.execute("PRAGMA writable_schema=1")
        connection.execute(sql)
        return closures.read(connection, ("t",))


UNINTERPRETED = {
    "text that is no SQL": (
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a' WHERE name = 't'",
        ("CREATE TABLE t (a)",), "t", "t",
    ),
    "text with a character SQLite has no token for": (
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a {)' WHERE name = 't'",
        ("CREATE TABLE t (a)",), "t", "t",
    ),
    "text with other columns": (
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE t (b)' WHERE name = 't'",
        ("CREATE TABLE t (a)",), "t", "t",
    ),
    "text with another foreign key": (
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a)' WHERE name = 't'",
        ("CREATE TABLE t (a REFERENCES t)",), "t", "t",
    ),
    "text without its unique key": (
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE t (a)' WHERE name = 't'",
        ("CREATE TABLE t (a UNIQUE)",), "t", "sqlite_autoindex_t_1",
    ),
    "an index whose text is gone": (
        "UPDATE sqlite_schema SET sql = 'CREATE INDEX i' WHERE name = 'i'",
        ("CREATE TABLE t (a)", "CREATE INDEX i ON t (lower(a))"), "t", "i",
    ),
    "a trigger elsewhere that may name it": (
        "UPDATE sqlite_schema SET sql = 'CREATE TRIGGER x AFTER INSERT ON o BEGIN UPDATE t SET a = @a; END' "
        "WHERE name = 'x'",
        (*_BOTH, "CREATE TRIGGER x AFTER INSERT ON o BEGIN SELECT 1; END"),
        "t", "x",
    ),
    "a table outside that points at it": (
        "UPDATE sqlite_schema SET sql = 'CREATE TABLE o (a REFERENCES t, {)' WHERE name = 'o'",
        ("CREATE TABLE t (a PRIMARY KEY)", "CREATE TABLE o (a REFERENCES t)"), "t", "o",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNINTERPRETED)
def test_what_cannot_be_interpreted_is_listed(name: str) -> None:
    sql, setup, on, named = UNINTERPRETED[name]
    doubts = _tampered(sql, *setup).uninterpreted
    assert {(doubt.table, doubt.object) for doubt in doubts} == {(on, named)}


def test_text_that_is_no_sql_and_names_no_table_of_the_closure_is_nobodys_business() -> None:
    found = _tampered(
        "UPDATE sqlite_schema SET sql = 'CREATE TRIGGER x AFTER INSERT ON o BEGIN SELECT @a; END' "
        "WHERE name = 'x'",
        *_BOTH,
        "CREATE TRIGGER x AFTER INSERT ON o BEGIN SELECT 1; END",
    )
    assert found.uninterpreted == ()


def test_the_managed_store_is_read_whole() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SQL)
        connection.row_factory = sqlite3.Row
        found = closures.read(connection, TABLES)
    assert found.uninterpreted == () == found.objects
    assert found.missing == {}
    assert {name: len(table.columns) for name, table in found.tables.items()} == {
        "progressions": 4,
        "messages": 12,
        "message_types": 2,
        "sessions": 45,
        "branches": 15,
        "session_signals": 8,
        "status_transitions": 13,
        "admin_events": 7,
        "invocations": 15,
        "principals": 4,
    }
    assert [(one.table, one.link.table) for one in found.incoming] == [
        ("tickets", "sessions"),
        ("tickets", "principals"),
    ]


def test_names_that_are_not_utf8_are_read_as_they_are() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (a PRIMARY KEY)")
        connection.execute("CREATE TABLE outX (b REFERENCES t)")
        connection.execute("CREATE INDEX byX ON t (a COLLATE NOCASE)")
        connection.execute("PRAGMA writable_schema=1")
        for name in ("outX", "byX"):
            odd = name.encode().replace(b"X", b"\xff")
            connection.execute(
                "UPDATE sqlite_schema SET name = CAST(? AS TEXT), "
                "tbl_name = replace(tbl_name, ?, CAST(? AS TEXT)), "
                "sql = CAST(replace(CAST(sql AS BLOB), ?, ?) AS TEXT) WHERE name = ?",
                (odd, name, odd, name.encode(), odd, name),
            )
        copy = connection.serialize()
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(copy)
        found = closures.read(connection, ("t",))
    assert [(one.table, one.link.columns) for one in found.incoming] == [("out\udcff", ("b",))]
    assert [index.name for index in found.tables["t"].indexes] == ["by\udcff"]
    assert found.uninterpreted == ()


@pytest.mark.parametrize("seed", range(3))
def test_a_spoiled_store_is_told_about_and_never_raises(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    whole = build(tmp_path / "whole.db").read_bytes()
    for _ in range(40):
        spoiled = bytearray(whole)
        for _ in range(chance.choice((1, 2, 5, 20))):
            spoiled[chance.randrange(100, 4096 * 30)] = chance.choice((0, 34, 39, 0x7B, 0xFF))
        path = tmp_path / "spoiled.db"
        path.write_bytes(spoiled)
        report = admitted(path)
        assert report.admitted == (not report.refusing)
        assert path.read_bytes() == bytes(spoiled)


def test_a_long_chain_of_views_is_followed_in_one_go() -> None:
    chain = [f"CREATE VIEW v{number} AS SELECT a FROM v{number + 1}" for number in range(300)]
    found = read(
        *_BOTH, *chain, "CREATE VIEW v300 AS SELECT a FROM t", "CREATE VIEW apart AS SELECT a FROM o"
    )
    assert len(found.objects) == 301
    assert {shape.touches for shape in found.objects} == {("t",)}


LACKING = {
    "a check": ("CHECK (desk_ok(a))", (), ("t", "t", "function desk_ok()")),
    "a named check": ("CONSTRAINT fine CHECK (a REGEXP 'x')", (), ("t", "fine", "function regexp()")),
    "a computed column": ("b AS (desk_of(a)) STORED", (), ("t", "b", "function desk_of()")),
    "a default": ("b DEFAULT (desk_now())", (), ("t", "b", "function desk_now()")),
    "an index": ("b", ("CREATE INDEX i ON t (desk_key(b))",), ("t", "i", "function desk_key()")),
    "an index's condition": (
        "b", ("CREATE UNIQUE INDEX i ON t (b) WHERE desk_ok(b)",), ("t", "i", "function desk_ok()"),
    ),
    "a collation": ("b COLLATE desk", (), ("t", "b", "collation DESK")),
    "an index's collation": ("b", ("CREATE INDEX i ON t (b COLLATE desk)",), ("t", "i", "collation DESK")),
    "a trigger": (
        "b", ("CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO t (a) SELECT desk_next(a) FROM t; END",),
        ("t", "x", "function desk_next()"),
    ),
    "a comparison in a check": ("CHECK (a = 'x' COLLATE desk)", (), ("t", "t", "collation desk")),
}  # fmt: skip


@pytest.mark.parametrize("name", LACKING)
def test_what_only_its_application_can_compute_cannot_be_interpreted(name: str) -> None:
    body, more, (table_name, named, lack) = LACKING[name]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for function in ("desk_ok", "desk_of", "desk_now", "desk_key", "desk_next", "regexp"):
            connection.create_function(function, -1, len, deterministic=True)
        connection.create_collation("desk", lambda left, right: (left > right) - (left < right))
        for statement in (f"CREATE TABLE t (a, {body})", *more):
            connection.execute(statement)
        copy = connection.serialize()
        assert closures.read(connection, ("t",)).uninterpreted == ()
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(copy)
        doubts = closures.read(connection, ("t",)).uninterpreted
    assert (table_name, named) in {(doubt.table, doubt.object) for doubt in doubts}
    assert all(lack in doubt.why for doubt in doubts)


def test_what_sqlite_itself_computes_is_interpreted() -> None:
    found = read(
        "CREATE TABLE t (a DEFAULT (strftime('%s', 'now')), b AS (json_extract(a, '$.x') COLLATE NOCASE), "
        "CHECK (a IN (1, 2) AND NOT (b LIKE 'x') OR coalesce(a, CAST(b AS TEXT)) IS NOT NULL))",
        "CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO t (a) SELECT max(e.value) "
        "FROM json_each(NEW.a) AS e WHERE EXISTS (SELECT 1) AND e.value IN (1); "
        "SELECT RAISE (ABORT, 'no'); END",
    )
    assert found.uninterpreted == ()
