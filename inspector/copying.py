"""What `y` and `Y` take from a windowed table: the cell under the cursor, or its row as JSON; whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector import safe
from inspector.clipboard import Copy
from persistence.records import Mark, Preview

if TYPE_CHECKING:
    from inspector.widgets.grid import Grid

__all__ = ["copied_cell", "copied_row"]


async def copied_cell(grid: Grid) -> Copy | None:
    """The value under the cursor, read whole; None when there is none to copy. Raises StoreError."""
    place = grid.cursor_place
    row = await grid.whole_row()
    if row is None or place is None or place.index >= len(row.cells):
        return None
    value = row.cells[place.index]
    if value is None or isinstance(value, Mark):
        return None
    label = safe.text(grid.plan.columns[place.index].label, limit=60)
    first = " (its first part)" if isinstance(value, Preview) else ""
    return Copy(f"{label}{first}", safe.exact(value))


async def copied_row(grid: Grid) -> Copy | None:
    """The row under the cursor as one JSON object with every column's whole value. Raises StoreError."""
    from inspector.reports import shapes

    row = await grid.whole_row()
    if row is None or grid.source is None:
        return None
    names = shapes.unique_names(grid.source.columns)
    body = {name: shapes.value(cell) for name, cell in zip(names, row.cells, strict=True)}
    return Copy(f"the row as JSON ({len(names)} columns)", shapes.dumps(body, indent=2), ".json")
