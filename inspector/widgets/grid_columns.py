"""Where the columns of the windowed table stand: which are shown, how wide, and what fits the window.

Widths are measured once from the rows first seen and then stay, so that nothing jumps while scrolling;
a person may widen, narrow, fit and hide. Nothing here knows Textual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from inspector import safe
from inspector.widgets.grid_cells import Painted
from persistence.records import Column, Row

__all__ = ["GAP", "GUTTER", "ColumnPlan", "Placed"]

GAP = 2  # cells between two columns
GUTTER = 1  # cells left of the first and right of the last
LEAST = 3  # no measured column is narrower
NARROWED = 14  # text columns give way down to this when that makes all columns fit
SIDEWAYS = 26  # no text column is wider by itself where the table scrolls sideways
WIDEST = 400

_CAPS = {"id": 13, "text": 40, "json": 40, "any": 40, "blob": 26, "status": 16}
_GIVING_WAY = frozenset({"text", "json", "any", "blob"})


@dataclass(frozen=True, slots=True)
class Placed:
    """A shown column: its index among the source's columns, where it begins, and its width in cells."""

    index: int
    x: int
    width: int

    @property
    def end(self) -> int:
        return self.x + self.width


class ColumnPlan:
    """The columns of one source in a window `available` cells wide."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = tuple(columns)
        self.available = 0
        self.hidden: set[str] = set()
        self.placed: tuple[Placed, ...] = ()
        self.right: list[bool] = [False] * len(self.columns)  # numbers: the header stands right too
        self._chosen: dict[str, int] = {}
        self._natural = [_header_width(column) for column in self.columns]
        self.measured = False
        self.lay_out()

    @property
    def width(self) -> int:
        """Cells from the left edge to the end of the right gutter."""
        return (self.placed[-1].end if self.placed else 0) + GUTTER

    @property
    def frozen(self) -> int:
        """Cells of the first column, which stays when the table is wider than the window; 0: none does."""
        if len(self.placed) < 2 or self.width <= self.available:
            return 0
        end = self.placed[0].end + GAP
        return end if end <= self.available // 2 else 0

    def adopt(self, other: ColumnPlan) -> None:
        """Takes over what a person chose in another plan, and its measures where the columns are the same."""
        self.hidden = {column.name for column in self.columns if column.name in other.hidden}
        self._chosen = dict(other._chosen)
        if [column.name for column in self.columns] == [column.name for column in other.columns]:
            self._natural, self.right, self.measured = list(other._natural), list(other.right), other.measured
        self.available = other.available
        self.lay_out()

    def measure(self, rows: Iterable[Row], paint: Callable[[Row, int], Painted]) -> None:
        """Takes natural widths from these rows, and on which side each column stands."""
        seen = list(rows)
        for index, column in enumerate(self.columns):
            cells = [paint(row, index) for row in seen if index < len(row.cells)]
            widest = max((safe.width(cell.text) for cell in cells), default=0)
            self._natural[index] = max(_header_width(column), widest)
            numbers = [cell.right for cell in cells if cell.role == "plain" and cell.text]
            self.right[index] = bool(numbers) and sum(numbers) * 2 > len(numbers)
        self.measured = bool(seen)
        self.lay_out()

    def resize(self, available: int) -> None:
        if available != self.available:
            self.available = available
            self.lay_out()

    def choose(self, column: Column, width: int | None) -> None:
        """A person's width for a column; None: as measured again."""
        if width is None:
            self._chosen.pop(column.name, None)
        else:
            self._chosen[column.name] = max(1, min(WIDEST, width))
        self.lay_out()

    def fit_to(self, column: Column, rows: Iterable[Row], paint: Callable[[Row, int], Painted]) -> None:
        """As wide as the widest of these rows."""
        index = self.columns.index(column)
        widths = [safe.width(paint(row, index).text) for row in rows if index < len(row.cells)]
        self.choose(column, max([_header_width(column), *widths]))

    def hide(self, column: Column) -> None:
        """Leaves a column out; the last one shown stays."""
        if len(self.hidden) + 1 < len(self.columns):
            self.hidden.add(column.name)
            self.lay_out()

    def show_all(self) -> None:
        self.hidden.clear()
        self.lay_out()

    def at(self, x: int) -> int | None:
        """The position among the shown columns at cell `x` of the whole table's width."""
        for position, place in enumerate(self.placed):
            if place.x <= x < place.end + GAP:
                return position
        return None

    def lay_out(self) -> None:
        """Decides widths for the window and places the columns one after another."""
        shown = [index for index, column in enumerate(self.columns) if column.name not in self.hidden]
        widths = {index: self._wanted(index) for index in shown}
        room = self.available - 2 * GUTTER - GAP * max(0, len(shown) - 1)
        if self.available:
            self._spread(widths, room)
        x, placed = GUTTER, []
        for index in shown:
            placed.append(Placed(index, x, widths[index]))
            x += widths[index] + GAP
        self.placed = tuple(placed)

    def _wanted(self, index: int) -> int:
        column = self.columns[index]
        chosen = self._chosen.get(column.name)
        if chosen is not None:
            return chosen
        if column.width is not None:
            return max(1, column.width)
        return max(LEAST, min(self._natural[index], _CAPS.get(column.kind, WIDEST)))

    def _spread(self, widths: dict[int, int], room: int) -> None:
        """Gives spare room to columns that had to be cut, or narrows text when that makes all fit."""
        free = [index for index in widths if self.columns[index].name not in self._chosen]
        spare = room - sum(widths.values())
        if spare > 0:
            ids = [index for index in free if self.columns[index].kind == "id"]
            for some in ([index for index in free if index not in ids], ids):  # an id in full comes last
                hungry = sorted(
                    (index for index in some if self._natural[index] > widths[index]), reverse=True
                )
                while hungry and spare > 0:
                    index = hungry.pop()
                    more = min(self._natural[index] - widths[index], max(1, spare // (len(hungry) + 1)))
                    widths[index] += more
                    spare -= more
            return
        giving = {
            index: widths[index] - NARROWED for index in free if self.columns[index].kind in _GIVING_WAY
        }
        giving = {index: most for index, most in giving.items() if most > 0}
        lacking, most = -spare, sum(giving.values())
        if lacking > most:
            for index in giving:
                widths[index] = min(widths[index], SIDEWAYS)
            return
        if not lacking:
            return
        for index, can in giving.items():
            widths[index] -= can * lacking // most
        for index in sorted(giving, key=lambda index: -widths[index]):
            if sum(widths.values()) <= room:
                break
            widths[index] -= 1


def _header_width(column: Column) -> int:
    return safe.width(safe.text(column.label, limit=60)) + (2 if column.sortable else 0)
