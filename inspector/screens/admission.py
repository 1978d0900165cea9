"""Admission: would this profile let the store in, and if not, exactly why (ADR-0128 D2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from inspector import formats, safe
from inspector.admitting import Choice, admitted, found_profiles, read_profile
from inspector.clipboard import Copy
from inspector.exporting import Exportable
from inspector.keys import bind
from inspector.messages import Loaded, LoadFailed, LoadProgressed
from inspector.navigation import Address
from inspector.screens.admission_choice import Chosen, OperationsChooser, OwnerChooser, ProfileChooser, pair
from inspector.screens.admission_finding import FindingScreen, Reading
from inspector.screens.admission_findings import (
    DocumentOf,
    FindingOf,
    answers,
    documents,
    first_finding,
    verdict,
)
from inspector.screens.admission_links import links, promises
from inspector.screens.place import Place, PlaceHelp
from inspector.screens.run_head import ViewTabs
from inspector.typeset.lines import Line, line
from inspector.widgets.ceiling import Ceiling, cells_of
from inspector.widgets.pieces import Piece, PieceLine
from inspector.widgets.section_list import SectionList
from inspector.widgets.tall_list import TallList

if TYPE_CHECKING:
    from inspector.loader import Report
    from persistence.location import StoreLocation
    from persistence.profiles import AdmissionReport, Finding, Profile
    from persistence.profiles.catalogue import Entry as Document
    from persistence.records import Progress

__all__ = ["VIEWS", "AdmissionPlace"]

WIDE = 100
"""Columns from which the finding under the cursor stands beside the list."""
VIEWS = (("findings", "findings"), ("writes", "write ceiling"), ("links", "links"), ("promises", "profile"))
"""(name in an address, title), in the order of the tabs."""
ASKED_FOR = {
    "owner-missing": ("w", "owner"),
    "owner-unknown": ("w", "owner"),
    "operation-unlisted": ("a", "operations"),
}
"""Findings about what was asked rather than about the store: the key that asks otherwise."""


class _Answer(NamedTuple):
    """What was asked, as it was read anew, and what the answer is."""

    location: StoreLocation
    choice: Choice
    report: AdmissionReport


class AdmissionPlace(Place):
    NAME = "admission"
    AUTO_FOCUS = "#admission-findings"
    ABOUT = PlaceHelp(
        "Whether a compatibility profile would let this store in, as it is now; asking changes nothing. p "
        "chooses the profile, w who owns the rows, a what is asked for: nothing is ever chosen by itself. "
        "Tab goes through the findings, what may be written, how the tables hang together and what the "
        "profile promises. y copies the report for a ticket, e writes it to a file.",
        signs=(
            ("✗", "refuses: nothing can be written until it is put right"),
            ("▲", "a notice: it differs, and that changes nothing"),
            ("✓", "holds: the store is as the profile says"),
            ("i u o ·", "written when a row is made, changed later, always the owner, left out"),
            ("─▸ ◂─", "rows of this table point there; rows of that table point here"),
        ),
        words=("profile", "closure", "owner", "lineage", "link"),
    )
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("admission.profile", "p", "choose('profile')", "profile", "Choose the profile"),
        bind("admission.owner", "w", "choose('owner')", "owner", "Choose whose rows would be written"),
        bind(
            "admission.operations",
            "a",
            "choose('operations')",
            "asked",
            "Choose the operations that are asked for",
        ),
        bind("admission.next", "tab", "next_view(1)", "next view", "The next view of the answer"),
        bind(
            "admission.previous", "shift+tab", "next_view(-1)", "view before", "The view before", show=False
        ),
    ]

    def __init__(self, target: str | None = None) -> None:
        super().__init__(target)
        self.report: AdmissionReport | None = None
        self.view = VIEWS[0][0]
        self._documents: tuple[Document, ...] | None = None
        self._finding: Finding | None = None  # the one beside the list

    def compose_body(self) -> ComposeResult:
        yield PieceLine(id="admission-choice")
        yield PieceLine(id="admission-verdict")
        yield ViewTabs(id="admission-tabs")
        with Container(id="admission-view"):
            with Container(id="view-findings"):
                yield SectionList(id="admission-findings")
                yield Reading(id="admission-finding")
            with Container(id="view-writes"):
                yield Ceiling(id="admission-writes")
                yield Static(id="admission-cell")
                yield Static(_legend(), id="admission-legend")
            yield SectionList(id="admission-links")
            yield SectionList(id="admission-promises")

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#admission-finding", Reading).can_focus = False
        self._show()

    @property
    def findings(self) -> SectionList:
        return self.query_one("#admission-findings", SectionList)

    @property
    def ceiling(self) -> Ceiling:
        return self.query_one("#admission-writes", Ceiling)

    @property
    def choice(self) -> Choice:
        """What is asked about; kept as long as the store is open."""
        return self.inspector.session.choice

    def address(self) -> Address:
        return Address(self.NAME, None, self.view)

    # -- loading -----------------------------------------------------------------------------------

    @property
    def _needs_store(self) -> bool:
        return self.inspector.refusal is None  # why it is not let in can be said of any

    def action_refresh(self) -> None:
        if self.inspector.opened is None:
            self.reload()
        else:
            super().action_refresh()

    def load(self) -> None:
        self.loads.start("profiles", found_profiles)
        config = self.inspector.config
        if self.choice.profile is not None:
            self._ask(self.choice)
        elif config.profile is not None:  # chosen as well: by the configuration, its variable or a flag
            self._ask(Choice(owner=config.owner), config.profile)

    def _ask(self, choice: Choice, name: str | None = None) -> None:
        """Asks anew. `name` is another profile's, else the document of the chosen one is read again."""
        location = self.inspector.location
        if location is None:
            return
        before = choice.profile

        async def work(report: Report) -> _Answer:
            profile = await read_profile(name or (before.source if before is not None else ""))
            asked = choice.under(profile) if name is not None else _with(choice, profile)
            return _Answer(location, asked, await admitted(location, asked, report))

        self.loads.start_reporting("admission", work)
        self._tell()

    @on(LoadProgressed)
    def _progressed(self, message: LoadProgressed) -> None:
        if self.loads.takes(message):
            self.set_status(_share(message.progress))

    @on(Loaded)
    def _loaded(self, message: Loaded) -> None:
        if not self.loads.takes(message):
            return
        if message.what == "profiles":
            first, self._documents = self._documents is None, message.value
            self._show()
            if first and self.choice.profile is None:
                self.findings.select("profile 0")
        else:
            answer: _Answer = message.value
            if answer.location != self.inspector.location:
                return  # another store was opened meanwhile
            before, self.report = self.report, answer.report
            self.inspector.session.choice = answer.choice
            self._finding = None
            self._show()
            if before is None or before.profile != answer.report.profile:
                self.findings.select(first_finding(answer.report))
        self._show()

    @on(LoadFailed)
    def _not_asked(self, message: LoadFailed) -> None:
        self.call_after_refresh(self._tell)

    # -- choosing ------------------------------------------------------------------------------------

    def action_choose(self, what: str) -> None:
        choice = self.choice
        if what == "profile":
            self.app.push_screen(ProfileChooser(self._application), self._profile_chosen)
        elif choice.profile is None:
            self.notify("choose a profile first", markup=False)
        elif what == "operations":
            self.app.push_screen(OperationsChooser(choice), self._operations_chosen)
        elif choice.profile.owner is None:
            self.notify("rows have no owner under this profile", markup=False)
        else:
            opened = self.inspector.opened
            self.app.push_screen(
                OwnerChooser(opened.db if opened is not None else None, choice), self._owner_chosen
            )

    def _profile_chosen(self, chosen: Chosen | None) -> None:
        if chosen is not None and chosen.profile is not None:
            self._ask(self.choice, chosen.profile)

    def _owner_chosen(self, chosen: Chosen | None) -> None:
        if chosen is not None:
            self._ask(self.choice.owned_by(chosen.owner))

    def _operations_chosen(self, chosen: Chosen | None) -> None:
        if chosen is not None:
            self._ask(self.choice.asking(chosen.operations))

    @property
    def _application(self) -> str | None:
        opened = self.inspector.opened
        return opened.application if opened is not None else None

    # -- what is shown -------------------------------------------------------------------------------

    def facts_arrived(self) -> None:
        if self.report is None:
            self._show()

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        if not self.is_mounted or not self.query("#admission-choice"):
            return
        choice, report = self.choice, self.report
        profile = choice.profile
        self.query_one("#admission-choice", PieceLine).show(_choices(choice))
        if profile is None or report is None:
            self.findings.show(tuple(documents(self._documents or (), self._application)))
        else:
            self.findings.show(tuple(answers(report)))
        self._show_profile(profile, report)
        for name, _ in VIEWS:
            self._body(name).display = name == self.view
        self._tell()

    def _show_profile(self, profile: Profile | None, report: AdmissionReport | None) -> None:
        from persistence.profiles.needs import INVARIANTS

        findings = report.findings if report is not None else ()
        self.ceiling.show(cells_of(profile, findings) if profile is not None else ())
        diagram = links(profile, report) if profile is not None else ()
        self.query_one("#admission-links", SectionList).show(tuple(diagram))
        kept = promises(profile, self.choice.asked, INVARIANTS) if profile is not None else ()
        self.query_one("#admission-promises", SectionList).show(tuple(kept))

    def _body(self, view: str) -> Container | SectionList:
        name = {"links": "#admission-links", "promises": "#admission-promises"}.get(view, f"#view-{view}")
        found = self.query_one(name)
        assert isinstance(found, Container | SectionList)
        return found

    def _tell(self) -> None:
        """The lines above and below: the verdict, the tabs, how it was read, and what the cursor is on."""
        if not self.is_mounted:
            return
        report = self.report
        asking = self.loads.running("admission")
        self.query_one("#admission-verdict", PieceLine).show([_answer(report, asking)])
        counts: dict[str, int | None] = {"findings": len(report.findings) if report is not None else None}
        tabs = [(name, title, counts.get(name)) for name, title in VIEWS]
        self.query_one("#admission-tabs", ViewTabs).show_views(tabs, self.view)
        self._follow_cursor()
        words = "asking …" if asking else _how(report) if report is not None else "nothing is chosen"
        self.set_status(line((words, "quiet")))
        self.refresh_bindings()

    @on(SectionList.Moved)
    def _follow_cursor(self) -> None:
        entry = self.findings.current
        leads = entry.leads if entry is not None else None
        if isinstance(leads, FindingOf):
            self._finding = leads.finding  # and stays while the cursor passes a heading
        beside = self.query_one("#admission-finding", Reading)
        beside.display = self.size.width >= WIDE and self.report is not None and bool(self.report.findings)
        beside.show_finding(self._finding)
        self.query_one("#admission-cell", Static).update(_cell_words(self.ceiling))

    @on(TallList.Opened)
    def _open(self, message: TallList.Opened) -> None:
        entry = message.list.current if isinstance(message.list, SectionList) else None
        match entry.leads if entry is not None else None:
            case FindingOf(finding=finding):
                self.app.push_screen(FindingScreen(finding))
            case DocumentOf(document=document) if document.why is None:
                self._ask(self.choice, str(document.path))
            case _:
                self.notify("that is all there is of it", markup=False)

    # -- views ----------------------------------------------------------------------------------------

    def show_view(self, view: str | None) -> None:
        wanted = view or VIEWS[0][0]
        if any(wanted == name for name, _ in VIEWS):
            self.view = wanted
            if self.is_mounted:
                self._show()
                self.call_after_refresh(self._focus_view)

    def _focus_view(self) -> None:
        body = self._body(self.view)
        target = body if isinstance(body, SectionList) else body.query(TallList).first()
        target.focus()

    def action_view(self, view: str) -> None:
        self.show_view(view)
        self.inspector.places.history.replace(self.address())

    def action_next_view(self, step: int) -> None:
        names = [name for name, _ in VIEWS]
        self.action_view(names[(names.index(self.view) + step) % len(names)])

    def close_layer(self) -> bool:
        if self.view != VIEWS[0][0]:
            self.action_view(VIEWS[0][0])
            return True
        if self.inspector.opened is None and self.inspector.refusal is not None:
            self.go("refused")
            return True
        return False

    # -- taking away -----------------------------------------------------------------------------------

    async def copied(self) -> Copy | None:
        report = self.report
        if report is None:
            self.notify("there is no answer yet: p chooses a profile", markup=False)
            return None
        from inspector.reports import admission

        return Copy("the report as Markdown", await asyncio.to_thread(admission.markdown, report), ".md")

    def exported(self) -> Exportable | None:
        location = self.inspector.location
        name = f"{location.name if location is not None else 'store'}-admission"
        return None if self.report is None else _exportable(self.report, name)


