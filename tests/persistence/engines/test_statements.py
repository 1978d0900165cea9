"""Statements compiled once, and their values put in their places."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import bindparam, column, select, table

from persistence.engines.statements import Statement

ROWS = table("rows", column("a"), column("b"), column("c"))


def where(**terms: Any) -> Statement:
    return Statement(
        lambda _: select(ROWS.c.a).where(*(ROWS.c[name] == term for name, term in terms.items()))
    )


def test_values_come_in_the_order_of_the_text() -> None:
    found = where(b=bindparam("second"), a=bindparam("first"), c=bindparam("second")).compiled("sqlite")
    assert found.sql.endswith("WHERE rows.b = ? AND rows.a = ? AND rows.c = ?")
    assert found.names == ("second", "first", "second")
    assert found.bound({"first": 1, "second": 2, "more": 3}) == (2, 1, 2)


@pytest.mark.parametrize(("terms", "bound"), [({"a": "x"}, ("x",)), ({"a": "x", "b": None}, ("x", None))])
def test_a_value_that_is_given_is_kept_as_it_is(terms: dict[str, Any], bound: tuple[Any, ...]) -> None:
    statement = where(**{name: bindparam(name) for name in terms})
    assert statement.compiled("sqlite").bound(terms) == bound


def test_a_constant_of_the_statement_stands_where_nothing_is_given() -> None:
    found = where(a=7, b=bindparam("given")).compiled("sqlite")
    assert found.bound({"given": "x"}) == (7, "x")
    assert where(a=7).compiled("sqlite").bound({}) == (7,)


@pytest.mark.parametrize("names", [("a",), ("a", "b")])
def test_a_value_that_nobody_gave_is_an_error(names: tuple[str, ...]) -> None:
    found = where(**{name: bindparam(name) for name in names}).compiled("sqlite")
    with pytest.raises(KeyError, match=names[-1]):
        found.bound(dict.fromkeys(names[:-1], 1))


def test_a_statement_without_values_is_given_none() -> None:
    assert Statement(lambda _: select(ROWS.c.a)).compiled("sqlite").bound({"a": 1}) == ()
