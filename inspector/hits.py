"""Where a search found its words, as far as it has come: positions in order, and the next one from here."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

__all__ = ["Hits"]


class Hits:
    """Grows while the search goes on; `complete` once it has seen everything."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.positions: list[int] = []
        self.complete = False

    def add(self, positions: Iterable[int]) -> None:
        self.positions.extend(positions)  # a search goes forward

    def after(self, position: int, *, wrap: bool = True) -> int | None:
        """The next one behind a position; the first one when there is none and `wrap`."""
        at = bisect_right(self.positions, position)
        if at < len(self.positions):
            return self.positions[at]
        return self.positions[0] if self.positions and wrap else None

    def before(self, position: int) -> int | None:
        at = bisect_left(self.positions, position)
        if at > 0:
            return self.positions[at - 1]
        return self.positions[-1] if self.positions else None

    def number(self, position: int) -> int | None:
        """Which one it is, from 1; None when it is none."""
        at = bisect_left(self.positions, position)
        return at + 1 if at < len(self.positions) and self.positions[at] == position else None
