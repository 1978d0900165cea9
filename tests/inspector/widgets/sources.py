"""Row sources in memory, for the windowed table alone: they count what they are asked, and can be slow."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any

from persistence.errors import StoreError
from persistence.records import PENDING, Cell, Column, Extent, Order, ReadInfo, Route, Row, Window

READ = ReadInfo(Route.SETTLED, at=0.0)


class ListSource:
    """Rows of a list; the first cell is the key. `pending` names columns that come with `complete`."""

    def __init__(
        self,
        columns: Sequence[Column],
        rows: Sequence[tuple[Cell, ...]],
        *,
        order: Order | None = None,
        known: int | None = None,
        pending: Sequence[str] = (),
        part_of: str | None = None,
        name: str = "rows",
    ) -> None:
        self.columns: Sequence[Column] = tuple(columns)
        self.rows = list(rows)
        self.order = order
        self.name = name
        self.pending = set(pending)
        self.part_of = part_of
        self.known = len(self.rows) if known is None else known
        self.reads: list[tuple[int, int]] = []
        self.completions = 0
        self.cancelled = 0
        self.gate: asyncio.Event | None = None
        self.broken: Callable[[int], bool] = lambda first: False
        self.later: ListSource | None = None

    def _row(self, position: int, *, whole: bool) -> Row:
        cells = self.rows[position]
        if not whole and self.pending:
            cells = tuple(
                PENDING if column.name in self.pending else cell
                for column, cell in zip(self.columns, cells, strict=True)
            )
        return Row((cells[0],), tuple(cells))

    @property
    def extent(self) -> Extent:
        complete = self.known >= len(self.rows)
        return Extent(min(self.known, len(self.rows)), complete, part_of=self.part_of)

    async def _pause(self) -> None:
        try:
            await (self.gate.wait() if self.gate is not None else asyncio.sleep(0))
        except asyncio.CancelledError:
            self.cancelled += 1
            raise

    async def window(self, first: int, count: int) -> Window:
        self.reads.append((first, count))
        await self._pause()
        if self.broken(first):
            raise StoreError("The page is malformed.", code="damaged", remedy="Look at another part.")
        last = min(len(self.rows), first + count)
        self.known = max(self.known, last)
        return Window(first, tuple(self._row(at, whole=False) for at in range(first, last)), READ)

    async def complete(self, window: Window) -> Window:
        self.completions += 1
        await self._pause()
        rows = [self._row(window.first + at, whole=True) for at in range(len(window.rows))]
        return replace(window, rows=tuple(rows))

    async def measure(self) -> AsyncIterator[Extent]:
        while self.known < len(self.rows):
            await self._pause()
            self.known += 1000
            yield self.extent
        yield self.extent

    async def position(self, key: tuple[Any, ...]) -> int | None:
        await asyncio.sleep(0)
        return next((at for at, row in enumerate(self.rows) if row[0] == key[0]), None)

    async def cells(self, key: tuple[Any, ...]) -> Row | None:
        at = await self.position(key)
        return None if at is None else self._row(at, whole=True)

    async def everything(
        self, *, limit: int | None = None, after: tuple[Any, ...] | None = None
    ) -> AsyncIterator[Row]:
        for at in range(len(self.rows))[:limit]:
            yield self._row(at, whole=True)

    def ordered(self, order: Order | None) -> ListSource:
        rows = sorted(self.rows, key=lambda row: row[0])  # type: ignore[arg-type, return-value]
        if order is not None:
            index = [column.name for column in self.columns].index(order.column)
            rows.sort(key=lambda row: str(row[index]), reverse=order.descending)
        other = ListSource(self.columns, rows, order=order, pending=sorted(self.pending), name=self.name)
        other.gate = self.gate
        other.broken = self.broken
        return other

    async def refreshed(self) -> ListSource:
        return self.later or self


class CountingSource(ListSource):
    """A million rows that are made when asked for; nothing is held."""

    def __init__(self, total: int = 1_000_000) -> None:
        columns = (
            Column("id", "Id", "number"),
            Column("name", "Name", "text"),
            Column("role", "Role", "text"),
        )
        super().__init__(columns, ())
        self.total = total
        self.known = total

    def _row(self, position: int, *, whole: bool) -> Row:
        return Row((position,), (position, f"row {position} of many, with some words", "assistant"))

    @property
    def extent(self) -> Extent:
        return Extent(self.total, True)

    async def window(self, first: int, count: int) -> Window:
        self.reads.append((first, count))
        await asyncio.sleep(0)
        last = min(self.total, first + count)
        return Window(first, tuple(self._row(at, whole=True) for at in range(first, last)), READ)

    async def position(self, key: tuple[Any, ...]) -> int | None:
        return int(key[0]) if 0 <= int(key[0]) < self.total else None


PEOPLE = (
    Column("id", "Id", "id"),
    Column("status", "Status", "status"),
    Column("name", "Name", "text"),
    Column("messages", "Messages", "number"),
    Column("created_at", "Created", "time"),
    Column("node", "Node", "json"),
)
NAMES = (
    "nightly build review",
    "漢字 and emoji 👩‍👩‍👧",
    "שלום עולם",
    "[b]markup[/b] \x1b[31m",
    "",
    "x" * 300,
)


def people(count: int) -> list[tuple[Cell, ...]]:
    """Rows with every kind of column, deterministic."""
    statuses = ("completed", "running", "failed", "completed_empty", None, "odd one")
    return [
        (
            f"{at:08x}-aaaa-bbbb-cccc-{at:012x}",
            statuses[at % len(statuses)],
            NAMES[at % len(NAMES)],
            at * 37,
            1_795_953_600.0 - at * 1000,
            f'{{"n": {at}}}',
        )
        for at in range(count)
    ]
