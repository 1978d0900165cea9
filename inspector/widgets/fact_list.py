"""Facts as a few lines: a label and its phrases, which go on below each other where a line is too short."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rich.segment import Segment
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from inspector.typeset.lines import Line, Run, line_width, prefixed, wrap
from inspector.widgets.role_style import role_style

__all__ = ["Fact", "FactList", "laid_out"]

LABEL = 9
GAP = 2


class Fact(NamedTuple):
    """Phrases are kept whole where they fit. Without a label they begin at the edge."""

    label: str
    phrases: tuple[Line, ...]


def laid_out(facts: Iterable[Fact], room: int) -> list[Line]:
    """The lines of facts in so many cells, each within the column its first phrase begins in."""
    out: list[Line] = []
    for label, phrases in facts:
        indent = LABEL if label else 0
        rows: list[Line] = []
        for phrase in phrases:
            if rows and line_width(rows[-1]) + GAP + line_width(phrase) <= room - indent:
                rows[-1] = (*rows[-1], Run(" " * GAP), *phrase)
            else:
                rows += wrap(phrase, room - indent)
        out += prefixed(Run(" " * indent), rows, first=Run(f"{label:<{indent}}", "quiet"))
    return out


class FactList(Widget):
    """Give it facts with `show`."""

    DEFAULT_CSS = "FactList { height: auto; width: 1fr; padding: 0 1; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._facts: tuple[Fact, ...] = ()

    def show(self, facts: Iterable[Fact]) -> None:
        self._facts = tuple(facts)
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return max(1, len(laid_out(self._facts, width)))

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.rich_style
        lines = laid_out(self._facts, width) if width > 0 else []
        if y >= len(lines):
            return Strip.blank(max(0, width), base)
        segments = [Segment(run.text, base + role_style(self, run.role)) for run in lines[y]]
        return Strip(segments).crop_extend(0, width, base)
