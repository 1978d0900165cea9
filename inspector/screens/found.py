"""What a check found: the rows, table by table."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding

from inspector import formats, safe
from inspector.clipboard import Copy
from inspector.copying import copied_cell, copied_row
from inspector.exporting import Exportable
from inspector.keys import bind
from inspector.messages import Loaded
from inspector.screens.place import Place, PlaceHelp
from inspector.typeset.lines import line
from inspector.viewing import view_value
from inspector.widgets import grid_messages as said
from inspector.widgets.grid import Grid
from inspector.widgets.pieces import Piece, PieceLine
from inspector.widgets.worth_list import NAMES

if TYPE_CHECKING:
    from persistence.reading.checks import CheckResult, Checks

__all__ = ["FoundPlace"]


class FoundPlace(Place):
    NAME = "found"
    AUTO_FOCUS = "#found"
    ABOUT = PlaceHelp(
        "The rows a check found, as they are now. Enter on a run opens it, on any other row the value under "
        "the cursor. Where rows of several tables were found, tab goes to the next table."
    )
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("found.next", "tab", "table(1)", "next table", "Rows of the next table"),
        bind("found.previous", "shift+tab", "table(-1)", "table before", "Of the table before", show=False),
    ]

    def __init__(self, target: str | None = None) -> None:
        super().__init__(target)
        self._result: CheckResult | None = None
        self._table: str | None = None

    def compose_body(self) -> ComposeResult:
        yield PieceLine(id="found-line")
        yield Grid(id="found", empty="Nothing is found any more.", hint="esc goes back to the overview")

    @property
    def grid(self) -> Grid:
        return self.query_one("#found", Grid)

    @property
    def _checks(self) -> Checks:
        return self.db.checks(formats.now())

    def load(self) -> None:
        code, checks = self.target or "", self._checks

        async def known() -> CheckResult | None:
            last = checks.last(code)
            if last is None:
                async for result in checks.run(code):
                    last = result
            return last

        self.loads.start("result", known)

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if not self.loads.takes(message):
            return
        if message.what == "rows":
            self.grid.show(message.value)
            return
        self._result = message.value
        tables = self._tables
        if self._table not in tables:
            self._table = tables[0] if tables else None
        self._show(keep_place=True)

    @property
    def _tables(self) -> list[str]:
        return [table for table, _ in self._result.where] if self._result is not None else []

    def _show(self, *, keep_place: bool) -> None:
        result = self._result
        pieces = []
        if result is not None:
            pieces.append(Piece(line((safe.text(result.sentence), "strong")), weight=0))
            if len(result.where) > 1:
                for table, count in result.where:
                    here = table == self._table
                    words = line((f" {safe.text(table)} ", "here" if here else "plain"),
                                 (f"{formats.count(count)} ", "quiet"))  # fmt: skip
                    pieces.append(
                        Piece(words, f"screen.show_table({table!r})", weight=0 if here else 3, gap=1)
                    )
        self.query_one("#found-line", PieceLine).show(pieces)
        if result is not None and result.count:
            self.grid.show(self._checks.rows(result.code, self._table), keep_place=keep_place)

    def action_table(self, step: int) -> None:
        tables = self._tables
        if len(tables) > 1 and self._table in tables:
            self.action_show_table(tables[(tables.index(self._table) + step) % len(tables)])

    def action_show_table(self, table: str) -> None:
        self._table = table
        self.grid.clear()
        self._show(keep_place=False)

    @on(Grid.Opened)
    def _open(self, message: said.Opened) -> None:
        source = self.grid.source
        if source is not None and source.name in ("runs", "sessions"):
            names = [column.name for column in source.columns]
            session = message.row.cells[names.index("id")] if "id" in names else message.key[-1]
            self.go("run", str(session))
        else:
            view_value(self.app, self.grid, message.row, message.column, self._table or "found")

    @on(Grid.ViewAsked)
    def _view(self, message: said.ViewAsked) -> None:
        view_value(self.app, self.grid, message.row, message.column, self._table or "found")

    @on(Grid.Highlighted)
    @on(Grid.Loaded)
    def _tell(self) -> None:
        self.set_status(line((self.grid.words, "quiet")))

    @on(Grid.Failed)
    def _grid_failed(self, message: said.Failed) -> None:
        self.refused(message.error)

    def crumbs(self) -> list[tuple[str, str | None]]:
        return [("Overview", "overview"), (NAMES.get(self.target or "", self.target or ""), None)]

    async def copied(self) -> Copy | None:
        return await copied_cell(self.grid)

    async def copied_row(self) -> Copy | None:
        return await copied_row(self.grid)

    def exported(self) -> Exportable | None:
        source = self.grid.source
        if source is None:
            return None
        return Exportable(f"{NAMES.get(self.target or '', 'found')}", self.target or "found", rows=source)
