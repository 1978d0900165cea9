"""How one order of a source is walked: along an index (`fences`), in a built order, or as a first part."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, Protocol

from persistence.reading.fences import Found
from persistence.reading.plans import Ask, Plan
from persistence.reading.sorting import Built, Sorting
from persistence.records import Extent, Progress

if TYPE_CHECKING:
    from persistence.engines.reader import Reader

__all__ = ["BuiltPath", "Path"]

FORMER = "sorted before the store moved: rows that came or changed since are not in their places"
"""What a built order that is still in use says of itself."""
_TOP = 1_000  # rows a sort may be asked for before its order is built


class Path(Protocol):
    """How one order of a source is walked. Keys are the table's own."""

    estimate: int | None

    @property
    def extent(self) -> Extent: ...

    async def reach(self, reader: Reader, first: int) -> None:
        """What must be had before a window at `first` is a short read."""

    def locate(self, first: int, count: int) -> Plan[Found]:
        """The keys at a position (below zero: from the end), and the position."""

    def measure(self, reader: Reader) -> AsyncGenerator[Extent, None]: ...

    async def position(self, reader: Reader, key: tuple[Any, ...]) -> int | None: ...

    def begin(self, key: tuple[Any, ...]) -> Plan[Any]:
        """The place to go on from behind a row; None when it cannot be placed any more."""

    def follow(self, place: Any, count: int) -> Plan[tuple[list[tuple[Any, ...]], Any]]:
        """The next keys behind a place (None: the beginning), and the place behind them."""


class BuiltPath:
    """Rows in an order that had to be sorted. The first page does not wait for it."""

    def __init__(
        self,
        sorting: Sorting,
        *,
        descending: bool,
        shared: dict[str, Built],
        name: str,
        said: str | None = None,
    ) -> None:
        """`said` is what a reader must be told of the rows (`Extent.part_of`)."""
        self._sorting = sorting
        self._descending = descending
        self._shared = shared  # one built order serves both directions
        self._name = name
        self._said = said
        self._building = asyncio.Lock()
        self._seen = 0
        self._total: int | None = None
        self._progress: Progress | None = None
        self.estimate: int | None = None

    @property
    def built(self) -> Built | None:
        return self._shared.get(self._name)

    @property
    def extent(self) -> Extent:
        built = self.built
        if built is not None:
            said = self._said or (FORMER if built.former else None)
            return Extent(len(built), True, part_of=said, snapshots=built.snapshots)
        if self._total is not None:
            return Extent(self._total, True)
        return Extent(self._seen, False, estimate=self.estimate, progress=self._progress)

    async def reach(self, reader: Reader, first: int) -> None:
        if first < 0 or first >= _TOP:
            await self._build(reader)

    def locate(self, first: int, count: int) -> Plan[Found]:
        built = self.built
        if built is None:
            wanted = first + count
            rows = yield Ask(self._sorting.top(wanted, descending=self._descending))
            keys = [tuple(row) for row in rows[first:]]
            return Found(first, keys, lambda: self._passed(len(rows), wanted))
        if first < 0:
            count = min(count, -first)
            first = max(0, len(built) + first)
        return Found(first, built.keys(first, count, descending=self._descending))

    def _passed(self, rows: int, wanted: int) -> None:
        self._seen = max(self._seen, rows)
        if rows < wanted:
            self._total = rows

    async def measure(self, reader: Reader) -> AsyncGenerator[Extent, None]:
        if self.built is None and self._total is None:
            told: asyncio.Queue[None] = asyncio.Queue()
            task = asyncio.ensure_future(self._build(reader, lambda: told.put_nowait(None)))
            task.add_done_callback(lambda _: told.put_nowait(None))
            try:
                while not task.done():
                    await told.get()
                    yield self.extent
                await task
            finally:
                task.cancel()
                await asyncio.wait([task])
                if not task.cancelled():
                    task.exception()  # raised above, unless the reader has left
        yield self.extent

    async def position(self, reader: Reader, key: tuple[Any, ...]) -> int | None:
        await self._build(reader)
        built = self.built
        return None if built is None else built.position(key, descending=self._descending)

    def begin(self, key: tuple[Any, ...]) -> Plan[Any]:
        built = self.built
        yield from ()
        place = None if built is None else built.position(key, descending=self._descending)
        return None if place is None else place + 1

    def follow(self, place: Any, count: int) -> Plan[tuple[list[tuple[Any, ...]], Any]]:
        found = yield from self.locate(place or 0, count)
        return found.keys, found.first + len(found.keys)

    async def _build(self, reader: Reader, told: Any = None) -> None:
        def report(progress: Progress) -> None:
            self._progress = progress
            if told is not None:
                told()

        async with self._building:
            if self.built is not None:
                return
            began = time.monotonic()
            built = await self._sorting.build(reader, report)
            built.at = time.monotonic()
            built.seconds = built.at - began
            while len(self._shared) >= 2:
                del self._shared[next(iter(self._shared))]
            self._shared[self._name] = built
