"""One finding over the place: both sides, why it matters, what to do, and the page of its code."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content

from inspector import safe
from inspector.clipboard import Copy
from inspector.keys import bind
from inspector.reports.explanations import page
from inspector.screens.admission_findings import finding_lines, object_of
from inspector.screens.layer import Layer, keys_hint
from inspector.typeset.lines import Line, line, prefixed, wrap
from inspector.typeset.lines import Run as TextRun
from inspector.widgets.section_list import Entry, Section, SectionList

if TYPE_CHECKING:
    from inspector.app import InspectorApp
    from persistence.profiles import Finding

__all__ = ["FindingScreen", "Reading"]


class Reading(SectionList):
    """A text that is read from top to bottom; no entry of it is marked."""

    MARKED = False

    def show_finding(self, finding: Finding | None, *, with_page: bool = False) -> None:
        """One finding, whole; None: nothing. `with_page`: and what is said of its code."""
        if finding is None:
            self.show(())
            return

        def build(room: int) -> list[Line]:
            return [*finding_lines(finding, room), *(_page_lines(finding.code, room) if with_page else ())]

        self.show((Section("finding", "", (Entry("finding", build),)),))


def _page_lines(code: str, room: int) -> list[Line]:
    told = page(code)
    out: list[Line] = []
    for heading, said in told.parts() if told is not None else ():
        role = {"what to do": "ok", "what not to do": "refuse"}.get(heading, "strong")
        out += [line((heading, role)), *prefixed(TextRun("  "), wrap([TextRun(said)], room - 2)), ()]
    return out


class FindingScreen(Layer[None]):
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("finding.close", "enter", "close", "close", "Close it", show=False),
        bind("finding.copy", "y", "copy", "copy", "Copy the finding as text"),
    ]
    hint = keys_hint(("esc", "close"), ("y", "copy"), ("↑ ↓", "scroll"))

    def __init__(self, finding: Finding) -> None:
        super().__init__()
        self._finding = finding
        self.heading = Content.styled("a finding", ".heading")

    def compose_layer(self) -> ComposeResult:
        yield Reading(id="finding-text")

    def on_mount(self) -> None:
        reading = self.query_one(Reading)
        reading.show_finding(self._finding, with_page=True)
        reading.focus()

    def action_copy(self) -> None:
        cast("InspectorApp", self.app).clip(Copy("the finding", _plain(self._finding)))


def _plain(finding: Finding) -> str:
    """The finding for a ticket, texts of the store visible."""
    rows = [
        f"{finding.code}: {object_of(finding)}",
        *(f"{label}: {safe.lines(text)}" for label, text in
          (("expected", finding.expected), ("observed", finding.observed)) if text is not None),
        f"why: {finding.why}",
        f"what to do: {finding.remedy}",
    ]  # fmt: skip
    return "\n".join(rows) + "\n"
