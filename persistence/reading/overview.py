"""What a store holds in numbers: rows and sizes by table, runs a day, sessions by status.

Nothing here is on the way to a first paint: each number is asked for by itself and can be interrupted.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    and_,
    cast,
    column,
    func,
    literal_column,
    select,
    table,
)

from persistence.errors import DeadlineError, StoreDamagedError
from persistence.reading.plans import value
from persistence.records import ReadInfo, TableShape

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot
    from persistence.reading.store import StoreReading

__all__ = ["Activity", "TableCount", "TableSize", "activity", "counts", "sizes", "statuses"]

DAY = 86_400
CAPPED = 10_000
"""Rows of a view or virtual table that are counted: counting one may mean computing it."""


@dataclass(frozen=True, slots=True)
class TableCount:
    """Rows of one table. `rows` is None when they could not be counted (`why`); not `complete`: at least."""

    table: str
    rows: int | None
    complete: bool = True
    why: str | None = None


@dataclass(frozen=True, slots=True)
class TableSize:
    """Bytes of one table's pages, with its indexes' apart; None when the store does not tell."""

    table: str
    own: int | None
    indexes: int | None

    @property
    def size(self) -> int | None:
        return None if self.own is None else self.own + (self.indexes or 0)


@dataclass(frozen=True, slots=True)
class Activity:
    """Runs begun a day (UTC, or as far east of it as was asked), the last day last.

    `first` is the moment the first day begins. The days end with that of the newest run, so that a store at
    rest shows what it last did; `last` is when that run was made, None when there is none.
    """

    first: float
    days: tuple[int, ...]
    last: float | None
    read: ReadInfo | None = None


async def counts(reading: StoreReading) -> AsyncIterator[TableCount]:
    """Rows per table in the catalogue's order, each as soon as it is counted, each a snapshot of its own."""
    async with reading.reader.snapshot() as snapshot:
        shapes = await reading.shapes(snapshot)
    for shape in shapes:
        if shape.unreadable is not None:
            yield TableCount(shape.name, None, False, shape.unreadable)
            continue
        try:
            async with reading.reader.snapshot() as snapshot:
                counted = await _count(snapshot, shape)
        except DeadlineError:
            counted = TableCount(shape.name, None, False, "not counted within its time")
        except StoreDamagedError as error:
            counted = TableCount(shape.name, None, False, error.message)
        yield counted


async def _count(snapshot: Snapshot, shape: TableShape) -> TableCount:
    own = table(shape.name)
    if shape.kind in ("table", "shadow"):
        found = await snapshot.scalar(select(func.count()).select_from(own))
        return TableCount(shape.name, int(found))
    some: Select[Any] = select(literal_column("1").label("one"))
    some = some.select_from(own).limit(CAPPED + 1)
    found = await snapshot.scalar(select(func.count()).select_from(some.subquery()))
    return TableCount(shape.name, min(int(found), CAPPED), int(found) <= CAPPED)


async def sizes(reading: StoreReading) -> AsyncIterator[TableSize]:
    """Bytes per table, each as it is known. On SQLite every page is read: ask first before a large store."""
    async with reading.reader.snapshot() as snapshot:
        shapes = await reading.shapes(snapshot)
    for shape in shapes:
        if shape.kind not in ("table", "shadow"):
            continue
        async with reading.reader.snapshot(deadline=60.0) as snapshot:
            if snapshot.dialect == "sqlite":
                own, indexes = await snapshot.on_driver(partial(_pages, shape))
            else:
                named = func.to_regclass(func.quote_ident(shape.name))
                own, indexes = await snapshot.first(
                    select(func.pg_table_size(named), func.pg_indexes_size(named))
                ) or (None, None)
        yield TableSize(shape.name, own, indexes)


def _pages(shape: TableShape, connection: sqlite3.Connection) -> tuple[int | None, int | None]:
    """A table's and its indexes' bytes through dbstat, which some builds of SQLite do without."""
    query = "SELECT pgsize FROM dbstat WHERE name = ? AND aggregate = 1"
    try:
        row = connection.execute(query, (shape.name,)).fetchone()
        parts = [connection.execute(query, (index.name,)).fetchone() for index in shape.indexes]
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return None, None
        raise
    # The index of a WITHOUT ROWID table's key is the table itself, and has no pages of its own.
    return (row[0] if row else 0), sum(part[0] for part in parts if part)


async def activity(reading: StoreReading, *, days: int = 60, east: float = 0.0) -> Activity:
    """Runs begun on each of the last days there were any; a day begins at midnight `east` seconds of UTC."""
    nothing = Activity(0.0, (0,) * days, None)
    async with reading.reader.snapshot() as snapshot:
        shape = (await reading.tables(snapshot)).get("sessions")
        name = next((n for n in ("created_at", "started_at") if shape and shape.column(n)), None)
        if shape is None or name is None:
            return nothing
        moment: ColumnElement[Any] = column(name)
        real: ColumnElement[bool] = moment.is_not(None)
        if snapshot.dialect == "sqlite":  # a time may be text there
            real = and_(real, literal_column(f"typeof({name})") != value("text"), moment < value(1e12))
        last = await snapshot.scalar(select(func.max(moment)).select_from(table("sessions")).where(real))
        if last is None:
            return nothing
        final = int((float(last) + east) // DAY)
        first = (final - days + 1) * DAY - east
        day: ColumnElement[Any] = cast((moment + value(east)) / value(float(DAY)), BigInteger)
        if snapshot.dialect != "sqlite":
            day = cast(func.floor((moment + value(east)) / value(float(DAY))), BigInteger)
        query = select(day.label("day"), func.count().label("runs")).select_from(table("sessions"))
        rows = await snapshot.rows(query.where(real, moment >= value(first)).group_by(day))
        found = {int(row[0]): int(row[1]) for row in rows}
        counted = tuple(found.get(number, 0) for number in range(final - days + 1, final + 1))
        return Activity(first, counted, float(last), snapshot.info)


async def statuses(reading: StoreReading) -> tuple[tuple[str | None, int], ...]:
    """Sessions by status, the most frequent first; None stands for no status. Empty without sessions."""
    async with reading.reader.snapshot() as snapshot:
        shape = (await reading.tables(snapshot)).get("sessions")
        if shape is None or shape.column("status") is None:
            return ()
        status: ColumnElement[Any] = column("status")
        query = select(status, func.count().label("runs")).select_from(table("sessions")).group_by(status)
        rows = await snapshot.rows(query.order_by(func.count().desc(), status.asc().nulls_last()).limit(100))
        return tuple((None if row[0] is None else str(row[0])[:200], int(row[1])) for row in rows)
