"""One table: its rows and its structure; a value leads to the row it names, a row to those that name it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding

from inspector import formats, row_filter, safe
from inspector.clipboard import Copy
from inspector.copying import copied_cell, copied_row
from inspector.exporting import Exportable
from inspector.keys import bind
from inspector.messages import Loaded
from inspector.navigation import Address
from inspector.screens.cell import CellScreen
from inspector.screens.links import LinksScreen
from inspector.screens.tables import structure_export
from inspector.screens.tables_base import TablesBase
from inspector.table_views import Link, TableView, link_at, links_in, where_words
from inspector.typeset.lines import line
from inspector.widgets import grid_messages as said
from inspector.widgets.filter_bar import FilterBar
from inspector.widgets.grid import Grid
from inspector.widgets.pieces import Piece
from inspector.widgets.structure import structure_text
from inspector.widgets.tall_list import TallList
from persistence.records import Cell, TableShape

if TYPE_CHECKING:
    from persistence.reading.source import RowSource

__all__ = ["TablePlace"]


class TablePlace(TablesBase):
    AUTO_FOCUS = "#table-rows"
    PLACEHOLDER = "column=value"
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("table.view", "v", "view", "rows/structure", "The rows, or how the table is made"),
        bind("table.named_by", "b", "named_by", "named by", "Rows of other tables that name this one"),
        bind("table.return", "backspace", "app.previous", "return", "Back to where the link was", show=False),
    ]

    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.name_of_table = target
        self._view = TableView()
        self._shown = TableView()  # what of the table the grid holds
        self._position: int | None = None  # the row to go to, once there are rows

    def on_mount(self) -> None:
        super().on_mount()
        self.tables.shown = self.target
        self._show_view()

    @property
    def shape(self) -> TableShape | None:
        return self.shapes.get(self.name_of_table)

    # -- loading -----------------------------------------------------------------------------------

    def load(self) -> None:
        super().load()
        source = self.grid.source
        if source is None or self._shown.where != self._view.where:
            self._show_rows()
        else:
            self.loads.start("rows", source.refreshed)

    def _show_rows(self) -> None:
        self._shown = self._view
        where = dict(self._view.where)
        grid = self.grid
        grid.empty = ("There are no rows in this table.", "")
        if where:
            grid.empty = (f"No row has {safe.clip(where_words(self._view.where), 60)}.", "esc shows all rows")
        source = self.db.rows(self.name_of_table, where=where or None)
        grid.show(source, keep_place=False)
        if self._view.at:
            self._seek(source)

    def _seek(self, source: RowSource) -> None:
        """Looks up where the row of a link stands among the rows shown."""
        few = self.db.rows(self.name_of_table, where=dict(self._view.at))

        async def work() -> int | None:
            window = await few.window(0, 1)
            return await source.position(window.rows[0].key) if window.rows else None

        self.loads.start("position", work)

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if message.what in ("rows", "position") and self.loads.takes(message):
            if message.what == "rows":
                self.grid.show(message.value)
            else:
                self._found(message.value)

    def _found(self, position: int | None) -> None:
        at, self._view = self._view.at, TableView(where=self._view.where)
        self._position = position
        if position is None:
            words = safe.clip(f"no row of {safe.text(self.target)} has {where_words(at)}", 200)
            self.app.notify(words, title="a link to nothing", severity="warning", markup=False)
        self._go_to_row()

    def _go_to_row(self) -> None:
        if self._position is not None and self.grid.source is not None:
            position, self._position = self._position, None
            self.grid.go_to_position(position)

    # -- what is shown -------------------------------------------------------------------------------

    def show_view(self, view: str | None) -> None:
        self._view = TableView.parse(view)
        if not self.is_mounted:
            return
        self._show_view()
        if self.loaded and not self._view.structure:
            if self._view.where != self._shown.where:
                self._show_rows()
            elif self._view.at and self.grid.source is not None:
                self._seek(self.grid.source)

    def address(self) -> Address:
        return Address(self.NAME, self.target, str(self._view))

    def _show_view(self) -> None:
        structure = self._view.structure
        had = self.grid.has_focus or self.structure.has_focus
        self.grid.display, self.structure.display = not structure, structure
        if had:
            (self.structure if structure else self.grid).focus()
        self._tell()

    def views(self) -> list[Piece]:
        pieces = []
        for word, structure in (("rows", False), ("structure", True)):
            role = "here" if structure == self._view.structure else "quiet"
            pieces.append(
                Piece(line((f" {word} ", role)), "screen.view", weight=6, gap=0 if structure else 2)
            )
        return pieces

    def narrowing(self) -> list[Piece]:
        where = safe.clip(where_words(self._view.where), 60)
        return [Piece(line(("only ", "quiet"), (where, "notice")), weight=7)] if where else []

    def rows_of(self, table: str) -> str:
        """The rows in sight know best: a live store has grown since its tables were counted."""
        grid = self.grid
        here = table == self.target and grid.display and grid.source is not None
        if here and not self._view.where and grid.extent.complete:
            return formats.count(grid.row_count)
        return super().rows_of(table)

    def _tell(self) -> None:
        self.tell_table()
        words = self.grid.words if self.grid.display else ""
        self.set_status(line((words, "quiet")) if words else ())

    def crumbs(self) -> Sequence[tuple[str, str | None]]:
        structure = [("structure", None)] if self._view.structure else []
        here = str(Address(self.NAME, self.target))
        return [("Tables", "tables"), (self.name_of_table, here), *structure]

    def action_view(self) -> None:
        self._view = TableView(structure=not self._view.structure, where=self._shown.where)
        self._show_view()

    # -- the filter --------------------------------------------------------------------------------------

    def complete(self, text: str) -> str | None:
        return row_filter.completion(text, self.shape)

    def action_filter(self) -> None:
        if not self.bar.text and self._view.where:
            self.bar.input.value = row_filter.written(self._view.where)
        self.bar.enter()

    @on(FilterBar.Changed)
    def _narrow(self, message: FilterBar.Changed) -> None:
        if self.shape is None:
            return
        where, problem = row_filter.parse(message.text, self.shape)
        self.bar.say(problem)
        if where != self._view.where and not problem:
            self._show_only(where)

    def _show_only(self, where: tuple[tuple[str, Cell], ...]) -> None:
        self._view = TableView(where=where)
        self._show_view()
        self._show_rows()

    @on(FilterBar.Left)
    def _left(self) -> None:
        self.bar.display = bool(self.bar.text)
        self.grid.focus()

    def close_layer(self) -> bool:
        if self.bar.input.has_focus:
            self._left()
        elif self.bar.display or self._view.where:
            self.bar.clear()
            self.bar.display = False
            if self._view.where:
                self._show_only(())
        elif self._view.structure:
            self.action_view()
        else:
            self.go(self.NAME)
        return True

    # -- links and values ---------------------------------------------------------------------------------

    @property
    def _names(self) -> list[str]:
        return [column.name for column in self.grid.plan.columns]

    @on(Grid.Opened)
    def _open(self, message: said.Opened) -> None:
        shape, column = self.shape, message.column
        link = None
        if shape is not None and column is not None:
            link = link_at(shape, message.row, self._names, column.name)
        if link is not None:
            self._follow(link, link.view)
        else:
            self._show_value(message)

    @on(Grid.ViewAsked)
    def _show_value(self, message: said.ViewAsked | said.Opened) -> None:
        column, source, row = message.column, self.grid.source, message.row
        if column is None or source is None:
            return
        index = self._names.index(column.name)
        held = row.cells[index] if index < len(row.cells) else None

        async def whole() -> Cell:
            found = await source.cells(row.key)
            return held if found is None else found.cells[index]

        title = f"{safe.text(self.target, limit=60)}.{safe.text(column.name, limit=60)}"
        self.app.push_screen(CellScreen(title, held, kind=column.kind, whole=whole))

    @on(TallList.Opened, "#table-structure")
    def _structure_opened(self, message: TallList.Opened) -> None:
        table = self.structure.table_at(message.index)
        if table is not None:
            self.go(self.NAME, table, "structure")

    def _follow(self, link: Link, view: TableView) -> None:
        if self.shapes and link.table not in self.shapes:
            words = safe.text(f"this store has no table {link.table}")
            self.app.notify(words, severity="warning", markup=False)
        else:
            self.go(self.NAME, link.table, str(view))

    def action_named_by(self) -> None:
        shape, row = self.shape, self.grid.row
        links = links_in(shape, row, self._names) if shape is not None and row is not None else []
        if links:
            self.app.push_screen(LinksScreen(links), self._named_by)
        else:
            self.app.notify("no other table names rows of this one", markup=False)

    def _named_by(self, link: Link | None) -> None:
        if link is not None:
            self._follow(link, TableView(where=link.pairs))

    @on(Grid.Highlighted)
    @on(Grid.Loaded)
    def _grid_moved(self) -> None:
        self._go_to_row()
        self._tell()

    @on(Grid.Failed)
    def _grid_failed(self, message: said.Failed) -> None:
        if self.grid.source is not None:
            self.refused(message.error)

    # -- taking away --------------------------------------------------------------------------------------

    async def copied(self) -> Copy | None:
        if self.grid.display:
            return await copied_cell(self.grid)
        shape = self.shape
        return None if shape is None else Copy("the structure", shape.sql or structure_text(shape), ".sql")

    async def copied_row(self) -> Copy | None:
        return await copied_row(self.grid) if self.grid.display else None

    def exported(self) -> Exportable | None:
        source, order = self.grid.source, self.grid.sorted_by
        if not self.grid.display or source is None:
            return None if self.shape is None else structure_export(self.shape)
        count = formats.count(self.grid.row_count, complete=self.grid.extent.complete)
        only = f", {where_words(self._view.where)}" if self._view.where else ""
        told = f", by {order.column}{', largest first' if order.descending else ''}" if order else ""
        return Exportable(f"{self.target}{told}{only}: {count}", self.name_of_table, rows=source)
