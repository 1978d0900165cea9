"""One row by what it is known by, and lists of rows by key: what every domain read is made of.

Only columns the store has are asked for; a table it does not have gives None or an empty page that says
so. JSON columns come decoded (`persistence.reading.values`), everything else as it is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Text, and_, cast, func, or_, select
from sqlalchemy.sql import column as sql_column
from sqlalchemy.sql import table as sql_table

from persistence.reading.filters import Filters, Unmatchable, bind
from persistence.reading.page import Page, read_cursor, write_cursor
from persistence.reading.values import decode_json, readable
from persistence.records import Missing, ReadInfo, TableShape
from persistence.schema.known import JSON_COLUMNS, ever_had

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot
    from persistence.reading.store import StoreReading

__all__ = ["By", "Listing", "count", "find", "find_in", "listed", "missing_of", "rows_of", "select_in"]

_CHUNK = 1000
"""Rows of one snapshot: on a live store no snapshot may be held for long (DESIGN 3.1)."""


@dataclass(frozen=True, slots=True)
class By:
    """One step of an order. NULLs come last either way."""

    column: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of a table's rows: its order (the key is the last tie-breaker) and the columns it leaves out."""

    table: str
    order: tuple[By, ...] = ()
    key: tuple[str, ...] = ("id",)
    without: frozenset[str] = field(default=frozenset())
    name: str = ""

    def steps(self, shape: TableShape) -> tuple[By, ...]:
        """The order as far as the store has its columns, ended by what makes each row one of its kind;
        () when the rows have no such thing."""
        steps = [step for step in self.order if shape.column(step.column) is not None]
        named = {step.column for step in steps}
        key = self.key if all(shape.column(name) for name in self.key) else shape.primary_key or _rowid(shape)
        if not key:
            return ()
        down = bool(steps) and steps[-1].descending
        return (*steps, *(By(name, down) for name in key if name not in named))


def _rowid(shape: TableShape) -> tuple[str, ...]:
    """The name by which a SQLite table's row id can be had, when it has one."""
    if shape.kind != "table" or not shape.has_rowid:
        return ()
    taken = {column.name.lower() for column in shape.columns}
    return next(((name,) for name in ("rowid", "_rowid_", "oid") if name not in taken), ())


def missing_of(table: str, shape: TableShape | None) -> Missing:
    """What a store lacks of a table of the operational schema."""
    if shape is None:
        return Missing(table=True, columns=tuple(sorted(ever_had(table))))
    if shape.unreadable is not None:
        return Missing(unreadable=shape.unreadable)
    return Missing(columns=tuple(sorted(ever_had(table) - {column.name for column in shape.columns})))


