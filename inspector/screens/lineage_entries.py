"""What the Lineage place says first: each verdict, what to do, and the reads and rules that decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector import safe
from inspector.reports.explanations import page
from inspector.typeset.lines import Line, Run, line_width, prefixed, wrap
from inspector.widgets.section_list import Build, Entry, Section

if TYPE_CHECKING:
    from persistence.errors import StoreError
    from persistence.lineage import LineageReport, ReadStep, RuleStep, Verdict

__all__ = ["PageOf", "PlaceOf", "StepOf", "decided"]

SIGNS = {True: ("✓", "ok"), False: ("✗", "refuse"), None: ("?", "notice")}
MODES = {"read_only": "read-only", "native": "natively", "compatibility": "compatibility"}
WAYS = {
    "stat": "looked at",
    "header": "its first bytes",
    "check": "frame by frame",
    "immutable": "alone",
    "readonly_shm": "through the log's index",
    "shared lock": "by a shared lock",
    "private copy": "recovered on a copy",
    "snapshot": "in one snapshot",
    "connect": "connected to",
}
PARTS = {"": "file", "-journal": "journal", "-wal": "log", "-shm": "index"}
MODE = 14  # cells of a mode's word
TREE = 3  # cells of the lines of the tree
ASKED = 24  # cells a question needs to have its answer beside it
ADVICE = 6


@dataclass(frozen=True, slots=True)
class PageOf:
    """Leads to a code's page, with what was seen here when a refusal brought it up."""

    code: str
    error: StoreError | None = None


@dataclass(frozen=True, slots=True)
class PlaceOf:
    """Leads to another place."""

    place: str


@dataclass(frozen=True, slots=True)
class StepOf:
    """Leads to all there is of a read or a rule."""

    step: ReadStep | RuleStep


def decided(report: LineageReport) -> Iterator[Section]:
    """What each open would do, what to do about it, and how that was decided."""
    verdicts = [_verdict(verdict) for verdict in report.verdicts]
    yield Section("opens", "what each open would do", tuple(verdicts))
    notices = [
        Entry(f"notice {number}", _marked("▲", "notice", [Run(safe.text(notice.text))]), PageOf(notice.code))
        for number, notice in enumerate(report.notices)
    ]
    notices += [
        Entry(f"native notice {number}", _marked("▲", "notice", [Run(safe.text(text))]), PageOf("opening"))
        for number, text in enumerate(report.native.notices)
    ]
    if notices:
        yield Section("notices", "what to know", tuple(notices))
    refusal = report.native.refusal or report.read_only.refusal
    if refusal is not None:
        yield Section("what to do", "what it means, and what to do", tuple(_advice(refusal)))
    yield Section("reads", "how it was decided", tuple(_reads(report)), "each read, in order")
    for mode in ("native", "compatibility"):
        rules = [rule for rule in report.rules if rule.mode == mode]
        if rules:
            verdict = report.native if mode == "native" else report.compatibility
            words = "a native open" if mode == "native" else "a compatibility open"
            yield Section(f"rules {mode}", f"rules of {words}", tuple(_rules(rules, verdict)))


# -- what each open would do --------------------------------------------------------------------------


def _verdict(verdict: Verdict) -> Entry:
    sign, role = SIGNS[verdict.opens]
    refusal = verdict.refusal
    kind = type(refusal).__name__ if refusal is not None else ""
    why = verdict.why if refusal is None else refusal.message

    def build(room: int) -> list[Line]:
        mode = Run(f"{MODES[verdict.mode]:<{MODE}}", "strong")
        head = Run(" " * (MODE + 2))
        said = [Run(f"{kind}\n", role)] if kind else []
        lines = wrap([*said, Run(safe.text(why), "plain")], room - MODE - 2)
        return [(Run(f"{sign} ", role), mode, *lines[0]), *prefixed(head, lines[1:])]

    leads: PageOf | PlaceOf | None = PageOf(refusal.code, refusal) if refusal is not None else None
    if verdict.mode == "compatibility" and verdict.opens is None and refusal is None:
        leads = PlaceOf("admission")
    return Entry(f"verdict {verdict.mode}", build, leads)


