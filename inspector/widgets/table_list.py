"""The tables of a store in their groups, with how many rows each has as that becomes known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inspector import safe
from inspector.typeset.lines import Line, Run
from inspector.widgets.tall_list import TallList
from persistence.records import TableShape

__all__ = ["TableList"]

GROUPS = (
    "conversation",
    "execution",
    "scheduling",
    "definitions",
    "control",
    "evidence",
    "delivery",
)
OTHER, VIEWS, PARTS = "other tables", "views", "virtual tables and their parts"


class TableList(TallList):
    """Headings and tables; the cursor stands on tables only. `rows` gives a table's count in words."""

    def __init__(self, rows: Callable[[str], str], *, id: str) -> None:
        super().__init__(id=id)
        self._rows = rows
        self._shapes: tuple[TableShape, ...] = ()
        self._entries: list[TableShape | str] = []
        self._words = ""
        self.shown: str | None = None  # the table that is open beside the list

    @property
    def table(self) -> TableShape | None:
        """The table the cursor is on."""
        entry = self._entries[self.cursor] if self.cursor < len(self._entries) else None
        return entry if isinstance(entry, TableShape) else None

    def show(self, shapes: Sequence[TableShape], *, words: str = "") -> None:
        """Shows these tables, or those with the words in their name; the cursor stays on its table."""
        before = self.table
        self._shapes, self._words = tuple(shapes), words.casefold()
        self._entries = self._grouped()
        self.cursor = 0
        self.set_count(len(self._entries))
        wanted = before.name if before is not None else self.shown
        self.select(wanted)

    def select(self, name: str | None) -> bool:
        """Puts the cursor on a table; on the first one when there is none of that name."""
        for index, entry in enumerate(self._entries):
            if isinstance(entry, TableShape) and entry.name == name:
                self.go_to(index)
                return True
        self.go_to(1 if len(self._entries) > 1 else 0)
        return False

    def counted(self) -> None:
        """Counts became known."""
        self.settle()

    def lines_of(self, index: int) -> Sequence[Line]:
        entry = self._entries[index]
        if isinstance(entry, str):
            return [(Run(entry, "quiet"),)] if index == 0 else [(), (Run(entry, "quiet"),)]
        return [self._table_line(entry)]

    def go_to(self, index: int, *, top: bool = False) -> None:
        step = -1 if index < self.cursor else 1
        index = max(0, min(index, len(self._entries) - 1))
        while 0 <= index < len(self._entries) and isinstance(self._entries[index], str):
            index += step
        if index < 0:  # above the first table: its heading comes into sight
            self.scroll_lines(-self.page)
            index = 1
        super().go_to(index, top=top)

    def _bring_cursor(self) -> None:
        super()._bring_cursor()
        if self.cursor < len(self._entries) and isinstance(self._entries[self.cursor], str):
            self.cursor = min(self.cursor + 1, len(self._entries) - 1)

    def _grouped(self) -> list[TableShape | str]:
        out: list[TableShape | str] = []
        shapes = [shape for shape in self._shapes if self._words in shape.name.casefold()]
        for group in (*GROUPS, OTHER, VIEWS, PARTS):
            members = [shape for shape in shapes if _group(shape) == group]
            if members:
                out += [group, *members]
        return out

    def _table_line(self, shape: TableShape) -> Line:
        said = self._rows(shape.name)
        role = "here" if shape.name == self.shown else "plain"
        if shape.unreadable is not None:
            said, role = "✗", "refuse"
        elif shape.kind == "shadow":
            role = "dimmed"
        room = max(1, self.room - 2)
        count = safe.clip(said, room)
        wide = max(1, room - safe.width(count) - 1)
        name = safe.clip(safe.text(shape.name, limit=200), wide)
        return (
            Run("  "),
            Run(name, role),
            Run(" " * (room - safe.width(name) - safe.width(count))),
            Run(count, "refuse" if role == "refuse" else "quiet"),
        )


def _group(shape: TableShape) -> str:
    if shape.kind in ("virtual", "shadow"):
        return PARTS
    if shape.kind == "view":
        return VIEWS
    return shape.group if shape.group in GROUPS else OTHER
