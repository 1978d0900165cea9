"""Built orders: what no index serves is sorted once, by the database, into an array of row ids.

The store may not be given an index, and sorting a million rows by an unindexed column for every page
costs a quarter of a second each; an array of row ids costs that a few times over, once, and a window of
it is then a few look-ups (DESIGN 3.1.1). A run of up to a million rows is one snapshot; longer tables
are sorted in runs, which are then merged block by block, so that no snapshot is held long. NULLs come
last and ties go by key; the array of the ascending order serves the descending one from its end.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ColumnElement,
    Select,
    TableClause,
    and_,
    column,
    func,
    literal_column,
    or_,
    quoted_name,
    select,
    tuple_,
)
from sqlalchemy import (
    table as named_table,
)

from persistence.errors import StoreError
from persistence.reading.keys import Key
from persistence.reading.plans import Statement, slot
from persistence.records import Progress, Route

if TYPE_CHECKING:
    from persistence.engines.reader import Reader

__all__ = ["CAP", "KEYS_CAP", "Built", "Sorting"]

CAP = 5_000_000
"""Rows a built order holds at most, as row ids."""
KEYS_CAP = 1_000_000
"""Rows it holds at most where the keys are not row ids but whole values."""
RUN = 1 << 20
"""Rows sorted in one snapshot."""
BLOCK = 30_000
"""Rows merged in one statement."""
PATIENCE = 1.0
"""Seconds after which a run on a live store that is not nearly done is cut into smaller ones."""
_DEADLINE = 60.0

Report = Callable[[Progress], None]
_first = itemgetter(0)


@dataclass(slots=True)
class Built:
    """An order, ascending: the keys whose value is not NULL, then those where it is."""

    values: Any  # array('q') of row ids, or a list of key tuples
    nulls: Any
    snapshots: int = 1
    seconds: float = 0.0  # what building it took
    at: float = 0.0  # when (monotonic)
    former: bool = False  # the store has moved since

    def __len__(self) -> int:
        return len(self.values) + len(self.nulls)

    def keys(self, first: int, count: int, *, descending: bool) -> list[tuple[Any, ...]]:
        """Up to `count` keys from position `first`."""
        out: list[Any] = []
        for part, start in ((self.values, first), (self.nulls, first - len(self.values))):
            low, high = max(0, start), min(len(part), max(0, start + count))
            if low < high:
                size = len(part)
                out.extend(reversed(part[size - high : size - low]) if descending else part[low:high])
        return [key if isinstance(key, tuple) else (key,) for key in out]

    def position(self, key: tuple[Any, ...], *, descending: bool) -> int | None:
        wanted: Any = key[0] if isinstance(self.values, array) else key
        base = 0
        for part in (self.values, self.nulls):
            with suppress(ValueError):
                place: int = part.index(wanted)
                return base + (len(part) - 1 - place if descending else place)
            base += len(part)
        return None


def hinted(own: TableClause, hint: str) -> TableClause:
    """SQLite's table with a word on how to read it (`NOT INDEXED`); the dialect has none for it."""
    name = own.name.replace('"', '""')
    return named_table(quoted_name(f'"{name}" {hint}', quote=False))


class _TooSlow(Exception):
    """The run would hold its snapshot too long."""