def _advice(refusal: StoreError) -> Iterator[Entry]:
    leads = PageOf(refusal.code, refusal)
    told = page(refusal.code)
    parts = [("seen", refusal.observed)]
    if told is not None:
        parts.append(("means", told.means))
    parts.append(("to do", refusal.remedy or (told.do if told is not None else None)))
    for label, text in parts:
        if text:
            yield Entry(f"advice {label}", _labelled(label, [Run(safe.text(text))], ADVICE), leads)


def _labelled(label: str, runs: Sequence[Run], column: int, role: str = "quiet") -> Build:
    def build(room: int) -> list[Line]:
        lines = wrap(runs, max(8, room - column - 2))
        return prefixed(Run(" " * (column + 2)), lines, first=Run(f"  {safe.fit(label, column)}", role))

    return build


def _marked(sign: str, role: str, runs: Sequence[Run]) -> Build:
    def build(room: int) -> list[Line]:
        return prefixed(Run("  "), wrap(runs, room - 2), first=Run(f"{sign} ", role))

    return build


# -- how it was decided -------------------------------------------------------------------------------


def _part(step: ReadStep, name: str) -> str:
    """What was read, as a part of the store: `file`, `log`, `file and journal`."""
    parts = {f"{name}{suffix}": word for suffix, word in PARTS.items()}
    what = step.what
    if what in parts:
        return parts[what]
    return (
        f"file and {what.removeprefix(f'{name} and its ')}" if what.startswith(f"{name} and its ") else what
    )


def _reads(report: LineageReport) -> Iterator[Entry]:
    steps = report.reads
    name = report.files[0].name if report.files else report.location.name
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        part = safe.text(_part(step, name), limit=60)
        question = [Run(part, "strong" if step.decides else "plain")]
        question.append(Run(f"  {WAYS.get(step.way, step.way)}", "quiet"))
        role = "strong" if step.decides else "plain"
        # Device and inode are on the step's own page: they tell a machine more than a person.
        answer = [Run(safe.text(step.answer.partition(", device ")[0]), role)]
        if step.decides:
            answer.append(Run("  ◂ decides", "accent"))
        if step.moved:
            answer.append(Run(f"\n{safe.text(step.moved)}: asked again", "notice"))
        yield Entry(f"read {number}", _branch(question, answer, last), StepOf(step))


def _rules(steps: Sequence[RuleStep], verdict: Verdict) -> Iterator[Entry]:
    for number, step in enumerate(steps):
        last = number == len(steps) - 1
        answer = [Run(safe.text(step.answer), "refuse" if step.refuses else "plain")]
        leads: PageOf | StepOf = StepOf(step)
        if step.refuses and verdict.refusal is not None:
            answer.append(Run(f"  → {type(verdict.refusal).__name__}", "refuse"))
            leads = PageOf(verdict.refusal.code, verdict.refusal)
        elif last and verdict.opens is not False:
            answer.append(Run("  → opens" if verdict.opens else "  → a profile decides", "ok"))
        question = [Run(step.question)]
        yield Entry(f"rule {step.mode} {step.rule}", _branch(question, answer, last), leads)


def _branch(question: Sequence[Run], answer: Sequence[Run], last: bool) -> Build:
    """A branch of the tree: the question and its answer side by side, or one under the other."""

    def build(room: int) -> list[Line]:
        first = Run("└─ " if last else "├─ ", "line")
        more = Run("   " if last else "│  ", "line")
        left = min(52, (room - TREE) * 4 // 9)
        if left >= ASKED:
            asked, told = wrap(question, left - 2), wrap(answer, room - TREE - left)
            height = max(len(asked), len(told))
            asked += [()] * (height - len(asked))
            told += [()] * (height - len(told))
            lines: list[Line] = [
                (*one, Run(" " * (left - line_width(one))), *two)
                for one, two in zip(asked, told, strict=True)
            ]
        else:
            lines = wrap(question, room - TREE)
            lines += prefixed(Run("  "), wrap(answer, room - TREE - 2))
        return prefixed(more, lines, first=first)

    return build
