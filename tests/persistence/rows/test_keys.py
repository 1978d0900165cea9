"""Which key tells rows apart, and which orders an index serves."""

from __future__ import annotations

import pytest

from persistence.reading.keys import Key, Term, choose_key, rowid_alias, served, terms
from persistence.records import Index, TableColumn, TableShape


def shape(*columns: TableColumn, **given: object) -> TableShape:
    return TableShape("t", given.pop("kind", "table"), columns, **given)  # type: ignore[arg-type]


ID = TableColumn("id", "TEXT", nullable=False, primary_key=1)
A = TableColumn("a", "TEXT")
B = TableColumn("b", "TEXT", nullable=False)


def test_a_row_id_is_named_so_that_no_column_shadows_it() -> None:
    assert choose_key(shape(A), "sqlite") == Key(("rowid",), rowid=True)
    assert choose_key(shape(TableColumn("RowId", "TEXT")), "sqlite") == Key(("_rowid_",), rowid=True)
    both = shape(TableColumn("rowid", ""), TableColumn("_rowid_", ""))
    assert choose_key(both, "sqlite") == Key(("oid",), rowid=True)


def test_an_integer_primary_key_is_the_row_id_whatever_shadows_it() -> None:
    names = [TableColumn(name, "") for name in ("rowid", "_rowid_", "oid")]
    key = TableColumn("n", "INTEGER", primary_key=1)
    hidden = shape(*names, key, primary_key=("n",), has_rowid=False)
    assert choose_key(hidden, "sqlite") == Key(("n",))
    assert choose_key(shape(*names, A, has_rowid=False), "sqlite") is None


def test_keys_without_a_row_id_are_never_null() -> None:
    assert choose_key(shape(ID, primary_key=("id",), has_rowid=False), "sqlite") == Key(("id",))
    unique = shape(A, B, unique=(("a",), ("b",)), has_rowid=False)
    assert choose_key(unique, "postgresql") == Key(("b",))
    assert choose_key(shape(A, unique=(("a",),), has_rowid=False), "postgresql") is None


@pytest.mark.parametrize("kind", ["view", "virtual"])
def test_views_and_virtual_tables_have_no_key(kind: str) -> None:
    assert choose_key(shape(A, kind=kind), "sqlite") is None


def test_the_order_by_the_alias_of_the_row_id_is_the_key_order() -> None:
    table = shape(TableColumn("n", "INTEGER", primary_key=1), A, primary_key=("n",))
    key = choose_key(table, "sqlite")
    assert key is not None and rowid_alias(table, key) == "n"
    assert terms(table, key, "n") == (Term("rowid"),)
    # INTEGER PRIMARY KEY DESC is no alias: SQLite makes an index for it.
    desc = Index("x", ("n",), unique=True, origin="pk", descending=(True,))
    other = shape(TableColumn("n", "INTEGER", primary_key=1), primary_key=("n",), indexes=(desc,))
    assert rowid_alias(other, key) is None


ROWID = Key(("rowid",), rowid=True)


@pytest.mark.parametrize(
    ("index", "column", "equal", "wanted"),
    [
        (Index("i", ("a",)), "a", (), True),
        (Index("i", ("a",), descending=(True,)), "a", (), False),  # the row ids of its ties go the other way
        (Index("i", ("a", "b")), "a", (), False),  # ties go by b
        (Index("i", ("b", "a")), "a", (), False),
        (Index("i", ("b", "a")), "a", ("b",), True),
        (Index("i", ("b",)), None, ("b",), True),
        (Index("i", ("b", "a")), None, ("b",), False),
        (Index("i", ("b", "a")), None, ("a",), False),
        (Index("i", (None, "a")), "a", (), False),
        (Index("i", ("a",), sql="CREATE INDEX i ON t (a COLLATE NOCASE)"), "a", (), False),
        (Index("i", ("a",), where="a IS NOT NULL"), "a", (), False),  # the NULLs are not in it
        (Index("i", ("b", "a"), where="b IS NOT NULL"), "a", ("b",), True),
        (Index("i", ("b", "a"), where='("b" IS NOT NULL)'), "a", ("b",), True),
        (Index("i", ("b", "a"), where="b = 'x'"), "a", ("b",), False),
        (Index("i", ("b", "a"), where="b IS NOT NULL AND a > 1"), "a", ("b",), False),
    ],
)
def test_what_an_index_serves(index: Index, column: str | None, equal: tuple[str, ...], wanted: bool) -> None:
    table = shape(A, B, indexes=(index,))
    assert served(table, ROWID, terms(table, ROWID, column), equal, "sqlite") is wanted


def test_a_server_sorts_the_ties_of_an_index_itself() -> None:
    table = shape(ID, A, primary_key=("id",), indexes=(Index("i", ("a", "b")),), has_rowid=False)
    key = Key(("id",))
    assert served(table, key, terms(table, key, "a"), (), "postgresql")
    assert not served(table, key, terms(table, key, "b"), (), "postgresql")
    assert served(table, key, terms(table, key, None), (), "postgresql")


def test_a_table_without_row_ids_is_its_own_index() -> None:
    columns = (TableColumn("x", "TEXT", nullable=False), TableColumn("y", "TEXT", nullable=False), A)
    table = shape(*columns, primary_key=("x", "y"), has_rowid=False)
    key = Key(("x", "y"))
    assert served(table, key, terms(table, key, "x"), (), "sqlite")
    assert served(table, key, terms(table, key, None), ("x",), "sqlite")
    assert not served(table, key, terms(table, key, "y"), (), "sqlite")
