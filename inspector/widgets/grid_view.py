"""The picture of the windowed table: lines drawn from the pages held, a cursor, and where clicks land.

Drawing costs what is visible: the rows in the window times the columns in it. Nothing is loaded here
and no message is sent from `render_line`; `Grid` does both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from inspector import safe
from inspector.widgets import thin_bar as _thin_bar  # noqa: F401 (sets the scroll bars)
from inspector.widgets.grid_cells import Painted, fitted, painted
from inspector.widgets.grid_columns import GUTTER, ColumnPlan, Placed
from inspector.widgets.grid_strips import SetCell, in_sight, set_cells
from inspector.widgets.grid_windows import Pages
from persistence.records import Column, Order, Row

__all__ = ["GridView"]

HEADER = 1  # lines
_ROLES = ("plain", "quiet", "code", "ok", "refuse", "notice", "live", "writes", "accent")
_SKELETON = "┄"


class GridView(ScrollView, can_focus=True):
    """Rows `0 … row_count - 1` under one header line; `cursor_row` and `cursor_column` always in range."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "grid--header",
        "grid--sorted",
        "grid--header-cursor",
        "grid--cursor",
        "grid--cell",
        "grid--mark",
        "grid--fresh",
        "grid--rule",
        "grid--heading",
        *(f"grid--{role}" for role in _ROLES),
    }
    DEFAULT_CSS = """
    GridView {
        height: 1fr;
        width: 1fr;
        background: $background;
        color: $foreground;
        overflow-x: auto;
        overflow-y: auto;
        scrollbar-size: 1 1;

        & > .grid--header { color: $quiet; text-style: $quiet-style; }
        & > .grid--sorted { color: $accent; text-style: $accent-style; }
        & > .grid--header-cursor { text-style: bold; }
        & > .grid--heading { text-style: bold; }
        & > .grid--rule { color: $rule; }
        & > .grid--fresh { color: $live; text-style: bold; }
        & > .grid--cursor { background: $panel; }
        & > .grid--cell { background: $panel; }
        &:focus > .grid--cursor { background: $cursor; text-style: $cursor-style; }
        &:focus > .grid--cell { background: $cell; color: $foreground; text-style: $cell-style; }
        & > .grid--mark { color: $accent; }
        & > .grid--quiet { color: $quiet; text-style: $quiet-style; }
        & > .grid--code { color: $code; text-style: $code-style; }
        & > .grid--ok { color: $ok; text-style: $ok-style; }
        & > .grid--refuse { color: $refuse; text-style: $refuse-style; }
        & > .grid--notice { color: $notice; text-style: $notice-style; }
        & > .grid--live { color: $live; text-style: $live-style; }
        & > .grid--writes { color: $writes; text-style: $writes-style; }
        & > .grid--accent { color: $accent; text-style: $accent-style; }
        &:nocolor:focus > .grid--cursor { text-style: bold reverse; }
        &:nocolor:focus > .grid--cell { text-style: bold reverse underline; }
    }
    """

    def __init__(
        self,
        *,
        id: str | None = None,
        classes: str | None = None,
        cell_cursor: bool = True,
        null: str = "NULL",
        grouped: bool = True,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.plan = ColumnPlan(())
        self.pages = Pages()
        self.row_count = 0
        self.cursor_row = 0
        self.cursor_column = 0
        self.cell_cursor = cell_cursor
        self.null = null
        self.grouped = grouped
        self.exact_times = False
        self.sorted_by: Order | None = None
        self.remark: Painted | None = None  # at the right end of the header
        self.fresh: frozenset[object] = frozenset()  # keys of rows that have just arrived
        self.panel: Sequence[Painted] = ()  # lines shown instead of rows
        self._strips: LRUCache[tuple[object, ...], Strip] = LRUCache(512)

    # -- geometry ---------------------------------------------------------------------------------

    @property
    def body_height(self) -> int:
        """Rows that fit under the header."""
        return max(0, self.scrollable_content_region.height - HEADER)

    @property
    def visible_rows(self) -> tuple[int, int]:
        """First and last position in the window, whether loaded or not; last < first when there is none."""
        first = max(0, self.scroll_offset.y)
        return first, min(self.row_count, first + self.body_height) - 1

    @property
    def cursor_place(self) -> Placed | None:
        placed = self.plan.placed
        return placed[min(self.cursor_column, len(placed) - 1)] if placed else None

    @property
    def column(self) -> Column | None:
        """The column the cursor is in."""
        place = self.cursor_place
        return self.plan.columns[place.index] if place is not None else None

    @property
    def row(self) -> Row | None:
        """The row under the cursor, when it is loaded."""
        return self.pages.row(self.cursor_row)

    def resize_content(self) -> None:
        """Tells the scroll bars how much there is."""
        self.plan.resize(self.scrollable_content_region.width)
        size = Size(self.plan.width if self.plan.placed and not self.panel else 0, self.row_count + HEADER)
        if size != self.virtual_size:
            self.virtual_size = size
        self.clear_strips()

    def clear_strips(self) -> None:
        self._strips.clear()
        self.refresh()

    def notify_style_update(self) -> None:
        self._strips.clear()
        super().notify_style_update()

    # -- the cursor -------------------------------------------------------------------------------

    def move_to(self, row: int, column: int | None = None, *, top: int | None = None) -> bool:
        """Puts the cursor there (as near as there is) and into sight; whether the row changed.

        `top`: the row to show first, when that keeps the cursor in sight.
        """
        before = self.cursor_row
        self.cursor_row = max(0, min(row, self.row_count - 1))
        if column is not None:
            self.cursor_column = max(0, min(column, len(self.plan.placed) - 1))
        self._scroll_into_sight(top)
        if self.cursor_row != before:
            self._refresh_row(before)
        self._refresh_row(self.cursor_row)
        if column is not None:
            self.refresh(Region(0, 0, self.size.width, HEADER))
        return self.cursor_row != before

    def _refresh_row(self, row: int) -> None:
        self.refresh_line(row + HEADER)

    def _scroll_into_sight(self, top: int | None) -> None:
        y = self.scroll_offset.y if top is None else top
        height = max(1, self.body_height)
        y = min(y, self.cursor_row)
        y = max(y, self.cursor_row - height + 1, 0)
        x = self.scroll_offset.x
        place = self.cursor_place
        if place is not None and self.cell_cursor:
            frozen = self.plan.frozen
            if self.plan.width <= self.plan.available:
                x = 0
            elif place is not self.plan.placed[0] or not frozen:
                x = min(x, max(0, place.x - frozen - GUTTER))
                room = self.scrollable_content_region.width
                x = max(x, min(place.end + GUTTER - room, place.x - frozen - GUTTER), 0)
        if (x, y) != self.scroll_offset:
            self.scroll_to(x, y, animate=False, immediate=True)

    # -- drawing ----------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if width <= 0:
            return Strip.blank(0)
        if y < HEADER:
            return self._header_line(width)
        base = self.rich_style
        if self.panel:
            return self._panel_line(y - HEADER, width, base)
        position = self.scroll_offset.y + y - HEADER
        if position >= self.row_count:
            return Strip.blank(width, base)
        cursor = position == self.cursor_row
        key = (
            position,
            cursor and (self.cursor_column, self.has_focus),
            self.scroll_offset.x,
            width,
            self.pages.version,
        )
        strip = self._strips.get(key)
        if strip is None:
            strip = self._row_line(position, cursor, width, base)
            self._strips.set(key, strip)
        return strip

    def paint(self, row: Row, index: int) -> Painted:
        """One cell of a row by the source's column `index`."""
        cell = row.cells[index] if index < len(row.cells) else None
        column = self.plan.columns[index]
        limit = max(120, column.width or 0)
        return painted(
            cell,
            column,
            exact_times=self.exact_times,
            limit=limit,
            null=self.null,
            grouped=self.grouped,
        )

    def _header_line(self, width: int) -> Strip:
        base = self.rich_style
        header = self._over(base, "grid--header")
        cells: list[SetCell] = []
        for position, place in in_sight(self.plan, self.scroll_offset.x, width):
            column = self.plan.columns[place.index]
            style = header
            mark = ""
            if self.sorted_by is not None and self.sorted_by.column == column.name:
                mark = " ↓" if self.sorted_by.descending else " ↑"
                style = self._over(base, "grid--sorted")
            if position == self.cursor_column and self.cell_cursor and self.has_focus:
                style += self.get_component_rich_style("grid--header-cursor", partial=True)
            label = safe.clip(safe.text(column.label, limit=120), max(1, place.width - len(mark)))
            words = safe.fit(label + mark, place.width, right=self.plan.right[place.index])
            cells.append((place, words, style))
        line = set_cells(self.plan, self.scroll_offset.x, cells, width, base)
        if self.remark is not None:
            words = f" {safe.clip(self.remark.text, width)} "
            taken = min(width, safe.width(words))
            styled = Segment(words, self._over(base, f"grid--{self.remark.role}"))
            line = Strip.join([line.crop(0, width - taken), Strip([styled])]).crop_extend(0, width, base)
        return line

    def _row_line(self, position: int, cursor: bool, width: int, base: Style) -> Strip:
        if cursor:
            base = self._over(base, "grid--cursor")
        row = self.pages.row(position)
        if row is None:
            return self._absent_line(position, width, base)
        fresh = row.key in self.fresh
        cells: list[SetCell] = []
        for at, place in in_sight(self.plan, self.scroll_offset.x, width):
            what = self.paint(row, place.index)
            style = self._over(
                base, "grid--fresh" if fresh and what.role == "plain" else f"grid--{what.role}"
            )
            if cursor and self.cell_cursor and at == self.cursor_column and self.has_focus:
                style = self._over(base, "grid--cell")
            cells.append((place, fitted(what, self.plan.columns[place.index], place.width), style))
        line = set_cells(self.plan, self.scroll_offset.x, cells, width, base)
        if not cursor or not self.has_focus or self.app.current_theme.ansi:
            return line
        return Strip.join([Strip([Segment("▌", self._over(base, "grid--mark"))]), line.crop(GUTTER)])

    def _absent_line(self, position: int, width: int, base: Style) -> Strip:
        """A row that is not loaded: a faint line where each value will stand; words when it cannot be."""
        if self.pages.failed(position):
            words = safe.clip(" ✗ these rows could not be read", width)
            return Strip([Segment(words, self._over(base, "grid--refuse"))]).crop_extend(0, width, base)
        if self.pages.read(position):
            return Strip.blank(width, base)
        style = self._over(base, "grid--rule")
        cells: list[SetCell] = []
        for _, place in in_sight(self.plan, self.scroll_offset.x, width):
            length = max(1, place.width * (3 + (position + place.index) % 3) // 6)
            cells.append((place, (_SKELETON * length).ljust(place.width), style))
        return set_cells(self.plan, self.scroll_offset.x, cells, width, base)

    def _panel_line(self, at: int, width: int, base: Style) -> Strip:
        top = max(0, min(self.body_height // 3, self.body_height - len(self.panel)))
        if not 0 <= at - top < len(self.panel):
            return Strip.blank(width, base)
        line = self.panel[at - top]
        text = safe.clip(line.text, width - 4)
        return Strip(
            [Segment("  ", base), Segment(text, self._over(base, f"grid--{line.role}"))]
        ).crop_extend(0, width, base)

    def _over(self, base: Style, name: str) -> Style:
        return base + self.get_component_rich_style(name, partial=True)

    # -- where a click lands ------------------------------------------------------------------------

    def position_at(self, y: int) -> int | None:
        """The row drawn on line `y` of the widget; None: the header, or below the last."""
        position = self.scroll_offset.y + y - HEADER
        return position if y >= HEADER and position < self.row_count else None

    def column_at(self, x: int) -> int | None:
        """The shown column drawn at cell `x` of the widget."""
        frozen = self.plan.frozen
        return self.plan.at(x if x < frozen else x + self.scroll_offset.x)
