"""Definitions: every authored agent, playbook and skill the store keeps versions of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult

from inspector import formats, safe
from inspector.clipboard import Copy
from inspector.copying import copied_cell, copied_row
from inspector.definition_rows import COLUMNS, latest_rows
from inspector.exporting import Exportable
from inspector.fixed_source import FixedSource
from inspector.messages import Loaded
from inspector.screens.place import Place, PlaceHelp
from inspector.typeset.lines import line
from inspector.viewing import view_value
from inspector.widgets import grid_messages as said
from inspector.widgets.filter_bar import FilterBar
from inspector.widgets.grid import Grid

if TYPE_CHECKING:
    from persistence.reading.page import Page
    from persistence.records import Row

__all__ = ["ABOUT", "DefinitionsPlace", "definitions_place", "target_of"]

ABOUT = PlaceHelp(
    "The texts that agents, playbooks and skills were defined by, in versions, the newest first. Enter opens "
    "one: v goes from its content to what changed since another version and to the file now at its path, m "
    "marks the version to compare with, u changes between one column and two. A stored version is what was "
    "saved; the file is only looked at when you ask.",
    signs=(
        ("- +", "what went and what came; the words that differ are underlined"),
        ("┄ 34 lines the same", "an unchanged stretch, folded"),
        ("◆", "the version the others are compared with"),
        ("✓ same  ▲ differs  ✗ gone", "the stored version against the file at its path now"),
    ),
    words=("definition",),
)


def definitions_place(target: str | None = None) -> Place:
    """The place for all definitions, or for one (`agent/clerk`)."""
    from inspector.screens.definition import DefinitionPlace

    return DefinitionsPlace() if target is None else DefinitionPlace(target)


def target_of(kind: object, name: object) -> str:
    return f"{kind}/{name}"


class DefinitionsPlace(Place):
    NAME = "definitions"
    AUTO_FOCUS = "#definitions"
    ABOUT = ABOUT

    def __init__(self, target: str | None = None) -> None:
        super().__init__(target)
        self._rows: tuple[Row, ...] = ()
        self._page: Page | None = None

    def compose_body(self) -> ComposeResult:
        bar = FilterBar(lambda text: None, placeholder="a part of a kind or a name", id="definitions-filter")
        bar.display = False
        yield bar
        yield Grid(id="definitions", empty="There are no definitions in this store.")

    @property
    def grid(self) -> Grid:
        return self.query_one("#definitions", Grid)

    @property
    def bar(self) -> FilterBar:
        return self.query_one("#definitions-filter", FilterBar)

    # -- loading -----------------------------------------------------------------------------------

    def load(self) -> None:
        self.loads.start("definitions", self.db.list_definitions)

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if self.loads.takes(message):
            self._page = message.value
            self._rows = latest_rows(message.value)
            self._show()

    def _show(self) -> None:
        page, words = self._page, self.bar.text.casefold().split()
        if page is None or page.read is None:
            return
        rows = tuple(row for row in self._rows if _fits(row, words))
        source = FixedSource("definitions", COLUMNS, rows, page.read)
        order = self.grid.source.order if self.grid.source is not None else None
        self.grid.empty = (
            ("No definition fits the filter.", "esc takes the filter away")
            if words
            else ("There are no definitions in this store.", "")
        )
        self.grid.show(source.ordered(order) if order is not None else source)

    # -- the list ------------------------------------------------------------------------------------

    @on(Grid.Opened)
    def _open(self, message: said.Opened) -> None:
        self.go(self.NAME, target_of(*message.key))

    @on(Grid.ViewAsked)
    def _view(self, message: said.ViewAsked) -> None:
        view_value(self.app, self.grid, message.row, message.column, "definition")

    @on(Grid.Highlighted)
    @on(Grid.Loaded)
    def _tell(self) -> None:
        self.set_status(line((self.grid.words, "quiet")))

    def action_filter(self) -> None:
        self.bar.enter()

    @on(FilterBar.Changed)
    def _narrow(self) -> None:
        self._show()
        self.refresh_shell()

    @on(FilterBar.Left)
    def _left(self) -> None:
        self.bar.display = bool(self.bar.text)
        self.grid.focus()

    def close_layer(self) -> bool:
        if self.bar.input.has_focus:
            self._left()
        elif self.bar.text:
            self.bar.clear()
            self._left()
        else:
            return False
        return True

    # -- taking away -----------------------------------------------------------------------------------

    async def copied(self) -> Copy | None:
        return await copied_cell(self.grid)

    async def copied_row(self) -> Copy | None:
        return await copied_row(self.grid)

    def exported(self) -> Exportable | None:
        source = self.grid.source
        if source is None:
            return None
        number = formats.several(self.grid.row_count, "definition")
        narrowed = f" with {safe.text(self.bar.text, limit=60)}" if self.bar.text else ""
        return Exportable(f"{number}{narrowed}, the newest version of each", "definitions", rows=source)


def _fits(row: Row, words: Sequence[str]) -> bool:
    named = f"{safe.cell(row.cells[0])} {safe.cell(row.cells[1])}".casefold()
    return all(word in named for word in words)
