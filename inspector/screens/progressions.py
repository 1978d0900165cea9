"""Progressions: every list of messages, how long it is, who uses it, and what is wrong with it."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult

from inspector import formats
from inspector.clipboard import Copy
from inspector.copying import copied_cell, copied_row
from inspector.exporting import Exportable
from inspector.messages import Loaded
from inspector.screens.place import Place, PlaceHelp
from inspector.typeset.lines import line
from inspector.viewing import view_value
from inspector.widgets import grid_messages as said
from inspector.widgets.grid import Grid

__all__ = ["ABOUT", "ProgressionsPlace", "progressions_place"]

ABOUT = PlaceHelp(
    "The order of every conversation: a list of message ids, which nothing holds to the messages there are. "
    "Enter opens one, position by position; n goes to the next position with a mark, w shows the list as it "
    "lies in the store, enter a message. A list that is missing, empty, not JSON or not a list says which.",
    signs=(
        ("missing", "the message it names does not exist"),
        ("duplicate", "the same message stands earlier in the list"),
        ("out of order", "dated before the message in front of it"),
        ("shared", "more than one run or branch uses it; of a message: another list of the run names it too"),
    ),
    words=("progression", "message", "branch"),
)


def progressions_place(target: str | None = None) -> Place:
    """The place for all progressions, or for one."""
    from inspector.screens.progression import ProgressionPlace

    return ProgressionsPlace() if target is None else ProgressionPlace(target)


class ProgressionsPlace(Place):
    NAME = "progressions"
    AUTO_FOCUS = "#progressions"
    ABOUT = ABOUT

    def compose_body(self) -> ComposeResult:
        yield Grid(id="progressions", empty="There are no progressions in this store.", null="·")

    @property
    def grid(self) -> Grid:
        return self.query_one("#progressions", Grid)

    def load(self) -> None:
        source = self.grid.source
        if source is None:
            self.grid.show(self.db.progressions())
        else:
            self.loads.start("progressions", source.refreshed)

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if self.loads.takes(message):
            self.grid.show(message.value)

    @on(Grid.Opened)
    def _open(self, message: said.Opened) -> None:
        self.go(self.NAME, str(message.key[-1]))

    @on(Grid.ViewAsked)
    def _view(self, message: said.ViewAsked) -> None:
        view_value(self.app, self.grid, message.row, message.column, "progression")

    @on(Grid.Highlighted)
    @on(Grid.Loaded)
    def _tell(self) -> None:
        self.set_status(line((self.grid.words, "quiet")))

    @on(Grid.Failed)
    def _grid_failed(self, message: said.Failed) -> None:
        if self.grid.source is not None:
            self.refused(message.error)

    async def copied(self) -> Copy | None:
        return await copied_cell(self.grid)

    async def copied_row(self) -> Copy | None:
        return await copied_row(self.grid)

    def exported(self) -> Exportable | None:
        source = self.grid.source
        if source is None:
            return None
        number = formats.count(self.grid.row_count, complete=self.grid.extent.complete)
        return Exportable(f"progressions: {number}", "progressions", rows=source)
