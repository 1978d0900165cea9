"""Rows in key order from a place on, either way, each step served by the index of the order.

A place is a bookmark: the order's values of one row. What comes after `(v1, v2)` is asked for in steps,
`t1 = v1 AND t2 > v2`, then `t1 > v1`, then the rows where `t1` is NULL (they come last on both backends):
each is one range of the index, whatever the number of ties, and each stops at the number wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, TableClause, Text, and_, bindparam, cast, column, select
from sqlalchemy.types import Integer

from persistence.reading.keys import Key, Term
from persistence.reading.plans import Ask, Plan, Statement, fits_text, slot

__all__ = ["Bookmark", "Scan", "TooLongToMark", "key_is", "key_values"]

Bookmark: TypeAlias = "tuple[Any, ...]"
"""The values of one row in the order's terms."""

LONGEST_MARK = 2_000
"""Characters or bytes of a value that is still kept as a bookmark."""


class TooLongToMark(Exception):
    """The order's values are too long to be kept by the thousand: the order is built instead."""


@dataclass(frozen=True, slots=True)
class _Range:
    """One range of the index: `same` terms equal the bookmark's, the next one lies beyond it."""

    same: int
    beyond: bool  # the term after the equal ones is past the bookmark's value
    first_null: bool | None  # the first term is NULL, is not NULL, or nothing is said of it


