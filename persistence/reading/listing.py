"""`Listing`, the row source over one table or view: tables, runs, and what belongs to a run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from persistence.errors import StoreDamagedError, StoreError
from persistence.reading.cells import Cells
from persistence.reading.fences import Fences, Found, KeyPath, due
from persistence.reading.firstpart import FirstCells, FirstPath
from persistence.reading.listed import Listed, Make, Walk
from persistence.reading.paths import BuiltPath, Path
from persistence.reading.plans import Plan, run
from persistence.reading.previews import LONGEST
from persistence.reading.scans import TooLongToMark
from persistence.reading.sorting import Built
from persistence.records import (
    PENDING,
    CellPart,
    Column,
    Extent,
    Order,
    Row,
    TableShape,
    Window,
)

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot
    from persistence.reading.source import RowSource
    from persistence.reading.store import StoreReading

__all__ = ["Listing"]

_NEAR = 1_000
"""Positions that every path reaches without preparation."""
_ROWS_AT_ONCE = 256
_BYTES_AT_ONCE = 8 * 1024 * 1024


@dataclass(slots=True)
class _Family:
    """What the orders of one source share: what they were made from, and what was sorted once."""

    listed: Listed | None = None
    built: dict[str, Built] = field(default_factory=dict)
    token: object = None


class Listing:
    """Rows in one order. Making one reads nothing; until the first read `columns` is what was promised."""

    def __init__(
        self,
        reading: StoreReading,
        name: str,
        make: Make,
        order: Order | None = None,
        *,
        columns: Sequence[Column] = (),
        family: _Family | None = None,
        former: Fences | None = None,
    ) -> None:
        self._reading = reading
        self._reader = reading.reader
        self._name = name
        self._make = make
        self._order = order
        self._promised = tuple(columns)
        self._family = family or _Family()
        self._former = former
        self._walk: Walk | None = None
        self._path: Path | None = None
        self._cells: Cells | FirstCells | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def columns(self) -> Sequence[Column]:
        listed = self._family.listed
        return self._promised if listed is None else listed.columns

    @property
    def order(self) -> Order | None:
        return self._order

    @property
    def shape(self) -> TableShape | None:
        """The table's shape, once something was read."""
        return None if self._family.listed is None else self._family.listed.shape

    @property
    def extent(self) -> Extent:
        return Extent(0, False) if self._path is None else self._path.extent

    async def window(self, first: int, count: int) -> Window:
        """As the protocol says; `first` below zero counts from the end (-20, 20: the last twenty rows), and
        then `Window.first` stays below zero until the extent is complete."""
        try:
            return await self._window(first, count)
        except StoreDamagedError as error:
            await self._salvage(error)
            return await self._window(first, count)

    async def _window(self, first: int, count: int) -> Window:
        if not 0 <= first < _NEAR:
            await self._reach(first)
        async with self._reader.snapshot() as snapshot:
            path, cells = await self._ready(snapshot)
            found, rows, about = await run(snapshot, lambda: self._read(path, cells, first, count))
            info = snapshot.info
        found.note()
        if path.estimate is None:
            path.estimate = about
        if isinstance(path, FirstPath):
            path.shown(found.first + len(rows), ended=len(rows) < len(found.keys))
        return Window(found.first, tuple(rows), info)

    async def complete(self, window: Window) -> Window:
        listed = self._family.listed
        fields = () if listed is None else listed.fields
        late = [(place, each.late) for place, each in enumerate(fields) if each.late is not None]
        if not late or not any(cell is PENDING for row in window.rows for cell in row.cells):
            return window
        keys = [row.key for row in window.rows]
        cells = [list(row.cells) for row in window.rows]
        async with self._reader.snapshot() as snapshot:
            for place, read in late:
                for row, cell in zip(cells, await read(snapshot, keys), strict=True):
                    row[place] = cell
            return Window(
                window.first,
                tuple(Row(key, tuple(row)) for key, row in zip(keys, cells, strict=True)),
                snapshot.info,
            )

    async def measure(self) -> AsyncIterator[Extent]:
        path = await self._prepared()
        try:
            async with aclosing(path.measure(self._reader)) as extents:
                async for extent in extents:
                    yield extent
        except (TooLongToMark, StoreDamagedError) as error:
            path = self._sorted() if isinstance(error, TooLongToMark) else await self._salvage(error)
            async with aclosing(path.measure(self._reader)) as extents:
                async for extent in extents:
                    yield extent

    async def position(self, key: tuple[Any, ...]) -> int | None:
        path = await self._prepared()
        own = await self._own(key)
        if own is None:
            return None
        try:
            return await path.position(self._reader, own)
        except TooLongToMark:
            return await self._sorted().position(self._reader, own)

    async def cells(self, key: tuple[Any, ...]) -> Row | None:
        await self._prepared()
        own = await self._own(key)
        if own is None:
            return None
        async with self._reader.snapshot() as snapshot:
            _, cells = await self._ready(snapshot)
            found = await run(snapshot, lambda: cells.read([own], LONGEST))
            row = None if found[0] is None else self._listed.row(own, found[0])
        if row is None or not any(cell is PENDING for cell in row.cells):
            return row
        return (await self.complete(Window(0, (row,), snapshot.info))).rows[0]

    async def cell(
        self, key: tuple[Any, ...], name: str, offset: int = 0, length: int = 65_536
    ) -> CellPart | None:
        """Bytes of one cell as stored, for a viewer that pages through it; None: gone, or NULL."""
        await self._prepared()
        own = await self._own(key)
        if own is None:
            return None
        async with self._reader.snapshot() as snapshot:
            _, cells = await self._ready(snapshot)
            stored = next((f.source.stored for f in self._listed.fields if f.column.name == name), None)
            if stored is None:
                return None
            return await run(snapshot, lambda: cells.part(own, stored, offset, length))

    async def everything(
        self, *, limit: int | None = None, after: tuple[Any, ...] | None = None
    ) -> AsyncIterator[Row]:
        path = await self._prepared()
        if isinstance(path, BuiltPath) and (after is not None or limit is None or limit > _NEAR):
            await self._reach(-1)
        place = None if after is None else await self._behind(after)
        last: tuple[Any, ...] | None = None
        given = 0
        while limit is None or given < limit:
            wanted = _ROWS_AT_ONCE if limit is None else min(_ROWS_AT_ONCE, limit - given)
            try:
                async with self._reader.snapshot() as snapshot:
                    path, cells = await self._ready(snapshot)
                    step = partial(self._chunk, path, cells, place, wanted)
                    rows, place, last = await run(snapshot, step)
            except StoreDamagedError as error:
                path = await self._salvage(error)
                place = None if last is None else await self._behind(last, own=True)
                continue
            if not rows:
                return
            window = await self.complete(Window(given, tuple(rows), snapshot.info))
            for row in window.rows:
                yield row
            given += len(rows)

    def ordered(self, order: Order | None) -> RowSource:
        return Listing(
            self._reading, self._name, self._make, order, columns=self._promised, family=self._family
        )

    async def refreshed(self) -> RowSource:
        token = await self._reader.token()
        built = self._family.built
        moved = self._family.token is None or token != self._family.token
        if not moved and not any(each.former and due(each.seconds, each.at) for each in built.values()):
            return self
        former = self._path.fences if isinstance(self._path, KeyPath) else None
        kept = {
            name: replace(each, former=True) for name, each in built.items() if not due(each.seconds, each.at)
        }
        return Listing(
            self._reading,
            self._name,
            self._make,
            self._order,
            columns=self.columns,
            family=_Family(built=kept),
            former=former,
        )

    @property
    def _listed(self) -> Listed:
        assert self._family.listed is not None  # every caller has prepared first
        return self._family.listed

    async def _ready(self, snapshot: Snapshot) -> tuple[Path, Cells | FirstCells]:
        """The path of this order and its cells; made at the first read, from what that snapshot shows."""
        family = self._family
        if family.listed is None:
            family.listed = await self._make(snapshot)
            family.token = snapshot.info.token
        if self._walk is None:
            self._walk = Walk(family.listed, self._order, family.built)
        if self._path is None or self._cells is None:
            self._path = self._walk.path(self._former)
            self._cells = self._walk.cells(self._path)
        return self._path, self._cells

    async def _prepared(self) -> Path:
        if self._path is None:
            async with self._reader.snapshot() as snapshot:
                await self._ready(snapshot)
        assert self._path is not None
        return self._path

    async def _reach(self, first: int) -> None:
        path = await self._prepared()
        try:
            await path.reach(self._reader, first)
        except TooLongToMark:
            await self._sorted().reach(self._reader, first)

    async def _salvage(self, error: StoreError) -> Path:
        """Another path, around what is damaged in the store; raises the error where there is none."""
        found = None
        if self._walk is not None and isinstance(self._path, KeyPath):
            found = await self._walk.salvaged(self._reader)
        if found is None:
            raise error
        self._path = found
        return found

    def _sorted(self) -> Path:
        """Another path: the index's values are too long to be kept, so the order is sorted after all."""
        assert self._walk is not None
        self._path = self._walk.path(by_index=False)
        return self._path

    async def _own(self, key: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The table's own key of a row; None when there is no such row."""
        listed = self._listed
        if listed.identity is None or listed.key is None:
            return key
        async with self._reader.snapshot() as snapshot:
            return await run(snapshot, lambda: listed.own_key(key))

    async def _behind(self, after: tuple[Any, ...], own: bool = False) -> Any:
        """The place behind a row, by its key (or the table's own); StoreError where there is none."""
        key = after if own else await self._own(after)
        async with self._reader.snapshot() as snapshot:
            path, _ = await self._ready(snapshot)
            place = None if key is None else await run(snapshot, lambda: path.begin(key))
        if place is None:
            raise StoreError(
                "The row to go on from is gone, and with it its place in this order.",
                code="cursor-gone",
                where=self._name,
                remedy="Begin from the first row again.",
            )
        return place

    def _read(
        self, path: Path, cells: Cells | FirstCells, first: int, count: int
    ) -> Plan[tuple[Found, list[Row], int | None]]:
        found = yield from path.locate(first, count)
        rows = yield from cells.read(found.keys)
        about = (yield from self._listed.about()) if path.estimate is None else None
        if isinstance(cells, FirstCells):
            rows = [row for row in rows if row is not None]
        return found, [self._listed.row(key, row) for key, row in zip(found.keys, rows, strict=False)], about

    def _chunk(
        self, path: Path, cells: Cells | FirstCells, place: Any, wanted: int
    ) -> Plan[tuple[list[Row], Any, tuple[Any, ...] | None]]:
        """Whole rows behind a place, as many as fit some megabytes; the place behind them, the last key."""
        keys, behind = yield from path.follow(place, wanted)
        rows: list[Row] = []
        last = keys[-1] if keys else None
        size = 0
        step = 1 if self._reader.dialect == "sqlite" and not isinstance(cells, FirstCells) else 32
        for start in range(0, len(keys), step):
            some = keys[start : start + step]
            found = yield from cells.read(some, LONGEST)
            rows.extend(
                self._listed.row(key, row) for key, row in zip(some, found, strict=True) if row is not None
            )
            size += sum(len(cell) for row in found for cell in row or () if isinstance(cell, str | bytes))
            if size > _BYTES_AT_ONCE and start + step < len(keys):
                last = some[-1]
                behind = yield from path.begin(last)
                break
        return rows, behind, last