def _exportable(report: AdmissionReport, name: str) -> Exportable:
    from inspector.reports import admission

    def form(written: Callable[[AdmissionReport], str]) -> Callable[[], AsyncIterator[str]]:
        async def pieces() -> AsyncIterator[str]:
            yield await asyncio.to_thread(written, report)

        return pieces

    texts = {"markdown": form(admission.markdown), "json": form(_json), "html": form(admission.html)}
    return Exportable("the admission report", name, texts=texts)


def _json(report: AdmissionReport) -> str:
    from inspector.reports.admission import document

    return f"{document(report)}\n"


def _with(choice: Choice, profile: Profile) -> Choice:
    """The same choice, under the document as it is now."""
    return Choice(profile, choice.owner if profile.owner is not None else None, choice.operations)


def _answer(report: AdmissionReport | None, asking: bool) -> Piece:
    """The verdict in one line; before there is one, what to do for it."""
    if report is not None:
        key, what = ASKED_FOR.get(report.refusing[0].code, ("", "")) if report.refusing else ("", "")
        if not key:
            return Piece(verdict(report), weight=0)
        said = (*verdict(report), *line((f"  {key}", "key"), (" chooses", "quiet")))
        return Piece(said, f"screen.choose('{what}')", weight=0)
    if asking:
        return Piece(line(("asking …", "quiet")), weight=0)
    said = line(
        ("? no profile is chosen", "notice"), ("  p chooses one; none is ever picked for you", "quiet")
    )
    return Piece(said, "screen.choose('profile')", weight=0)


