"""How the tables of a closure hang together, and what a profile promises: as sections to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from inspector import formats, safe
from inspector.typeset.lines import Line, Run, prefixed, wrap
from inspector.widgets.section_list import Build, Entry, Section
from persistence.profiles.records import folded

if TYPE_CHECKING:
    from persistence.profiles import AdmissionReport, Finding, Profile
    from persistence.profiles.records import ClosureTable, LinkShape

__all__ = ["links", "promises"]

LABEL = 12
TARGET = 20
_GONE = {
    "CASCADE": "goes with it",
    "SET NULL": "is emptied when it goes",
    "SET DEFAULT": "falls back to its default when it goes",
    "RESTRICT": "keeps it from going",
}
"""What happens to a row when the one it points at goes, said of the row."""


def _shown(name: str) -> str:
    return safe.text(name, limit=80)


# -- links ------------------------------------------------------------------------------------------------


class _Arm(NamedTuple):
    """A line of the diagram: rows here point at `other`, or rows of it point here."""

    other: str
    out: bool
    outside: bool
    becomes: str | None
    deferred: bool


def links(profile: Profile, report: AdmissionReport | None) -> Iterator[Section]:
    """A small diagram a table: what its rows point at, and what points at them."""
    drifted = _drifted(report.findings if report is not None else ())
    signs = [Run("─▸ ", "accent"), Run("its rows point there   ", "quiet")]
    signs += [Run("◂─ ", "live"), Run("rows of that table point here", "quiet")]
    yield Section("signs", "", (Entry("signs", _said("", signs)),))
    for table in profile.closure.tables.values():
        arms: dict[_Arm, list[str]] = {}
        for arm, link in _arms(profile, table):
            arms.setdefault(arm, []).append(" + ".join(_shown(name) for name in link.columns))
        entries = tuple(
            _drawn(f"{table.name} {number}", arm, columns, last=number == len(arms) - 1)
            for number, (arm, columns) in enumerate(arms.items())
        )
        found = drifted.get(folded(table.name))
        note = f"✗ {formats.several(found, 'finding')} about its links" if found else ""
        if not entries:
            entries = (Entry(f"{table.name} none", _said("  ", [Run("stands for itself", "quiet")])),)
        yield Section(f"links {table.name}", _shown(table.name), entries, note)


def _arms(profile: Profile, table: ClosureTable) -> Iterator[tuple[_Arm, LinkShape]]:
    closure, name = profile.closure, folded(table.name)
    for link in table.links:
        yield _arm(link.table, link, out=True), link
    for other in closure.tables.values():
        for link in other.links:
            if folded(link.table) == name:
                yield _arm(other.name, link), link
    for incoming in closure.incoming:
        if folded(incoming.link.table) == name:
            yield _arm(incoming.table, incoming.link, outside=True), incoming.link


def _arm(other: str, link: LinkShape, *, out: bool = False, outside: bool = False) -> _Arm:
    return _Arm(other, out, outside, _GONE.get(link.on_delete.upper()), link.deferred)


def _drifted(findings: Iterable[Finding]) -> dict[str, int]:
    """How many findings are about the links of each table."""
    out: dict[str, int] = {}
    for finding in findings:
        if finding.table is not None and finding.code.startswith(("link-", "incoming-")):
            out[folded(finding.table)] = out.get(folded(finding.table), 0) + 1
    return out


def _drawn(key: str, arm: _Arm, columns: Sequence[str], *, last: bool) -> Entry:
    branch = Run("  ╰" if last else "  ├", "line")
    arrow = Run("─▸ ", "accent") if arm.out else Run("◂─ ", "live")
    said = [Run(", ".join(columns), "code")]
    if arm.outside:
        said.append(Run("  outside the profile's tables", "notice"))
    if arm.becomes is not None:
        said.append(Run(f"  {arm.becomes}", "quiet"))
    if arm.deferred:
        said.append(Run("  checked at the end", "quiet"))

    def build(room: int) -> list[Line]:
        column = min(TARGET, max(10, room // 3))
        head = (branch, arrow, Run(safe.fit(_shown(arm.other), column), "plain"), Run("  "))
        rows = wrap(said, max(8, room - column - 8))
        more = Run(" " * (column + 8)) if last else Run(f"  │{' ' * (column + 5)}", "line")
        return [(*head, *rows[0]), *prefixed(more, rows[1:])]

    return Entry(f"link {key}", build)


# -- what the profile says --------------------------------------------------------------------------------


def promises(profile: Profile, asked: Sequence[str], invariants: dict[str, str]) -> Iterator[Section]:
    """What it is for, who owns the rows, what may be done, and what readers may go on relying on."""
    versions = ", ".join(safe.text(version) for version in profile.store_versions) or "any"
    yield Section(
        "about",
        safe.text(profile.identity),
        (
            _fact(
                "made for",
                [Run(safe.text(profile.lineage, limit=80)), Run(f", store version {versions}", "quiet")],
            ),
            _fact("tables", [Run(f"{len(profile.closure.tables)}"), Run(_written(profile), "quiet")]),
            _fact("owner", _owner(profile)),
            _fact("read from", [Run(_source(profile.source), "quiet")]),
        ),
    )
    done = tuple(
        Entry(
            f"operation {name}",
            _said(
                "  ",
                [Run("✓ " if name in asked else "· ", "ok" if name in asked else "quiet"), Run(_shown(name))],
            ),
        )
        for name in profile.operations
    )
    unlisted = tuple(
        Entry(
            f"operation {name}",
            _said("  ", [Run("✗ ", "refuse"), Run(_shown(name)), Run("  not in the profile", "quiet")]),
        )
        for name in asked
        if name not in profile.operations
    )
    note = f"{sum(name in asked for name in profile.operations)} of {len(profile.operations)} asked for"
    yield Section("operations", "operations", (*done, *unlisted), note)
    kept = tuple(
        Entry(
            f"invariant {name}",
            _said("  ", [Run(invariants.get(name, ""), "plain"), Run(f"  {_shown(name)}", "quiet")]),
        )
        for name in profile.invariants
    )
    yield Section("invariants", "what readers may rely on", kept, "" if kept else "nothing is promised")


def _source(source: str) -> str:
    from persistence.profiles.catalogue import SHIPPED

    if Path(source).parent == SHIPPED:
        return "the catalogue that comes with this program"
    return safe.text(source, limit=300)


def _written(profile: Profile) -> str:
    written = sum(bool(rule.insert or rule.update) for rule in profile.writes.values())
    return f", {written} of them written, none ever deleted from"


def _owner(profile: Profile) -> list[Run]:
    rule = profile.owner
    if rule is None:
        return [Run("rows have no owner here", "quiet")]
    return [
        Run(_shown(rule.column), "code"),
        Run(" of every row names one of ", "plain"),
        Run(f"{_shown(rule.principals)}.{_shown(rule.key)}", "code"),
    ]


def _fact(label: str, runs: Sequence[Run]) -> Entry:
    def build(room: int) -> list[Line]:
        rows = wrap(runs, max(8, room - LABEL))
        return prefixed(Run(" " * LABEL), rows, first=Run(f"  {label:<{LABEL - 2}}", "quiet"))

    return Entry(f"about {label}", build)


def _said(head: str, runs: Sequence[Run]) -> Build:
    def build(room: int) -> list[Line]:
        rows = wrap([run for run in runs if run.text], max(8, room - len(head) - 2))
        return prefixed(Run(f"{head}  "), rows, first=Run(head))

    return build
