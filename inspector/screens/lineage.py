"""Lineage: whose store this is, what each open would do with it, and how that is known (ADR-0128 D7)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from inspector import formats, safe
from inspector.clipboard import Copy
from inspector.examined import examined
from inspector.exporting import Exportable
from inspector.keys import bind
from inspector.messages import Loaded, LoadProgressed
from inspector.screens.lineage_around import around
from inspector.screens.lineage_entries import PageOf, PlaceOf, StepOf, decided
from inspector.screens.page import PageScreen, StepScreen
from inspector.screens.place import Place, PlaceHelp
from inspector.typeset.lines import line
from inspector.widgets.section_list import SectionList
from inspector.widgets.tall_list import TallList

if TYPE_CHECKING:
    from persistence.lineage import LineageReport

__all__ = ["LineagePlace"]

WIDE = 100
"""Columns from which what lies around the store stands beside the rest."""


class LineagePlace(Place):
    NAME = "lineage"
    AUTO_FOCUS = "#decided"
    ABOUT = PlaceHelp(
        "Whose store this is, what a read-only, a native and a compatibility open would do with it, and "
        "every read and rule by which that was decided; none of them writes. Enter on a refusal opens its "
        "page, on a read or a rule all there is of it. y copies the whole report for a ticket, e writes it "
        "to a file. It works for a store that does not open as well.",
        signs=(
            ("✓", "opens"),
            ("✗", "refuses"),
            ("?", "a profile's admission decides"),
            ("▲", "to know"),
            ("◂", "the read whose rows the rules were asked about"),
        ),
        words=("lineage", "live log", "settled", "copy", "kernel-held", "change token"),
    )
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("lineage.next", "tab", "app.focus_next", "next list", "To the other list", show=False),
        bind("lineage.native", "n", "refusal", "why", "The page of the native open's refusal", show=False),
    ]

    def __init__(self, target: str | None = None) -> None:
        super().__init__(target)
        self.report: LineageReport | None = None

    def compose_body(self) -> ComposeResult:
        with Container(id="lineage"):
            yield Static(Content.styled("asking whose it is …", ".quiet"), id="lineage-head")
            with Container(id="lineage-lists"):
                yield SectionList(id="decided")
                yield SectionList(id="around")

    @property
    def decided(self) -> SectionList:
        return self.query_one("#decided", SectionList)

    @property
    def around(self) -> SectionList:
        return self.query_one("#around", SectionList)

    # -- loading -----------------------------------------------------------------------------------

    @property
    def _needs_store(self) -> bool:
        return self.inspector.refusal is None  # one that does not open is examined all the same

    def action_refresh(self) -> None:
        if self.inspector.opened is None:
            self.reload()
        else:
            super().action_refresh()

    def load(self) -> None:
        location = self.inspector.location
        if location is None:
            return
        self.loads.start_reporting("lineage", lambda report: examined(location, report))

    @on(LoadProgressed)
    def _progressed(self, message: LoadProgressed) -> None:
        if self.loads.takes(message):
            done = message.progress
            share = f", {formats.percent(done.done, done.total)}" if done.total else ""
            self.set_status(line((f"examining{share}", "quiet")))

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if not self.loads.takes(message):
            return
        first = self.report is None
        report: LineageReport = message.value
        self.report = report
        self.inspector.session.examined_now(report)
        self._show()
        self.set_status(line((f"examined {formats.clock(report.at)}", "quiet")))
        if first:
            self.decided.select("verdict native")

    # -- what is shown -------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        report = self.report
        if report is None or not self.is_mounted:
            return
        self._head(_headline(report))
        beside = self.size.width >= WIDE
        had = self.around.has_focus
        self.around.display = beside
        if had and not beside:
            self.decided.focus()
        left, right = tuple(decided(report)), tuple(around(report))
        self.decided.show(left if beside else (*left, *right))
        self.around.show(right)

    def _head(self, words: Content) -> None:
        self.query_one("#lineage-head", Static).update(words)

    @on(TallList.Opened)
    def _open(self, message: TallList.Opened) -> None:
        entry = message.list.current if isinstance(message.list, SectionList) else None
        match entry.leads if entry is not None else None:
            case PageOf(code=code, error=error):
                self.app.push_screen(PageScreen(code, error))
            case StepOf(step=step):
                self.app.push_screen(StepScreen(step))
            case PlaceOf(place=place):
                self.go(place)
            case _:
                self.notify("that is all there is of it", markup=False)

    def action_refusal(self) -> None:
        refusal = self.report.native.refusal if self.report is not None else None
        if refusal is None:
            self.notify("a native open would not be refused", markup=False)
        else:
            self.app.push_screen(PageScreen(refusal.code, refusal))

    def close_layer(self) -> bool:
        if self.inspector.opened is None and self.inspector.refusal is not None:
            self.go("refused")
            return True
        return False

    # -- taking away -----------------------------------------------------------------------------------

    async def copied(self) -> Copy | None:
        report = self.report
        if report is None:
            return None
        from inspector.reports.lineage import markdown

        return Copy("the report as Markdown", await asyncio.to_thread(markdown, report), ".md")

    def exported(self) -> Exportable | None:
        report = self.report
        if report is None:
            return None

        async def as_json() -> AsyncIterator[str]:
            from inspector.reports.doctor import document, facts_of

            yield f"{document(report, facts_of(report))}\n"

        async def as_markdown() -> AsyncIterator[str]:
            from inspector.reports.lineage import markdown

            yield markdown(report)

        name = f"{report.location.name}-lineage"
        return Exportable("the lineage report", name, texts={"markdown": as_markdown, "json": as_json})


def _headline(report: LineageReport) -> Content:
    """The one sentence that matters: what a native open would do, and whose the store is."""
    native, read_only = report.native, report.read_only
    if read_only.refusal is not None and not read_only.opens:
        return _said("✗ ", ".refuse", "It does not open: ", read_only.refusal.message)
    whose = _whose(report)
    if native.refusal is not None:
        return _said("✗ ", ".refuse", f"A native open would refuse: {type(native.refusal).__name__}. ", whose)
    if native.opens:
        return _said("✓ ", ".ok", "A native open would go on. ", whose)
    return _said("? ", ".notice", "What a native open would do is not known. ", native.why)


def _whose(report: LineageReport) -> str:
    application, version = report.application, report.version
    said = f"{application} manages it" if isinstance(application, str) else "No lineage is recorded"
    if application is not None and not isinstance(application, str):
        said = f"Its lineage is {application!r}"
    return f"{said}, version {version}." if version is not None else f"{said}."


def _said(sign: str, role: str, strong: str, rest: str) -> Content:
    return Content.assemble((sign, role), (strong, ".strong"), safe.content(rest, ".plain"))
