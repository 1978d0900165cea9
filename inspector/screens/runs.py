"""Runs: every session of the store, newest first, sorted and narrowed down as one types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult

from inspector import formats, run_query, safe
from inspector.clipboard import Copy
from inspector.copying import copied_cell, copied_row
from inspector.exporting import Exportable
from inspector.messages import Loaded, LoadFailed
from inspector.screens.place import Place, PlaceHelp
from inspector.typeset.lines import Line, line
from inspector.viewing import view_value
from inspector.widgets import grid_messages as said
from inspector.widgets.filter_bar import FilterBar
from inspector.widgets.grid import Grid

if TYPE_CHECKING:
    from persistence.reading.source import RowSource
    from persistence.records import Order

__all__ = ["RunsPlace"]


class RunsPlace(Place):
    NAME = "runs"
    AUTO_FOCUS = "#runs"
    ABOUT = PlaceHelp(
        "Every run of the store, newest first. Enter opens one: its conversation, its timeline, its history. "
        "The filter line takes words and fields, typed as you go: status: agent: project: model: since: "
        "until:. "
        "A column's head sorts, by any column and any number of rows.",
        signs=(
            ("● running", "somebody says it is at work"),
            ("✓ completed", "it came to its end"),
            ("∅ empty", "it ended and left nothing behind"),
            ("✗ failed", "it ended in an error"),
            ("⧗ timed out", "its time was over"),
            ("! aborted", "somebody stopped it hard"),
            ("○ cancelled", "somebody called it off"),
            ("· none", "no status was recorded"),
        ),
        words=("run", "session", "branch", "message"),
    )

    def __init__(self, target: str | None = None) -> None:
        super().__init__(target)
        self._query = run_query.RunQuery()
        self._line = target or ""
        self._choices: Mapping[str, Sequence[str]] = {}
        self._asked = False  # for the choices
        self._order: Order | None = None

    def compose_body(self) -> ComposeResult:
        bar = FilterBar(
            lambda line: run_query.completion(line, self._choices),
            placeholder="status:failed  agent:planner  since:2d  words",
            id="filter",
        )
        bar.display = bool(self._line)
        yield bar
        yield Grid(id="runs", empty="There are no runs.", hint="")

    @property
    def grid(self) -> Grid:
        return self.query_one("#runs", Grid)

    @property
    def bar(self) -> FilterBar:
        return self.query_one("#filter", FilterBar)

    # -- loading -----------------------------------------------------------------------------------

    def load(self) -> None:
        if self._line and not self.bar.text:
            self.bar.set_text(self._line)
        source = self.grid.source
        if source is None:
            self._show(keep_place=False)
        else:
            self.loads.start("runs", source.refreshed)

    def _source(self) -> RowSource:
        return self.db.runs(self._query.filter(self._choices), self._order)

    def _show(self, *, keep_place: bool) -> None:
        grid = self.grid
        if self._query.narrows:
            grid.empty = ("No run fits the filter.", "esc takes the filter away")
        else:
            grid.empty = ("There are no runs in this store.", "")
        grid.show(self._source(), keep_place=keep_place)

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if not self.loads.takes(message):
            return
        if message.what == "runs":
            self.grid.show(message.value)
        elif message.what == "choices":
            self._choices = _choices(message.value)
            if self._query.narrows:
                self._show(keep_place=True)

    @on(LoadFailed)
    def _choices_failed(self, message: LoadFailed) -> None:
        """Without the choices the filter line completes nothing; that is all."""
        if message.what == "choices" and self.loads.takes(message):
            message.prevent_default()

    # -- the filter ------------------------------------------------------------------------------------

    def action_filter(self) -> None:
        self.bar.enter()

    @on(FilterBar.Changed)
    def _narrow(self, message: FilterBar.Changed) -> None:
        self._line = message.text
        query = run_query.parse(message.text)
        self.bar.say(query.problems[0] if query.problems else "")
        self.refresh_shell()
        if query == self._query or self.opened is None:
            return
        self._query = query
        self._show(keep_place=False)

    @on(FilterBar.Left)
    def _left(self) -> None:
        self.bar.display = bool(self._line)
        self.grid.focus()

    def close_layer(self) -> bool:
        if self.bar.input.has_focus:
            self._left()
            return True
        if self.bar.text:
            self.bar.clear()
            self.bar.display = False
            self.grid.focus()
            return True
        return False

    # -- the list ------------------------------------------------------------------------------------------

    @on(Grid.Opened)
    def _open(self, message: said.Opened) -> None:
        self.go("run", str(message.key[-1]))

    @on(Grid.ViewAsked)
    def _view(self, message: said.ViewAsked) -> None:
        view_value(self.app, self.grid, message.row, message.column, "run")

    @on(Grid.OrderChanged)
    def _sorted(self, message: said.OrderChanged) -> None:
        self._order = message.order

    @on(Grid.Loaded)
    def _rows_are_here(self) -> None:
        """What the filter line completes is read once there is something to look at."""
        if not self._asked:
            self._asked = True
            self.loads.start("choices", self.db.run_choices)

    @on(Grid.Highlighted)
    @on(Grid.Loaded)
    def _tell(self) -> None:
        self.set_status(self._status_words())

    @on(Grid.Failed)
    def _grid_failed(self, message: said.Failed) -> None:
        if self.grid.source is not None:
            self.refused(message.error)

    def _status_words(self) -> Line:
        grid = self.grid
        words = grid.words
        if self._query.narrows:
            words += " that fit"
        return line((words, "quiet"))

    def crumbs(self) -> list[tuple[str, str | None]]:
        return [("Runs", "runs"), *([(f"/{self._line}", None)] if self._line else [])]

    async def copied(self) -> Copy | None:
        return await copied_cell(self.grid)

    async def copied_row(self) -> Copy | None:
        return await copied_row(self.grid)

    def exported(self) -> Exportable | None:
        source = self.grid.source
        if source is None:
            return None
        order = source.order
        told = "newest first"
        if order is not None:
            told = f"by {order.column}{', largest first' if order.descending else ''}"
        narrowed = f", {self._line}" if self._line else ""
        count = formats.count(self.grid.row_count, complete=self.grid.extent.complete)
        return Exportable(f"runs, {told}{narrowed}: {count}", "runs", rows=source)


def _choices(found: Any) -> Mapping[str, Sequence[str]]:
    """What the filter line completes values with, most used first."""
    out: dict[str, Sequence[str]] = {}
    names = {"status": "statuses", "agent": "agents", "project": "projects", "model": "models"}
    for field, name in names.items():
        values = getattr(found, name, ())
        out[field] = [safe.text(value) for value, *_ in values if isinstance(value, str) and value]
    return out
