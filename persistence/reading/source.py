"""What the windowed table asks (DESIGN 3.1.1): rows by position, found by key, never by OFFSET.

A source is made by the facade (`StateDB.runs`, `StateDB.rows`, ...) and is immutable in what it
selects: another filter or order is another source. It holds keys and counts, never rows.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol, runtime_checkable

from persistence.records import Cell, Column, Extent, Order, Row, Window

__all__ = ["RowSource"]


@runtime_checkable
class RowSource(Protocol):
    """A windowed, ordered list of rows."""

    @property
    def name(self) -> str:
        """What the rows are, in one word a person and a file name can use: `runs`, `messages`."""

    @property
    def columns(self) -> Sequence[Column]: ...

    @property
    def order(self) -> Order | None:
        """The requested order; None: the source's own."""

    @property
    def extent(self) -> Extent:
        """What is known now. Grows while `measure` runs and when windows show more."""

    async def window(self, first: int, count: int) -> Window:
        """Up to `count` rows from position `first`; fewer at the end, none past it.

        `first` below zero counts from the end: `window(-20, 20)` are the last twenty, had without the way
        there. `Window.first` then stays below zero until the extent is complete.

        One load, one snapshot. Cells are previews. Values that cost more than a page may come as
        PENDING and are then had from `complete`.
        """

    async def complete(self, window: Window) -> Window:
        """The same window with its PENDING cells filled in. Returns it as it is when there are none."""

    def measure(self) -> AsyncIterator[Extent]:
        """Gathers what makes any position reachable (fences, or a built order), chunk by chunk.

        Run it after the first paint; closing the iterator stops it. The last extent is `complete`, but for
        a source that was `refreshed` a moment after costly fences were gathered: those stay in use, and
        every position is reachable by them, about.
        """

    async def position(self, key: tuple[Any, ...]) -> int | None:
        """Where the row with this key is now; None: gone (or not in what this source shows)."""

    async def cells(self, key: tuple[Any, ...]) -> Row | None:
        """The row with its cells whole, each up to 64 MB (longer: a Preview with the head)."""

    def everything(
        self, *, limit: int | None = None, after: tuple[Any, ...] | None = None
    ) -> AsyncIterator[Row]:
        """All rows in order with whole cells, in chunks by key; for export and the command line.

        `after` begins behind the row with that key (a cursor of `--after`), by key where the order allows
        it; a row that is gone in an order that cannot place it is a StoreError with code `cursor-gone`.
        """

    def ordered(self, order: Order | None) -> RowSource:
        """The same rows in another order."""

    async def refreshed(self) -> RowSource:
        """A source over the store as it is now; itself when the change token has not moved."""


def is_whole(cell: Cell) -> bool:
    """Whether a cell holds its whole value."""
    from persistence.records import Mark, Preview

    return not isinstance(cell, Preview | Mark)
