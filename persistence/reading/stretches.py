"""A table gone through in stretches of its row ids, each short enough for a snapshot of its own."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Select, column, func, select, table

from persistence.reading.keys import Key
from persistence.reading.plans import Ask, Plan, Statement, run, slot
from persistence.records import Progress, ReadInfo, TableShape

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot
    from persistence.reading.store import StoreReading

__all__ = ["Stretch", "stretches"]

T = TypeVar("T")

SECONDS = 0.1
"""How long one stretch is to take; the next is made longer or shorter."""
_FIRST, _MOST = 2_048, 100_000


@dataclass(frozen=True, slots=True)
class Stretch(Generic[T]):
    """A stretch that was looked at: its rows, what was found, how it was read, how far that is."""

    rows: int
    found: T
    read: ReadInfo
    progress: Progress


async def stretches(
    reading: StoreReading,
    shape: TableShape,
    key: Key,
    look: Callable[[Snapshot, int, int], Awaitable[T]],
) -> AsyncGenerator[Stretch[T], None]:
    """Looks at a table with row ids in stretches: `look` is given a snapshot, and the row id after which
    the stretch begins and the one with which it ends. No snapshot is held between two."""
    own = table(shape.name)
    rowid: ColumnElement[Any] = column(key.names[0])
    ends = [select(end(rowid)).select_from(own).scalar_subquery() for end in (func.min, func.max)]
    async with reading.reader.snapshot() as snapshot:
        span = await snapshot.first(select(*ends))
    if span is None or span[0] is None:
        return
    least, last = int(span[0]), int(span[1])
    low, size = least - 1, _FIRST
    while low < last:
        began = time.monotonic()
        async with reading.reader.snapshot() as snapshot:
            high, rows = await run(snapshot, partial(_end, own, rowid, low, size))
            if not rows:
                return
            found = await look(snapshot, low, high)
            read = snapshot.info
        took = time.monotonic() - began
        yield Stretch(rows, found, read, Progress(high - least + 1, last - least + 1))
        low = high
        size = max(1, min(_MOST, int(size * min(4.0, SECONDS / max(took, 1e-6)))))


def _end(own: Any, rowid: ColumnElement[Any], low: int, size: int) -> Plan[tuple[int, int]]:
    some: Select[Any] = select(rowid.label("id")).select_from(own).where(rowid > slot("low"))
    part = some.order_by(rowid).limit(size).subquery("part")
    ends: list[ColumnElement[Any]] = [func.max(part.c.id), func.count()]
    query: Select[Any] = select(*ends).select_from(part)
    rows = yield Ask(Statement(query, "sqlite"), {"low": low})
    return rows[0][0] or 0, rows[0][1]
