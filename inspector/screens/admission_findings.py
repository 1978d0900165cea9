"""What the Admission place says of an answer: the verdict, the findings by table, what holds, one finding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector import formats, safe
from inspector.reports.explanations import title_of
from inspector.typeset.lines import Line, Run, line, prefixed, wrap
from inspector.typeset.sides import sides
from inspector.widgets.section_list import Build, Entry, Section

if TYPE_CHECKING:
    from persistence.profiles import AdmissionReport, Finding
    from persistence.profiles.catalogue import Entry as Document

__all__ = [
    "DocumentOf",
    "FindingOf",
    "answers",
    "documents",
    "finding_lines",
    "first_finding",
    "object_of",
    "verdict",
]

SIGNS = {"refuses": ("✗", "refuse"), "notice": ("▲", "notice")}
STORE = "the store"
"""What findings without a table are about."""
OUTSIDE = "from outside"
"""What holds of everything that touches the tables and is not of them."""
LABEL = 11
NAME = 30


@dataclass(frozen=True, slots=True)
class FindingOf:
    """Leads to all there is of a finding."""

    finding: Finding


@dataclass(frozen=True, slots=True)
class DocumentOf:
    """Leads to choosing a profile."""

    document: Document


def object_of(finding: Finding) -> str:
    """What the finding is about, visible: `sessions.priority`, or the store."""
    parts = [safe.text(part, limit=120) for part in (finding.table, finding.object) if part]
    return ".".join(parts) or STORE


# -- the verdict --------------------------------------------------------------------------------------------


def verdict(report: AdmissionReport) -> Line:
    """In one line: admitted or refused, and the first thing to know."""
    if report.admitted:
        facts = sum(sum(each.values()) for each in report.holds.values())
        said = [
            Run("✓ admitted", "ok"),
            Run(f"  {_tables(report)}, {formats.several(facts, 'fact')} hold", "plain"),
        ]
        notices = len(report.findings)
        if notices:
            said.append(Run(f"  ▲ {formats.several(notices, 'notice')}", "notice"))
        return tuple(said)
    refusing = report.refusing
    if report.passing is not None:
        said = [Run("? not known", "notice"), Run(f"  {safe.text(report.passing.message)}  ", "plain")]
        return (*said, Run("r", "key"), Run(" asks again", "quiet"))
    first = refusing[0]
    said = [Run(f"✗ refused: {formats.several(len(refusing), 'finding')}", "refuse")]
    if notices := len(report.findings) - len(refusing):
        said.append(Run(f"  ▲ {formats.several(notices, 'notice')}", "notice"))
    # It stands there whatever finding the cursor is on.
    said.append(Run("  first " if len(refusing) > 1 else "  ", "quiet"))
    return (*said, Run(f"{object_of(first)}: {title_of(first.code)}", "plain"))


def _tables(report: AdmissionReport) -> str:
    return formats.several(len([table for table in report.holds if table]), "table")


# -- the findings by table ----------------------------------------------------------------------------------


def answers(report: AdmissionReport) -> Iterator[Section]:
    """The findings as a tree: a section a table, the store first; what holds below."""
    for table, found in _grouped(report.findings).items():
        entries = tuple(_finding(number, finding) for number, finding in found)
        refusing = sum(finding.refuses for _, finding in found)
        note = f"{formats.several(refusing, 'finding')} that {'refuses' if refusing == 1 else 'refuse'}"
        title = STORE if table is None else safe.text(table, limit=80)
        yield Section(f"findings {table}", title, entries, note if refusing else "to know")
    if report.notices:
        told = (Entry(f"notice {number}", _told(notice.text)) for number, notice in enumerate(report.notices))
        yield Section("notices", "what to know", tuple(told))
    held = {table: facts for table, facts in report.holds.items() if sum(facts.values())}
    facts = sum(sum(each.values()) for each in held.values())
    if held:
        note = f"{_tables(report)}, {formats.several(facts, 'fact')}"
        yield Section("holds", "✓ holds", tuple(_held(table, each) for table, each in held.items()), note)


def first_finding(report: AdmissionReport) -> str:
    """The key of the entry to look at first."""
    for found in _grouped(report.findings).values():
        for number, _ in found:
            return f"finding {number}"
    return "section holds"


def _grouped(findings: Sequence[Finding]) -> dict[str | None, list[tuple[int, Finding]]]:
    """By table in the order they come, those that are about no table first."""
    out: dict[str | None, list[tuple[int, Finding]]] = {}
    for number, finding in sorted(enumerate(findings), key=lambda pair: pair[1].table is not None):
        out.setdefault(finding.table, []).append((number, finding))
    return out


def _finding(number: int, finding: Finding) -> Entry:
    sign, role = SIGNS[finding.severity]
    name = safe.text(finding.object, limit=120) if finding.object else ""

    def build(room: int) -> list[Line]:
        words = [
            Run(f"{name}  " if name else "", "strong"),
            Run(title_of(finding.code)),
            Run(f"  {finding.code}", "quiet"),
        ]
        return prefixed(
            Run("    "), wrap([run for run in words if run.text], room - 4), first=Run(f"  {sign} ", role)
        )

    return Entry(f"finding {number}", build, FindingOf(finding))


def _told(text: str) -> Build:
    def build(room: int) -> list[Line]:
        rows = wrap([Run(safe.text(text))], room - 4)
        return prefixed(Run("    "), rows, first=Run("  ▲ ", "notice"))

    return build


def _held(table: str, facts: Mapping[str, int]) -> Entry:
    name = safe.text(table, limit=80) or OUTSIDE
    told = [
        (_CONCERNS[concern], number) for concern, number in facts.items() if number and concern in _CONCERNS
    ]
    said = ", ".join(formats.several(number, *words) for words, number in told)

    def build(room: int) -> list[Line]:
        column = min(NAME, max(12, room // 3))
        rows = wrap([Run(said, "quiet")], max(8, room - column - 4))
        return prefixed(Run(" " * (column + 4)), rows, first=Run(f"  {safe.fit(name, column)}  ", "plain"))

    return Entry(f"holds {table}", build)


_CONCERNS = {
    "columns": ("column",),
    "keys": ("key",),
    "uniques": ("unique key",),
    "checks": ("check",),
    "indexes": ("index", "indexes"),
    "links": ("link",),
    "incoming": ("link into them", "links into them"),
    "objects": ("trigger or view", "triggers and views"),
}
"""The concerns that mean something to people: of one, and of several where that is not the word with an s."""


# -- one finding --------------------------------------------------------------------------------------------


def finding_lines(finding: Finding, room: int) -> list[Line]:
    """A finding whole: what, both sides with the difference marked, why it matters, who does what."""
    sign, role = SIGNS[finding.severity]
    out: list[Line] = [
        *wrap(
            [Run(f"{sign} ", role), Run(object_of(finding), "strong"), Run(f"  {finding.code}", "quiet")],
            room,
        ),
        *wrap([Run(title_of(finding.code), "plain")], room),
        (),
    ]
    if finding.expected is not None or finding.observed is not None:
        out += [*sides(finding.expected, finding.observed, room), ()]
    for label, words in (("why", finding.why), ("what to do", finding.remedy)):
        out += _labelled(label, words, room)
    return out


def _labelled(label: str, words: str, room: int) -> list[Line]:
    runs = [Run(safe.text(words))]
    if room < LABEL + 30:
        return [line((label, "quiet")), *prefixed(Run("  "), wrap(runs, room - 2)), ()]
    return [
        *prefixed(Run(" " * LABEL), wrap(runs, room - LABEL), first=Run(f"{label:<{LABEL}}", "quiet")),
        (),
    ]


# -- before a profile is chosen ---------------------------------------------------------------------------


def documents(found: Sequence[Document], application: str | None) -> Iterator[Section]:
    """The profiles that can be chosen, those made for the store's application marked; none is chosen."""
    note = "enter chooses one, p any other; none is ever picked"
    entries = tuple(_document(number, each, application) for number, each in enumerate(found))
    yield Section(
        "profiles", "profiles", entries, note if entries else "there are none; p names one by its path"
    )


def _document(number: int, document: Document, application: str | None) -> Entry:
    return Entry(f"profile {number}", _document_build(document, application), DocumentOf(document))


def _document_build(document: Document, application: str | None) -> Build:
    name = safe.text(document.identity, limit=120)

    def build(room: int) -> list[Line]:
        said = [Run(name, "strong"), Run(f"  {document.origin}", "quiet")]
        if document.why is not None:
            said.append(Run(f"\n✗ cannot be used: {safe.text(document.why, limit=300)}", "refuse"))
        elif document.lineage is not None:
            made = safe.text(document.lineage, limit=80)
            fits = document.lineage == application
            said.append(Run(f"\nmade for {made}", "plain" if fits else "quiet"))
            said.append(
                Run(
                    ", which manages this store" if fits else ", another application",
                    "ok" if fits else "quiet",
                )
            )
        return prefixed(Run("  "), wrap(said, room - 2))

    return build
