"""What the Actions place says: what can be done, why the gate is shut, how far an action is, how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector import formats, safe
from inspector.passage import Asked
from inspector.typeset.lines import Line, Run, line, prefixed, wrap
from inspector.widgets.section_list import Build, Entry, Section

if TYPE_CHECKING:
    from inspector.actions.carrying import Outcome
    from inspector.actions.gate_steps import Step
    from inspector.actions.preview import Preview
    from inspector.passage import Passage
    from persistence.errors import StoreError

__all__ = ["ACTIONS", "ErrorOf", "JournalOf", "RunOf", "asking", "ended", "offered", "shut", "under_way"]

LABEL = 11

ACTIONS: tuple[tuple[str, Asked, str, str], ...] = (
    (
        "probe",
        Asked("probe"),
        "the smallest complete run, marked as a probe",
        "Whether this store takes a run today: one session, one branch, one message, and their end. "
        "It stays in the store.",
    ),
    (
        "probe, dry",
        Asked("probe", dry=True),
        "everything up to the writer, which is not opened",
        "The same with nothing written: every step is asked, the preview is made, and that is all.",
    ),
    (
        "copy-run",
        Asked("copy-run"),
        "a run of another store, recorded here as a fresh one",
        "The session, its branches, orders, messages, signals and status changes. Ids are kept; one that is "
        "taken here refuses the copy.",
    ),
    (
        "record",
        Asked("record"),
        "a run told in a file of JSON lines",
        "One object a line: session, branch, message, signal, status, end. The file is checked whole before "
        "anything is written.",
    ),
)
"""(name, what is asked, in a few words, in a few more)."""

HERE = {
    "writes-not-allowed": "Leave, and start again with --allow-writes: store-inspector --allow-writes STORE",
    "no-profile": "p chooses one; none is ever picked for you.",
    "owner-missing": "w chooses one; none is ever picked for you.",
    "lineage-not-typed": "r asks everything anew; then tab, and type the name as it stands in step 6.",
}
"""What makes a step hold, by its refusal's code, in this place's keys."""


@dataclass(frozen=True, slots=True)
class ErrorOf:
    """Leads to the page of a refusal."""

    error: StoreError


@dataclass(frozen=True, slots=True)
class RunOf:
    """Leads to a run of this store."""

    run: str


@dataclass(frozen=True, slots=True)
class JournalOf:
    """Leads to the journal, narrowed to a run (None: all of it)."""

    run: str | None


def offered() -> Iterator[Section]:
    """What can be done here; nothing is chosen by itself."""
    entries = tuple(
        Entry(f"action {name}", _offer(name, words, more), asked) for name, asked, words, more in ACTIONS
    )
    yield Section("actions", "what is to be done", entries, "enter chooses")
    said = _said((Run("Every action and every refusal is in the journal", "plain"), Run("  J", "key")))
    yield Section("journal", "", (Entry("journal", said, JournalOf(None)),))


def _offer(name: str, words: str, more: str) -> Build:
    def build(room: int) -> list[Line]:
        head = line((f"{name:<{LABEL}}", "accent"), (words, "plain"))
        if room < 90:
            return [head]
        return [head, *prefixed(Run(" " * LABEL), wrap([Run(more, "quiet")], room - LABEL)), ()]

    return build


def _said(runs: Sequence[Run]) -> Build:
    return lambda room: list(wrap(runs, room))


# -- why it is shut ----------------------------------------------------------------------------------------


def asking(passage: Passage, *, running: bool) -> Iterator[Section]:
    """Nothing is known yet; of a long run, how far it is read. Not `running`: it could not be asked."""
    told = passage.told
    if not running:
        said = (Run("the gate could not be asked; ", "quiet"), Run("r", "key"), Run(" tries again", "quiet"))
        yield Section("asking", "", (Entry("asking", _said(said)),))
        return
    words = (
        "the run is read, and the gate asked" if passage.asked.action == "copy-run" else "the gate is asked"
    )
    if told is not None:
        of = "" if told.total is None else f" of {formats.count(told.total)}"
        words = f"{safe.text(told.what, limit=80)}: {formats.count(told.done)}{of}"
    yield Section("asking", "", (Entry("asking", _said((Run(f"{words} …", "quiet"),))),))


def shut(
    steps: Sequence[Step], refusal: StoreError | None, preview: Preview | None = None
) -> Iterator[Section]:
    """Each step that is known not to hold: why, and what would make it hold."""
    here = dict(HERE)
    for obstacle in preview.stops if preview is not None else ():
        if obstacle.leave_out is not None:
            here[obstacle.code] = f"l chooses what the copy goes on without; this is {obstacle.leave_out}."
    found = [step for step in steps if step.refusal is not None and step.name != "lineage"]
    if refusal is not None and all(step.refusal is not refusal for step in found):
        named = next((step for step in steps if step.refusal is not None), None)
        yield Section(
            "refused",
            "what was refused",
            (Entry("refused", _error(None, refusal, here), ErrorOf(refusal)),),
            "nothing was written; r asks everything anew" if named is not None else "",
        )
    if found:
        entries = tuple(
            Entry(f"step {step.number}", _error(step, step.refusal, here), ErrorOf(step.refusal))
            for step in found
            if step.refusal is not None
        )
        note = "nothing was written" if refusal is not None else "enter says more"
        yield Section("shut", "what keeps the gate shut", entries, note)


def _error(step: Step | None, error: StoreError, here: Mapping[str, str]) -> Build:
    def build(room: int) -> list[Line]:
        number = f"{step.number} " if step is not None else ""
        mark = Run(f"{number}✗ ", "refuse")
        indent = Run(" " * len(mark.text))
        out = prefixed(
            indent, wrap([Run(safe.text(error.message), "plain")], room - len(mark.text)), first=mark
        )
        out += _facts(error, room, here=here.get(error.code))
        return [*out, ()]

    return build


def _facts(error: StoreError, room: int, *, here: str | None = None) -> list[Line]:
    facts = [
        ("where", error.where, "quiet"),
        ("expected", error.expected, "quiet"),
        ("observed", error.observed, "quiet"),
        ("what to do", here or error.remedy, "ok"),
    ]
    out: list[Line] = []
    for label, words, role in facts:
        if words:
            out += _fact(label, safe.text(words), role, room)
    return out


def _fact(label: str, words: str, role: str, room: int, words_role: str = "plain") -> list[Line]:
    head = Run(f"  {label:<{LABEL}} ", role)
    rows = wrap([Run(words, words_role)], max(20, room - len(head.text)))
    return prefixed(Run(" " * len(head.text)), rows, first=head)


# -- how far it is, and how it ended -----------------------------------------------------------------------


def under_way(passage: Passage) -> Iterator[Section]:
    """An action that is being carried out."""
    told, seconds = passage.told, passage.seconds

    def build(room: int) -> list[Line]:
        done, total = (told.done, told.total) if told is not None else (0, None)
        of = "" if total is None else f" of {formats.count(total)}"
        words = "being stopped: the run is ended as cancelled" if passage.stopping else "x stops it"
        out: list[Line] = [
            line(
                (f"{formats.count(done)}{of} transactions committed", "strong"),
                (f"   {formats.duration(seconds)}   {words}", "quiet"),
            )
        ]
        if total:
            width = max(10, min(60, room))
            full = round(width * min(done, total) / total)
            out.append(line(("█" * full, "writes"), ("░" * (width - full), "line")))
        out.append(
            line((safe.text(told.what, limit=80) if told is not None else "the writer is opened", "quiet"))
        )
        return out

    yield Section("writing", "writing", (Entry("writing", build),), safe.text(passage.target.display))


def ended(outcome: Outcome, journal: str) -> Iterator[Section]:
    """How an action ended: what is in the store, what stopped it, and where the journal has it."""
    yield Section("ended", "", (Entry("ended", _verdict(outcome)),))
    if outcome.committed:
        phases = (Entry("phases", _phases(outcome)),)
        yield Section(
            "committed", "committed, by phase", phases, formats.several(outcome.transactions, "transaction")
        )
    error = _stopped_by(outcome)
    if error is not None:
        entry = Entry("stopped", _error(None, error, {}), ErrorOf(error))
        yield Section("stopped", "what stopped it", (entry,))
    leads = []
    if outcome.run is not None and any(phase.name == "session" for phase in outcome.committed):
        words = line(
            ("the run  ", "quiet"), (safe.text(outcome.run, limit=80), "code"), ("  enter opens it", "quiet")
        )
        leads.append(Entry("run", _said(words), RunOf(outcome.run)))
    told = line(
        ("the journal has it  ", "quiet"), (safe.text(journal), "code"), ("  enter or J shows it", "quiet")
    )
    leads.append(Entry("journal", _said(told), JournalOf(outcome.run)))
    again = line(("the gate is shut: ", "quiet"), ("r", "key"), (" asks everything anew, ", "quiet"),
                 ("a", "key"), (" chooses another action", "quiet"))  # fmt: skip
    leads.append(Entry("again", _said(again)))
    yield Section("leads", "where it is", tuple(leads))


def _stopped_by(outcome: Outcome) -> StoreError | None:
    from persistence.errors import StoreError

    error = outcome.error
    if error is None or isinstance(error, StoreError):
        return error
    if outcome.event == "interrupted":
        return None  # the first line says so
    return StoreError(str(error) or type(error).__name__, code="our-fault")


def _verdict(outcome: Outcome) -> Build:
    sign, role, words = _words(outcome)

    def build(room: int) -> list[Line]:
        out = [line((f"{sign} ", role), (words, role))]
        if outcome.at:
            said = f"stopped at {safe.text(outcome.at)}"
            out += prefixed(Run("  "), wrap([Run(said, "plain")], room - 2))
        if outcome.stands:
            out += prefixed(Run("  "), wrap([Run(safe.text(outcome.stands), "plain")], room - 2))
        return out

    return build


def _words(outcome: Outcome) -> tuple[str, str, str]:
    took = formats.duration(outcome.seconds)
    count = formats.several(outcome.transactions, "transaction")
    match outcome.event:
        case "tried":
            return "✓", "ok", "a dry run: it would be let in. The writer was not opened, nothing was written"
        case "done":
            return "✓", "ok", f"done: {count} in {took}"
        case "interrupted" if outcome.committed:
            return "○", "notice", f"stopped: {count} are in the store, and stay there"
        case "interrupted":
            return "○", "notice", "stopped: nothing was written"
        case event if outcome.committed:
            how = "refused" if event == "refused" else "stopped"
            return "✗", "refuse", f"{how} half-way: {count} are in the store, and stay there"
        case "failed":
            return "✗", "refuse", "stopped by a fault of the program: nothing was written"
        case _:
            return "✗", "refuse", "refused: nothing was written"


def _phases(outcome: Outcome) -> Build:
    told = [(formats.count(phase.count), safe.text(phase.name, limit=80)) for phase in outcome.committed]

    def build(room: int) -> list[Line]:
        if room >= 90:
            return [line((f"{count:>9} ", "strong"), (name, "plain")) for count, name in told]
        runs = [
            run for count, name in told for run in (Run(f"{count} ", "strong"), Run(f"{name}   ", "plain"))
        ]
        return prefixed(Run("  "), wrap(runs, room - 2))

    return build
