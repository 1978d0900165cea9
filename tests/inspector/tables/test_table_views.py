"""Addresses of table views, links of rows, and what the filter line makes of what is typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import row_filter
from inspector.navigation import Address
from inspector.table_views import TableView, link_at, links_in, where_words
from persistence.records import Cell, ForeignKey, Preview, Row, TableColumn, TableShape

VALUES = st.one_of(
    st.none(), st.text(max_size=20), st.integers(), st.floats(allow_nan=False), st.binary(max_size=8)
)
PAIRS = st.lists(st.tuples(st.text(max_size=8), VALUES), min_size=1, max_size=3).map(tuple)


@given(PAIRS, st.booleans())
def test_a_view_goes_through_an_address_and_back(pairs: tuple[tuple[str, Cell], ...], where: bool) -> None:
    view = TableView(where=pairs) if where else TableView(at=pairs)
    address = Address.parse(str(Address("tables", "boats", str(view))))
    assert TableView.parse(address.view) == view


@pytest.mark.parametrize(
    "text", [None, "", "rows", "where", "where[", "where[1]", 'at[["a",[1]]]', "at[[1,2,3]]"]
)
def test_what_is_no_view_is_all_rows(text: str | None) -> None:
    assert TableView.parse(text) == TableView()


def shape(name: str, *columns: str, keys: tuple[ForeignKey, ...] = (), incoming: object = ()) -> TableShape:
    return TableShape(
        name,
        "table",
        tuple(TableColumn(column, "TEXT") for column in columns),
        foreign_keys=keys,
        referenced_by=incoming,  # type: ignore[arg-type]
    )


def test_links_take_all_columns_of_a_key_and_none_without_a_value() -> None:
    key = ForeignKey(("country", "code"), "ports", ("c", "k"))
    voyages = shape("voyages", "country", "code", "log", keys=(key,))
    names = ["country", "code", "log"]
    link = link_at(voyages, Row((1,), ("no", "bgo", "x")), names, "code")
    assert link is not None
    assert (link.table, link.pairs) == ("ports", (("c", "no"), ("k", "bgo")))
    assert link_at(voyages, Row((1,), ("no", None, "x")), names, "country") is None
    assert link_at(voyages, Row((1,), ("no", Preview("b", 9), "x")), names, "country") is None
    assert link_at(voyages, Row((1,), ("no", "bgo", "x")), names, "log") is None


def test_links_in_look_for_this_rows_values() -> None:
    key = ForeignKey(("boat_id",), "boats", ("id",))
    boats = shape("boats", "id", "name", incoming=(("voyages", key),))
    found = links_in(boats, Row((1,), ("b1", "x")), ["id", "name"])
    assert [(link.table, link.pairs) for link in found] == [("voyages", (("boat_id", "b1"),))]
    assert links_in(boats, Row((1,), (None, "x")), ["id", "name"]) == []


def test_words_for_a_narrowed_table_are_made_visible() -> None:
    assert where_words((("a", "\x1b[b]"), ("b", None))) == "a = ␛[b], b = NULL"


COLUMNS = shape("t", "status", "name", "with space", "Count")


@pytest.mark.parametrize(
    ("line", "pairs", "problem"),
    [
        ("", (), ""),
        ("status=failed", (("status", "failed"),), ""),
        ('name="two words" count=5', (("name", "two words"), ("Count", 5)), ""),
        ("name=NULL", (("name", None),), ""),
        ("name=007", (("name", "007"),), ""),
        ("name=1.5", (("name", 1.5),), ""),
        ("name=", (("name", ""),), ""),
        ("name=a=b", (("name", "a=b"),), ""),
        ("'with space=x y'", (("with space", "x y"),), ""),
        ("nothing=1", (), "there is no column nothing"),
        ("words", (), "write column=value"),
        ('name="open', (), "a quote is still open"),
    ],
)
def test_the_filter_line(line: str, pairs: tuple[tuple[str, Cell], ...], problem: str) -> None:
    assert row_filter.parse(line, COLUMNS) == (pairs, problem)


@given(st.text(max_size=20))
def test_what_is_written_is_read_again(value: str) -> None:
    pairs = (("name", value),)
    read, problem = row_filter.parse(row_filter.written(pairs), COLUMNS)
    assert problem == ""
    assert str(read[0][1] if read[0][1] is not None else "NULL").casefold() == value.casefold()


def test_names_of_columns_are_completed() -> None:
    assert row_filter.completion("sta", COLUMNS) == "status="
    assert row_filter.completion("status=x na", COLUMNS) == "status=x name="
    assert row_filter.completion("status=fa", COLUMNS) is None
    assert row_filter.completion("with", COLUMNS) is None
    assert row_filter.completion("x", None) is None