class Scan:
    """The rows of a table under fixed conditions, in one order."""

    def __init__(
        self,
        table: TableClause,
        key: Key,
        terms: Sequence[Term],
        *,
        descending: bool = False,
        conditions: Sequence[ColumnElement[bool]] = (),
        dialect: str = "sqlite",
    ) -> None:
        self.table = table
        self.key = key
        self.terms = tuple(terms)
        self.descending = descending
        self._conditions = tuple(conditions)
        self._dialect = dialect
        self._columns: list[ColumnElement[Any]] = [column(term.name) for term in terms]
        names = [term.name for term in terms]
        self._beside = [name for name in key.names if name not in names]
        self._places = [
            names.index(name) if name in names else len(names) + self._beside.index(name)
            for name in key.names
        ]
        self._compiled: dict[object, Statement] = {}

    def mark(self, row: Sequence[Any]) -> Bookmark:
        """Where a walked row stands in the order."""
        return tuple(row[: len(self.terms)])

    def key_of(self, row: Sequence[Any]) -> tuple[Any, ...]:
        """The key of a walked row."""
        return tuple([row[place] for place in self._places])

    def walk(
        self, after: Bookmark | None, count: int, *, backward: bool = False
    ) -> Plan[list[Sequence[Any]]]:
        """Up to `count` rows behind `after` (None: from the beginning), in the order they are met: ask
        `mark` and `key_of` about them. `backward` goes the other way: before `after`, or from the end.
        """
        out: list[Sequence[Any]] = []
        for reach in self._ranges(after, backward):
            statement, values = self._statement(reach, after, backward)
            rows = yield Ask(statement, {**values, "n": count - len(out)})
            out.extend(rows)
            if len(out) >= count:
                break
        return out

    def mark_of(self, key: tuple[Any, ...]) -> Plan[Bookmark | None]:
        """Where the row with this key stands in the order; None: the conditions hold for no such row."""
        rows = yield Ask(self._lookup(key), key_values(key))
        return tuple(rows[0]) if rows else None

    def beyond(self, key: tuple[Any, ...], mark: Bookmark) -> Plan[bool]:
        """Whether the row with this key comes after a bookmark, as the database compares."""
        for reach in self._ranges(mark, False):
            statement, values = self._statement(reach, mark, False, key=key)
            if (yield Ask(statement, values)):
                return True
        return False

    def checked(self, mark: Bookmark) -> Bookmark:
        """The bookmark, short enough to keep many of; TooLongToMark otherwise."""
        for content in mark:
            if isinstance(content, str | bytes) and len(content) > LONGEST_MARK:
                raise TooLongToMark
        return mark

    def _ranges(self, after: Bookmark | None, backward: bool) -> Iterator[_Range]:
        width = len(self.terms)
        nulls = self.terms[0].nullable
        if after is None:
            whole = [_Range(0, False, False), _Range(0, False, True)] if nulls else [_Range(0, False, None)]
            yield from reversed(whole) if backward else whole
            return
        at_null = nulls and after[0] is None
        for same in range(width - 1, 0, -1):
            yield _Range(same, True, True if at_null else None)
        if at_null:
            if backward:
                yield _Range(0, False, False)
            return
        yield _Range(0, True, None)
        if nulls and not backward:
            yield _Range(0, False, True)

    def _statement(
        self, reach: _Range, after: Bookmark | None, backward: bool, key: tuple[Any, ...] | None = None
    ) -> tuple[Statement, Mapping[str, Any]]:
        """The statement of one range, compiled once a shape, and its values."""
        used = 0 if after is None else reach.same + int(reach.beyond)
        skip = 1 if reach.first_null else 0
        given = () if after is None else after[skip:used]
        values = dict(zip(_names("v", used)[skip:], _bound(given), strict=True))
        raw = frozenset(name for name, content in zip(values, given, strict=True) if not fits_text(content))
        if key is not None:
            values.update(key_values(key))
        shape = (reach, backward, raw, None if key is None else tuple(map(fits_text, key)))
        statement = self._compiled.get(shape)
        if statement is None:
            statement = self._compiled[shape] = self._compile(reach, backward, raw, key)
        return statement, values

    def _compile(
        self, reach: _Range, backward: bool, raw: frozenset[str], key: tuple[Any, ...] | None
    ) -> Statement:
        columns = self._columns
        where = list(self._conditions)
        falling = self.descending is not backward
        if reach.first_null is not None:
            where.append(columns[0].is_(None) if reach.first_null else columns[0].is_not(None))
        where.extend(
            columns[position] == _place(f"v{position}", raw)
            for position in range(1 if reach.first_null else 0, reach.same)
        )
        if reach.beyond:
            limit = _place(f"v{reach.same}", raw)
            where.append(columns[reach.same] < limit if falling else columns[reach.same] > limit)
        if key is not None:
            where.append(key_is(self.key, key))
            return Statement(select(columns[0]).select_from(self.table).where(and_(*where)), self._dialect)
        # What is held to one value orders nothing, and naming it can keep an index from being used.
        order = columns[max(reach.same, 1 if reach.first_null else 0) :]
        query = (
            select(*columns, *[column(name) for name in self._beside])
            .select_from(self.table)
            .where(*where)
            .order_by(*[term.desc() if falling else term.asc() for term in order])
            .limit(bindparam("n", required=False, type_=Integer()))
        )
        return Statement(query, self._dialect)

    def _lookup(self, key: tuple[Any, ...]) -> Statement:
        shape = ("lookup", tuple(map(fits_text, key)))
        if shape not in self._compiled:
            where = (*self._conditions, key_is(self.key, key))
            query = select(*self._columns).select_from(self.table).where(*where)
            self._compiled[shape] = Statement(query, self._dialect)
        return self._compiled[shape]


def key_is(key: Key, values: tuple[Any, ...]) -> ColumnElement[bool]:
    """The condition that names one row, with places `k0`, `k1`, ... for its values."""
    raw = frozenset(
        name for name, content in zip(_names("k", len(values)), values, strict=True) if not fits_text(content)
    )
    return and_(*[column(name) == _place(f"k{i}", raw) for i, name in enumerate(key.names)])


def key_values(values: tuple[Any, ...]) -> dict[str, Any]:
    """What goes into the places of `key_is`."""
    return dict(zip(_names("k", len(values)), _bound(values), strict=True))


def _names(letter: str, count: int) -> list[str]:
    return [f"{letter}{position}" for position in range(count)]


def _place(name: str, raw: frozenset[str]) -> ColumnElement[Any]:
    return cast(slot(name), Text) if name in raw else slot(name)


def _bound(values: Sequence[Any]) -> list[Any]:
    return [
        content if fits_text(content) else content.encode("utf-8", "surrogateescape") for content in values
    ]
