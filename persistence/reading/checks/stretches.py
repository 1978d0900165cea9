"""A table gone through in stretches of its row ids, each short enough for a snapshot of its own."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, column, func, select, table

from persistence.reading.keys import Key
from persistence.reading.plans import Ask, Plan, Statement, run, slot
from persistence.records import Progress, TableShape

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot
    from persistence.reading.store import StoreReading

__all__ = ["Stretch", "stretches"]

SECONDS = 0.1
"""How long one stretch is to take; the next is made longer or shorter."""
_FIRST, _MOST = 256, 100_000


@dataclass(frozen=True, slots=True)
class Stretch:
    """Row ids above `low` up to `high`, to be looked at on `snapshot` now; `progress` once that is done."""

    snapshot: Snapshot
    low: int
    high: int
    rows: int
    progress: Progress


async def stretches(reading: StoreReading, shape: TableShape, key: Key) -> AsyncGenerator[Stretch, None]:
    """Stretches of a table with row ids, in order. Do the work on each before asking for the next."""
    own = table(shape.name)
    rowid: ColumnElement[Any] = column(key.names[0])
    ends = [select(end(rowid)).select_from(own).scalar_subquery() for end in (func.min, func.max)]
    async with reading.reader.snapshot() as snapshot:
        found = await snapshot.first(select(*ends))
    if found is None or found[0] is None:
        return
    least, last = int(found[0]), int(found[1])
    low, size = least - 1, _FIRST
    while low < last:
        async with reading.reader.snapshot() as snapshot:
            began = time.monotonic()
            high, rows = await run(snapshot, lambda: _end(own, rowid, low, size))  # noqa: B023 (run at once)
            if not rows:
                return
            done = Progress(high - least + 1, last - least + 1)
            yield Stretch(snapshot, low, high, rows, done)
            took = time.monotonic() - began
        low = high
        size = max(1, min(_MOST, int(size * min(4.0, SECONDS / max(took, 1e-6)))))


def _end(own: Any, rowid: ColumnElement[Any], low: int, size: int) -> Plan[tuple[int, int]]:
    some: Select[Any] = select(rowid.label("id")).select_from(own).where(rowid > slot("low"))
    part = some.order_by(rowid).limit(size).subquery("part")
    ends: list[ColumnElement[Any]] = [func.max(part.c.id), func.count()]
    query: Select[Any] = select(*ends).select_from(part)
    rows = yield Ask(Statement(query, "sqlite"), {"low": low})
    return rows[0][0] or 0, rows[0][1]