def rows_of(shape: TableShape, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """Row mappings with their JSON decoded."""
    return _decoded(names, _decoders(shape, names), rows)


def _decoded(
    names: Sequence[str], decoders: Sequence[Callable[[Any], Any]], rows: Sequence[Sequence[Any]]
) -> list[dict[str, Any]]:
    return [
        {name: decode(value) for name, decode, value in zip(names, decoders, row, strict=True)}
        for row in rows
    ]


def _decoders(shape: TableShape, names: Sequence[str]) -> list[Callable[[Any], Any]]:
    known = JSON_COLUMNS.get(shape.name, frozenset())
    return [decode_json if name in known or _declared_json(shape, name) else readable for name in names]


class _Plan:
    """A table's columns, selected and decoded: made once a shape, since a read is short."""

    def __init__(self, shape: TableShape, dialect: str, without: frozenset[str]) -> None:
        self.shape = shape
        self.names = [column.name for column in shape.columns if column.name not in without]
        self.decoders = _decoders(shape, self.names)
        self.json = [n for n, d in zip(self.names, self.decoders, strict=True) if d is decode_json]
        self.sqlite = dialect == "sqlite"
        self.query = _selected(shape, self.names, (), dialect)

    def rows(self, rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
        if not self.sqlite:
            return _decoded(self.names, self.decoders, rows)
        out = []
        for row in rows:
            # SQLite's driver gives plain values alone, so that only JSON has anything to be decoded.
            mapping = dict(zip(self.names, row, strict=True))
            for name in self.json:
                if mapping[name] is not None:
                    mapping[name] = decode_json(mapping[name])
            out.append(mapping)
        return out


def _plan(
    reading: StoreReading, shape: TableShape, dialect: str, without: frozenset[str] = frozenset()
) -> _Plan:
    key = (shape.name, without)
    plan: _Plan | None = reading.plans.get(key)
    if plan is None or plan.shape is not shape:
        plan = reading.plans[key] = _Plan(shape, dialect, without)
    return plan


def _declared_json(shape: TableShape, name: str) -> bool:
    declared = shape.column(name)
    return declared is not None and declared.type.lower() in ("json", "jsonb")


def _selected(
    shape: TableShape, names: Sequence[str], clauses: Sequence[ColumnElement[bool]], dialect: str
) -> Any:
    columns: list[ColumnElement[Any]] = [
        # A server's driver would decode JSON by its own rules, and hide what is wrong with it.
        cast(sql_column(name), Text())
        if dialect != "sqlite" and _declared_json(shape, name)
        else sql_column(name)
        for name in names
    ]
    return select(*columns).select_from(sql_table(shape.name)).where(*clauses)


def _ordered(query: Any, shape: TableShape, steps: Sequence[By], dialect: str) -> Any:
    for step in steps:
        column: ColumnElement[Any] = sql_column(step.column)
        by = column.desc() if step.descending else column.asc()
        declared = shape.column(step.column)
        # SQLite puts NULLs last going down by itself; saying it there would keep an index from serving.
        if (declared is None or declared.nullable) and not (dialect == "sqlite" and step.descending):
            by = by.nulls_last()
        query = query.order_by(by)
    return query


async def find(
    reading: StoreReading,
    table: str,
    filters: Filters,
    order: tuple[By, ...] = (),
) -> dict[str, Any] | None:
    """The first row that meets the filters; None when there is none, or no such table."""
    return await reading.reader.load(lambda snapshot: find_in(reading, snapshot, table, filters, order))


async def find_in(
    reading: StoreReading,
    snapshot: Snapshot,
    table: str,
    filters: Filters,
    order: tuple[By, ...] = (),
) -> dict[str, Any] | None:
    """`find`, within a snapshot that is already open."""
    shape = (await reading.tables(snapshot)).get(table)
    if shape is None or not shape.columns:
        return None
    clauses = filters.clauses(shape, snapshot.dialect)
    if clauses is None:
        return None
    plan = _plan(reading, shape, snapshot.dialect)
    steps = [step for step in order if shape.column(step.column) is not None]
    query = _ordered(plan.query.where(*clauses), shape, steps, snapshot.dialect).limit(1)
    rows = await snapshot.rows(query)
    return plan.rows(rows)[0] if rows else None


async def select_in(
    reading: StoreReading, snapshot: Snapshot, table: str, filters: Filters
) -> list[dict[str, Any]]:
    """Every row that meets the filters, in no order, within a snapshot that is already open."""
    shape = (await reading.tables(snapshot)).get(table)
    if shape is None or not shape.columns:
        return []
    clauses = filters.clauses(shape, snapshot.dialect)
    if clauses is None:
        return []
    plan = _plan(reading, shape, snapshot.dialect)
    return plan.rows(await snapshot.rows(plan.query.where(*clauses)))


async def listed(
    reading: StoreReading,
    listing: Listing,
    filters: Filters | None = None,
    *,
    limit: int | None = None,
    after: str | None = None,
) -> Page:
    """The rows that meet the filters, in the listing's order, behind the cursor `after`.

    `limit` None means all of them, read in chunks by key. ValueError for a limit below one or a cursor
    of another list.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"a limit is at least 1, not {limit}")
    filters = filters or Filters()
    page = Page()
    while True:
        wanted = _CHUNK if limit is None else min(_CHUNK, limit - len(page))
        part = await reading.reader.load(partial(_part, reading, listing, filters, wanted, after))
        page.extend(part)
        page.next, page.part_of, page.missing = part.next, part.part_of, part.missing
        page.read = _joined(page.read, part.read)
        after = part.next
        if part.next is None or (limit is not None and len(page) >= limit):
            return page


def _joined(before: ReadInfo | None, now: ReadInfo | None) -> ReadInfo | None:
    if before is None or now is None or before.token == now.token:
        return now if before is None else before
    return replace(now, snapshots=before.snapshots + 1)


async def _part(
    reading: StoreReading,
    listing: Listing,
    filters: Filters,
    limit: int,
    after: str | None,
    snapshot: Snapshot,
) -> Page:
    shape = (await reading.tables(snapshot)).get(listing.table)
    missing = missing_of(listing.table, shape)
    if shape is None or not shape.columns:
        return Page(missing=missing, read=snapshot.info)
    steps = listing.steps(shape)
    name = listing.name or listing.table
    clauses = filters.clauses(shape, snapshot.dialect)
    if clauses is None:
        return Page(missing=missing, read=snapshot.info)
    if after is not None and not steps:
        raise ValueError(f"the rows of {name} have no key; there is no cursor into them")
    if after is not None:
        values = read_cursor(name, after, len(steps))
        try:
            clauses.append(_behind(steps, values, shape, snapshot.dialect))
        except Unmatchable:
            raise ValueError("the cursor holds a value this store cannot hold") from None
    plan = _plan(reading, shape, snapshot.dialect, listing.without)
    shown = plan.names
    hidden = [step.column for step in steps if step.column not in shown]
    selected = (
        _selected(shape, [*shown, *hidden], clauses, snapshot.dialect)
        if hidden
        else plan.query.where(*clauses)
    )
    query = _ordered(selected, shape, steps, snapshot.dialect)
    rows = await snapshot.rows(query.limit(limit + 1))
    more, rows = len(rows) > limit, rows[:limit]
    cursor = None
    if more and steps:
        places = [[*shown, *hidden].index(step.column) for step in steps]
        cursor = write_cursor(name, tuple(readable(rows[-1][place]) for place in places))
    mappings = plan.rows([row[: len(shown)] for row in rows] if hidden else rows)
    part_of = f"the first {limit} rows: they have no key to go on from" if more and not steps else None
    return Page(mappings, next=cursor, part_of=part_of, missing=missing, read=snapshot.info)


def _behind(
    steps: Sequence[By], values: Sequence[Any], shape: TableShape, dialect: str
) -> ColumnElement[bool]:
    """The rows that come after the one with these values, NULLs last."""
    step, value = steps[0], values[0]
    column: ColumnElement[Any] = sql_column(step.column)
    rest = _behind(steps[1:], values[1:], shape, dialect) if len(steps) > 1 else None
    if value is None:
        return column.is_(None) if rest is None else and_(column.is_(None), rest)
    bound = bind(value, dialect)
    beyond = column < bound if step.descending else column > bound
    if rest is None:
        whole: ColumnElement[bool] = beyond
    else:
        reach = column <= bound if step.descending else column >= bound
        # The plain bound comes first: it is what an index can start from.
        whole = and_(reach, or_(beyond, rest))
    declared = shape.column(step.column)
    if declared is None or declared.nullable:
        return or_(whole, column.is_(None))
    return whole


async def count(reading: StoreReading, table: str, filters: Filters) -> int | None:
    """How many rows meet the filters; None when the store has no such table."""

    async def counted(snapshot: Snapshot) -> int | None:
        shape = (await reading.tables(snapshot)).get(table)
        if shape is None or not shape.columns:
            return None
        clauses = filters.clauses(shape, snapshot.dialect)
        if clauses is None:
            return 0
        query = select(func.count()).select_from(sql_table(shape.name)).where(*clauses)
        return int(await snapshot.scalar(query))

    return await reading.reader.load(counted)