def _choices(choice: Choice) -> list[Piece]:
    """The three things that are chosen, each a click away."""
    profile = choice.profile
    identity = safe.text(profile.identity, limit=80) if profile is not None else "none"
    said = [
        Piece(
            pair("p", "profile", identity, profile is not None),
            "screen.choose('profile')",
            "p chooses it",
            0,
        )
    ]
    if profile is None:
        return said
    if profile.owner is None:
        said.append(Piece(line(("rows have no owner", "quiet")), weight=2, gap=3))
    else:
        owner = safe.clip(safe.text(choice.owner, limit=80), 30) if choice.owner is not None else "nobody yet"
        said.append(
            Piece(
                pair("w", "owner", owner, choice.owner is not None),
                "screen.choose('owner')",
                "w chooses it",
                0,
                gap=3,
            )
        )
    number = len(choice.asked)
    words = f"all {number}" if choice.operations is None else f"{number} of {len(profile.operations)}"
    said.append(
        Piece(pair("a", "operations", words, True), "screen.choose('operations')", "a chooses them", 3, gap=3)
    )
    return said


def _share(done: Progress) -> Line:
    share = f", {formats.percent(done.done, done.total)}" if done.total else ""
    return line((f"asking{share}", "quiet"))


def _how(report: AdmissionReport) -> str:
    read = report.read
    if read is None:
        return "not read"
    return f"{read.route}, {formats.clock(read.at)}"


def _legend() -> Content:
    signs = (("i", "when made"), ("u", "changed later"), ("o", "always the owner"), ("·", "left out"))
    parts = (part for sign, words in signs for part in ((sign, ".strong"), (f" {words}   ", ".quiet")))
    return Content.assemble(*parts)


def _cell_words(ceiling: Ceiling) -> Content:
    cell = ceiling.cell
    if cell is None:
        return Content("")
    name = safe.content(f"{cell.table}.{cell.column}", ".strong")
    first = Content.assemble(name, "  ", safe.content(cell.shape, ".code"), "\n")
    if cell.drift is not None:
        return Content.assemble(first, (f"✗ {cell.drift}: see the findings", ".refuse"))
    why = safe.content(f": {cell.why}", ".plain") if cell.why else Content("")
    return Content.assemble(first, (cell.marks.strip(), ".accent"), f" {cell.says()}", why)
