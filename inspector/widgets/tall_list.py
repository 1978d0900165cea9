"""A list of entries of any height: its cursor, its keys and the mouse; drawn by `TallView`."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding
from textual.message import Message

from inspector.keys import bind
from inspector.widgets.tall_view import Spot, TallView

__all__ = ["TallList"]

WHEEL = 3
"""Lines a turn of the wheel moves, and a step within a long entry."""


class TallList(TallView, inherit_bindings=False):
    """See `TallView` for what a subclass gives. Posts `Moved` and `Opened`."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("list.open", "enter", "open", "open", "Open the whole of it"),
        bind("list.up", "up,k", "step(-1)", "up", "Up: a few lines of a long one, else the one above",
             show=False),
        bind("list.down", "down,j", "step(1)", "down", "Down: a few lines of a long one, else the next",
             show=False),
        bind("list.page_up", "pageup,ctrl+b", "page(-1)", "page up", "A page up", show=False),
        bind("list.page_down", "pagedown,space", "page(1)", "page down", "A page down", show=False),
        bind("list.half_up", "ctrl+u", "page(-0.5)", "half up", "Half a page up", show=False),
        bind("list.half_down", "ctrl+d", "page(0.5)", "half down", "Half a page down", show=False),
        bind("list.first", "g,home", "first", "first", "The first one", show=False),
        bind("list.last", "G,end", "last", "last", "The last one", show=False),
    ]  # fmt: skip

    class Moved(Message):
        """The cursor is on another entry, or another part is in sight."""

        def __init__(self, list_: TallList) -> None:
            super().__init__()
            self.list = list_

        @property
        def control(self) -> TallList:
            return self.list

    class Opened(Message):
        """Enter or a double click on an entry."""

        def __init__(self, list_: TallList, index: int) -> None:
            super().__init__()
            self.list = list_
            self.index = index

        @property
        def control(self) -> TallList:
            return self.list

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self._syncing or round(old_value) == round(new_value) or not self.count:
            return
        height = self.virtual_size.height
        self._at_end = new_value >= height - self.page
        at = new_value / max(1, height) * self.count
        index = min(self.count - 1, int(at))
        self.top = Spot(index, int((at - index) * self.height_of(index)))
        self.settle()
        self._bring_cursor()

    # -- moving ---------------------------------------------------------------------------------------------

    def scroll_lines(self, lines: int) -> None:
        """Moves what is in sight; the cursor comes along when it would be left behind."""
        before = self.top
        self._at_end = False
        self.top = self._moved_by(self.top, lines)
        self.settle()
        self._at_end = lines > 0 and self.top == self._last_top()
        if self.top != before:
            self._bring_cursor()

    def go_to(self, index: int, *, top: bool = False) -> None:
        """Puts the cursor on an entry and its beginning in sight (`top`: as the first line)."""
        if not self.count:
            return
        index = max(0, min(index, self.count - 1))
        self._at_end = False
        self.cursor = index
        seen = [spot for spot, _ in self._visible if spot.entry == index]
        if top or not seen:
            self.top = Spot(index, 0) if top or index <= self.top.entry else self._showing(index)
        elif seen[0].line > 0:
            self.top = Spot(index, 0)
        elif len(seen) < min(self.height_of(index), self.page):
            self.top = self._showing(index)
        self.settle()
        self.post_message(self.Moved(self))

    def _showing(self, index: int) -> Spot:
        """The window in which an entry further down is whole, or fills it from its beginning."""
        height = self.height_of(index)
        if height >= self.page:
            return Spot(index, 0)
        return self._moved_by(Spot(index, 0), height - self.page)

    def _bring_cursor(self) -> None:
        if self._visible:
            first, last = self._visible[0][0].entry, self._visible[-1][0].entry
            if self._visible[0][0].line > 0 and first < last:
                first += 1
            self.cursor = max(first, min(self.cursor, last))
            self.refresh()
        self.post_message(self.Moved(self))

    def action_step(self, step: int) -> None:
        if not self.count:
            return
        mine = [number for number, (spot, _) in enumerate(self._visible) if spot.entry == self.cursor]
        if not mine:
            self.go_to(self.cursor)
        elif step > 0 and self._visible[mine[-1]][0].line < self.height_of(self.cursor) - 1:
            self.scroll_lines(WHEEL)
        elif step < 0 and self._visible[mine[0]][0].line > 0:
            self.scroll_lines(-min(WHEEL, self._visible[mine[0]][0].line))
        elif 0 <= self.cursor + step < self.count:
            self._step_to(self.cursor + step, step)

    def _step_to(self, index: int, step: int) -> None:
        """To a neighbour: as much of it in sight as fits, and of a long one the end that is reached first."""
        if step > 0 or self.height_of(index) <= self.page:
            self.go_to(index)
            return
        self._at_end = False
        self.cursor = index
        self.top = self._moved_by(Spot(index, 0), self.height_of(index) - self.page)
        self.settle()
        self.post_message(self.Moved(self))

    def action_page(self, pages: float) -> None:
        self.scroll_lines(int((self.page - 2 if abs(pages) == 1 else self.page) * pages) or int(pages))
        if pages < 0 and self.top == Spot(0, 0):
            self.cursor = 0
        elif pages > 0 and self._at_end:
            self.cursor = max(0, self.count - 1)
        self.refresh()
        self.post_message(self.Moved(self))

    def action_first(self) -> None:
        self.go_to(0, top=True)

    def action_last(self) -> None:
        if self.count:
            self.cursor = self.count - 1
            self._at_end = True
            self.settle()
            self.post_message(self.Moved(self))

    def action_open(self) -> None:
        if self.count:
            self.post_message(self.Opened(self, self.cursor))

    # -- the mouse ------------------------------------------------------------------------------------------

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        event.prevent_default()
        self.scroll_lines(WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        event.prevent_default()
        self.scroll_lines(-WHEEL)

    def on_click(self, event: events.Click) -> None:
        if 0 <= event.y < len(self._visible):
            self.cursor = self._visible[event.y][0].entry
            self.refresh()
            self.post_message(self.Moved(self))
            if event.chain == 2:
                self.action_open()
