"""A handful of rows that are already here, as the windowed table wants them (branches of a run, ...)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from persistence.records import Cell, Column, Extent, Mark, Order, Preview, ReadInfo, Row, Unreadable, Window

__all__ = ["FixedSource"]


@dataclass(frozen=True)
class FixedSource:
    """A row source over rows in memory; `read` says how they came here."""

    name: str
    columns: Sequence[Column]
    rows: tuple[Row, ...]
    read: ReadInfo
    order: Order | None = None
    given: tuple[Row, ...] | None = None  # as they came, when sorted

    @property
    def extent(self) -> Extent:
        return Extent(len(self.rows), True)

    async def window(self, first: int, count: int) -> Window:
        return Window(first, self.rows[first : first + count], self.read)

    async def complete(self, window: Window) -> Window:
        return window

    async def measure(self) -> AsyncIterator[Extent]:
        yield self.extent

    async def position(self, key: tuple[Any, ...]) -> int | None:
        return next((at for at, row in enumerate(self.rows) if row.key == key), None)

    async def cells(self, key: tuple[Any, ...]) -> Row | None:
        return next((row for row in self.rows if row.key == key), None)

    async def everything(
        self, *, limit: int | None = None, after: tuple[Any, ...] | None = None
    ) -> AsyncIterator[Row]:
        start = 0
        if after is not None:
            start = next((at + 1 for at, row in enumerate(self.rows) if row.key == after), len(self.rows))
        for row in self.rows[start : None if limit is None else start + limit]:
            yield row

    def ordered(self, order: Order | None) -> FixedSource:
        """The same rows in another order; None: as they came."""
        given = self.rows if self.given is None else self.given
        if order is None:
            return replace(self, rows=given, order=None)
        at = next((at for at, column in enumerate(self.columns) if column.name == order.column), 0)
        there = [row for row in given if _comparable(row.cells[at]) is not None]
        gone = [row for row in given if _comparable(row.cells[at]) is None]
        there.sort(key=lambda row: _comparable(row.cells[at]) or (0, ""), reverse=order.descending)
        return replace(self, rows=(*there, *gone), order=order, given=given)

    async def refreshed(self) -> FixedSource:
        return self


def _comparable(cell: Cell) -> tuple[int, Any] | None:
    """A key that any two cells can be compared by: numbers, then texts, then bytes; None stands last."""
    match cell:
        case None | Mark() | Unreadable():
            return None
        case bool() | int() | float():
            return (0, cell) if cell == cell else None
        case str():
            return (1, cell)
        case Preview():
            return (1, cell.head) if isinstance(cell.head, str) else (2, cell.head)
        case _:
            return (2, cell)
