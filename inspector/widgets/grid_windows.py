"""The rows the windowed table holds: a bounded number of pages, the longest unseen dropped first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from persistence.records import PENDING, Row, Window

__all__ = ["PAGE", "Pages"]

PAGE = 32  # rows
KEPT = 64  # pages


class Pages:
    """Rows by position. A page may hold fewer rows than `PAGE`: then the source had no more there."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._pages: OrderedDict[int, tuple[Row, ...]] = OrderedDict()
        self._failed: set[int] = set()
        self.version = 0
        """Changes with every change; what is drawn from other versions is out of date."""

    def __len__(self) -> int:
        """Rows held."""
        return sum(map(len, self._pages.values()))

    def row(self, position: int) -> Row | None:
        """The row there; None when it is not held (or there is none)."""
        page, at = divmod(position, PAGE)
        rows = self._pages.get(page)
        return rows[at] if rows is not None and 0 <= at < len(rows) else None

    def read(self, position: int) -> bool:
        """Whether the page of this position was read, with a row there or not."""
        return position // PAGE in self._pages

    def failed(self, position: int) -> bool:
        return position // PAGE in self._failed

    def rows(self, first: int, last: int) -> Iterator[Row]:
        """The rows held between two positions, both included."""
        for position in range(first, last + 1):
            row = self.row(position)
            if row is not None:
                yield row

    def missing(self, first: int, last: int) -> tuple[int, int] | None:
        """(first, count) to read so that everything from `first` to `last` is held; None: it is.

        Whole pages; those seen now count as seen last.
        """
        wanted = range(max(0, first) // PAGE, max(0, last) // PAGE + 1)
        lacking = [page for page in wanted if page not in self._pages and page not in self._failed]
        for page in wanted:
            if page in self._pages:
                self._pages.move_to_end(page)
        if not lacking:
            return None
        return lacking[0] * PAGE, (lacking[-1] - lacking[0] + 1) * PAGE

    def put(self, window: Window, first: int, count: int) -> None:
        """Takes in what came for `missing`'s answer; what the window does not reach is known to be empty."""
        self.version += 1
        for start in range(first, first + max(count, len(window.rows)), PAGE):
            at = start - window.first
            rows = window.rows[at : at + PAGE] if at >= 0 else ()
            page = start // PAGE
            self._pages[page] = rows
            self._pages.move_to_end(page)
            self._failed.discard(page)
        while len(self._pages) > self._kept:
            self._pages.popitem(last=False)

    def fill(self, window: Window) -> None:
        """Takes in completed rows, where the same row is still held."""
        self.version += 1
        for offset, row in enumerate(window.rows):
            page, at = divmod(window.first + offset, PAGE)
            rows = self._pages.get(page)
            if rows is not None and at < len(rows) and rows[at].key == row.key:
                self._pages[page] = (*rows[:at], row, *rows[at + 1 :])

    def fail(self, first: int, count: int) -> None:
        """These pages could not be read; they are not asked for again until `forgive`."""
        self.version += 1
        self._failed.update(range(first // PAGE, (first + count - 1) // PAGE + 1))

    def forgive(self) -> None:
        self.version += 1
        self._failed.clear()

    def find(self, key: tuple[Any, ...]) -> int | None:
        """Where a row is, if it is held."""
        for page, rows in self._pages.items():
            for at, row in enumerate(rows):
                if row.key == key:
                    return page * PAGE + at
        return None


def pending(window: Window) -> bool:
    """Whether any of its cells is still to come."""
    return any(cell is PENDING for row in window.rows for cell in row.cells)
