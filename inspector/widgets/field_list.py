"""A row as a list of its fields: name left, value right, whole and of any height."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from inspector import formats, safe
from inspector.typeset.json_text import json_lines
from inspector.typeset.lines import Line, Run, prefixed, visible, wrap
from inspector.widgets.tall_list import TallList
from persistence.records import Cell, Mark, Preview, Unreadable

__all__ = ["FieldList", "field_lines"]

NAME = 26
"""Cells the longest name takes."""
MOST = 200
"""Lines of one value that are shown here."""
LONGEST = 20_000
"""Characters of one value that are laid out here."""


class FieldList(TallList):
    """Fields of one row; `times` are the names of those that hold a time."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.fields: tuple[tuple[str, Cell], ...] = ()
        self._lines: dict[int, list[Line]] = {}
        self._times: frozenset[str] = frozenset()

    def show(
        self, fields: Mapping[str, Cell], *, times: frozenset[str] = frozenset(), keep: bool = True
    ) -> None:
        self.fields = tuple(fields.items())
        self._times = times
        self._lines.clear()
        self.set_count(len(self.fields), keep=keep)

    @property
    def current(self) -> tuple[str, Cell] | None:
        return self.fields[self.cursor] if self.fields else None

    def restyle(self) -> None:
        self._lines.clear()

    def lines_of(self, index: int) -> Sequence[Line] | None:
        lines = self._lines.get(index)
        if lines is None:
            name, cell = self.fields[index]
            widest = max((safe.width(safe.text(each, limit=200)) for each, _ in self.fields), default=0)
            column = min(NAME, widest, self.room // 2)
            value = field_lines(cell, self.room - column - 2, is_time=name in self._times)
            label = safe.fit(safe.text(name, limit=200), column)
            pad = Run(" " * (column + 2))
            lines = prefixed(pad, value, first=Run(f"{label}  ", "quiet"))
            self._lines[index] = lines
        return lines


def field_lines(cell: Cell, room: int, *, is_time: bool = False) -> list[Line]:
    """A value of a row as lines: JSON as JSON, a time with what it means, text as text."""
    room = max(8, room)
    match cell:
        case None:
            return [(Run("NULL", "quiet"),)]
        case Mark():
            return [(Run(f"— {cell.value}", "quiet"),)]
        case Unreadable():
            return [(Run(f"✗ not readable: {safe.text(cell.why)}", "refuse"),)]
        case int() | float():
            said = safe.cell(cell)
            if is_time and formats.moment(cell) is not None:
                words = f"{formats.exact_time(cell)}, {formats.relative_time(cell)}"
                return [(Run(said, "plain"), Run(f"  {words}", "quiet"))]
            return [(Run(said, "json-number"),)]
        case str():
            return _text_lines(cell, room)
        case Preview():
            size = f"… {formats.size(cell.size)} in all"
            head = cell.head if isinstance(cell.head, str) else safe.cell(cell.head)
            return [*wrap([Run(visible(head, limit=2_000))], room), (Run(size, "quiet"),)]
        case _:
            return [(Run(safe.cell(cell), "code"),)]


def _text_lines(text: str, room: int) -> list[Line]:
    if text[:1] in ("{", "[") and len(text) <= LONGEST:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            return json_lines(value, room)[:MOST]
    if not text:
        return [(Run("empty text", "quiet"),)]
    lines = wrap([Run(visible(text[:LONGEST]))], room)
    left = len(lines) - MOST
    if left > 0 or len(text) > LONGEST:
        size = formats.size(len(text.encode("utf-8", "surrogatepass")))
        return [*lines[:MOST], (Run(f"… {size} in all", "quiet"),)]
    return lines
