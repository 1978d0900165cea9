"""Whether a store is admitted under a profile: the report as data, and as text, Markdown and HTML.

The command line, the *Admission* screen and a ticket all tell the same. Names, SQL and values of the store
are made visible here, and stand in code, never in markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from inspector import formats, safe
from inspector.reports.explanations import title_of
from inspector.reports.marked_down import code, fenced, prose
from inspector.reports.wrapped import wrapped

if TYPE_CHECKING:
    from persistence.profiles.records import AdmissionReport, Finding

__all__ = [
    "ELSEWHERE",
    "admission_lines",
    "admission_shape",
    "document",
    "exit_status",
    "facts",
    "finding_shape",
    "grouped",
    "html",
    "markdown",
    "trace_lines",
    "verdict",
    "verdict_shape",
]

ELSEWHERE = "the store, and what was asked"
"""The group of findings that are about no table."""

SIGNS = {"refuses": "✗", "notice": "▲"}
_SIDES = (("expected", "expected"), ("observed", "observed"), ("why", "why"), ("remedy", "what to do"))


# -- what is told, in every form -------------------------------------------------------------------------


def verdict(report: AdmissionReport) -> str:
    """The answer in one line."""
    under = f"under {safe.text(report.profile)}" if report.profile is not None else "under no profile"
    refusing = report.refusing
    notices = len(report.findings) - len(refusing)
    more = f", {_count(notices, 'notice')}" if notices else ""
    if not refusing:
        owner = f", as {safe.text(report.owner)}" if report.owner is not None else ""
        return f"admitted {under}{owner}{more}"
    passing = report.passing
    if passing is not None:
        return f"not known whether it is admitted {under}: {safe.text(passing.message)}"
    first = refusing[0]
    where = ".".join(safe.text(part, limit=60) for part in (first.table, first.object) if part)
    named = f": {first.code}{f' ({where})' if where else ''}"
    count = _count(len(refusing), "finding")
    return f"not admitted {under}, {count}{more}{named}{' first' if len(refusing) > 1 else ''}"


def exit_status(report: AdmissionReport) -> int:
    """0 when the store is admitted, 4 when there is no such store or it was busy, else 3."""
    if report.admitted:
        return 0
    if report.passing is not None:
        return report.passing.exit_status
    return 4 if any(one.code == "no-store" for one in report.findings) else 3


def grouped(findings: Iterable[Finding]) -> dict[str | None, list[Finding]]:
    """The findings by table, in the order they are first met; None are those about no table."""
    groups: dict[str | None, list[Finding]] = {}
    for one in findings:
        groups.setdefault(one.table, []).append(one)
    return groups


def facts(report: AdmissionReport) -> list[tuple[str, str]]:
    """What was asked and what the store is, as visible (label, text) pairs."""
    version = f", version {_value(report.version)}" if report.version is not None else ""
    rows = [
        ("managed by", f"{_value(report.application)}{version}" if report.application is not None else "—"),
        ("profile", safe.text(report.profile) if report.profile is not None else "none"),
        ("owner", safe.text(report.owner) if report.owner is not None else "none"),
        ("operations", ", ".join(map(safe.text, report.operations)) or "all the profile names"),
    ]
    if report.journal_mode is not None:
        rows.append(("journal", safe.text(report.journal_mode)))
    if (read := report.read) is not None:
        held = ", kernel-held" if read.kernel_held else ""
        rows.append(("read", f"{read.route}, {formats.exact_time(read.at)}{held}"))
    rows += [("notice", f"▲ {safe.text(notice.text)}") for notice in report.notices]
    return rows


def _value(value: object) -> str:
    return safe.text(value) if isinstance(value, str) else safe.cell(value)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _held(report: AdmissionReport) -> Iterator[tuple[str, str]]:
    """By table, how much of what the profile declares was found to hold."""
    for table, counts in report.holds.items():
        said = ", ".join(_held_words(concern, number) for concern, number in counts.items() if number)
        if said:
            yield (safe.text(table) if table else "from outside"), said


_CONCERNS = {
    "keys": ("primary key", "primary keys"),
    "uniques": ("unique key", "unique keys"),
    "indexes": ("index", "indexes"),
    "links": ("foreign key", "foreign keys"),
    "incoming": ("foreign key", "foreign keys"),
    "objects": ("trigger or view", "triggers and views"),
}


def _held_words(concern: str, number: int) -> str:
    one, many = _CONCERNS.get(concern, (concern.removesuffix("s"), concern))
    return f"{number} {one if number == 1 else many}"


# -- data (DESIGN 10) ------------------------------------------------------------------------------------


def document(report: AdmissionReport) -> str:
    """The whole answer as JSON text: what `admit --json` prints and the *Admission* screen exports."""
    from inspector.reports import shapes

    parts: dict[str, Any] = {"store": _store_shape(report), "admission": admission_shape(report)}
    if (refusal := _refusal(report)) is not None:
        parts["refusal"] = refusal
    text: str = shapes.document(**parts)
    return text


def verdict_shape(report: AdmissionReport) -> dict[str, Any]:
    """The answer as an entry of `verdicts.compatibility`, beside what lineage says."""
    return {
        "profile": report.profile,
        "opens": report.admitted,
        "why": verdict(report),
        "refusal": _refusal(report),
        "notices": [one.sentence for one in report.findings if not one.refuses],
    }


def _refusal(report: AdmissionReport) -> dict[str, Any] | None:
    from inspector.reports import shapes
    from persistence.errors import StoreError

    try:
        report.check()
    except StoreError as refusal:
        found: dict[str, Any] = shapes.value(refusal.as_dict())
        return found
    return None


def _store_shape(report: AdmissionReport) -> dict[str, Any]:
    import sqlite3

    from inspector.reports import shapes

    shape: dict[str, Any] = {
        "display": report.store,
        "backend": "sqlite",
        "lineage": shapes.value(report.application),
        "version": shapes.value(report.version),
        "library": f"SQLite {sqlite3.sqlite_version}",
    }
    if (read := report.read) is not None:
        shape |= {
            "route": str(read.route),
            "read_at": shapes.instant(read.at),
            "snapshots": read.snapshots,
            "kernel_held": read.kernel_held,
            "notices": [{"code": one.code, "text": one.text} for one in (*read.notices, *report.notices)],
        }
    return shape


def admission_shape(report: AdmissionReport) -> dict[str, Any]:
    """`admission` of the JSON answer."""
    from inspector.reports.lineage import steps_shape

    return {
        "admitted": report.admitted,
        "profile": report.profile,
        "owner": report.owner,
        "operations": list(report.operations),
        "findings": [finding_shape(one) for one in report.findings],
        "holds": {table: dict(counts) for table, counts in report.holds.items()},
        "journal_mode": report.journal_mode,
        "schema_cookie": report.cookie,
        "trace": steps_shape(report.reads, report.rules),
    }


def finding_shape(one: Finding) -> dict[str, Any]:
    """A finding as JSON has it."""
    return {
        "code": one.code,
        "severity": one.severity,
        "table": one.table,
        "object": one.object,
        "expected": one.expected,
        "observed": one.observed,
        "why": one.why,
        "remedy": one.remedy,
    }


# -- words -----------------------------------------------------------------------------------------------


def admission_lines(report: AdmissionReport, *, trace: bool = False) -> Iterator[str]:
    """The report as visible lines of plain text; `trace` adds every read and rule."""
    yield safe.text(report.store)
    wide = max(len(label) for label, _ in facts(report))
    for label, said in facts(report):
        yield from wrapped(said, indent=" " * (wide + 4), first=f"  {label:<{wide}}  ")
    yield ""
    yield f"{'✓' if report.admitted else '✗'} {verdict(report)}"
    for table, found in grouped(report.findings).items():
        yield ""
        yield safe.text(table) if table is not None else ELSEWHERE
        for one in found:
            name = safe.text(one.object or table or "")
            yield f"  {SIGNS[one.severity]} {name}  {title_of(one.code)}  ({one.code})"
            for name, label in _SIDES:
                yield from _side(label, getattr(one, name))
    held = list(_held(report))
    if held:
        yield ""
        yield "what holds of what the profile declares"
        wide = max(safe.width(table) for table, _ in held)
        yield from (f"  {safe.fit(table, wide)}  {said}" for table, said in held)
    if report.findings:
        codes = dict.fromkeys(one.code for one in report.findings)
        yield ""
        yield f"more: store-inspector explain {next(iter(codes))}"
    if trace:
        yield ""
        yield from trace_lines(report)


def _side(label: str, said: str | None) -> Iterator[str]:
    if said is None:
        return
    head = f"      {label:<10}  "
    rows = safe.lines(said, limit=4_000).split("\n")
    for number, row in enumerate(rows):
        first = head if number == 0 else " " * len(head)
        if label in ("expected", "observed") and (len(rows) > 1 or "  " in row):
            yield f"{first}{row}"  # SQL keeps its lines
        else:
            yield from wrapped(row, indent=" " * len(head), first=first)


def trace_lines(report: AdmissionReport) -> Iterator[str]:
    """Every read and every rule, a line each."""
    yield "reads"
    for read in report.reads:
        held = ", kernel-held" if read.kernel_held else ""
        moved = f"; {safe.text(read.moved)}" if read.moved else ""
        mark = "▸" if read.decides else " "
        yield f" {mark} {safe.text(read.what)} ({safe.text(read.way)}{held}): {safe.text(read.answer)}{moved}"
    yield "rules"
    for rule in report.rules:
        mark = "✗" if rule.refuses else "✓"
        yield f" {mark} {rule.question} {safe.text(rule.answer)}  [{rule.rule}; {rule.source}]"


# -- a ticket --------------------------------------------------------------------------------------------


def markdown(report: AdmissionReport) -> str:
    """The whole report for a ticket."""
    sign = "✓" if report.admitted else "✗"
    lines = [f"## Admission of {code(report.store)}", "", f"**{sign} {prose(verdict(report))}**", ""]
    lines += [f"- {label}: {prose(said)}" for label, said in facts(report)]
    for table, found in grouped(report.findings).items():
        lines += ["", f"### {code(table) if table is not None else ELSEWHERE}"]
        for one in found:
            name = code(one.object or table or one.code)
            lines += ["", f"#### {SIGNS[one.severity]} {name} {prose(title_of(one.code))} `{one.code}`"]
            lines += ["", *_markdown_sides(one)]
    held = list(_held(report))
    if held:
        lines += ["", "### What holds of what the profile declares", "", "| table | holds |", "| --- | --- |"]
        lines += [f"| {prose(table)} | {prose(said)} |" for table, said in held]
    lines += ["", "### Trace", "", *fenced("\n".join(trace_lines(report)))]
    return "\n".join(lines) + "\n"


def _markdown_sides(one: Finding) -> Iterator[str]:
    for name, label in _SIDES:
        said = getattr(one, name)
        if said is None:
            continue
        shown = safe.lines(said, limit=4_000)
        if name in ("why", "remedy"):
            yield f"- {label}: {prose(shown)}"
        elif "\n" in shown:
            yield f"- {label}:"
            yield from ("", *(f"  {line}" for line in fenced(shown)), "")
        else:
            yield f"- {label}: {code(shown)}"


# -- a page ----------------------------------------------------------------------------------------------

_STYLE = """\
body { font: 15px/1.5 system-ui, sans-serif; max-width: 68em; margin: 2em auto; padding: 0 1em;
  color: #1c1c1c; background: #fff }
code, pre { font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere }
h1 code, h2 code, h3 code { font-size: inherit }
pre { background: #f4f4f4; padding: .6em .8em; margin: 0; border-radius: 4px }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2em 1.2em } dt { color: #666 }
dd { margin: 0 }
section { border-top: 1px solid #ddd; margin-top: 1.5em } article { margin: 1em 0 1.5em }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1em } .sides h4 { margin: 0 0 .3em; color: #666 }
table { border-collapse: collapse } td, th { border: 1px solid #ddd; padding: .2em .6em; text-align: left }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #161616 } pre { background: #222 }
  section, td, th { border-color: #333 } }
"""


def html(report: AdmissionReport) -> str:
    """The whole report as a page of its own: no script, nothing loaded, every text escaped."""
    from html import escape

    sign = "✓" if report.admitted else "✗"
    out = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>Admission of '
        f"{escape(safe.text(report.store))}</title>",
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src '
        "'unsafe-inline'\">",
        f"<style>\n{_STYLE}</style></head><body>",
        f"<h1>Admission of <code>{escape(safe.text(report.store))}</code></h1>",
        f"<p><strong>{sign} {escape(verdict(report))}</strong></p>",
        "<dl>",
        *(f"<dt>{escape(label)}</dt><dd>{escape(said)}</dd>" for label, said in facts(report)),
        "</dl>",
    ]
    for table, found in grouped(report.findings).items():
        title = f"<code>{escape(safe.text(table))}</code>" if table is not None else escape(ELSEWHERE)
        out.append(f"<section><h2>{title}</h2>")
        for one in found:
            name = escape(safe.text(one.object or table or one.code))
            title = f"{escape(title_of(one.code))} ({escape(one.code)})"
            out.append(f"<article><h3>{SIGNS[one.severity]} <code>{name}</code> {title}</h3>")
            out.append('<div class="sides">')
            for label, said in (("expected", one.expected), ("observed", one.observed)):
                shown = escape(safe.lines(said, limit=20_000)) if said is not None else "—"
                out.append(f"<div><h4>{label}</h4><pre>{shown}</pre></div>")
            out.append(f"</div><p>{escape(one.why)}</p><p>What to do: {escape(one.remedy)}</p></article>")
        out.append("</section>")
    held = list(_held(report))
    if held:
        out.append("<section><h2>What holds of what the profile declares</h2><table>")
        out += [f"<tr><th>{escape(table)}</th><td>{escape(said)}</td></tr>" for table, said in held]
        out.append("</table></section>")
    trace = escape("\n".join(trace_lines(report)))
    out += [f"<section><h2>Trace</h2><pre>{trace}</pre></section>", "</body></html>", ""]
    return "\n".join(out)
