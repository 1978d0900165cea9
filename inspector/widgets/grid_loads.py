"""The reads of the windowed table: what is visible now, and nothing that is not.

Workers read and post; the grid takes what they post. At most one window is being read at a time: when it
arrives, what is visible by then is asked for, so a storm of scrolling costs few reads. A read whose rows
have left the window is cancelled only when it is slow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from inspector.widgets.grid_messages import Completed, Measured, ReadFailed, Switched, WindowRead
from inspector.widgets.grid_windows import PAGE
from persistence.errors import StoreError
from persistence.records import Window

if TYPE_CHECKING:
    from textual.worker import Worker

    from inspector.widgets.grid_rows import GridRows
    from persistence.reading.source import RowSource

__all__ = ["GridLoads", "Keep"]

PATIENCE = 0.15  # seconds before a read nobody looks at any more is cancelled
PACE = 0.1  # seconds between two reports of how many rows there are


@dataclass(frozen=True, slots=True)
class Keep:
    """What stays in place when the source changes: the row `key`, until now at `row`, `above` lines down.

    `first_key` is the row that was the first of all, to count what has arrived above it; None: not wanted.
    """

    key: tuple[Any, ...] | None = None
    row: int = 0
    above: int = 0
    height: int = 1
    first_key: tuple[Any, ...] | None = None


class GridLoads:
    """The loads of one grid. `ticket` names the source shown (or being switched to)."""

    def __init__(self, grid: GridRows) -> None:
        self._grid = grid
        self.ticket = 0
        self._window: tuple[int, int, float, Worker[None]] | None = None
        self._switch: Worker[None] | None = None
        self._completed: set[tuple[Any, ...]] = set()
        self._completing = False
        self._later = False

    @property
    def switching(self) -> bool:
        return self._switch is not None

    def switch(self, source: RowSource, keep: Keep) -> None:
        """Reads the first window of another source, around the row to keep."""
        self.stop()
        self._switch = self._run("switch", partial(self._read_switch, self.ticket, source, keep))

    def stop(self) -> None:
        """Forgets every read under way."""
        self.ticket += 1
        for group in ("switch", "window", "complete", "measure"):
            self._grid.workers.cancel_group(self._grid, f"grid {group}")
        self._switch = self._window = None
        self._completing = False

    def switched(self) -> None:
        """The switch is over; what was asked of the source before is late from now on."""
        self.stop()
        self._completed.clear()

    def window(self, first: int, count: int) -> None:
        """Reads rows, unless a read that will be asked about again is still under way."""
        if self._window is not None:
            under_way, its_count, since, worker = self._window
            beside = under_way + its_count <= first or first + count <= under_way
            if not beside or monotonic() - since < PATIENCE:
                self._ask_later()
                return
            worker.cancel()
        work = partial(self._read_window, self.ticket, first, count)
        self._window = (first, count, monotonic(), self._run("window", work))

    def window_done(self) -> None:
        self._window = None

    def complete(self, window: Window) -> None:
        """Has the rows' outstanding cells filled in; each row is asked for once."""
        if self._completing:
            return
        keys = {row.key for row in window.rows}
        if keys <= self._completed:
            return
        if len(self._completed) > 20_000:
            self._completed.clear()
        self._completed |= keys
        self._completing = True
        self._run("complete", partial(self._read_completed, self.ticket, window))

    def completed(self) -> None:
        self._completing = False

    def measure(self) -> None:
        """Counts, once there is something to see."""
        self._run("measure", partial(self._read_measure, self.ticket))

    def _ask_later(self) -> None:
        if not self._later:
            self._later = True
            self._grid.set_timer(PATIENCE, self._ask)

    def _ask(self) -> None:
        self._later = False
        self._grid.ask()

    def _run(self, group: str, work: Callable[[], Coroutine[Any, Any, None]]) -> Worker[None]:
        # A function, not a coroutine: one that is cancelled before it begins is never made.
        return self._grid.run_worker(work, group=f"grid {group}", name=f"grid {group}", exclusive=True)

    # -- in the workers ------------------------------------------------------------------------------

    async def _read_switch(self, ticket: int, source: RowSource, keep: Keep) -> None:
        async def read() -> Switched:
            position = keep.row
            if keep.key is not None:
                found = await source.position(keep.key)
                position = keep.row if found is None else found
            top = max(0, position - keep.above)
            first = top // PAGE * PAGE
            count = -(-(top + max(1, keep.height) - first) // PAGE) * PAGE
            window = await source.window(first, count)
            if not window.rows and first:  # fewer rows than there were
                first, position = 0, max(0, source.extent.rows - 1)
                window = await source.window(0, count)
            arrived = await _arrived(source, window, keep, position)
            return Switched(ticket, source, position, arrived, window, count)

        await self._post(ticket, "switch", read)

    async def _read_window(self, ticket: int, first: int, count: int) -> None:
        source = self._grid.source
        assert source is not None

        async def read() -> WindowRead:
            return WindowRead(ticket, await source.window(first, count), first, count)

        await self._post(ticket, "window", read, first, count)

    async def _read_completed(self, ticket: int, window: Window) -> None:
        source = self._grid.source
        assert source is not None

        async def read() -> Completed:
            return Completed(ticket, await source.complete(window))

        await self._post(ticket, "complete", read)

    async def _read_measure(self, ticket: int) -> None:
        source = self._grid.source
        assert source is not None

        async def read() -> Measured:
            extents = source.measure()
            last, said = source.extent, monotonic()
            try:
                async for last in extents:
                    if monotonic() - said >= PACE:
                        said = monotonic()
                        self._grid.post_message(Measured(ticket, last))
            finally:
                close = getattr(extents, "aclose", None)
                if close is not None:
                    await close()
            return Measured(ticket, last)

        await self._post(ticket, "measure", read)

    async def _post(
        self,
        ticket: int,
        what: str,
        read: Callable[[], Awaitable[Any]],
        first: int | None = None,
        count: int = 0,
    ) -> None:
        try:
            answer = await read()
        except StoreError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                return  # interrupted under this very task: our own cancelling
            answer = ReadFailed(ticket, what, error, first, count)
        self._grid.post_message(answer)


async def _arrived(source: RowSource, window: Window, keep: Keep, position: int) -> int:
    """How many rows stand above the one that was the first of all; 0 when that is not known."""
    if keep.first_key is None:
        return 0
    for offset, row in enumerate(window.rows):
        if row.key == keep.first_key:
            return window.first + offset
    with suppress(StoreError):
        return await source.position(keep.first_key) or 0
    return max(0, position - keep.row)
