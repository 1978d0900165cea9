"""The value under a table's cursor, whole, over the place it stands in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector import safe

if TYPE_CHECKING:
    from textual.app import App

    from inspector.widgets.grid import Grid
    from persistence.records import Cell, Column, Row

__all__ = ["view_value"]


def view_value(app: App[None], grid: Grid, row: Row, column: Column | None, where: str) -> None:
    """Opens the value of `column` in `row`; its beginning at once, all of it as it is read. `where` says in
    the title what the rows are."""
    from inspector.screens.cell import CellScreen

    source = grid.source
    if source is None or column is None:
        return
    names = [each.name for each in source.columns]
    if column.name not in names:
        return
    index = names.index(column.name)
    held = row.cells[index] if index < len(row.cells) else None

    async def whole() -> Cell:
        found = await source.cells(row.key)
        return held if found is None else found.cells[index]

    title = f"{where}.{safe.text(column.label, limit=60)}"
    app.push_screen(CellScreen(title, held, kind=column.kind, whole=whole))
