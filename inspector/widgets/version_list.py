"""The versions of a definition, newest first: number, when, and what was said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inspector import formats, safe
from inspector.typeset.lines import Line, Run, clipped
from inspector.widgets.tall_list import TallList

__all__ = ["VersionList"]


class VersionList(TallList):
    """`marked` is the version the others are compared with; it has a sign."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.versions: tuple[Mapping[str, Any], ...] = ()
        self.marked: int | None = None

    def show(self, versions: Sequence[Mapping[str, Any]]) -> None:
        """Shows these; the cursor stays on its version."""
        before = self.number
        self.versions = tuple(versions)
        self.set_count(len(self.versions))
        if before is not None:
            self.select(before)

    @property
    def numbers(self) -> list[Any]:
        return [row.get("version") for row in self.versions]

    @property
    def number(self) -> Any:
        """The version the cursor is on; None when there is none."""
        return self.versions[self.cursor].get("version") if self.versions else None

    def select(self, number: int) -> bool:
        if number not in self.numbers:
            return False
        self.go_to(self.numbers.index(number))
        return True

    def mark(self, number: int | None) -> None:
        self.marked = number
        self.settle()

    def lines_of(self, index: int) -> Sequence[Line]:
        row = self.versions[index]
        number = row.get("version")
        sign = Run("◆ ", "accent") if number is not None and number == self.marked else Run("  ")
        head: Line = (
            sign,
            Run(f"v{safe.cell(number)}", "strong"),
            Run(f"  {formats.relative_time(row.get('created_at'))}", "quiet"),
        )
        lines = [clipped(head, self.room)]
        message = row.get("message")
        if isinstance(message, str) and message.strip():
            said = safe.clip(safe.text(message), max(1, self.room - 2))
            lines.append((Run("  "), Run(said, "quiet")))
        return lines
