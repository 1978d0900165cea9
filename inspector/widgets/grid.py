"""The windowed table: any number of rows of a `RowSource`, a window of them in memory.

    grid = Grid(id="rows")
    grid.show(source)                    # first: faint lines, then rows
    grid.show(await source.refreshed())  # later: the cursor stays on its row, arrivals are counted

It loads what is visible, sorts, counts after the first paint, and posts `Grid.Opened`, `ViewAsked`,
`Highlighted`, `OrderChanged`, `Loaded` and `Failed` (each with `grid`; `@on(Grid.Opened, "#rows")` works).
"""

from __future__ import annotations

from typing import Any, ClassVar

from textual import events
from textual.binding import Binding

from inspector import formats
from inspector.widgets import grid_messages as messages
from inspector.widgets.grid_jump import JumpCard
from inspector.widgets.grid_keys import GRID_KEYS
from inspector.widgets.grid_rows import GridRows
from inspector.widgets.grid_view import HEADER
from persistence.records import Cell, Column, Order, Row

__all__ = ["Grid"]


class Grid(GridRows, inherit_bindings=False):
    """See the module. `empty` and `hint` say what there is not, and what a person can do about it.

    `null` is how NULL reads (`NULL` in tables, `·` where a person reads runs); `grouped` puts commas into
    numbers, which a table of somebody's own (years, ids) must not have.
    """

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [*GRID_KEYS]

    Opened = messages.Opened
    ViewAsked = messages.ViewAsked
    Highlighted = messages.Highlighted
    OrderChanged = messages.OrderChanged
    Loaded = messages.Loaded
    Failed = messages.Failed

    # -- what a place uses ------------------------------------------------------------------------

    @property
    def cursor_cell(self) -> Cell:
        """The value under the cursor as it is held here (a preview, perhaps); None too when none is."""
        row, place = self.row, self.cursor_place
        return row.cells[place.index] if row is not None and place is not None else None

    async def whole_row(self) -> Row | None:
        """The row under the cursor with its cells whole; None: there is none any more. Raises StoreError."""
        row = self.row
        return await self.source.cells(row.key) if row is not None and self.source is not None else None

    @property
    def words(self) -> str:
        """Where the cursor is and of how many, for a status line: `200 of about 9,000 · counting 12 %`."""
        if self.source is None:
            return "loading" if self.loads.switching else ""
        extent = self.extent
        total = formats.count(self.row_count, complete=extent.complete)
        if not extent.complete and extent.estimate is not None and extent.estimate > self.row_count:
            total = f"about {formats.count(extent.estimate)}"
        said = [f"{formats.count(self.cursor_row + 1)} of {total}" if self.row_count else "no rows"]
        if extent.part_of:
            said.append("first part")
        elif not extent.complete:
            progress = extent.progress
            share = (
                f" {formats.percent(progress.done, progress.total)}" if progress and progress.total else ""
            )
            said.append(f"counting{share}")
        if self.loads.switching:
            said.append("loading")
        return " · ".join(said)

    async def go_to_key(self, key: tuple[Any, ...]) -> bool:
        """Puts the cursor on a row by its key; False when this source does not show it. Raises StoreError."""
        if self.source is None:
            return False
        position = self.pages.find(key)
        if position is None:
            position = await self.source.position(key)
        if position is None:
            return False
        self.go_to_position(position)
        return True

    def go_to_position(self, position: int) -> None:
        """Puts the cursor on a row by its place, though rows may not be counted that far yet."""
        self.row_count = max(self.row_count, position + 1)
        self.resize_content()
        self.go(position, top=max(0, position - self.body_height // 3))

    # -- the mouse --------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        event.stop()
        at = self.column_at(event.x)
        if event.y < HEADER:
            if at is not None:
                self.go(self.cursor_row, at)
                self._sort_by(self.plan.columns[self.plan.placed[at].index])
            return
        position = self.position_at(event.y)
        if position is not None:
            self.go(position, at)
            if event.chain == 2:
                self.action_open()

    # -- the keys -----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "cancel":
            return self.loads.switching and self.source is not None
        return True

    def action_cancel(self) -> None:
        self.cancel()

    def action_open(self) -> None:
        if self.row is not None:
            self.post_message(messages.Opened(self, self.row, self.column))

    def action_view(self) -> None:
        if self.row is not None:
            self.post_message(messages.ViewAsked(self, self.row, self.column))

    def action_rows(self, step: int) -> None:
        self._to_the_end = False
        self.go(self.cursor_row + step)

    def action_pages(self, step: int) -> None:
        self._by(step * max(1, self.body_height - 1))

    def action_halves(self, step: int) -> None:
        self._by(step * max(1, self.body_height // 2))

    def _by(self, rows: int) -> None:
        """Moves cursor and window together, so that the cursor stays on its line."""
        self._to_the_end = False
        top = max(0, min(self.scroll_offset.y + rows, self.row_count - self.body_height))
        self.go(self.cursor_row + rows, top=top)

    def action_first(self) -> None:
        self._to_the_end = False
        self.go(0)

    def action_last(self) -> None:
        """The last row known; while rows are still being counted, the cursor follows."""
        self._to_the_end = not self.extent.complete
        self.go(self.row_count - 1)

    def action_columns(self, step: int) -> None:
        if self.cell_cursor:
            self.go(self.cursor_row, self.cursor_column + step)
        else:
            self.scroll_relative(x=8 * step, animate=False)

    def action_edge(self, side: int) -> None:
        self.go(self.cursor_row, 0 if side < 0 else len(self.plan.placed) - 1)

    def action_jump(self) -> None:
        if self.row_count:
            card = JumpCard(self.cursor_row, self.row_count, self.extent.complete)
            self.app.push_screen(card, self._jumped)

    def _jumped(self, position: int | None) -> None:
        if position is not None:
            self._to_the_end = False
            self.go(position, top=max(0, position - self.body_height // 2))

    def action_sort(self, down: bool = False) -> None:
        if self.column is not None:
            self._sort_by(self.column, down)

    def _sort_by(self, column: Column, down: bool = False) -> None:
        """Ascending, then descending, then as the source has it; `down`: descending, or as it was."""
        if not column.sortable or column.missing:
            self.app.bell()
            return
        now = self.sorted_by
        mine = now is not None and now.column == column.name
        if down:
            order = None if mine and now is not None and now.descending else Order(column.name, True)
        elif mine and now is not None:
            order = None if now.descending else Order(column.name, True)
        else:
            order = Order(column.name)
        self.show_order(order)

    def action_widen(self, cells: int) -> None:
        place, column = self.cursor_place, self.column
        if place is not None and column is not None:
            self.plan.choose(column, place.width + cells)
            self._columns_changed()

    def action_fit(self) -> None:
        column = self.column
        if column is not None:
            self.plan.fit_to(column, self.pages.rows(*self.visible_rows), self.paint)
            self._columns_changed()

    def action_hide(self) -> None:
        if self.column is not None:
            self.plan.hide(self.column)
            self._columns_changed()

    def action_show_all(self) -> None:
        self.plan.show_all()
        self._columns_changed()

    def action_times(self) -> None:
        self.exact_times = not self.exact_times
        rows = list(self.pages.rows(*self.visible_rows))
        if rows:
            self.plan.measure(rows, self.paint)
        self._columns_changed()

    def _columns_changed(self) -> None:
        self.resize_content()
        self.go(self.cursor_row, self.cursor_column)
