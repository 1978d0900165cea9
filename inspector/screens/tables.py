"""Tables: every table of the store in its group, and how the one under the cursor is made."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from textual import on

from inspector.clipboard import Copy
from inspector.exporting import Exportable
from inspector.screens.tables_base import TablesBase
from inspector.widgets.filter_bar import FilterBar
from inspector.widgets.structure import structure_text
from inspector.widgets.tall_list import TallList
from persistence.records import TableShape

__all__ = ["TablesPlace", "tables_place"]


def tables_place(target: str | None = None) -> TablesBase:
    """The place for all tables, or for one."""
    from inspector.screens.table import TablePlace

    return TablesPlace() if target is None else TablePlace(target)


class TablesPlace(TablesBase):
    AUTO_FOCUS = "#tables-list"
    PLACEHOLDER = "a part of a table's name"

    def on_mount(self) -> None:
        super().on_mount()
        self.grid.display = False

    @property
    def shape(self) -> TableShape | None:
        return self.tables.table

    def show_tables(self, shapes: Sequence[TableShape]) -> None:
        self.tables.show(shapes, words=self.bar.text)

    @on(TallList.Moved, "#tables-list")
    def _list_moved(self) -> None:
        self.show_shape()

    @on(TallList.Opened, "#table-structure")
    def _structure_opened(self, message: TallList.Opened) -> None:
        table = self.structure.table_at(message.index)
        if table is not None:
            self.tables.select(table)
        elif self.shape is not None:
            self.go(self.NAME, self.shape.name)

    # -- the filter --------------------------------------------------------------------------------------

    def action_filter(self) -> None:
        self.bar.enter()

    @on(FilterBar.Changed)
    def _narrow(self, message: FilterBar.Changed) -> None:
        self.tables.show(tuple(self.shapes.values()), words=message.text)
        self.show_shape()

    @on(FilterBar.Left)
    def _left(self) -> None:
        self.bar.display = bool(self.bar.text)
        self.tables.focus()

    def close_layer(self) -> bool:
        if self.bar.input.has_focus:
            self._left()
        elif self.bar.display:
            self.bar.clear()
            self._left()
        elif self.structure.has_focus:
            self.tables.focus()
        else:
            return False
        return True

    # -- taking away -----------------------------------------------------------------------------------

    async def copied(self) -> Copy | None:
        shape = self.shape
        if shape is None:
            return None
        if self.structure.has_focus:
            return Copy("the structure", shape.sql or structure_text(shape), ".sql")
        return Copy("the table's name", shape.name)

    def exported(self) -> Exportable | None:
        return None if self.shape is None else structure_export(self.shape)


def structure_export(shape: TableShape) -> Exportable:
    """How a table is made, as a text to write."""

    async def pieces() -> AsyncIterator[str]:
        yield structure_text(shape)

    return Exportable(f"structure of {shape.name}", f"{shape.name}-structure", texts={"text": pieces})
