"""Whose store it is and how that is known: the report of `lineage.examine` as data, text and Markdown.

The command line, the *Lineage* screen and a ticket all tell the same: the rows, the verdict for each mode,
and the trace of every read and rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from inspector import formats, safe
from inspector.reports.wrapped import wrapped

if TYPE_CHECKING:
    from persistence.lineage import LineageReport, ReadStep, RuleStep, Verdict

__all__ = [
    "beside_lines",
    "exit_status",
    "lineage_shape",
    "markdown",
    "rows_shape",
    "steps_shape",
    "trace_lines",
    "trace_shape",
    "verdict_lines",
    "verdicts_shape",
]

MODES = {"read_only": "read-only", "native": "native", "compatibility": "compatibility"}
SIGNS = {True: "✓", False: "✗", None: "?"}


# -- data (DESIGN 10) -----------------------------------------------------------------------------------


def lineage_shape(report: LineageReport) -> dict[str, Any]:
    """`lineage`, `verdicts`, `links`, `backups`, `openers` and `trace` of the JSON answer."""
    return {
        "lineage": rows_shape(report),
        "verdicts": verdicts_shape(report),
        "links": report.links,
        "backups": _files(report.backups),
        "openers": None
        if report.openers is None
        else [
            {"pid": one.pid, "program": one.program, "files": list(one.files), "locks": one.locks}
            for one in report.openers
        ],
        "trace": trace_shape(report),
    }


def rows_shape(report: LineageReport) -> dict[str, Any]:
    """The rows that decide. Several rows of one key make a list; rows that could not be read are null."""
    from inspector.reports import shapes

    seen = report.seen
    return {
        "application": shapes.value(report.application),
        "version": shapes.value(report.version),
        "rows": None
        if seen is None
        else [
            {
                "key": shapes.value(row.key),
                "value": shapes.value(row.value)
                if row.size is None
                else {"preview": shapes.value(row.value), "size": row.size},
            }
            for row in seen.rows
        ],
    }


def verdicts_shape(report: LineageReport) -> dict[str, Any]:
    """What each mode would do; `compatibility` has an entry a profile, `opens` null where that decides."""
    read_only, native, compatibility = report.verdicts
    return {
        "read_only": {**_verdict(read_only), "route": read_only.route},
        "native": {**_verdict(native), "by": native.by},
        "compatibility": [{"profile": None, **_verdict(compatibility)}],
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    from inspector.reports import shapes

    return {
        "opens": verdict.opens,
        "why": verdict.why,
        "refusal": None if verdict.refusal is None else shapes.value(verdict.refusal.as_dict()),
        "notices": list(verdict.notices),
    }


def trace_shape(report: LineageReport) -> list[dict[str, Any]]:
    """Every read and every rule, in order."""
    return steps_shape(report.reads, report.rules)


def steps_shape(asked_reads: Iterable[ReadStep], asked_rules: Iterable[RuleStep]) -> list[dict[str, Any]]:
    """Reads and rules of any examination, as JSON has them."""
    reads = [
        {
            "step": "read",
            "what": read.what,
            "way": read.way,
            "answer": read.answer,
            "moved": read.moved,
            "decides": read.decides,
            "kernel_held": read.kernel_held,
        }
        for read in asked_reads
    ]
    rules = [
        {
            "step": "rule",
            "mode": rule.mode,
            "rule": rule.rule,
            "question": rule.question,
            "source": rule.source,
            "answer": rule.answer,
            "refuses": rule.refuses,
        }
        for rule in asked_rules
    ]
    return [*reads, *rules]


def _files(files: Any) -> list[dict[str, Any]] | None:
    from inspector.reports import shapes

    if files is None:
        return None
    return [
        {
            "name": file.name,
            "size": file.size,
            "modified": None if file.modified is None else shapes.instant(file.modified),
            "state": file.state,
        }
        for file in files
    ]


def exit_status(report: LineageReport) -> int:
    """0 when the store can be opened natively, 4 when there is no such store, else 3."""
    if not report.exists:
        return 4
    return 0 if report.native.opens else 3


# -- words ----------------------------------------------------------------------------------------------


def verdict_lines(report: LineageReport) -> Iterator[str]:
    """The verdict of each mode, with the type of its refusal, and what to do about the native one."""
    for verdict in report.verdicts:
        head = f"{SIGNS[verdict.opens]} {MODES[verdict.mode]:<13} "
        yield from wrapped(safe.text(_said(verdict)), indent=" " * len(head), first=head)
    refusal = report.native.refusal
    if refusal is not None:
        for label, said in (("seen", refusal.observed), ("what to do", refusal.remedy)):
            if said:
                yield from wrapped(safe.text(said), indent=" " * 16, first=f"  {label:<13} ")
        yield f"  {'more':<13} store-inspector explain {refusal.code}"
    yield from (f"▲ {safe.text(notice)}" for notice in report.native.notices)


def _said(verdict: Verdict) -> str:
    if verdict.refusal is not None:
        return f"{type(verdict.refusal).__name__} ({verdict.refusal.code}): {verdict.why}"
    return verdict.why


def beside_lines(report: LineageReport) -> Iterator[str]:
    """Other names of the file, backups beside it, and who else has it open, where there is such a thing."""
    if report.links > 1:
        yield f"▲ {report.links} names (hard links)"
    for file in report.backups or ():
        yield f"{safe.text(file.name)}  {formats.size(file.size)}, {safe.text(file.state)}"
    for one in report.openers or ():
        locks = ", with locks" if one.locks else ""
        files = ", ".join(safe.text(name) for name in one.files)
        yield f"open in {safe.text(one.program)} (process {one.pid}{locks}): {files}"


def trace_lines(report: LineageReport) -> Iterator[str]:
    """Every read and every rule, a line each."""
    yield "reads"
    for read in report.reads:
        held = ", kernel-held" if read.kernel_held else ""
        moved = f"; {safe.text(read.moved)}" if read.moved else ""
        mark = "▸" if read.decides else " "
        yield f" {mark} {safe.text(read.what)} ({safe.text(read.way)}{held}): {safe.text(read.answer)}{moved}"
    for mode, words in MODES.items():
        rules = [rule for rule in report.rules if rule.mode == mode]
        if rules:
            yield f"rules, {words}"
        for rule in rules:
            mark = "✗" if rule.refuses else "✓"
            yield f" {mark} {rule.question} {safe.text(rule.answer)}  [{rule.rule}; {rule.source}]"


# -- a ticket -------------------------------------------------------------------------------------------


def markdown(report: LineageReport) -> str:
    """The whole report for a ticket. What comes from the store is made visible and stands in code."""
    lines = [f"## Store `{_code(report.display)}`", ""]
    lines += [f"- examined {formats.exact_time(report.at)}, {report.library}"]
    if report.exposed_to_wal_reset:
        lines.append("- this SQLite is exposed to the WAL-reset race of writers")
    if report.header is not None:
        lines.append(f"- {report.size:,} bytes, journal mode {report.header.journal_mode}")
    lines += [f"- {line}" for line in beside_lines(report)]
    lines += ["", "### Verdicts", "", "| mode | opens | why |", "| --- | --- | --- |"]
    for verdict in report.verdicts:
        opens = {True: "yes", False: "no", None: "a profile decides"}[verdict.opens]
        lines.append(f"| {MODES[verdict.mode]} | {opens} | {_cell(_said(verdict))} |")
    if report.native.refusal is not None:
        for label, said in _refusal_parts(report):
            lines.append(f"- {label}: {_cell(said)}")
    lines += ["", "### schema_meta", "", "| key | value |", "| --- | --- |"]
    for row in report.seen.rows if report.seen is not None else ():
        lines.append(f"| `{_code(safe.cell(row.key))}` | `{_code(safe.cell(row.value))}` |")
    lines += ["", "### Files", ""]
    lines += [
        f"- `{_code(file.name)}`: {_cell(file.state) if file.exists else 'none'}" for file in report.files
    ]
    lines += ["", "### Trace", "", "```", *trace_lines(report), "```", ""]
    return "\n".join(lines)


def _refusal_parts(report: LineageReport) -> Iterator[tuple[str, str]]:
    refusal = report.native.refusal
    assert refusal is not None
    for label, said in (
        ("expected", refusal.expected),
        ("observed", refusal.observed),
        ("what to do", refusal.remedy),
    ):
        if said:
            yield label, said


def _code(text: str) -> str:
    return safe.text(text).replace("`", "'").replace("|", "¦")


def _cell(text: str) -> str:
    escaped = safe.text(text).replace("\\", "\\\\").replace("|", "\\|")
    for sign in "`*_[]<>":
        escaped = escaped.replace(sign, f"\\{sign}")
    return escaped
