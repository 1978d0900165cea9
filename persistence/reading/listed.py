"""What a listing shows of a store, and which path walks the order it is asked for."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import ColumnElement, Select, TableClause, Text, cast, column, func, select, table

from persistence.errors import StoreError
from persistence.reading.cells import Cells
from persistence.reading.fences import Fences, KeyPath
from persistence.reading.firstpart import FirstCells, FirstPath
from persistence.reading.keys import Key, choose_key, served, terms
from persistence.reading.paths import BuiltPath, Path
from persistence.reading.plans import Ask, Plan, Statement, value
from persistence.reading.previews import Source
from persistence.reading.salvage import corrupt, salvage
from persistence.reading.scans import Scan
from persistence.reading.sorting import Built, Sorting
from persistence.records import (
    ABSENT,
    PENDING,
    Cell,
    Column,
    Mark,
    Order,
    Row,
    TableShape,
    Unreadable,
)

if TYPE_CHECKING:
    from persistence.engines.reader import Reader, Snapshot

__all__ = ["Field", "Late", "Listed", "Make", "Walk"]

_GONE = Unreadable("the row is gone since the list was sorted")

Late: TypeAlias = "Callable[[Snapshot, Sequence[tuple[Any, ...]]], Awaitable[Sequence[Cell]]]"
"""What a column costs more than a page to know: its cells for some rows, by their keys."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column shown, and where its cells come from. `sort_by`: what to sort by, if not the stored column."""

    column: Column
    source: Source = Source()  # noqa: RUF009 (frozen)
    late: Late | None = None
    sort_by: ColumnElement[Any] | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """What a listing shows of the store as one snapshot had it."""

    shape: TableShape
    dialect: str
    fields: tuple[Field, ...]
    conditions: tuple[ColumnElement[bool], ...] = ()
    equal: frozenset[str] = frozenset()  # columns that conditions hold to one value
    narrowed: bool = False  # there are other conditions than those
    own_order: Order | None = None
    identity: str | None = None  # a unique column whose value is a row's key; None: the table's own key

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(field.column for field in self.fields)

    @property
    def marks(self) -> tuple[tuple[int, Mark], ...]:
        """The places of the columns that no row is read for: not in this store, or known later."""
        return tuple(
            (place, ABSENT if each.column.missing else PENDING)
            for place, each in enumerate(self.fields)
            if each.column.missing or each.late is not None
        )

    @property
    def key(self) -> Key | None:
        return choose_key(self.shape, self.dialect)

    @property
    def table(self) -> TableClause:
        return table(self.shape.name)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where cells come from, with the identity's whole value last when there is one."""
        own = tuple(field.source for field in self.fields)
        return own if self.identity is None else (*own, Source(computed=column(self.identity)))

    def row(self, own: tuple[Any, ...], cells: tuple[Cell, ...] | None) -> Row:
        """A row as it is shown, from the table's own key and the cells of `sources`; None: it is gone."""
        if cells is None:
            return Row(own, (_GONE,) * len(self.fields))
        if self.identity is not None:
            own, cells = ((cells[-1],) if isinstance(cells[-1], str) else own), cells[:-1]
        marks = self.marks
        if marks:
            known = list(cells)
            for place, mark in marks:
                known[place] = mark
            cells = tuple(known)
        return Row(own, cells)

    def own_key(self, key: tuple[Any, ...]) -> Plan[tuple[Any, ...] | None]:
        """The table's own key of the row with this identity; None when there is no such row."""
        if self.identity is None or self.key is None:
            return key
        names: list[ColumnElement[Any]] = [column(name) for name in self.key.names]
        query: Select[Any] = select(*names).select_from(self.table)
        query = query.where(column(self.identity) == value(key[0])).limit(1)
        rows = yield Ask(Statement(query, self.dialect))
        return tuple(rows[0]) if rows else None

    def about(self) -> Plan[int]:
        """About how many rows there are, by the ends of the row ids or a server's own count; 0: no idea."""
        key = self.key
        if key is None or self.conditions:
            return 0
        if key.rowid:
            rowid: ColumnElement[Any] = column(key.names[0])
            own = self.table
            ends = [select(end(rowid)).select_from(own).scalar_subquery() for end in (func.min, func.max)]
            try:
                rows = yield Ask(Statement(select(*ends), "sqlite"))
            except sqlite3.DatabaseError as error:
                if corrupt(error):
                    return 0
                raise
            low, high = rows[0]
            return 0 if low is None else int(high - low + 1)
        if self.dialect != "sqlite":
            named = column("oid") == func.to_regclass(func.quote_ident(self.shape.name))
            query: Select[Any] = select(column("reltuples")).select_from(table("pg_class")).where(named)
            rows = yield Ask(Statement(query, self.dialect))
            return max(0, int(rows[0][0])) if rows else 0
        return 0


