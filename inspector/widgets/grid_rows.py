"""The rows of the windowed table: which source is shown, what of it is loaded, and how many there are."""

from __future__ import annotations

from typing import Any

from textual import events, on

from inspector import formats
from inspector.widgets import grid_messages as messages
from inspector.widgets.grid_cells import Painted
from inspector.widgets.grid_columns import ColumnPlan
from inspector.widgets.grid_loads import GridLoads, Keep
from inspector.widgets.grid_panels import empty_lines, error_lines, loading_lines
from inspector.widgets.grid_view import GridView
from inspector.widgets.grid_windows import Pages, pending
from persistence.errors import StoreError
from persistence.reading.source import RowSource
from persistence.records import Extent, Order, ReadInfo, Window

__all__ = ["GridRows"]

TICK = 20.0  # seconds between two redraws of relative times
FRESH = 4.0  # seconds a row that has just arrived stands out


class GridRows(GridView):
    """Loads what is visible, counts after the first paint, and keeps its place when the source changes."""

    def __init__(
        self,
        *,
        empty: str = "Nothing here.",
        hint: str = "",
        id: str | None = None,
        classes: str | None = None,
        cell_cursor: bool = True,
        null: str = "NULL",
        grouped: bool = True,
    ) -> None:
        super().__init__(id=id, classes=classes, cell_cursor=cell_cursor, null=null, grouped=grouped)
        self.source: RowSource | None = None
        self.extent = Extent(0, False)
        self.read: ReadInfo | None = None
        self.error: StoreError | None = None
        self.arrived = 0
        self.empty = (empty, hint)
        self.loads = GridLoads(self)
        self._next: RowSource | None = None
        self._reorders = False  # the next source stands in another order
        self._first_key: tuple[Any, ...] | None = None
        self._provisional = False  # widths were measured while cells were still to come
        self._to_the_end = False
        self._said: tuple[Any, ...] | None = None

    def show(self, source: RowSource, *, keep_place: bool = True) -> None:
        """Shows a source. With `keep_place` the cursor stays on its row, wherever that is by then."""
        if source is self.source and self.error is None and self._next is None:
            return
        self._start(source, keep_place)

    def show_order(self, order: Order | None) -> None:
        """Shows the same rows in another order, from its first row on."""
        source = self._next or self.source
        if source is None:
            return
        try:
            ordered = source.ordered(order)
        except StoreError as error:
            self.post_message(messages.Failed(self, error))
            return
        self._reorders = True
        self._start(ordered, False)

    def clear(self) -> None:
        """Shows nothing, as before the first source."""
        self.loads.stop()
        self.source = self._next = self._first_key = self.read = self.error = None
        self.extent, self.row_count, self.arrived, self.remark = Extent(0, False), 0, 0, None
        self.plan, self.pages, self.panel = ColumnPlan(()), Pages(), ()
        self.cursor_row = self.cursor_column = 0
        self.resize_content()

    def retry(self) -> None:
        """Reads again what could not be read."""
        source = self._next or self.source
        if source is not None and self.error is not None:
            self._start(source, True)
        self.pages.forgive()
        self.clear_strips()
        self.ask()

    def cancel(self) -> None:
        """Stops switching; what was shown before stays."""
        if self.loads.switching and self.source is not None:
            self.loads.stop()
            self._next, self._reorders = None, False
            self._remark()
            self._measure()
            self.refresh_bindings()

    # -- switching to a source ----------------------------------------------------------------------

    def _start(self, source: RowSource, keep_place: bool) -> None:
        self._next = source
        top, height = self.scroll_offset.y, max(1, self.body_height or self.app.size.height)
        keep = Keep(height=height)
        if keep_place and self.source is not None:
            at_top = top == 0 and self.cursor_row == 0
            row = self.row
            keep = Keep(
                key=None if at_top or row is None else row.key,
                row=self.cursor_row,
                above=self.cursor_row - top,
                height=height,
                first_key=self._first_key,
            )
        if self.source is None:
            self.plan = ColumnPlan(source.columns)
            self.sorted_by = source.order
            self.row_count = height if self.plan.columns else 0
            self.panel = () if self.plan.columns else loading_lines()
            self.resize_content()
        self.loads.switch(source, keep)
        self._remark()
        self.refresh_bindings()

    @on(messages.Switched)
    def _switched(self, message: messages.Switched) -> None:
        if message.ticket != self.loads.ticket:
            return
        above = self.cursor_row - self.scroll_offset.y if self.source is not None else 0
        arrived = 0 if self._reorders else message.arrived
        self.loads.switched()
        self.source, self._next, self.error = message.source, None, None
        self._install(message.window, message.count)
        self._note_arrivals(arrived, message.window)
        self.go(message.position, top=max(0, message.position - max(0, above)))
        if self._reorders:
            self._reorders = False
            self.post_message(messages.OrderChanged(self, self.sorted_by))
        self.call_after_refresh(self._measure)
        self.refresh_bindings()

    def _install(self, window: Window, count: int) -> None:
        """The new source's columns and first rows; widths and hidden columns stay where names do."""
        assert self.source is not None
        plan = ColumnPlan(self.source.columns)
        plan.adopt(self.plan)
        self.plan, self.pages, self.sorted_by = plan, Pages(), self.source.order
        self.pages.put(window, window.first, count)
        self._first_key = window.rows[0].key if window.rows and window.first == 0 else self._first_key
        self._take(window, self.source.extent)
        if not self.plan.measured and window.rows:
            self.plan.measure(window.rows, self.paint)
            self._provisional = pending(window)
        self.cursor_column = max(0, min(self.cursor_column, len(self.plan.placed) - 1))
        self.resize_content()

    # -- what arrives ---------------------------------------------------------------------------------

    @on(messages.WindowRead)
    def _window_read(self, message: messages.WindowRead) -> None:
        if message.ticket != self.loads.ticket or self.source is None:
            return
        self.loads.window_done()
        self.pages.put(message.window, message.first, message.count)
        self._take(message.window, self.source.extent)
        self.resize_content()
        self.ask()
        self._say_highlighted()

    @on(messages.Completed)
    def _completed(self, message: messages.Completed) -> None:
        if message.ticket != self.loads.ticket:
            return
        self.loads.completed()
        self.pages.fill(message.window)
        if self._provisional:
            self._provisional = False
            self.plan.measure(message.window.rows, self.paint)
        self.resize_content()
        self.ask()
        self.post_message(messages.Loaded(self, self.extent, self.read))

    @on(messages.Measured)
    def _measured(self, message: messages.Measured) -> None:
        if message.ticket != self.loads.ticket:
            return
        self._take(None, message.extent)
        self.resize_content()
        if self._to_the_end:
            self.go(self.row_count - 1)
            self._to_the_end = not message.extent.complete
        self.ask()

    @on(messages.ReadFailed)
    def _read_failed(self, message: messages.ReadFailed) -> None:
        if message.ticket != self.loads.ticket:
            return
        if message.what == "switch":
            self._switch_failed(message.error)
        elif message.what == "window" and message.first is not None:
            self.loads.window_done()
            self.pages.fail(message.first, message.count)
        elif message.what == "complete":
            self.loads.completed()
        self.resize_content()
        self.post_message(messages.Failed(self, message.error))

    def _switch_failed(self, error: StoreError) -> None:
        self.loads.switched()
        self._reorders, self.error = False, error
        if self.source is None:
            self.row_count = 0
            self._say_error(error)
        else:
            self._measure()
        self._remark()

    def _say_error(self, error: StoreError) -> None:
        self.panel = error_lines(error, max(20, self.size.width - 4))

    def _take(self, window: Window | None, extent: Extent) -> None:
        """What is known now of how many rows there are."""
        rows = extent.rows
        if window is not None:
            self.read = window.read
        if not extent.complete:
            rows = max(rows, self.row_count if window is None else window.first + len(window.rows))
        self.extent, self.row_count = extent, rows
        self.panel = () if rows or not extent.complete else empty_lines(*self.empty)
        self.cursor_row = max(0, min(self.cursor_row, rows - 1))
        self.post_message(messages.Loaded(self, extent, self.read))

    def _measure(self) -> None:
        self.ask()
        if self.source is not None and not self.extent.complete and not self.loads.switching:
            self.loads.measure()

    def ask(self) -> None:
        """Has what is visible read, if it is not held; then its outstanding cells."""
        if self.source is None or not self.is_mounted or self.body_height <= 0:
            return
        first, last = self.visible_rows
        if last < first:
            return
        lacking = self.pages.missing(first, last)
        if lacking is not None:
            self.loads.window(*lacking)
            return
        rows = tuple(self.pages.rows(first, last))
        if self.read is not None and len(rows) == last - first + 1:
            window = Window(first, rows, self.read)
            if pending(window):
                self.loads.complete(window)

    # -- rows that are new ------------------------------------------------------------------------------

    def _note_arrivals(self, arrived: int, window: Window) -> None:
        at_top = self.cursor_row == 0 and self.scroll_offset.y == 0
        self.arrived = 0 if at_top else self.arrived + arrived
        if arrived and at_top:
            self.fresh = frozenset(row.key for row in window.rows[:arrived])
            self.set_timer(FRESH, self._settle)
        self._remark()

    def _settle(self) -> None:
        self.fresh = frozenset()
        self.clear_strips()

    def _remark(self) -> None:
        """What the right end of the header says."""
        self.remark = None
        if self.arrived:
            self.remark = Painted(f"↑ {formats.count(self.arrived)} new", "live")
        if self._reorders and self.loads.switching:
            self.remark = Painted("sorting, esc stops it", "notice")
        self.refresh()

    # -- moving -------------------------------------------------------------------------------------------

    def go(self, row: int, column: int | None = None, *, top: int | None = None) -> None:
        """Puts the cursor there and loads what comes into sight."""
        self.move_to(row, column, top=top)
        if self.arrived and self.scroll_offset.y == 0:
            self.arrived = 0
            self._remark()
        self.ask()
        self._say_highlighted()

    def _say_highlighted(self) -> None:
        row = self.row
        said = (self.loads.ticket, self.cursor_row, row.key if row is not None else None)
        if said != self._said:
            self._said = said
            self.post_message(messages.Highlighted(self, row))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.ask()

    def on_resize(self, event: events.Resize) -> None:
        if self.error is not None and self.source is None and self.panel:
            self._say_error(self.error)
        self.resize_content()
        self.ask()

    def on_mount(self) -> None:
        settings = getattr(self.app, "config", None)
        self.exact_times = getattr(settings, "times", "relative") == "exact"
        self.set_interval(TICK, self._tick)

    def _tick(self) -> None:
        if self.is_on_screen and any(column.kind == "time" for column in self.plan.columns):
            self.clear_strips()
