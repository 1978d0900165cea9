"""A row source with the columns people look for first in front; the others follow, none is left out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from persistence.reading.source import RowSource
from persistence.records import Column, ColumnKind, Extent, Order, Row, Window

__all__ = ["ChosenColumns"]


@dataclass(frozen=True)
class ChosenColumns:
    """`first`: names in the order they stand in front; `labels` and `kinds` replace what the table says."""

    inner: RowSource
    first: tuple[str, ...]
    labels: Mapping[str, str]
    kinds: Mapping[str, ColumnKind]

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def order(self) -> Order | None:
        return self.inner.order

    @property
    def extent(self) -> Extent:
        return self.inner.extent

    @property
    def columns(self) -> Sequence[Column]:
        columns = self.inner.columns
        return tuple(self._dressed(columns[at]) for at in self._sequence(columns))

    def _sequence(self, columns: Sequence[Column]) -> list[int]:
        names = [column.name for column in columns]
        front = [names.index(name) for name in self.first if name in names]
        return front + [at for at in range(len(names)) if at not in front]

    def _dressed(self, column: Column) -> Column:
        return replace(
            column,
            label=self.labels.get(column.name, column.label),
            kind=self.kinds.get(column.name, column.kind),
        )

    def _row(self, row: Row, sequence: list[int]) -> Row:
        return Row(row.key, tuple(row.cells[at] for at in sequence if at < len(row.cells)))

    def _window(self, window: Window) -> Window:
        sequence = self._sequence(self.inner.columns)
        return replace(window, rows=tuple(self._row(row, sequence) for row in window.rows))

    async def window(self, first: int, count: int) -> Window:
        return self._window(await self.inner.window(first, count))

    async def complete(self, window: Window) -> Window:
        return window  # tables have nothing outstanding

    def measure(self) -> AsyncIterator[Extent]:
        return self.inner.measure()

    async def position(self, key: tuple[Any, ...]) -> int | None:
        return await self.inner.position(key)

    async def cells(self, key: tuple[Any, ...]) -> Row | None:
        row = await self.inner.cells(key)
        return None if row is None else self._row(row, self._sequence(self.inner.columns))

    async def everything(
        self, *, limit: int | None = None, after: tuple[Any, ...] | None = None
    ) -> AsyncIterator[Row]:
        rows = self.inner.everything(limit=limit, after=after)
        try:
            async for row in rows:
                yield self._row(row, self._sequence(self.inner.columns))
        finally:
            close = getattr(rows, "aclose", None)
            if close is not None:
                await close()

    def ordered(self, order: Order | None) -> ChosenColumns:
        return replace(self, inner=self.inner.ordered(order))

    async def refreshed(self) -> ChosenColumns:
        inner = await self.inner.refreshed()
        return self if inner is self.inner else replace(self, inner=inner)
