"""The write ceiling of a profile: every column of every table, and what may be written of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding

from inspector import formats, safe
from inspector.keys import bind
from inspector.typeset.lines import Line, Run, clipped, line
from inspector.widgets.tall_list import TallList

if TYPE_CHECKING:
    from persistence.profiles import Finding, Profile
    from persistence.profiles.records import ColumnShape

__all__ = ["Ceiling", "CeilingCell", "cells_of"]

WIDEST = 24
"""Cells a column's name takes at most."""
MARKS = 3
"""Cells of the two marks before a name, and the blank behind them."""


@dataclass(frozen=True, slots=True)
class CeilingCell:
    """A column: may it be written on an insert (`i`, `o` as the owner, `·` it is left out), and later (`u`).

    `why` is why leaving it out of an insert is right; `drift` what an admission found about it, if anything.
    """

    table: str
    column: str
    insert: str
    update: bool
    shape: str
    why: str | None = None
    drift: str | None = None

    @property
    def marks(self) -> str:
        return f"{self.insert}{'u' if self.update else ' '}"

    def says(self) -> str:
        """What may be written of it, in words."""
        first = {
            "i": "written when a row is made",
            "o": "written when a row is made: always the owner, and never changed",
            "·": "left out when a row is made",
        }[self.insert]
        second = (
            ", and may be changed later"
            if self.update
            else ""
            if self.insert == "o"
            else ", and never changed"
        )
        return f"{first}{second}"


def cells_of(profile: Profile, findings: Iterable[Finding] = ()) -> Iterator[tuple[str, list[CeilingCell]]]:
    """The tables with their columns, in the profile's order; those with nothing to write last."""
    from persistence.profiles.records import folded

    found = {(folded(each.table or ""), folded(each.object or "")): each for each in findings if each.refuses}
    rules = {folded(name): rule for name, rule in profile.writes.items()}
    tables = sorted(
        profile.closure.tables.values(), key=lambda table: not _writes(rules.get(folded(table.name)))
    )
    for table in tables:
        rule = rules.get(folded(table.name))
        insert = {folded(name) for name in rule.insert} if rule is not None else set()
        update = {folded(name) for name in rule.update} if rule is not None else set()
        why = {folded(name): reason for name, reason in rule.unwritten.items()} if rule is not None else {}
        owner = folded(profile.owner.column) if profile.owner is not None else None
        cells = []
        for column in table.columns:
            name = folded(column.name)
            drift = found.get((folded(table.name), name))
            mark = "·" if name not in insert else "o" if name == owner else "i"
            cells.append(CeilingCell(
                table.name, column.name, mark, name in update, _shape(column), why.get(name),
                drift.code if drift is not None else None,
            ))  # fmt: skip
        known = {folded(column.name) for column in table.columns}
        for (where, name), finding in found.items():
            if where == folded(table.name) and finding.code == "column-extra" and name not in known:
                cells.append(CeilingCell(
                    table.name, finding.object or "", "·", False, finding.observed or "", None, finding.code
                ))  # fmt: skip
        yield table.name, cells


def _writes(rule: object) -> bool:
    return bool(getattr(rule, "insert", ()) or getattr(rule, "update", ()))


def _shape(column: ColumnShape) -> str:
    parts = [column.type or "no type"]
    if not column.nullable:
        parts.append("never empty")
    if column.default is not None:
        parts.append(f"else {column.default}")
    if column.generated is not None:
        parts.append("computed")
    return ", ".join(parts)


