"""The keys of the windowed table; footer, help and palette take their words from here."""

from __future__ import annotations

from textual.binding import Binding

from inspector.keys import bind

__all__ = ["GRID_KEYS"]

GRID_KEYS: list[Binding] = [
    bind("grid.open", "enter", "open", "open", "Open the row the cursor is on"),
    bind("grid.view", "space", "view", "value", "Show the value under the cursor whole", show=False),
    bind("grid.up", "up,k", "rows(-1)", "up", "The row above", show=False),
    bind("grid.down", "down,j", "rows(1)", "down", "The row below", show=False),
    bind("grid.left", "left,h", "columns(-1)", "left", "The column before", show=False),
    bind("grid.right", "right,l", "columns(1)", "right", "The next column", show=False),
    bind("grid.page_up", "pageup", "pages(-1)", "page up", "A page up", show=False),
    bind("grid.page_down", "pagedown", "pages(1)", "page down", "A page down", show=False),
    bind("grid.half_up", "ctrl+u", "halves(-1)", "half up", "Half a page up", show=False),
    bind("grid.half_down", "ctrl+d", "halves(1)", "half down", "Half a page down", show=False),
    bind("grid.first", "g,home", "first", "first", "The first row", show=False),
    bind("grid.last", "G,end", "last", "last", "The last row", show=False),
    bind("grid.first_column", "ctrl+left", "edge(-1)", "first column", "The first column", show=False),
    bind("grid.last_column", "ctrl+right", "edge(1)", "last column", "The last column", show=False),
    bind("grid.jump", "ctrl+g", "jump", "go to row", "Go to a row by its number", show=False),
    bind("grid.sort", "s", "sort", "sort", "Sort by this column: up, down, and as it was", show=False),
    bind("grid.sort_down", "S", "sort(True)", "sort down", "Sort by this column, largest first", show=False),
    bind("grid.wider", "plus", "widen(4)", "wider", "Make this column wider", show=False),
    bind("grid.narrower", "minus", "widen(-4)", "narrower", "Make this column narrower", show=False),
    bind("grid.fit", "equals_sign", "fit", "fit", "Make this column as wide as what is shown", show=False),
    bind("grid.hide", "x", "hide", "hide", "Hide this column", show=False),
    bind("grid.show_all", "X", "show_all", "all columns", "Show hidden columns again", show=False),
    bind("grid.times", "T", "times", "times", "Times as they are, or how long ago", show=False),
    bind("grid.cancel", "escape", "cancel", "cancel", "Stop loading", show=False),
]  # fmt: skip