Make: TypeAlias = "Callable[[Snapshot], Awaitable[Listed]]"


@dataclass(slots=True)
class Walk:
    """One order of what is listed: its path, and what reads the cells at its keys."""

    listed: Listed
    order: Order | None
    built: dict[str, Built] = field(default_factory=dict)

    def path(self, former: Fences | None = None, *, by_index: bool = True) -> Path:
        """The path of this order. `by_index` False: sorted, whatever indexes there are."""
        listed, order = self.listed, self.order or self.listed.own_order
        key = listed.key
        by, stored = self._by(order)
        descending = order is not None and order.descending
        if key is None:
            if order is not None and stored is None:
                raise self._unsortable(order)
            return FirstPath(
                listed.table,
                [field.source.stored for field in listed.fields if field.source.stored is not None],
                why=_why_part(listed.shape),
                by=stored,
                descending=descending,
                conditions=listed.conditions,
                dialect=listed.dialect,
            )
        if by_index and (order is None or stored is not None) and not listed.narrowed:
            wanted = terms(listed.shape, key, stored)
            if served(listed.shape, key, wanted, listed.equal, listed.dialect):
                left = [term for term in wanted if term.name not in listed.equal] or wanted[-1:]
                scan = Scan(
                    listed.table,
                    key,
                    left,
                    descending=descending,
                    conditions=listed.conditions,
                    dialect=listed.dialect,
                )
                return KeyPath(scan, former)
        sorting = Sorting(
            listed.table,
            key,
            by,
            conditions=listed.conditions,
            dialect=listed.dialect,
            whole=self._few(),
            by_index=by_index,
        )
        name = "" if order is None else order.column
        return BuiltPath(sorting, descending=descending, shared=self.built, name=name)

    async def salvaged(self, reader: Reader) -> Path | None:
        """A path around damage that ends this order's walk; None where there is none."""
        listed, order = self.listed, self.order or self.listed.own_order
        key = listed.key
        if key is None or not key.rowid:
            return None
        _, stored = self._by(order)
        if terms(listed.shape, key, stored)[0].name != key.names[0]:
            # The index may be what is damaged, and the table whole.
            return self.path(by_index=False)
        if listed.conditions:
            return None
        found = await salvage(reader, listed.shape, key)
        if found is None:
            return None
        said = f"damaged: {'at most ' if found.about else ''}{found.unreadable:,} rows cannot be read"
        return BuiltPath(
            Sorting(listed.table, key, None, dialect=listed.dialect),
            descending=order is not None and order.descending,
            shared={"": Built(found.ids, array("q"))},
            name="",
            said=said,
        )

    def cells(self, path: Path) -> Cells | FirstCells:
        listed = self.listed
        if isinstance(path, FirstPath):
            return FirstCells(path, listed.sources, listed.dialect)
        key = listed.key
        assert key is not None  # only a first part is walked without one
        blobs = not any(column.generated is not None for column in listed.shape.columns)
        return Cells(listed.table, key, listed.sources, listed.dialect, blobs=blobs)

    def _by(self, order: Order | None) -> tuple[ColumnElement[Any] | None, str | None]:
        """What an order sorts by: its expression, and the stored column when it is just that."""
        if order is None:
            return None, None
        found = next((f for f in self.listed.fields if f.column.name == order.column), None)
        if found is None or not found.column.sortable or found.column.missing:
            raise self._unsortable(order)
        if found.sort_by is not None:
            return found.sort_by, None
        if found.source.stored is None:
            raise self._unsortable(order)
        by: ColumnElement[Any] = column(found.source.stored)
        if self.listed.dialect != "sqlite" and found.source.type.lower() in ("json", "xml", "point"):
            return cast(by, Text), None  # kinds that PostgreSQL itself does not compare
        return by, found.source.stored

    def _few(self) -> bool:
        """Whether an index leads to the rows the equalities name."""
        return any(
            bool(index.columns) and index.columns[0] in self.listed.equal
            for index in self.listed.shape.indexes
        )

    def _unsortable(self, order: Order) -> StoreError:
        return StoreError(
            "The rows cannot be sorted by this column.",
            code="no-such-order",
            where=self.listed.shape.name,
            observed=order.column,
            expected="one of "
            + ", ".join(c.name for c in self.listed.columns if c.sortable and not c.missing),
        )


def _why_part(shape: TableShape) -> str:
    if shape.kind == "view":
        return "a view has no key to page by"
    if shape.kind == "virtual":
        return "a virtual table is read from its beginning"
    return "the table has no key to page by"