class Ceiling(TallList, inherit_bindings=False):
    """A grid with a cursor on one column; posts `Moved` when it is on another (see `cell`)."""

    HELP = "Arrows go from column to column; the line below says what may be written of it, and why not."
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        *(each for each in TallList.BINDINGS if not isinstance(each, Binding) or each.id != "list.open"),
        bind("ceiling.left", "left,h", "across(-1)", "left", "The column before", show=False),
        bind("ceiling.right", "right,l", "across(1)", "right", "The next column", show=False),
    ]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._tables: tuple[tuple[str, list[CeilingCell]], ...] = ()
        self._rows: list[
            tuple[str, list[CeilingCell], bool]
        ] = []  # table, its cells of one line, the first one
        self._across = 0
        self._column = 1

    def show(self, tables: Iterable[tuple[str, list[CeilingCell]]]) -> None:
        """Shows these; the cursor stays on the column it is on."""
        self._tables = tuple(tables)
        self._lay_out()

    @property
    def cell(self) -> CeilingCell | None:
        """The column the cursor is on."""
        if not self._rows:
            return None
        cells = self._rows[min(self.cursor, len(self._rows) - 1)][1]
        return cells[min(self._across, len(cells) - 1)] if cells else None

    def select(self, table: str, column: str) -> bool:
        """Puts the cursor on a column."""
        for number, (name, cells, _) in enumerate(self._rows):
            for at, cell in enumerate(cells):
                if (name, cell.column) == (table, column):
                    self._across = at
                    self.go_to(number)
                    return True
        return False

    def _lay_out(self) -> None:
        before = self.cell
        names = [safe.width(safe.text(cell.column)) for _, cells in self._tables for cell in cells]
        self._column = min(WIDEST, max(names, default=1)) + MARKS
        fit = max(1, (self.room + 2) // (self._column + 2))
        self._rows = []
        for table, cells in self._tables:
            for start in range(0, max(1, len(cells)), fit):
                self._rows.append((table, cells[start : start + fit], start == 0))
        self.set_count(len(self._rows))
        if before is not None:
            self.select(before.table, before.column)

    def restyle(self) -> None:
        self._lay_out()

    # -- drawing ----------------------------------------------------------------------------------------

    MARKED = False  # the column is, not the line

    def lead_of(self, index: int) -> int:
        return (2 if index else 1) if self._rows[index][2] else 0

    def lines_of(self, index: int) -> Sequence[Line]:
        table, cells, first = self._rows[index]
        here = self.cell if index == self.cursor else None
        runs: list[Run] = []
        for cell in cells:
            runs += [*_drawn(cell, self._column, cell is here), Run("  ")]
        out: list[Line] = [tuple(runs[:-1])]
        if first:
            out.insert(0, clipped(self._heading(table), self.room))
            if index:
                out.insert(0, ())
        return out

    def _heading(self, table: str) -> Line:
        cells = next(cells for name, cells in self._tables if name == table)
        made = sum(cell.insert != "·" for cell in cells)
        changed = sum(cell.update for cell in cells)
        said = (
            f"{made} written, {changed} changed, {len(cells) - made} left out"
            if made or changed
            else "only read"
        )
        return line(
            (safe.text(table, limit=80), "strong"),
            (f"  {formats.several(len(cells), 'column')}: {said}", "quiet"),
        )

    # -- moving -----------------------------------------------------------------------------------------

    def action_across(self, step: int) -> None:
        if not self._rows:
            return
        cells = self._rows[self.cursor][1]
        at = min(self._across, len(cells) - 1) + step
        if 0 <= at < len(cells):
            self._across = at
        elif 0 <= self.cursor + step < len(self._rows):
            self._across = 0 if step > 0 else len(self._rows[self.cursor + step][1]) - 1
            self.go_to(self.cursor + step)
            return
        self.settle()
        self.post_message(self.Moved(self))

    def go_to(self, index: int, *, top: bool = False) -> None:
        super().go_to(index, top=top)
        self.settle()

    def on_click(self, event: events.Click) -> None:
        if 0 <= event.y < len(self._visible):
            self._across = max(0, (event.x - 1) // (self._column + 2))
        super().on_click(event)
        self.settle()


def _drawn(cell: CeilingCell, width: int, here: bool) -> Line:
    name = safe.fit(safe.text(cell.column, limit=200), width - MARKS)
    if cell.drift is not None:
        runs = line(("✗  ", "refuse"), (name, "refuse"))
    else:
        role = {"i": "ok", "o": "accent", "·": "quiet"}[cell.insert]
        plain = "quiet" if cell.insert == "·" and not cell.update else "plain"
        runs = line((cell.insert, role), ("u " if cell.update else "  ", "live"), (name, plain))
    return tuple(Run(run.text, "here") for run in runs) if here else runs
