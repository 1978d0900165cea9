"""What Tables is made of, whether one table is open or none: the list, the counts, the line over a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from inspector import formats, safe
from inspector.messages import Loaded, LoadFailed, LoadProgressed
from inspector.screens.place import Place, PlaceHelp
from inspector.table_counts import count_tables, counts_of
from inspector.typeset.lines import line
from inspector.widgets.filter_bar import FilterBar
from inspector.widgets.grid import Grid
from inspector.widgets.pieces import Piece, PieceLine
from inspector.widgets.structure import Structure
from inspector.widgets.table_list import TableList
from inspector.widgets.tall_list import TallList
from persistence.records import TableShape

__all__ = ["TablesBase"]


class TablesBase(Place):
    """The list stands beside a table where there is room; a subclass says what stands there."""

    NAME = "tables"
    ABOUT = PlaceHelp(
        "Every table and view of the store, whoever made it: its rows, and how it is made. Enter on a value "
        "that names a row of another table goes there, backspace comes back; on any other value it shows it "
        "whole. b shows the rows that name this one. The filter line takes column=value.",
        signs=(
            ("NULL", "no value"),
            ("—", "this store has no such column"),
            ("… (5.2 MB)", "the beginning of a long value; enter shows all of it"),
            ("10,000+", "at least that many: counting stopped there"),
        ),
        words=("table", "link", "first part"),
    )
    PLACEHOLDER: ClassVar[str] = ""

    def __init__(self, target: str | None = None) -> None:
        super().__init__(target)
        self.shapes: dict[str, TableShape] = {}

    def compose_body(self) -> ComposeResult:
        bar = FilterBar(self.complete, placeholder=self.PLACEHOLDER, id="tables-filter")
        bar.display = False
        yield bar
        with Horizontal(id="tables-body", classes="all" if self.target is None else "one"):
            yield TableList(self.rows_of, id="tables-list")
            with Vertical(id="table"):
                yield PieceLine(id="table-line")
                yield Grid(id="table-rows", grouped=False)
                yield Structure(id="table-structure")

    @property
    def grid(self) -> Grid:
        return self.query_one("#table-rows", Grid)

    @property
    def structure(self) -> Structure:
        return self.query_one("#table-structure", Structure)

    @property
    def tables(self) -> TableList:
        return self.query_one("#tables-list", TableList)

    @property
    def bar(self) -> FilterBar:
        return self.query_one("#tables-filter", FilterBar)

    @property
    def shape(self) -> TableShape | None:
        """The table that is shown; None while its shape is not known."""
        raise NotImplementedError

    def complete(self, text: str) -> str | None:
        """What the filter line may become."""
        return None

    # -- loading -----------------------------------------------------------------------------------

    def load(self) -> None:
        self.loads.start("catalogue", self.db.catalogue)
        if counts_of(self.db).due():
            self.loads.start_reporting("counts", partial(count_tables, self.db))

    @on(Loaded)
    def _base_loaded(self, message: Loaded) -> None:
        if message.what in ("catalogue", "counts") and self.loads.takes(message):
            if message.what == "catalogue":
                self.shapes = {shape.name: shape for shape in message.value}
                self.show_tables(message.value)
                self.show_shape()
            self._counted()

    @on(LoadProgressed)
    def _progressed(self, message: LoadProgressed) -> None:
        if self.loads.takes(message) and message.what == "counts":
            self._counted()

    @on(LoadFailed)
    def _count_failed(self, message: LoadFailed) -> None:
        """Without counts the list says no counts; everything else is as it was."""
        if message.what == "counts" and self.loads.takes(message):
            message.prevent_default()

    def _counted(self) -> None:
        self.tables.counted()
        self.tell_table()

    def rows_of(self, table: str) -> str:
        """How many rows a table has, in words; empty while it is not known."""
        return counts_of(self.db).words(table) if self.opened is not None else ""

    # -- what is shown -------------------------------------------------------------------------------

    def show_tables(self, shapes: Sequence[TableShape]) -> None:
        self.tables.show(shapes)

    def show_shape(self) -> None:
        shape = self.shape
        if shape is not None:
            self.structure.show(shape)
        self.tell_table()
        self.refresh_bindings()

    def tell_table(self) -> None:
        """The line over the table: its name, its views, and what it is."""
        shape = self.shape
        name = self.target if self.target is not None else shape.name if shape is not None else None
        if name is None or not self.is_mounted:
            return
        pieces = [Piece(line((safe.clip(safe.text(name), 40), "strong")), weight=0), *self.views()]
        rows = self.rows_of(name)
        if rows:
            pieces.append(Piece(line((f"{rows} rows" if rows != "1" else "1 row", "quiet")), weight=5))
        if shape is not None:
            kind = [] if shape.kind == "table" else [shape.kind]
            words = ", ".join([*kind, formats.several(len(shape.columns), "column")])
            pieces.append(Piece(line((words, "quiet")), weight=4))
        self.query_one("#table-line", PieceLine).show([*pieces, *self.narrowing()])

    def views(self) -> list[Piece]:
        """The ways the table can be looked at."""
        return []

    def narrowing(self) -> list[Piece]:
        """Which of its rows are shown."""
        return []

    @on(TallList.Opened, "#tables-list")
    def _list_opened(self) -> None:
        table = self.tables.table
        if table is not None and table.name == self.target:
            self.query_one("#table-rows" if self.grid.display else "#table-structure").focus()
        elif table is not None:
            self.go(self.NAME, table.name)
