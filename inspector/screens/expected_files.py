"""The expected files of a session: the contract, what was recorded, and what is there now, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from inspector import formats, safe
from inspector.clipboard import Copy
from inspector.copying import copied_cell, copied_row
from inspector.exporting import Exportable
from inspector.fixed_source import FixedSource
from inspector.keys import bind
from inspector.messages import Loaded
from inspector.roles import status_sign
from inspector.screens.artifacts import ABOUT
from inspector.screens.place import Place
from inspector.typeset.lines import line
from inspector.verification_rows import COLUMNS, OBSERVATION, compared_files, recorded_words, rows_of
from inspector.viewing import view_value
from inspector.widgets import grid_messages as said
from inspector.widgets.grid import Grid
from persistence.errors import StoreError

if TYPE_CHECKING:
    from persistence.reading.verification import Verification

__all__ = ["ExpectedFilesPlace"]


class ExpectedFilesPlace(Place):
    NAME = "artifacts"
    AUTO_FOCUS = "#expected"
    ABOUT = ABOUT
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("expected.run", "c", "run", "the run", "The run these files were expected of"),
    ]

    def __init__(self, target: str | None = None) -> None:
        super().__init__(target)
        self.found: Verification | None = None

    def compose_body(self) -> ComposeResult:
        yield Static(Content.styled("looking …", ".quiet"), id="expected-head")
        yield Grid(id="expected", empty="No file was expected of this run.", null="·")

    @property
    def grid(self) -> Grid:
        return self.query_one("#expected", Grid)

    # -- loading -----------------------------------------------------------------------------------

    def load(self) -> None:
        session = self.target or ""
        self.loads.start("verification", lambda: self.db.verification(session))

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if not self.loads.takes(message):
            return
        found: Verification | None = message.value
        read = self.db.last_read
        if found is None or read is None:
            self.refused(
                StoreError(
                    "There is no such run in this store.",
                    code="no-such-run",
                    where=self.inspector.location.display if self.inspector.location else None,
                    observed=self.target,
                    remedy="Artifacts (6) lists the runs with expected files.",
                )
            )
            return
        self.found = found
        self.query_one("#expected-head", Static).update(_head(found))
        order = self.grid.source.order if self.grid.source is not None else None
        source = FixedSource("expected-files", COLUMNS, rows_of(compared_files(found)), read)
        self.grid.show(source if order is None else source.ordered(order))
        self.refresh_shell()

    @on(Grid.Opened)
    @on(Grid.ViewAsked)
    def _view(self, message: said.Opened | said.ViewAsked) -> None:
        view_value(self.app, self.grid, message.row, message.column, "expected file")

    @on(Grid.Highlighted)
    @on(Grid.Loaded)
    def _tell(self) -> None:
        self.set_status(line((self.grid.words, "quiet")))

    # -- the keys ----------------------------------------------------------------------------------------

    def action_run(self) -> None:
        if self.target is not None:
            self.go("run", self.target)

    def close_layer(self) -> bool:
        self.go(self.NAME)
        return True

    def crumbs(self) -> list[tuple[str, str | None]]:
        name = self.found.name if self.found is not None else None
        said_ = name if isinstance(name, str) and name.strip() else formats.short_id(self.target or "", 13)
        return [("Artifacts", "artifacts"), (f"run {safe.clip(safe.text(said_), 40)}", None)]

    async def copied(self) -> Copy | None:
        return await copied_cell(self.grid)

    async def copied_row(self) -> Copy | None:
        return await copied_row(self.grid)

    def exported(self) -> Exportable | None:
        source = self.grid.source
        if source is None:
            return None
        what = f"the expected files of run {safe.text(self.target)}, {OBSERVATION}"
        return Exportable(what, "expected-files", rows=source)


def _head(found: Verification) -> Content:
    """Recorded and now, each with its status and its moment; and what such a look is worth."""
    out: list[Content] = []
    for which, status, at in recorded_words(found):
        glyph, word, role = status_sign(status)
        when = f"  {formats.exact_time(at)}" if at is not None else ""
        out.append(
            Content.assemble(
                (f"{which:<10}", ".quiet"),
                safe.content(f"{glyph} {word}", f".{role}"),
                safe.content(when, ".quiet"),
            )
        )
    root = found.root if isinstance(found.root, str) else "no artifacts folder is recorded"
    why = found.now.unusable_root if found.now is not None else None
    out.append(
        Content.assemble(
            (f"{'folder':<10}", ".quiet"),
            safe.content(root, ".code"),
            safe.content(f"  ▲ {why}" if why else "", ".notice"),
        )
    )
    out.append(
        Content.styled(
            f"what is there now is {OBSERVATION}: no file is opened, nothing is recorded", ".quiet"
        )
    )
    return Content("\n").join(out)
