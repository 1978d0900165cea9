"""A short list that is already in memory, as a row source: what is listed is then shown, exported and paged
like any other rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from persistence.errors import StoreError
from persistence.records import Cell, Column, Extent, Order, Row, Window

if TYPE_CHECKING:
    from persistence.records import ReadInfo

__all__ = ["ListSource"]


class ListSource:
    """Rows in memory; the first cell of each is its key and must not repeat."""

    def __init__(
        self, name: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], read: ReadInfo
    ) -> None:
        self.name = name
        self.columns = tuple(columns)
        self.order: Order | None = None
        self.extent = Extent(len(rows), complete=True)
        self._rows = tuple(Row((row[0],), tuple(row)) for row in rows)
        self._read = read

    async def window(self, first: int, count: int) -> Window:
        return Window(first, self._rows[first : first + count], self._read)

    async def complete(self, window: Window) -> Window:
        return window

    async def measure(self) -> AsyncIterator[Extent]:
        yield self.extent

    async def position(self, key: tuple[Any, ...]) -> int | None:
        return next((index for index, row in enumerate(self._rows) if row.key == key), None)

    async def cells(self, key: tuple[Any, ...]) -> Row | None:
        return next((row for row in self._rows if row.key == key), None)

    async def everything(
        self, *, limit: int | None = None, after: tuple[Any, ...] | None = None
    ) -> AsyncIterator[Row]:
        start = 0
        if after is not None:
            found = await self.position(after)
            if found is None:
                raise StoreError("The row the cursor stands on is gone.", code="cursor-gone")
            start = found + 1
        for row in self._rows[start : None if limit is None else start + limit]:
            yield row

    def ordered(self, order: Order | None) -> ListSource:
        """In the order it has: a list this short is looked through, not sorted."""
        return self

    async def refreshed(self) -> ListSource:
        return self
