"""The picture of a list of entries of any height: what is in sight, drawn by lines.

Only what is visible is ever laid out, so that a conversation of 100,000 messages costs what its window
costs. The place held is an entry and a line of it. The scroll bar goes by entries (a
typical height stands for them), so a height that becomes known later moves nothing that is in sight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from inspector.typeset.lines import Line, Run
from inspector.widgets import thin_bar as _thin_bar  # noqa: F401 (sets the scroll bars)
from inspector.widgets.role_style import role_style

__all__ = ["GUTTER", "Spot", "TallView"]

GUTTER = 1
"""Cells left and right of every line; the cursor's bar stands in the left one."""
COUNTED = 2048
"""Entries of a list whose lines are counted for the scroll bar."""


class Spot(NamedTuple):
    """A line of an entry."""

    entry: int
    line: int


class TallView(ScrollView, can_focus=True):
    """Entries `0 … count - 1`. `lines_of` gives an entry's lines; None while it is not loaded."""

    # The bar's cell is kept free: lines laid out before the bar comes would be a cell too wide.
    DEFAULT_CSS = "TallView { overflow-y: auto; scrollbar-gutter: stable; }"
    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"list--cursor", "list--bar"}
    MARKED: ClassVar[bool] = True
    """Whether the entry the cursor is on is marked; not in a text that is only read."""
    UNSEEN = 3
    """Lines an entry takes while it is not loaded."""
    TYPICAL: ClassVar[int | None] = None
    """Lines that stand for an entry in the scroll bar where counting would cost; None: they are counted."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.count = 0
        self.cursor = 0
        self.top = Spot(0, 0)
        self._at_end = False  # keeps the end in sight while heights become known
        self._visible: list[tuple[Spot, Line | None]] = []
        self._nothing: tuple[Line, ...] = ()
        self._syncing = False
        self._styles: dict[str, Style] = {}
        self._strips: dict[tuple[Spot, bool, int], Strip] = {}

    # -- what a subclass gives -----------------------------------------------------------------------

    def lines_of(self, index: int) -> Sequence[Line] | None:
        """The lines of an entry at this width; None while it is not loaded. At least one line."""
        raise NotImplementedError

    def lead_of(self, index: int) -> int:
        """How many of an entry's first lines stand above it (a blank line, a day) and are not marked."""
        return 0

    def unseen_line(self, index: int, line: int) -> Line:
        """What stands where an entry is not loaded."""
        return ()

    def nothing_lines(self) -> Sequence[Line]:
        """What is said when there are no entries."""
        return ()

    def settled(self, first: int, last: int) -> None:
        """These entries are in sight now: have what is missing loaded. Never called while drawing."""

    # -- geometry --------------------------------------------------------------------------------------

    @property
    def room(self) -> int:
        """Cells a line may take."""
        return max(1, self.scrollable_content_region.width - 2 * GUTTER)

    @property
    def page(self) -> int:
        return max(1, self.scrollable_content_region.height)

    def height_of(self, index: int) -> int:
        lines = self.lines_of(index)
        return self.UNSEEN if lines is None else max(1, len(lines))

    def set_count(self, count: int, *, keep: bool = True) -> None:
        """There are this many entries now."""
        stay_at_end = keep and self._at_end and count > self.count
        self.count = count
        if not keep:
            self.top, self.cursor, self._at_end = Spot(0, 0), 0, False
        self.cursor = max(0, min(self.cursor, count - 1))
        if stay_at_end:
            self.top = self._last_top()
        self.settle()

    def settle(self) -> None:
        """Works out what is in sight, draws it, and asks for what is missing."""
        if not self.is_mounted or self.page <= 0 or self.size.width <= 0:
            return
        if self._at_end:
            self.top = self._last_top()
        self._clamp()
        self._visible = self._walk()
        self._nothing = () if self.count else tuple(self.nothing_lines())
        self._strips.clear()
        self._sync_bar()
        self.refresh()
        if self._visible:
            self.settled(self._visible[0][0].entry, self._visible[-1][0].entry)

    def _walk(self) -> list[tuple[Spot, Line | None]]:
        out: list[tuple[Spot, Line | None]] = []
        index, start = self.top
        while len(out) < self.page and index < self.count:
            lines = self.lines_of(index)
            height = self.UNSEEN if lines is None else max(1, len(lines))
            for number in range(start, height):
                out.append((Spot(index, number), lines[number] if lines else None))
                if len(out) >= self.page:
                    break
            index, start = index + 1, 0
        return out

    def _whole(self) -> int:
        """Lines of everything, for the scroll bar: never dependent on what happened to be drawn before."""
        if self.TYPICAL is not None:
            return self.count * self.TYPICAL
        return sum(self.height_of(index) for index in range(min(self.count, COUNTED))) + (
            max(0, self.count - COUNTED) * self.UNSEEN
        )

    def _clamp(self) -> None:
        index = max(0, min(self.top.entry, self.count - 1))
        line = self.top.line if index == self.top.entry else 0
        line = max(0, min(line, self.height_of(index) - 1)) if self.count else 0
        self.top = Spot(index, line)
        if self._below(self.top, self.page) < self.page:
            self.top = self._last_top()

    def _below(self, spot: Spot, most: int) -> int:
        """Lines from `spot` to the end, counted up to `most`."""
        lines, index = -spot.line, spot.entry
        while index < self.count and lines < most:
            lines += self.height_of(index)
            index += 1
        return lines

    def _last_top(self) -> Spot:
        """Where the window begins when the end of the last entry stands at its bottom."""
        missing, index = self.page, self.count
        while index > 0:
            index -= 1
            height = self.height_of(index)
            if height >= missing:
                return Spot(index, height - missing)
            missing -= height
        return Spot(0, 0)

    def _moved_by(self, spot: Spot, lines: int) -> Spot:
        index, line = spot
        line += lines
        while line < 0 and index > 0:
            index -= 1
            line += self.height_of(index)
        while index < self.count - 1 and line >= (height := self.height_of(index)):
            line -= height
            index += 1
        return Spot(index, max(0, line))

    # -- the scroll bar -----------------------------------------------------------------------------------

    def _sync_bar(self) -> None:
        everything = self._below(Spot(0, 0), self.page + 1)
        fits = everything <= self.page
        height = everything if fits else max(self.page + 1, self._whole())
        self._syncing = True
        try:
            size = Size(self.scrollable_content_region.width, height)
            if size != self.virtual_size:
                self.virtual_size = size
            self.scroll_target_y = self.scroll_y = 0 if fits else self._bar_position(height)
        finally:
            self._syncing = False

    def _bar_position(self, height: int) -> float:
        most = max(0, height - self.page)
        if self.top == self._last_top():
            return most
        at = self.top.entry + self.top.line / max(1, self.height_of(self.top.entry))
        return min(most - 1, round(at / max(1, self.count) * height)) if self.top != Spot(0, 0) else 0

    # -- drawing --------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        self.restyle()
        self.settle()

    def restyle(self) -> None:
        """The width or the theme is another: a subclass drops the lines it has laid out."""

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def notify_style_update(self) -> None:
        self._styles.clear()
        self._strips.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        base = self.rich_style
        if width <= 0:
            return Strip.blank(0)
        if y >= len(self._visible):
            at = y - 1
            if 0 <= at < len(self._nothing):
                runs = (Run(" " * GUTTER), *self._nothing[at])
                segments = [Segment(run.text, base + self._role(run.role)) for run in runs]
                return Strip(segments).crop_extend(0, width, base)
            return Strip.blank(width, base)
        spot, line = self._visible[y]
        here = self.MARKED and spot.entry == self.cursor
        key = (spot, here and self.has_focus, width + (1 << 20 if here else 0))
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strip(spot, line, here, width, base)
            self._strips[key] = strip
        return strip

    def _strip(self, spot: Spot, line: Line | None, here: bool, width: int, base: Style) -> Strip:
        here = here and spot.line >= self.lead_of(spot.entry)
        if here:
            base += self.get_component_rich_style("list--cursor", partial=True)
        runs = self.unseen_line(spot.entry, spot.line) if line is None else line
        bar = (
            self.get_component_rich_style("list--bar", partial=True)
            if here and self.has_focus
            else self._role("line")
        )
        segments = [
            Segment("▌" if here else " ", base + bar),
            *(Segment(run.text, base + self._role(run.role)) for run in runs),
        ]
        return Strip(segments).crop_extend(0, width, base)

    def _role(self, roles: str) -> Style:
        style = self._styles.get(roles)
        if style is None:
            style = self._styles[roles] = role_style(self, roles)
        return style
