"""Scroll bars as thin lines: they say where one is and take no attention. Importing this sets them."""

from __future__ import annotations

from typing import Any

from rich.color import Color
from rich.segment import Segment, Segments
from rich.style import Style
from textual.scrollbar import ScrollBar, ScrollBarRender

__all__ = ["ThinBar"]

BACK = Color.parse("black")
BAR = Color.parse("white")


class ThinBar(ScrollBarRender):
    """A line one cell wide; above and below it a click moves a page, as with Textual's own."""

    @classmethod
    def render_bar(
        cls,
        size: int = 25,
        virtual_size: float = 50,
        window_size: float = 20,
        position: float = 0,
        thickness: int = 1,
        vertical: bool = True,
        back_color: Any = BACK,
        bar_color: Any = BAR,
    ) -> Segments:
        size = max(0, int(size))
        width = thickness if vertical else 1
        start, end = cls._thumb(size, virtual_size, window_size, position)
        thumb = Segment(
            ("┃" if vertical else "━") * width,
            Style(
                color=bar_color,
                bgcolor=back_color,
                dim=bar_color.is_default or None,  # one colour only: quieter than the text beside it
                meta={"@mouse.down": "grab"},
            ),
        )
        before = Segment(" " * width, Style(bgcolor=back_color, meta={"@mouse.down": "scroll_up"}))
        after = Segment(" " * width, Style(bgcolor=back_color, meta={"@mouse.down": "scroll_down"}))
        segments = [before] * start + [thumb] * (end - start) + [after] * (size - end)
        if vertical:
            return Segments(segments, new_lines=True)
        return Segments([*segments, Segment.line()] * thickness, new_lines=False)

    @staticmethod
    def _thumb(size: int, virtual_size: float, window_size: float, position: float) -> tuple[int, int]:
        """Where the line begins and ends; at the very ends only when there is nothing more that way."""
        if not size or not window_size or virtual_size <= window_size:
            return 0, 0
        length = max(1, min(size, round(size * window_size / virtual_size)))
        room = size - length
        hidden = virtual_size - window_size
        start = round(room * min(1.0, max(0.0, position / hidden)))
        if room > 1:
            start = max(start, 1) if position > 0 else 0
            start = min(start, room - 1) if position < hidden else room
        start = max(0, min(start, room))
        return start, start + length


ScrollBar.renderer = ThinBar
