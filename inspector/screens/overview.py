"""Overview: what this store is, how it is read, what it holds, and what in it is worth a look."""

from __future__ import annotations

from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static

from inspector import formats, safe
from inspector.clipboard import Copy
from inspector.keys import bind
from inspector.loader import Report
from inspector.messages import Loaded, LoadFailed, LoadProgressed
from inspector.navigation import Address
from inspector.roles import status_sign
from inspector.screens.overview_facts import store_facts
from inspector.screens.place import Place, PlaceHelp
from inspector.table_counts import count_tables, counts_of
from inspector.typeset.lines import line
from inspector.widgets.day_chart import DayChart
from inspector.widgets.fact_list import FactList
from inspector.widgets.pieces import Piece, PieceFlow
from inspector.widgets.table_list import TableList
from inspector.widgets.tall_list import TallList
from inspector.widgets.worth_list import WorthList
from persistence.errors import StoreError
from persistence.records import Progress, TableShape

if TYPE_CHECKING:
    from persistence.reading.checks import CheckResult

__all__ = ["OverviewPlace"]

QUICK = 1.0
"""Seconds: checks that took no longer are made again whenever the store has moved."""


class OverviewPlace(Place):
    NAME = "overview"
    AUTO_FOCUS = "#worth"
    ABOUT = PlaceHelp(
        "What this store is and how it is read; how many rows its tables hold, as they are counted; runs a "
        "day; and what is worth a look: enter leads to the rows. Checks read the whole store in parts, so "
        "above 200 MB they wait for c.",
        signs=(
            ("✓", "looked at, and nothing there"),
            ("▲", "worth a look"),
            ("✗", "not as a reader expects it"),
            ("·", "not looked at yet"),
        ),
        words=("lineage", "change token", "live log", "settled", "copy", "kernel-held"),
    )
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("overview.check", "c", "check", "check", "Look through the store for what is worth a look"),
        bind("overview.next", "tab", "app.focus_next", "next list", "To the other list", show=False),
    ]

    def __init__(self, target: str | None = None) -> None:
        super().__init__(target)
        self._results: dict[str, CheckResult] = {}
        self._unread: dict[str, str] = {}
        self._took: float | None = None  # seconds the last checks took; None: none were made
        self._checked: float | None = None

    def compose_body(self) -> ComposeResult:
        with Container(id="overview"):
            with Vertical(id="overview-left"):
                yield FactList(id="overview-facts")
                yield Static(Content.styled("worth a look", ".heading"), classes="overview-title")
                yield WorthList(id="worth")
            with Vertical(id="overview-right"):
                yield DayChart(id="overview-days")
                yield PieceFlow(id="overview-statuses")
                yield Static(Content.styled("tables", ".heading"), classes="overview-title")
                yield TableList(self._rows_of, id="overview-tables")

    @property
    def worth(self) -> WorthList:
        return self.query_one("#worth", WorthList)

    @property
    def tables(self) -> TableList:
        return self.query_one("#overview-tables", TableList)

    # -- loading -----------------------------------------------------------------------------------

    def load(self) -> None:
        self.facts_arrived()
        self.loads.start("catalogue", self.db.catalogue)
        self.loads.start("activity", self.db.activity)
        self.loads.start("statuses", self.db.statuses)
        if counts_of(self.db).due():
            self.loads.start_reporting("counts", partial(count_tables, self.db))
        if self._took is None or self._took <= QUICK:
            self.loads.start("asking", self.db.checks(formats.now()).needs_asking)
        self._tell_worth()

    def facts_arrived(self) -> None:
        opened = self.opened
        if opened is not None and self.is_mounted:
            self.query_one("#overview-facts", FactList).show(
                store_facts(opened.facts, opened.read, opened.report)
            )

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if not self.loads.takes(message):
            return
        match message.what:
            case "catalogue":
                self._show_tables(message.value)
            case "activity":
                self.query_one("#overview-days", DayChart).show(message.value)
            case "statuses":
                self._show_statuses(message.value)
            case "asking":
                if message.value:
                    self._tell_worth(self._size_words())
                else:
                    self._check()
            case "checks":
                self._tell_worth()
            case "counts":
                self.tables.counted()

    @on(LoadProgressed)
    def _progressed(self, message: LoadProgressed) -> None:
        if self.loads.takes(message):
            if message.what == "counts":
                self.tables.counted()
            else:
                self._tell_worth()

    @on(LoadFailed)
    def _part_failed(self, message: LoadFailed) -> None:
        """A part that cannot be read is said in its place; the others stay."""
        if message.what in ("activity", "statuses", "counts") and self.loads.takes(message):
            message.prevent_default()
            self.notify(
                safe.text(f"{message.what}: {message.error.message}"), severity="warning", markup=False
            )

    def _show_tables(self, shapes: tuple[TableShape, ...]) -> None:
        self.tables.show(shapes)
        title = self.query(".overview-title").last(Static)
        title.update(Content.assemble(("tables", ".heading"), (f"  {formats.count(len(shapes))}", ".quiet")))

    def _rows_of(self, table: str) -> str:
        return counts_of(self.db).words(table) if self.opened is not None else ""

    def _show_statuses(self, found: tuple[tuple[str | None, int], ...]) -> None:
        pieces = []
        for status, count in found:
            glyph, word, role = status_sign(status)
            text = line((f"{glyph} {safe.clip(safe.text(word), 20)} ", role), (formats.count(count), "plain"))
            query = "none" if status is None else status
            quoted = f'"{query}"' if " " in query else query
            address = Address("runs", f"status:{quoted}")
            pieces.append(Piece(text, f"app.go({str(address)!r})", "show these runs", gap=3))
        self.query_one("#overview-statuses", PieceFlow).show(pieces)

    # -- worth a look ------------------------------------------------------------------------------------

    def action_check(self) -> None:
        if self.loads.running("checks"):
            self.notify("it is being looked through", markup=False)
        elif self.opened is not None:
            self._check()

    def _check(self) -> None:
        checks = self.db.checks(formats.now())
        self._unread.clear()

        async def look(report: Report) -> None:
            began = monotonic()
            for code in checks.codes:
                try:
                    async for result in checks.run(code):
                        self._results[code] = result
                        report(result.progress or Progress(1, 1))
                except StoreError as error:
                    self._unread[code] = error.message
                    report(Progress(1, 1))
            self._took = monotonic() - began
            self._checked = formats.now()

        self.loads.start_reporting("checks", look)
        self._tell_worth()

    def _tell_worth(self, waiting: str = "") -> None:
        opened = self.opened
        if opened is None or not self.is_mounted:
            return
        codes = opened.db.checks().codes
        if not waiting and not self._results and not self.loads.running():
            waiting = "(c looks through the store)"
        self.worth.show(codes, self._results, self._unread, waiting)
        self._tell()

    def _size_words(self) -> str:
        facts = self.opened.facts if self.opened is not None else None
        size = f"{formats.size(facts.size)} to look through, " if facts is not None and facts.size else ""
        return f"({size}c does)"

    @on(WorthList.Opened, "#worth")
    def _open_worth(self) -> None:
        code = self.worth.current
        result = self._results.get(code) if code is not None else None
        if code is None or result is None:
            self.action_check()
        elif not result.count:
            self.notify("there is nothing to show", markup=False)
        else:
            self.go("found", code)

    @on(TallList.Opened, "#overview-tables")
    def _open_table(self) -> None:
        table = self.tables.table
        if table is not None:
            self.go("tables", table.name)

    @on(TallList.Moved)
    def _tell(self) -> None:
        words = ""
        if self.loads.running("checks"):
            words = "looking through the store, esc stops"
        elif self._checked is not None:
            words = f"looked through {formats.relative_time(self._checked)}"
        self.set_status(line((words, "quiet")))

    def close_layer(self) -> bool:
        if self.loads.cancel("checks"):
            self._tell_worth("(stopped, c looks again)")
            return True
        return False

    def on_resize(self, event: events.Resize) -> None:
        self.query_one("#overview-days", DayChart).set_rows(3 if event.size.height >= 32 else 1)

    async def copied(self) -> Copy | None:
        focused = self.focused
        if focused is self.tables and self.tables.table is not None:
            return Copy("the table's name", self.tables.table.name)
        code = self.worth.current
        result = self._results.get(code) if code is not None else None
        return Copy("the finding", result.sentence) if result is not None else None
