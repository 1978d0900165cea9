"""A list in sections that open and close; each entry lays out its own lines and may lead somewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from inspector.typeset.lines import Line, line
from inspector.widgets.tall_list import TallList
from inspector.widgets.tall_view import Spot

__all__ = ["Entry", "Section", "SectionList"]

Build = Callable[[int], Sequence[Line]]
"""The lines of an entry in so many cells."""


@dataclass(frozen=True, slots=True)
class Entry:
    """`key` stays the same when the list is shown anew, so the cursor does too. `leads`: what enter opens."""

    key: str
    build: Build
    leads: Any = None


@dataclass(frozen=True, slots=True)
class Section:
    """`title` stands above the entries (none: they stand for themselves); `note` beside it, quietly."""

    name: str
    title: str
    entries: tuple[Entry, ...]
    note: str = ""


class SectionList(TallList):
    """`show` sections; enter on a heading closes and opens it, on an entry posts `Opened` (see `leads`)."""

    HELP = "Enter on a heading closes and opens it; on anything else it says more."

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._sections: tuple[Section, ...] = ()
        self._rows: list[Entry | Section] = []
        self._lines: dict[tuple[int, int], Sequence[Line]] = {}
        self.closed: set[str] = set()

    def show(self, sections: Sequence[Section]) -> None:
        """Shows these; the cursor stays on the entry it is on."""
        before = self._key(self.cursor)
        self._sections = tuple(sections)
        self._rows = []
        for section in self._sections:
            if section.title:
                self._rows.append(section)
            if section.name not in self.closed or not section.title:
                self._rows += section.entries
        self._lines.clear()
        self.set_count(len(self._rows))
        keys = [self._key(index) for index in range(len(self._rows))]
        if before in keys and keys.index(before) != self.cursor:
            self.cursor = keys.index(before)
            self.settle()

    def _key(self, index: int) -> str | None:
        if not 0 <= index < len(self._rows):
            return None
        row = self._rows[index]
        return f"section {row.name}" if isinstance(row, Section) else row.key

    @property
    def current(self) -> Entry | None:
        """The entry under the cursor; None on a heading."""
        row = self._rows[self.cursor] if self._rows else None
        return row if isinstance(row, Entry) else None

    def select(self, key: str) -> bool:
        """Puts the cursor on an entry."""
        for index in range(len(self._rows)):
            if self._key(index) == key:
                self.go_to(index)
                self._with_heading(index)
                return True
        return False

    def _with_heading(self, index: int) -> None:
        """The first entry of a section is not shown without what it is an entry of."""
        room = self.page - self.height_of(index)
        first = index > 0 and isinstance(self._rows[index - 1], Section)
        if first and self.top == Spot(index, 0) and self.height_of(index - 1) <= room:
            self.top = Spot(index - 1, 0)
            self.settle()

    def restyle(self) -> None:
        self._lines.clear()

    def lead_of(self, index: int) -> int:
        return 1 if index and isinstance(self._rows[index], Section) else 0

    def lines_of(self, index: int) -> Sequence[Line]:
        known = self._lines.get((index, self.room))
        if known is None:
            row = self._rows[index]
            known = self._heading(index, row) if isinstance(row, Section) else list(row.build(self.room))
            self._lines[index, self.room] = known
        return known

    def _heading(self, index: int, section: Section) -> list[Line]:
        sign = "▸ " if section.name in self.closed else ""
        said = line((sign, "accent"), (section.title, "strong"), (f"  {section.note}", "quiet"))
        return [(), said] if index else [said]

    def action_open(self) -> None:
        row = self._rows[self.cursor] if self._rows else None
        if isinstance(row, Section):
            self.closed ^= {row.name}
            self.show(self._sections)
        else:
            super().action_open()
