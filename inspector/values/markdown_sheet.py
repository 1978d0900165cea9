"""A short text set as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from inspector import formats
from inspector.typeset.lines import Line
from inspector.typeset.markdown import LONGEST, markdown_lines

__all__ = ["LONGEST", "MarkdownSheet"]


class MarkdownSheet:
    """One entry a set line; set again for another width."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._width = 0
        self._lines: list[Line] = []
        self.set_width(80)

    def set_width(self, width: int) -> None:
        """Sets the text for this many cells; how many entries there are follows from it."""
        if width != self._width:
            self._width = width
            self._lines = markdown_lines(self.text, max(8, width)) or [()]

    @property
    def count(self) -> int:
        return len(self._lines)

    @property
    def says(self) -> str:
        return f"Markdown, {formats.several(self.text.count(chr(10)) + 1, 'line')}"

    def lines(self, index: int, width: int) -> Sequence[Line]:
        return [self._lines[index]]

    def find(self, needle: str) -> list[int]:
        wanted = needle.casefold()
        return [
            index
            for index, line in enumerate(self._lines)
            if wanted and wanted in "".join(run.text for run in line).casefold()
        ]