class Sorting:
    """Sorts the keys of a table, under conditions, by one expression."""

    def __init__(
        self,
        table: TableClause,
        key: Key,
        by: ColumnElement[Any] | None,
        *,
        conditions: Sequence[ColumnElement[bool]] = (),
        dialect: str = "sqlite",
        whole: bool = False,
        by_index: bool = True,
    ) -> None:
        """`by` None sorts by key alone. `whole`: the conditions name few rows, by an index; no runs then.
        `by_index` False reads the table itself, whatever indexes there are (one of them may be damaged).
        """
        self.table = table
        self.key = key
        self.by = by
        self.conditions = tuple(conditions)
        self.dialect = dialect
        self._whole = whole
        self._cap = CAP if key.rowid else KEYS_CAP
        self._rows = table if by_index else hinted(table, "NOT INDEXED")
        self._keys: list[ColumnElement[Any]] = [column(name) for name in key.names]

    def top(self, count: int, *, descending: bool) -> Statement:
        """The first keys of the order, without building it: what a first page can show meanwhile."""
        terms = [*([] if self.by is None else [self.by]), *self._keys]
        order = [(term.desc() if descending else term.asc()) for term in terms]
        if self.by is not None:
            order[0] = order[0].nulls_last()
        query = select(*self._keys).select_from(self._rows).where(*self.conditions)
        return Statement(query.order_by(*order).limit(count), self.dialect)

    async def build(self, reader: Reader, report: Report) -> Built:
        """The whole order. Interruptible; StoreError `too-many-to-sort` past the cap."""
        if not self.key.rowid:
            return await self._build_keys(reader)
        low, high = await self._span(reader)
        if high - low >= self._cap and not self._whole:
            await self._refuse_too_many(reader)
        runs: list[array[int]] = []
        nulls: array[int] = array("q")
        tokens: set[object] = set()
        size = RUN
        start: int | None = None
        live = True
        while True:
            end = (
                None if self._whole or high - (start or low) < size else await self._end(reader, start, size)
            )
            told = self._teller(report, low, high, start, end)
            try:
                async with reader.snapshot(deadline=_DEADLINE) as snapshot:
                    live = snapshot.info.route in (Route.LIVE, Route.LIVE_LOG)
                    slow = PATIENCE if live and size > BLOCK else None
                    sort = self._run_sorter(start, end, told, slow)
                    values, without = await snapshot.on_driver(sort)
                    tokens.add(snapshot.info.token)
            except _TooSlow:
                size = max(BLOCK, size // 4)
                continue
            if values:
                runs.append(values)
            nulls.extend(without)
            if sum(map(len, runs)) + len(nulls) > self._cap:
                raise self._too_many()
            if end is None:
                break
            start = end
        merged = runs[0] if runs else array("q")
        if len(runs) > 1:
            merged = await self._merge(reader, runs, report)
        return Built(merged, nulls, max(1, len(tokens)))

    async def _build_keys(self, reader: Reader) -> Built:
        """Keys that are not row ids: one list, sorted in one statement."""
        by = literal_column("0") if self.by is None else self.by
        order = [by.asc().nulls_last(), *[term.asc() for term in self._keys]]
        query = select(*self._keys, by.is_(None).label("n")).select_from(self.table)
        query = query.where(*self.conditions).order_by(*order)
        async with reader.snapshot(deadline=_DEADLINE) as snapshot:
            await self._refuse_in(snapshot)
            rows = await snapshot.rows(query)
        split = next((place for place, row in enumerate(rows) if row[-1]), len(rows))
        keys = [tuple(row[:-1]) for row in rows]
        return Built(keys[:split], keys[split:])

    async def _span(self, reader: Reader) -> tuple[int, int]:
        rowid = self._keys[0]
        ends = [select(end(rowid)).select_from(self.table).scalar_subquery() for end in (func.min, func.max)]
        async with reader.snapshot() as snapshot:
            row = await snapshot.first(select(*ends))
        return (row[0] or 0, row[1] or 0) if row is not None else (0, 0)

    async def _end(self, reader: Reader, start: int | None, size: int) -> int | None:
        """The row id at which a run of `size` rows ends; None when it takes the rest."""
        rowid = self._keys[0]
        query = select(rowid).select_from(self.table).order_by(rowid).limit(1).offset(size - 1)
        async with reader.snapshot() as snapshot:
            found: int | None = await snapshot.scalar(query if start is None else query.where(rowid > start))
        return found

    async def _refuse_too_many(self, reader: Reader) -> None:
        async with reader.snapshot(deadline=_DEADLINE) as snapshot:
            await self._refuse_in(snapshot)

    async def _refuse_in(self, snapshot: Any) -> None:
        some: Select[Any] = select(literal_column("1").label("one")).select_from(self.table)
        capped = some.where(*self.conditions).limit(self._cap + 1).subquery()
        if (await snapshot.scalar(select(func.count()).select_from(capped))) > self._cap:
            raise self._too_many()

    def _too_many(self) -> StoreError:
        return StoreError(
            f"More than {self._cap:,} rows are not sorted by a column without an index.",
            code="too-many-to-sort",
            where=self.table.name,
            expected=f"at most {self._cap:,} rows",
            remedy="Sort by a column that has an index, or narrow the rows with a filter first.",
        )

    def _teller(
        self, report: Report, low: int, high: int, start: int | None, end: int | None
    ) -> Callable[[int], float]:
        """What a run calls with the row id it has come to; gives the share of the run that is done."""
        begin, stop = low if start is None else start, high if end is None else end
        loop = asyncio.get_running_loop()

        def tell(rowid: int) -> float:
            loop.call_soon_threadsafe(report, Progress(max(0, rowid - low), max(1, high - low)))
            return (rowid - begin) / max(1, stop - begin)

        return tell

    def _run_sorter(
        self, start: int | None, end: int | None, told: Callable[[int], float], slow: float | None
    ) -> Callable[[sqlite3.Connection], tuple[array[int], array[int]]]:
        rowid = self._keys[0]
        within = [
            *self.conditions,
            *([] if start is None else [rowid > start]),
            *([] if end is None else [rowid <= end]),
        ]
        # A function of ours, called for one row in 65,536, is how a sort tells where it is.
        watch = or_(rowid.op("&")(literal_column("65535")) != 0, func.sort_passes(rowid) == 0)
        query = select(rowid).select_from(self._rows)
        if self.by is None:
            parts = [Statement(query.where(*within, watch).order_by(rowid), "sqlite")]
        else:
            there = and_(*within, self.by.is_not(None))
            gone = and_(*within, self.by.is_(None))
            parts = [
                Statement(query.where(there, watch).order_by(self.by, rowid), "sqlite"),
                Statement(query.where(gone).order_by(rowid), "sqlite"),
            ]

        def work(connection: sqlite3.Connection) -> tuple[array[int], array[int]]:
            began = time.monotonic()
            gave_up = False

            def passes(rowid: int) -> int:
                nonlocal gave_up
                share = told(rowid)
                if slow is not None and time.monotonic() - began > slow and share < 0.75:
                    gave_up = True
                    raise _TooSlow
                return 0

            connection.create_function("sort_passes", 1, passes)
            try:
                found = [
                    array("q", map(_first, connection.execute(part.text, part.positional({}))))
                    for part in parts
                ]
            except sqlite3.OperationalError:
                if gave_up:
                    raise _TooSlow from None
                raise
            return found[0], found[1] if len(found) > 1 else array("q")

        return work

    async def _merge(self, reader: Reader, runs: list[array[int]], report: Report) -> array[int]:
        """One sorted array of several: halved around the middle of the longest, down to single blocks."""
        out: array[int] = array("q")
        total = sum(map(len, runs))
        waiting = [runs]
        while waiting:
            parts = [part for part in waiting.pop() if part]
            if len(parts) <= 1:
                out.extend(chain.from_iterable(parts))
                continue
            longest = max(parts, key=len)
            if sum(map(len, parts)) <= BLOCK or len(longest) == 1:
                ids = ",".join(map(str, chain.from_iterable(parts)))
                query = self._among(literal_column(f"({ids})"))
                async with reader.snapshot() as snapshot:
                    out.extend(map(_first, await snapshot.rows(str(Statement(query, "sqlite").text))))
                report(Progress(len(out), total, "rows merged"))
                continue
            others = [part for part in parts if part is not longest]
            middle = len(longest) // 2
            async with reader.snapshot() as snapshot:
                cuts = await snapshot.on_driver(self._splitter(others, longest[middle]))
            cut = [(longest, middle), *zip(others, cuts, strict=True)]
            waiting.append([part[at:] for part, at in cut])
            waiting.append([part[:at] for part, at in cut])
        return out

    def _among(self, ids: ColumnElement[Any]) -> Select[Any]:
        rowid = self._keys[0]
        order = (rowid,) if self.by is None else (self.by, rowid)
        return select(rowid).select_from(self._rows).where(rowid.op("IN")(ids)).order_by(*order)

    def _splitter(self, parts: Iterable[array[int]], pivot: int) -> Callable[[sqlite3.Connection], list[int]]:
        """Where each part is cut so that what comes before the pivot row is on its left."""
        two = Statement(self._among(tuple_(slot("row"), slot("pivot"))), "sqlite")

        def work(connection: sqlite3.Connection) -> list[int]:
            cuts = []
            for part in parts:
                low, high = 0, len(part)
                while low < high:
                    middle = (low + high) // 2
                    values = two.positional({"row": part[middle], "pivot": pivot})
                    # Of the two rows, the one that comes first; the database does the comparing.
                    row = connection.execute(two.text, values).fetchone()
                    if row is not None and row[0] == part[middle]:
                        low = middle + 1
                    else:
                        high = middle
                cuts.append(low)
            return cuts

        return work
