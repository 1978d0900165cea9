"""Actions: the gate before every write, what would be written, and how it went (DESIGN 6)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding

from inspector import formats, safe
from inspector.admitting import Choice
from inspector.clipboard import Copy
from inspector.keys import bind
from inspector.messages import ActionMoved
from inspector.passage import Asked, Passage, steps_before
from inspector.screens.actions_base import ActionsBase
from inspector.screens.actions_preview import (
    MOST,
    CallOf,
    ObstacleOf,
    WholePreview,
    call_lines,
    call_text,
    obstacle_lines,
    obstacle_text,
    previewed,
)
from inspector.screens.actions_steps import GateSteps
from inspector.screens.actions_told import ErrorOf, JournalOf, RunOf, asking, ended, offered, shut, under_way
from inspector.screens.admission_choice import pair
from inspector.screens.page import PageScreen
from inspector.screens.place import PlaceHelp
from inspector.screens.whole import WholeScreen
from inspector.typeset.lines import line
from inspector.widgets.pieces import Piece, PieceLine
from inspector.widgets.section_list import Section, SectionList
from inspector.widgets.tall_list import TallList

if TYPE_CHECKING:
    from inspector.actions.gate_steps import Step

__all__ = ["ActionsPlace"]


TYPICAL = 12
"""Lines of a call in a long preview, for its scroll bar: counting them would lay out every one."""


class _Told(SectionList):
    def _whole(self) -> int:
        return self.count * TYPICAL if self.count > 100 else super()._whole()


class ActionsPlace(ActionsBase):
    AUTO_FOCUS = "#actions-list"
    ABOUT = PlaceHelp(
        "The gate before every write. An action goes through only when all six steps hold: started with "
        "--allow-writes, a profile and an owner that somebody chose, the store admitted now, the preview "
        "shown, and the name of the store's lineage typed. Then it is carried out, and the gate is shut "
        "again. Nothing is chosen by itself; what was done and what was refused is in the journal (J).",
        signs=(
            ("✓", "the step holds"),
            ("✗", "it is known not to hold; below stands why, and what would make it hold"),
            ("▸", "it waits for you"),
            ("·", "it cannot be said before those in front of it hold"),
        ),
        words=("profile", "owner", "lineage", "progression"),
    )
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("actions.lineage", "tab", "lineage", "lineage", "Type the name of the lineage, to go through"),
        bind("actions.action", "a", "choose('action')", "action", "Choose what is to be done"),
        bind("actions.source", "s", "choose('source')", "source", "Choose where the run is taken from"),
        bind("actions.profile", "p", "choose('profile')", "profile", "Choose the profile"),
        bind("actions.owner", "w", "choose('owner')", "owner", "Choose whose rows are written"),
        bind(
            "actions.leave_out", "l", "choose('leave_out')", "leave out", "Choose what a copy goes on without"
        ),
        bind("place.refresh", "r", "refresh", "ask anew", "Ask every step of the gate anew"),
        bind("actions.stop", "x", "stop", "stop", "Stop the action; its run is ended as cancelled"),
    ]

    def __init__(self, target: str | None = None) -> None:
        super().__init__(target)
        self._shown: tuple[object, ...] = (
            "nothing",
            None,
            None,
        )  # the action, its gate and its end, shown last

    def compose_body(self) -> ComposeResult:
        yield PieceLine(id="actions-choice")
        yield GateSteps(id="actions-steps")
        yield _Told(id="actions-list")

    def on_mount(self) -> None:
        super().on_mount()
        self.show()

    @property
    def listed(self) -> SectionList:
        return self.query_one("#actions-list", SectionList)

    @property
    def gate_steps(self) -> GateSteps:
        return self.query_one(GateSteps)

    # -- through the gate --------------------------------------------------------------------------------

    def action_lineage(self) -> None:
        self.gate_steps.enter()

    @on(GateSteps.Typed)
    def _typed(self, message: GateSteps.Typed) -> None:
        passage = self.passage
        if passage is not None and passage.brought is not None and passage.passable:
            passage.brought.gate.type_lineage(message.text)
            self._show_steps()

    @on(GateSteps.Entered)
    def _entered(self, message: GateSteps.Entered) -> None:
        passage = self.passage
        if (
            passage is None
            or passage.brought is None
            or not passage.passable
            or self.loads.running("refused")
        ):
            return
        passage.brought.gate.type_lineage(message.text)
        if passage.brought.gate.is_open:
            passage.go(self.inspector.session.action_moved)
            self.listed.focus()
            self.show(anew=True)
        else:
            self.run_worker(self._refused(passage, message.text), group="refused", exclusive=True)

    async def _refused(self, passage: Passage, text: str) -> None:
        await passage.refused(text)
        self.post_message(ActionMoved())

    @on(GateSteps.Left)
    def _left(self) -> None:
        self.listed.focus()

    def action_stop(self) -> None:
        if self.passage is not None and self.passage.stop():
            self.show()

    @on(ActionMoved)
    def _moved(self) -> None:
        self.show()

    # -- what is shown -----------------------------------------------------------------------------------

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """The action may have gone on, or ended, while another place was looked at."""
        super().on_screen_resume(event)
        self.call_after_refresh(self.show)

    def on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self.show)

    def facts_arrived(self) -> None:
        self.show()

    def show(self, *, anew: bool = False) -> None:
        """`anew`: what is read begins at its top again."""
        if not self.is_mounted or not self.query("#actions-list"):
            return
        self._show_choice()
        self._show_steps()
        sections = self._sections()
        self.listed.show(sections)
        at = self.passage
        shown = (None, None, None) if at is None else (at, at.brought, at.outcome)
        if anew or any(now is not before for now, before in zip(shown, self._shown, strict=True)):
            self.listed.go_to(0, top=True)
            self.listed.select(next(entry.key for section in sections for entry in section.entries))
        self._shown = shown
        self._tell()
        self.refresh_shell()

    def _show_steps(self) -> None:
        passage = self.passage
        lineage = None
        if passage is not None and passage.passable and passage.brought is not None:
            lineage = passage.brought.gate.lineage
        held = self.gate_steps.field.has_focus
        at = passage.brought if passage is not None else None
        self.gate_steps.show(self._steps(), lineage, at.refusal if at is not None else None)
        if held and lineage is None:
            self.listed.focus()
        self.refresh_bindings()

    def _steps(self) -> tuple[Step, ...]:
        location, session = self.inspector.location, self.inspector.session
        if self.passage is not None and self.passage.brought is not None:
            steps = self.passage.steps
            if not self.passage.asked.dry:
                return steps
            return (*steps[:-1], replace(steps[-1], held=None, says="not asked in a dry run", refusal=None))
        if location is None:
            return ()
        return steps_before(
            location, self.choice, allowed=self.inspector.writes_armed, policy=session.policy
        )  # fmt: skip

    def _sections(self) -> list[Section]:
        passage = self.passage
        if passage is None:
            return [*offered(), *shut(self._steps()[:1], None)]
        at = passage.brought
        if passage.writing:
            return list(under_way(passage))
        if at is None:
            return list(asking(passage, running=self.loads.running("gate")))
        out: list[Section] = []
        if passage.outcome is not None:
            out += ended(passage.outcome, str(at.gate.journal.path))
        else:
            out += shut(at.steps, at.refusal, at.preview)
        if at.preview is not None and (passage.outcome is None or passage.asked.dry):
            out += previewed(at.preview)
        return out

    def _show_choice(self) -> None:
        self.query_one("#actions-choice", PieceLine).show(_choices(self.passage, self.choice))

    def _tell(self) -> None:
        at = self.passage.brought if self.passage is not None else None
        read = at.gate.report.read if at is not None and at.gate.report is not None else None
        if self.loads.running("gate"):
            words = "asking …"
        elif self.passage is not None and self.passage.writing:
            words = "writing"
        else:
            words = f"{read.route}, {formats.clock(read.at)}" if read is not None else "the gate is shut"
        self.set_status(line((words, "quiet")))

    @on(TallList.Opened)
    def _open(self, message: TallList.Opened) -> None:
        entry = self.listed.current
        match entry.leads if entry is not None else None:
            case Asked() as asked if asked.whole:
                self.begin(asked)
            case Asked() as asked:
                self.choose_source(asked)
            case ErrorOf(error=error):
                self.app.push_screen(PageScreen(error.code, error))
            case RunOf(run=run):
                self.go("run", run)
            case JournalOf(run=run):
                self.go("journal", None if run is None else f'run:"{run}"')
            case CallOf(call=call):
                copy = Copy("the call", call_text(call))
                screen = WholeScreen("one call", lambda room: call_lines(call, room, whole=True), copy)
                self.app.push_screen(screen)
            case ObstacleOf(obstacle=found):
                copy = Copy("what is in the way", obstacle_text(found))
                build = partial(obstacle_lines, found, whole=True)
                self.app.push_screen(WholeScreen("what is in the way", build, copy))
            case WholePreview() if self._tellable:
                self.ask(whole=True)
            case _:
                self.notify("that is all there is of it", markup=False)

    @property
    def _tellable(self) -> bool:
        at = self.passage.brought if self.passage is not None else None
        preview = at.preview if at is not None else None
        passable = self.passage is not None and self.passage.passable
        return passable and preview is not None and (preview.transactions or 0) <= MOST

    def crumbs(self) -> list[tuple[str, str | None]]:
        passage = self.passage
        if passage is None:
            return [("Actions", None)]
        return [
            ("Actions", "actions"),
            (f"{passage.asked.action}{', dry' if passage.asked.dry else ''}", None),
        ]

    def close_layer(self) -> bool:
        if self.gate_steps.field.has_focus:
            self.listed.focus()
            return True
        if self.passage is not None and not self.passage.writing:
            self.begin(None)
            return True
        return False

    async def copied(self) -> Copy | None:
        entry = self.listed.current
        if entry is not None and isinstance(entry.leads, CallOf):
            return Copy("the call", call_text(entry.leads.call))
        at = self.passage.brought if self.passage is not None else None
        if at is None:
            self.notify("there is nothing to copy yet: choose an action", markup=False)
            return None
        from inspector.reports import actions

        rows = list(actions.step_lines(at.steps))
        if at.preview is not None:
            rows += actions.preview_lines(at.preview)
        if self.passage is not None and self.passage.outcome is not None:
            rows += actions.outcome_lines(self.passage.outcome)
        return Copy("the gate as text", "\n".join(rows) + "\n")


def _choices(passage: Passage | None, choice: Choice) -> list[Piece]:
    """What was chosen, each a click away."""
    if passage is None:
        said = line(("? no action is chosen", "notice"), ("  nothing is ever chosen for you", "quiet"))
        return [Piece(said, weight=0)]
    asked, profile = passage.asked, choice.profile
    out = [_chosen("a", "action", f"{asked.action}{', dry' if asked.dry else ''}", "action", 0)]
    source = _source(asked)
    if source:
        out.append(_chosen("s", "from", source, "source", 0))
    identity = safe.clip(safe.text(profile.identity, limit=80), 30) if profile is not None else None
    out.append(_chosen("p", "profile", identity, "profile", 2))
    if profile is not None and profile.owner is not None:
        owner = safe.clip(safe.text(choice.owner, limit=80), 20) if choice.owner is not None else None
        out.append(_chosen("w", "owner", owner, "owner", 3))
    if asked.leave_out:
        out.append(_chosen("l", "without", ", ".join(asked.leave_out), "leave_out", 5))
    return out


def _chosen(key: str, label: str, words: str | None, what: str, weight: int) -> Piece:
    said = pair(key, label, words or "none yet", words is not None)
    return Piece(said, f"screen.choose({what!r})", f"{key} chooses it", weight, gap=3)


def _source(asked: Asked) -> str:
    if asked.file is not None:
        return safe.clip(safe.text(asked.file.rpartition("/")[2], limit=200), 40)
    if asked.source is None:
        return ""
    run = asked.about or formats.short_id(safe.text(asked.run or ""), 13)
    return (
        f"{safe.clip(safe.text(asked.source.name, limit=80), 20)} › {safe.clip(safe.text(run, limit=80), 28)}"
    )
