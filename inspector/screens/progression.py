"""One progression: its positions with the messages they name, its marks, and the list as it lies there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding

from inspector import formats, safe
from inspector.clipboard import Copy
from inspector.copying import copied_cell, copied_row
from inspector.exporting import Exportable
from inspector.keys import bind
from inspector.loader import Report
from inspector.messages import Loaded, LoadProgressed
from inspector.progression_source import COLUMNS, ProgressionSource
from inspector.screens.place import Place
from inspector.screens.progressions import ABOUT
from inspector.typeset.lines import line
from inspector.viewing import view_value
from inspector.widgets import grid_messages as said
from inspector.widgets.grid import Grid
from inspector.widgets.pieces import Piece, PieceLine

if TYPE_CHECKING:
    from persistence.reading.progression_rows import ProgressionUser
    from persistence.reading.transcript import Transcript
    from persistence.records import Cell

__all__ = ["ProgressionPlace"]

SIBLINGS = 50
"""Other progressions of the same run that are looked into for shared messages."""


class ProgressionPlace(Place):
    NAME = "progressions"
    AUTO_FOCUS = "#positions"
    ABOUT = ABOUT
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("progression.next", "n", "mark(1)", "next mark", "The next position with a mark"),
        bind("progression.before", "N", "mark(-1)", "mark before", "The one before", show=False),
        bind("progression.raw", "w", "raw", "raw list", "The list as it lies in the store"),
        bind("progression.run", "c", "run", "the run", "The run that uses it"),
    ]

    def __init__(self, target: str | None = None) -> None:
        super().__init__(target)
        self.transcript: Transcript | None = None
        self.users: Sequence[ProgressionUser] = ()
        self._examined = ""

    def compose_body(self) -> ComposeResult:
        yield PieceLine(id="progression-line")
        yield Grid(id="positions", null="·")

    @property
    def grid(self) -> Grid:
        return self.query_one("#positions", Grid)

    # -- loading -----------------------------------------------------------------------------------

    def load(self) -> None:
        target = self.target or ""
        self.loads.start("progression", lambda: self.db.transcript(target))
        self.loads.start("users", lambda: self.db.progression_users(target))

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if not self.loads.takes(message):
            return
        if message.what == "progression":
            self._take(message.value)
        elif message.what == "users":
            self.users = message.value
            self.loads.start("shared", self._shared)
        elif message.what == "shared":
            self._show(message.value)
        elif message.what == "marks":
            self._examined = ""
        self._draw()

    def _take(self, transcript: Transcript) -> None:
        self.transcript = transcript
        if transcript.state != "list":
            why = f": {safe.text(transcript.why, limit=200)}" if transcript.why else ""
            self.grid.empty = (f"This progression is {transcript.state}{why}.", "w shows what is there")
        source = self.grid.source
        self._show(source.shared if isinstance(source, ProgressionSource) else frozenset())
        self.loads.start_reporting("marks", self._survey)

    def _show(self, shared: frozenset[str]) -> None:
        if self.transcript is not None:
            if shared and self.grid.source is not None:
                self.grid.plan.measured = False  # the word for it is wider than what was there before
            self.grid.show(ProgressionSource(self.transcript, shared))

    async def _survey(self, report: Report) -> None:
        """Has every position looked at once, so that the marks are known."""
        transcript = self.transcript
        if transcript is not None:
            async for found in transcript.survey():
                report(found.progress)

    async def _shared(self) -> frozenset[str]:
        """The ids that other progressions of the same run name as well."""
        own, others = set[str](), set[str]()
        target, db = self.target or "", self.db
        sessions = {user.session_id for user in self.users if user.session_id is not None}
        siblings: set[str] = set()
        for session in sessions:
            detail = await db.run(session)
            if detail is not None:
                siblings |= {detail.progression_id or target}
                siblings |= {branch.progression_id or target for branch in detail.branches[:SIBLINGS]}
        siblings.discard(target)
        if siblings:
            own = set(await db.get_progression(target))
            for sibling in list(siblings)[:SIBLINGS]:
                others |= set(await db.get_progression(sibling))
        return frozenset(own & others)

    @on(LoadProgressed)
    def _progressed(self, message: LoadProgressed) -> None:
        if self.loads.takes(message) and message.what == "marks":
            self._examined = (
                f"examining {formats.percent(message.progress.done, message.progress.total or 1)}"
            )
            self._draw()

    # -- what is shown -------------------------------------------------------------------------------

    def _draw(self) -> None:
        transcript = self.transcript
        if transcript is None:
            return
        state = "" if transcript.state == "list" else f"▲ {transcript.state}"
        pieces = [
            Piece(line((formats.several(transcript.length, "position"), "strong")), weight=0),
            Piece(line((state, "notice")), weight=9),
        ]
        for number, word in (
            (transcript.dangling, "missing"),
            (transcript.duplicates, "duplicate"),
            (transcript.out_of_order, "out of order"),
        ):
            if number:
                pieces.append(Piece(line((f"▲ {formats.count(number)} {word}", "notice")), weight=8))
        if self._examined:
            pieces.append(Piece(line((self._examined, "quiet")), weight=3))
        for user in self.users[:3]:
            kind = "run" if user.table == "sessions" else "branch"
            name = user.name if isinstance(user.name, str) and user.name.strip() else user.id
            pieces.append(
                Piece(line((f"{kind} ", "quiet"), (safe.clip(safe.text(name), 48), "plain")), weight=4)
            )
        if not self.users and not self.loads.running("users"):
            pieces.append(Piece(line(("used by nobody", "quiet")), weight=4))
        self.query_one("#progression-line", PieceLine).show(pieces)
        self.refresh_shell()

    @on(Grid.Opened)
    def _open(self, message: said.Opened) -> None:
        column = next(column for column in COLUMNS if column.name == "message")
        view_value(self.app, self.grid, message.row, column, "position")

    @on(Grid.ViewAsked)
    def _view(self, message: said.ViewAsked) -> None:
        view_value(self.app, self.grid, message.row, message.column, "position")

    @on(Grid.Highlighted)
    @on(Grid.Loaded)
    def _tell(self) -> None:
        self.set_status(line((self.grid.words, "quiet")))

    @on(Grid.Failed)
    def _grid_failed(self, message: said.Failed) -> None:
        if self.grid.source is not None:
            self.refused(message.error)

    # -- the keys ----------------------------------------------------------------------------------------

    def action_mark(self, step: int) -> None:
        marked = sorted(self.transcript.marked) if self.transcript is not None else []
        at = self.grid.cursor_row
        ahead = [position for position in marked if (position > at if step > 0 else position < at)]
        if ahead:
            self.grid.go_to_position(ahead[0] if step > 0 else ahead[-1])
        else:
            where = "below" if step > 0 else "above"
            self.notify(f"no position with a mark {where}", markup=False)

    def action_raw(self) -> None:
        from inspector.screens.cell import CellScreen
        from persistence.records import Preview

        target, db = self.target or "", self.db

        async def whole() -> Cell:
            return await db.raw_progression(target)

        size = 40 * (self.transcript.length if self.transcript is not None else 0)  # about: ids and quotes
        self.app.push_screen(CellScreen("collection", Preview("", size), kind="json", whole=whole))

    def action_run(self) -> None:
        session = next((user.session_id for user in self.users if user.session_id is not None), None)
        if session is None:
            self.notify("no run uses it", markup=False)
        else:
            self.go("run", session)

    def close_layer(self) -> bool:
        self.go(self.NAME)
        return True

    # -- what the shell asks -----------------------------------------------------------------------------

    def crumbs(self) -> list[tuple[str, str | None]]:
        shown = formats.short_id(safe.text(self.target or ""), 13)
        return [("Progressions", "progressions"), (shown, None)]

    async def copied(self) -> Copy | None:
        return await copied_cell(self.grid)

    async def copied_row(self) -> Copy | None:
        return await copied_row(self.grid)

    def exported(self) -> Exportable | None:
        source = self.grid.source
        if source is None:
            return None
        what = f"progression {safe.text(self.target)}: {formats.several(self.grid.row_count, 'position')}"
        return Exportable(what, "progression", rows=source)
