"""Cells into a line of the window: the frozen column, what is scrolled into view, and where the edge cuts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from inspector import safe
from inspector.widgets.grid_columns import ColumnPlan, Placed

__all__ = ["SetCell", "in_sight", "set_cells"]

SetCell: TypeAlias = tuple[Placed, str, Style]
"""Where it stands, its text at full width, how it is drawn."""


def in_sight(plan: ColumnPlan, scrolled: int, width: int) -> list[tuple[int, Placed]]:
    """The shown columns a window of this width has in it, each with its position among them."""
    frozen = plan.frozen
    first, last = scrolled + frozen, scrolled + width
    return [
        (at, place)
        for at, place in enumerate(plan.placed)
        if (place.end > first and place.x < last) or (frozen and at == 0)
    ]


def set_cells(plan: ColumnPlan, scrolled: int, cells: Sequence[SetCell], width: int, base: Style) -> Strip:
    """The cells (of the columns in sight) as a strip of exactly `width` cells."""
    frozen = plan.frozen
    segments: list[Segment] = []
    start = 0  # the next free cell of the window
    for place, text, style in cells:
        held = bool(frozen) and place is plan.placed[0]
        x = place.x if held else place.x - scrolled
        left = 0 if held else frozen
        if x >= width:
            break
        if x + place.width > width:
            text = safe.clip(text, width - x)  # the edge cuts it: it says so, and its direction ends
        strip = Strip([Segment(text, style)])
        if x < left:
            strip = strip.crop(left - x)
            x = left
        if x > start:
            segments.append(Segment(" " * (x - start), base))
        segments.extend(strip)
        start = x + strip.cell_length
    return Strip(segments).crop_extend(0, width, base)
