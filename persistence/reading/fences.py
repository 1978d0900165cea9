"""Position and key: every 256th row of an order, so that any place is a short walk away (DESIGN 3.1.1).

Fences are gathered after the first paint, in chunks by key, each chunk a short snapshot of its own. They
are keys, not pages: when the table changes under them a window still has right rows, each once and in
order; only where it stands is off by what was inserted or deleted before it.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from persistence.reading.plans import Plan, run
from persistence.reading.scans import Bookmark, Scan
from persistence.records import Extent, Progress

if TYPE_CHECKING:
    from persistence.engines.reader import Reader

__all__ = ["STEP", "Fences", "Found", "KeyPath", "due"]

STEP = 256
CHUNK = 65_536
"""Keys gathered in one snapshot: some 25 ms."""
CHEAP = 0.2
"""Seconds that may be spent again on every change of a store."""
PAUSE = 20.0
"""How many times as long as it took something costlier is left alone."""
_PLACES = 64


@dataclass(slots=True)
class Fences:
    """`marks[i]` is the row at position `(i + 1) * STEP - 1`; what follows is walked to from behind it."""

    marks: list[Bookmark] = field(default_factory=list)
    rows: int = 0  # rows passed
    tail: Bookmark | None = None  # the last of them
    complete: bool = False
    seconds: float = 0.0  # what gathering them took
    at: float = 0.0  # when (monotonic)

    def extend(self, scan: Scan, rows: Sequence[Sequence[Any]], wanted: int) -> None:
        for place in range(STEP - 1 - self.rows % STEP, len(rows), STEP):
            self.marks.append(scan.checked(scan.mark(rows[place])))
        self.rows += len(rows)
        if rows:
            self.tail = scan.mark(rows[-1])
        self.complete = len(rows) < wanted

    def before(self, position: int) -> tuple[int, Bookmark | None]:
        """The nearest fence at or before a position: the position behind it, and its bookmark."""
        place = min(position // STEP, len(self.marks))
        return place * STEP, self.marks[place - 1] if place else None


def due(seconds: float, at: float) -> bool:
    """Whether something that took so long, and was done at that (monotonic) moment, is worth doing again: a
    store that moves every second must not keep a processor busy."""
    return seconds < CHEAP or time.monotonic() - at > seconds * PAUSE


def _nothing() -> None:
    """There is nothing to note."""


@dataclass(frozen=True, slots=True)
class Found:
    """Keys at a position. `note` tells the path what the reading showed, once the reading counts."""

    first: int
    keys: list[tuple[Any, ...]]
    note: Callable[[], None] = _nothing


class KeyPath:
    """Rows in an order that an index serves."""

    def __init__(self, scan: Scan, former: Fences | None = None) -> None:
        self._scan = scan
        # What an earlier source gathered still leads to the right place, about: used until measured again.
        self._former = former
        self._fences = Fences()
        self._seen = 0  # rows that windows have shown there are
        self._total: int | None = None
        self._places: dict[int, Bookmark] = {}  # where windows have ended
        self._gathering = asyncio.Lock()
        self._tokens: list[object] = []
        self.estimate: int | None = None

    @property
    def fences(self) -> Fences | None:
        """What a source of the same order can begin with."""
        return self._fences if self._fences.complete else self._former

    @property
    def extent(self) -> Extent:
        fences = self._fences
        spans = max(1, len(self._tokens))
        if self._total is not None:
            return Extent(self._total, True, snapshots=spans)
        progress = Progress(fences.rows, self.estimate) if fences.rows else None
        rows = max(fences.rows, self._seen, self._former.rows if self._former is not None else 0)
        return Extent(rows, False, estimate=self.estimate, progress=progress, snapshots=spans)

    async def reach(self, reader: Reader, first: int) -> None:
        """Gathers as far as a window at `first` needs, so that it is a short walk."""
        while first >= 0 and first - self._nearest(first)[0] > CHUNK and not self._fences.complete:
            await self._gather(reader)

    def locate(self, first: int, count: int) -> Plan[Found]:
        """The keys at `first`, and where they stand; `first` below zero counts from the end.

        From the end, the position stays negative (-1 is the last row) until the extent is complete.
        """
        scan = self._scan
        if first < 0:
            rows = yield from scan.walk(None, -first, backward=True)
            rows.reverse()
            keys = [scan.key_of(row) for row in rows[:count]]
            if len(rows) < -first:
                return Found(0, keys, lambda: self._ended(len(rows)))
            return Found(first if self._total is None else self._total + first, keys)
        start, mark = self._nearest(first)
        wanted = first - start + count
        rows = yield from scan.walk(mark, wanted)
        keys = [scan.key_of(row) for row in rows[first - start :]]
        return Found(first, keys, lambda: self._passed(start, rows, wanted))

    async def measure(self, reader: Reader) -> AsyncGenerator[Extent, None]:
        """Gathers the fences; those of before stay in use where these were costly and are not old."""
        former = self._former
        if former is not None and not due(former.seconds, former.at):
            yield self.extent
            return
        while not self._fences.complete:
            await self._gather(reader)
            yield self.extent
        yield self.extent

    async def position(self, reader: Reader, key: tuple[Any, ...]) -> int | None:
        """Where the row with this key is, by the fence before it and a walk."""
        while True:
            async with reader.snapshot() as snapshot:
                found = await run(snapshot, lambda: self._find(key))
            if found is not _FARTHER:
                return found if isinstance(found, int) else None
            await self._gather(reader)

    def begin(self, key: tuple[Any, ...]) -> Plan[Bookmark | None]:
        """The place to go on from behind a row; None: it is gone, and its place with it."""
        mark = yield from self._scan.mark_of(key)
        if mark is None and tuple(term.name for term in self._scan.terms) == self._scan.key.names:
            return key
        return mark

    def follow(self, place: Any, count: int) -> Plan[tuple[list[tuple[Any, ...]], Any]]:
        """The next keys behind a place (None: the beginning), and the place behind them."""
        rows = yield from self._scan.walk(place, count)
        keys = [self._scan.key_of(row) for row in rows]
        return keys, self._scan.mark(rows[-1]) if rows else place

    @property
    def _current(self) -> Fences:
        return self._fences if self._former is None else self._former

    def _nearest(self, position: int) -> tuple[int, Bookmark | None]:
        start, mark = self._current.before(position)
        if position - start >= STEP and self._places:
            places = sorted(self._places)
            place = bisect_right(places, position) - 1
            if place >= 0 and places[place] > start:
                return places[place], self._places[places[place]]
        return start, mark

    def _passed(self, start: int, rows: Sequence[Sequence[Any]], wanted: int) -> None:
        """Notes what a window showed of the extent, and where the next one can go on."""
        end = start + len(rows)
        if len(rows) == wanted:
            self._seen = max(self._seen, end)
            if self._total is not None and end > self._total:
                self._total = end
            if len(self._places) >= _PLACES:
                del self._places[next(iter(self._places))]
            self._places[end] = self._scan.mark(rows[-1])
        elif self._former is None:
            self._ended(end)

    def _ended(self, total: int) -> None:
        self._total = total

    async def _gather(self, reader: Reader) -> None:
        async with self._gathering:
            fences = self._fences
            if fences.complete:
                return
            began = time.monotonic()
            async with reader.snapshot() as snapshot:
                rows = await run(snapshot, lambda: self._scan.walk(fences.tail, CHUNK))
                token = snapshot.info.token
            fences.extend(self._scan, rows, CHUNK)
            fences.at = time.monotonic()
            fences.seconds += fences.at - began
            if token not in self._tokens:
                self._tokens.append(token)
            if len(rows) < CHUNK:
                self._total, self._former = fences.rows, None
                self._places.clear()

    def _find(self, key: tuple[Any, ...]) -> Plan[object]:
        scan = self._scan
        mark = yield from scan.mark_of(key)
        if mark is None:
            return None
        fences = self._current
        marks = fences.marks
        low, high = 0, len(marks)
        while low < high:
            middle = (low + high) // 2
            if (yield from scan.beyond(key, marks[middle])):
                low = middle + 1
            else:
                high = middle
        if low == len(marks) and not fences.complete and fences.tail is not None:
            farther = yield from scan.beyond(key, fences.tail)
            if farther:
                return _FARTHER
        place: Bookmark | None = marks[low - 1] if low else None
        # The row of the fence itself is not beyond it: it is the last of the stretch before.
        passed = 0
        while True:
            rows = yield from scan.walk(place, STEP)
            for offset, row in enumerate(rows):
                if scan.key_of(row) == key:
                    return low * STEP + passed + offset
            if len(rows) < STEP:
                return None
            if passed >= CHUNK and not fences.complete:
                return _FARTHER
            passed, place = passed + len(rows), scan.mark(rows[-1])


_FARTHER = object()
