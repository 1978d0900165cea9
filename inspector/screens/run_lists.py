"""The lists of a run: its branches, its signals, its status history."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult

from inspector import formats
from inspector.chosen_columns import ChosenColumns
from inspector.copying import copied_cell, copied_row
from inspector.exporting import Exportable
from inspector.fixed_source import FixedSource
from inspector.messages import Loaded, LoadFailed
from inspector.screens.run_pane import RunPane
from inspector.typeset.lines import Line, line
from inspector.viewing import view_value
from inspector.widgets import grid_messages as said
from inspector.widgets.grid import Grid
from persistence.records import ABSENT, Column, Row

if TYPE_CHECKING:
    from inspector.clipboard import Copy
    from persistence.reading.source import RowSource
    from persistence.records import RunDetail

__all__ = ["BranchesPane", "GridPane", "HistoryPane", "SignalsPane", "ValuesPane"]


class GridPane(RunPane):
    """A view that is one windowed table. A subclass says what it shows."""

    EMPTY: ClassVar[tuple[str, str]] = ("Nothing here.", "")

    def compose(self) -> ComposeResult:
        yield Grid(id=f"grid-{self.VIEW}", empty=self.EMPTY[0], hint=self.EMPTY[1])

    @property
    def grid(self) -> Grid:
        return self.query_one(Grid)

    def source(self, detail: RunDetail) -> RowSource:
        raise NotImplementedError

    def show_run(self, detail: RunDetail, again: bool) -> None:
        current = self.grid.source
        if again and current is not None and not isinstance(current, FixedSource):
            self.loads.start("rows", current.refreshed)
        else:
            source = self.source(detail)
            if again and current is not None and current.order is not None:
                source = source.ordered(current.order)
            self.grid.show(source, keep_place=again)

    @on(Loaded)
    def _refreshed(self, message: Loaded) -> None:
        if self.loads.takes(message):
            self.grid.show(message.value)

    @on(LoadFailed)
    def _failed(self, message: LoadFailed) -> None:
        if self.loads.takes(message):
            self.place.refused(message.error)

    @on(Grid.Highlighted)
    @on(Grid.Loaded)
    def _tell(self) -> None:
        self.changed()

    @on(Grid.Failed)
    def _grid_failed(self, message: said.Failed) -> None:
        if self.grid.source is not None:
            self.place.refused(message.error)

    @on(Grid.ViewAsked)
    def _view(self, message: said.ViewAsked) -> None:
        view_value(self.app, self.grid, message.row, message.column, self.VIEW)

    @property
    def words(self) -> Line:
        return line((self.grid.words, "quiet")) if self.is_mounted and self.query(Grid) else ()

    async def copied(self) -> Copy | None:
        return await copied_cell(self.grid)

    async def copied_row(self) -> Copy | None:
        return await copied_row(self.grid)

    def exported(self) -> Exportable | None:
        source = self.grid.source
        if source is None:
            return None
        number = formats.count(self.grid.row_count, complete=self.grid.extent.complete)
        return Exportable(f"{self.VIEW} of this run: {number}", f"{self.VIEW}-of-run", rows=source)


class BranchesPane(GridPane):
    """Enter reads the branch's conversation."""

    VIEW = "branches"
    EMPTY = ("This run has no branch.", "its own progression may still hold messages: see conversation")

    COLUMNS: ClassVar[tuple[Column, ...]] = (
        Column("name", "branch", "text"),
        Column("messages", "messages", "number"),
        Column("agent_name", "agent", "text"),
        Column("model", "model", "text"),
        Column("status", "status", "status"),
        Column("created_at", "created", "time"),
        Column("ended_at", "ended", "time"),
        Column("user", "user", "text"),
        Column("provider", "provider", "text"),
        Column("progression_id", "progression", "id", links_to=("progressions", "id")),
        Column("system_msg_id", "system message", "id", links_to=("messages", "id")),
        Column("id", "id", "id"),
    )

    def source(self, detail: RunDetail) -> RowSource:
        own = {"name": "name", "messages": "messages"}
        rows = tuple(
            Row(
                (branch.id,),
                tuple(
                    getattr(branch, column.name)
                    if column.name in own
                    else branch.row.get(column.name, ABSENT)
                    for column in self.COLUMNS
                ),
            )
            for branch in detail.branches
        )
        return FixedSource("branches", self.COLUMNS, rows, detail.read)

    @on(Grid.Opened)
    def _read_branch(self, message: said.Opened) -> None:
        self.place.show_branch(str(message.key[0]))


class ValuesPane(GridPane):
    """A list whose rows are opened value by value."""

    @on(Grid.Opened)
    def _open(self, message: said.Opened) -> None:
        view_value(self.app, self.grid, message.row, message.column, self.VIEW)


class SignalsPane(ValuesPane):
    VIEW = "signals"
    EMPTY = ("This run sent no signal.", "")

    def source(self, detail: RunDetail) -> RowSource:
        return ChosenColumns(
            self.db.signals(detail.id),
            ("seq", "ts", "kind", "op_id", "payload"),
            {"ts": "when", "op_id": "operation", "seq": "#"},
            {"ts": "time"},
        )


class HistoryPane(ValuesPane):
    VIEW = "history"
    EMPTY = (
        "No change of status is recorded.",
        "the status itself stands above; older releases kept no history",
    )

    def source(self, detail: RunDetail) -> RowSource:
        return ChosenColumns(
            self.db.transitions("session", detail.id),
            ("created_at", "previous_status", "status", "reason_code", "reason_summary", "actor", "source"),
            {"created_at": "when", "previous_status": "from", "status": "to", "reason_code": "reason"}
            | {"reason_summary": "in words", "actor": "by"},
            {"created_at": "time", "status": "status", "previous_status": "status"},
        )
