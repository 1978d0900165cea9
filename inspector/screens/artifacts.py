"""Artifacts: what runs and invocations recorded, by the shape of its key, and what is at its path now."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding

from inspector import formats
from inspector.clipboard import Copy
from inspector.copying import copied_cell, copied_row
from inspector.exporting import Exportable
from inspector.keys import bind
from inspector.messages import Loaded
from inspector.navigation import Address
from inspector.screens.place import Place, PlaceHelp
from inspector.typeset.lines import line
from inspector.viewing import view_value
from inspector.widgets import grid_messages as said
from inspector.widgets.grid import Grid
from inspector.widgets.pieces import Piece, PieceLine
from persistence.reading.artifact_rows import KEY_SHAPES

if TYPE_CHECKING:
    from persistence.reading.source import RowSource

__all__ = ["ABOUT", "ArtifactsPlace", "artifacts_place"]

ABOUT = PlaceHelp(
    "What runs and invocations recorded as their outcome: each row is the latest for its key, and holds no "
    "file. v goes through the shapes a key can have, and the runs that were expected to leave files. Enter "
    "shows the content, c the expected files of the run: the contract, what was recorded, and what is there "
    "now. Whatever is said of a path is an observation of this moment, not evidence.",
    signs=(
        ("present, 12,410 B", "a file is at the path now, of this size"),
        ("gone", "nothing is at the path now"),
        ("cannot tell", "the path is relative to what nobody recorded, leads out, or may not be looked at"),
    ),
    words=("artifact", "contract", "invocation", "session"),
)
CONTRACTS = "contracts"
VIEWS = ("all", *KEY_SHAPES, CONTRACTS)
TITLES = {"both": "session and invocation", "none": "neither", CONTRACTS: "expected files"}


def artifacts_place(target: str | None = None) -> Place:
    """The place for all artifacts, or for the expected files of one session."""
    from inspector.screens.expected_files import ExpectedFilesPlace

    return ArtifactsPlace() if target is None else ExpectedFilesPlace(target)


class ArtifactsPlace(Place):
    NAME = "artifacts"
    AUTO_FOCUS = "#artifacts"
    ABOUT = ABOUT
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind(
            "artifacts.view",
            "v",
            "next_view",
            "view",
            "By another shape of key; the runs with expected files",
        ),
        bind(
            "artifacts.contract", "c", "contract", "expected", "The expected files of the run, then and now"
        ),
    ]

    def __init__(self, target: str | None = None) -> None:
        super().__init__(target)
        self.view = VIEWS[0]

    def compose_body(self) -> ComposeResult:
        yield PieceLine(id="artifacts-line")
        yield Grid(id="artifacts", empty="There are no artifacts in this store.")

    @property
    def grid(self) -> Grid:
        return self.query_one("#artifacts", Grid)

    # -- loading -----------------------------------------------------------------------------------

    def load(self) -> None:
        source = self.grid.source
        if source is None:
            self._show()
        else:
            self.loads.start("artifacts", source.refreshed)

    def _show(self) -> None:
        self.query_one("#artifacts-line", PieceLine).show(
            Piece(line((f" {TITLES.get(name, name)} ", "here" if name == self.view else "quiet")),
                  f"screen.view('{name}')", weight=0 if name == self.view else 3, gap=0)
            for name in VIEWS
        )  # fmt: skip
        self.grid.empty = (
            ("No run was expected to leave files.", "")
            if self.view == CONTRACTS
            else ("There are no artifacts in this store.", "")
            if self.view == "all"
            else ("No artifact has a key of this shape.", "v goes to the others")
        )
        self.grid.show(self._source(), keep_place=False)
        self.refresh_bindings()

    def _source(self) -> RowSource:
        if self.view == CONTRACTS:
            return self.db.contracts()
        return self.db.artifacts(None if self.view == "all" else self.view)  # type: ignore[arg-type]

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if self.loads.takes(message):
            self.grid.show(message.value)

    # -- views ---------------------------------------------------------------------------------------

    def address(self) -> Address:
        return Address(self.NAME, None, self.view)

    def show_view(self, view: str | None) -> None:
        wanted = view or VIEWS[0]
        if wanted in VIEWS and wanted != self.view:
            self.view = wanted
            if self.is_mounted:
                self._show()
                self.refresh_shell()

    def action_view(self, view: str) -> None:
        self.show_view(view)
        self.inspector.places.history.replace(self.address())

    def action_next_view(self) -> None:
        self.action_view(VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)])

    # -- the list ------------------------------------------------------------------------------------

    @on(Grid.Opened)
    def _open(self, message: said.Opened) -> None:
        if self.view == CONTRACTS:
            self.action_contract()
            return
        source = self.grid.source
        content = (
            next((column for column in source.columns if column.name == "content"), None) if source else None
        )
        view_value(self.app, self.grid, message.row, content or message.column, "artifact")

    @on(Grid.ViewAsked)
    def _view(self, message: said.ViewAsked) -> None:
        view_value(self.app, self.grid, message.row, message.column, "artifact")

    def action_contract(self) -> None:
        session = self.session
        if session is None:
            self.notify("this artifact names no session, so no files were expected of it", markup=False)
        else:
            self.go(self.NAME, session)

    @property
    def session(self) -> str | None:
        """The session the row under the cursor is of."""
        row, source = self.grid.row, self.grid.source
        if row is None or source is None:
            return None
        wanted = "id" if self.view == CONTRACTS else "session_id"
        names = [column.name for column in source.columns]
        cell = row.cells[names.index(wanted)] if wanted in names else None
        return cell if isinstance(cell, str) and cell else None

    @on(Grid.Highlighted)
    @on(Grid.Loaded)
    def _tell(self) -> None:
        self.set_status(line((self.grid.words, "quiet")))

    @on(Grid.Failed)
    def _grid_failed(self, message: said.Failed) -> None:
        if self.grid.source is not None:
            self.refused(message.error)

    def crumbs(self) -> list[tuple[str, str | None]]:
        return [("Artifacts", "artifacts"), (TITLES.get(self.view, self.view), None)]

    # -- taking away -----------------------------------------------------------------------------------

    async def copied(self) -> Copy | None:
        return await copied_cell(self.grid)

    async def copied_row(self) -> Copy | None:
        return await copied_row(self.grid)

    def exported(self) -> Exportable | None:
        source = self.grid.source
        if source is None:
            return None
        number = formats.count(self.grid.row_count, complete=self.grid.extent.complete)
        what = "runs with expected files" if self.view == CONTRACTS else f"artifacts, key {self.view}"
        return Exportable(f"{what}: {number}", "artifacts", rows=source)
