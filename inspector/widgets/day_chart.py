"""Runs a day as columns, with the words for it above."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from inspector import formats
from inspector.typeset.lines import Line, line
from inspector.widgets.role_style import role_style

if TYPE_CHECKING:
    from persistence.reading.overview import Activity

__all__ = ["DayChart", "columns"]

BARS = " ▁▂▃▄▅▆▇█"
DAY = 86_400


def columns(values: Sequence[int], height: int) -> list[str]:
    """The values as columns of `height` lines, the tallest full; what is not nothing is seen."""
    most = max(values, default=0) or 1
    levels = [max(1, round(value / most * height * 8)) if value else 0 for value in values]
    return [
        "".join(BARS[max(0, min(8, level - 8 * row))] for level in levels)
        for row in range(height - 1, -1, -1)
    ]


class DayChart(Widget):
    """Words, `rows` lines of columns, and the days they begin and end with."""

    DEFAULT_CSS = "DayChart { height: auto; width: 1fr; padding: 0 1; }"

    def __init__(self, *, rows: int = 3, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows = rows
        self._activity: Activity | None = None

    def show(self, activity: Activity | None) -> None:
        self._activity = activity
        self.refresh(layout=True)

    def set_rows(self, rows: int) -> None:
        if rows != self._rows:
            self._rows = rows
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._rows + 2

    def render_line(self, y: int) -> Strip:
        width, base = self.size.width, self.rich_style
        lines = self._lines(width)
        if y >= len(lines) or width <= 0:
            return Strip.blank(max(0, width), base)
        segments = [Segment(run.text, base + role_style(self, run.role)) for run in lines[y]]
        return Strip(segments).crop_extend(0, width, base)

    def _lines(self, width: int) -> list[Line]:
        activity = self._activity
        if activity is None or width < 4:
            return [line(("runs a day", "heading"))]
        if activity.last is None:
            return [line(("runs a day", "heading"), ("  no run has a time", "quiet"))]
        days = activity.days[-width:]
        first = activity.first + DAY * (len(activity.days) - len(days))
        total = f"  {formats.several(sum(days), 'run')} in {formats.several(len(days), 'day')}"
        out = [line(("runs a day", "heading"), (f"{total}, at most {formats.count(max(days))}", "quiet"))]
        out += [line((row, "accent")) for row in columns(days, self._rows)]
        start = formats.day(first + DAY / 2)
        end = formats.day(activity.first + DAY * (len(activity.days) - 0.5))
        between = len(days) - len(start) - len(end)
        out.append(line((f"{start}{' ' * between}{end}" if between > 1 else end, "quiet")))
        return out
