"""A text by its lines; very long lines are cut into entries, so that a 50 MB line costs what is in sight."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from inspector import formats, safe
from inspector.typeset.lines import Line, Run, fold, visible, wrap
from inspector.values.sheet import FINDS

__all__ = ["TextSheet"]

ENTRY = 4_000
"""Characters of a line that make one entry."""


class TextSheet:
    """`wrapped`: broken between words at the width; otherwise a line is one line, cut at the edge."""

    def __init__(self, text: str, *, wrapped: bool = True, cut: bool = False) -> None:
        self.text = text
        self.wrapped = wrapped
        self.skipped = 0  # characters left of the window, where lines are not wrapped
        self._cut = cut
        self._starts = _entries(text)
        self._lines = text.count("\n") + 1

    @property
    def count(self) -> int:
        return len(self._starts)

    @property
    def says(self) -> str:
        return formats.several(self._lines, "line", complete=not self._cut)

    def lines(self, index: int, width: int) -> Sequence[Line]:
        if not self.wrapped:
            return [(Run(safe.clip(safe.text(self._entry(index)[self.skipped :], limit=ENTRY), width)),)]
        text = visible(self._entry(index))
        cut = wrap if " " in text[:200] else fold
        return cut([Run(text)], width) or [()]

    def find(self, needle: str) -> list[int]:
        wanted = needle.casefold()
        if not wanted:
            return []
        found: list[int] = []
        for index in range(self.count):
            # A little of the next entry, so that nothing is missed where a long line was cut.
            end = self._end(index)
            piece = self.text[self._starts[index] : end]
            if end - self._starts[index] >= ENTRY:
                piece += self.text[end : end + len(needle) - 1]
            if wanted in piece.casefold():
                found.append(index)
                if len(found) >= FINDS:
                    break
        return found

    def entry_at(self, position: int) -> int:
        """The entry a character stands in."""
        return max(0, bisect_right(self._starts, position) - 1)

    def _end(self, index: int) -> int:
        return self._starts[index + 1] if index + 1 < len(self._starts) else len(self.text)

    def _entry(self, index: int) -> str:
        piece = self.text[self._starts[index] : self._end(index)]
        return piece.removesuffix("\n").removesuffix("\r")


def _entries(text: str) -> list[int]:
    """Where entries begin: after each line break, and every `ENTRY` characters of a longer line."""
    starts: list[int] = []
    start = 0
    while True:
        end = text.find("\n", start)
        stop = len(text) if end < 0 else end
        starts.append(start)
        starts.extend(range(start + ENTRY, stop, ENTRY))
        if end < 0:
            return starts
        start = end + 1
