"""The gate, a preview and an outcome as lines of text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inspector import formats, safe
from inspector.reports import shapes

if TYPE_CHECKING:
    from inspector.actions.carrying import Outcome
    from inspector.actions.gate import Gate
    from inspector.actions.gate_steps import Step
    from inspector.actions.plan import Obstacle
    from inspector.actions.preview import Preview, PreviewedCall, PreviewedStatement

__all__ = [
    "document_of",
    "outcome_lines",
    "plain_name",
    "preview_lines",
    "preview_object",
    "step_lines",
    "store_of",
]

_VALUE = 48
"""Characters of a parameter that are shown."""
_SIGNS = {True: "✓", False: "✗", None: "·"}


# -- text ------------------------------------------------------------------------------------------------


def step_lines(steps: Sequence[Step]) -> Iterator[str]:
    """The steps of the gate, a line each."""
    for step in steps:
        yield f"{step.number} {_SIGNS[step.held]} {safe.text(step.says)}"


def preview_lines(preview: Preview, *, whole: bool = False) -> Iterator[str]:
    """The preview: warnings, what is in the way, every statement once, then call by call its parameters."""
    yield ""
    owner = "" if preview.owner is None else f", owner {safe.text(preview.owner)}"
    yield f"preview of {preview.action} into {safe.text(preview.store)}, {safe.text(preview.profile)}{owner}"
    for warning in preview.warnings:
        yield f"▲ {safe.text(warning)}"
    for note in preview.notes:
        yield f"· {safe.text(note)}"
    for obstacle in preview.obstacles:
        yield from _obstacle(obstacle, whole)
    if preview.counts is None:
        yield "· What is written is what the input says, a transaction for each of its calls."
    numbers = {text: number for number, text in enumerate(preview.texts, 1)}
    if numbers:
        yield ""
        yield "statements"
    for text, number in numbers.items():
        yield f"  [{number}] {safe.text(' '.join(text.split()), limit=20_000)}"
    if preview.calls:
        yield ""
        yield "calls, each one transaction"
    for call in preview.calls:
        yield from _call(call, numbers, whole)
    for name, count in preview.more.items():
        yield f"  {safe.text(name)}  {formats.count(count)} more of the same statements (--whole tells each)"


def _obstacle(obstacle: Obstacle, whole: bool) -> Iterator[str]:
    from inspector.actions.plan import SHOWN

    shown = None if whole else SHOWN
    sign = "▲" if obstacle.left_out else "✗"
    left = " Left out." if obstacle.left_out else ""
    yield f"{sign} {safe.text(obstacle.says)}{left}  ({obstacle.code}, {formats.count(obstacle.count)})"
    for name in obstacle.named[:shown]:
        yield f"    {safe.text(name)}"
    if more := obstacle.beyond(shown):
        yield f"    and {formats.count(more)} more{'' if whole else ' (--whole names them)'}"
    if obstacle.leave_out is not None and not obstacle.left_out:
        yield f"    to go on without: --leave-out {obstacle.leave_out}"


def _call(call: PreviewedCall, numbers: Mapping[str, int], whole: bool) -> Iterator[str]:
    about = f"  {safe.text(call.about)}" if call.about else ""
    yield f"  {safe.text(call.operation)}{about}  commits {safe.text(call.transaction)!r}"
    for row in call.requires:
        yield f"    row  {safe.text(row)}"
    for each in call.statements:
        when = f"  {safe.text(each.when)}" if each.when else ""
        times = f"  {formats.count(each.times)} times, each with other values" if each.times > 1 else ""
        yield f"    [{numbers[each.text]}] {_parameters(each, whole)}{when}{times}".rstrip()


def _parameters(statement: PreviewedStatement, whole: bool) -> str:
    out = []
    for name, value in statement.parameters:
        plain = value if value is None or isinstance(value, str | int | float | bytes) else str(value)
        limit = max(len(plain), 1) if whole and isinstance(plain, str) else _VALUE
        out.append(f"{safe.text(plain_name(name))}={safe.cell(plain, limit=limit)}")
    return "  ".join(out)


def plain_name(name: str) -> str:
    """The column's name of a parameter (`v_id` is the new value of `id`, `k_id` the one looked for)."""
    return name[2:] if name[:2] in ("v_", "k_", "g_") else name


def outcome_lines(outcome: Outcome) -> Iterator[str]:
    """How an action ended: the run, what was committed, how it was left. What stopped it is told apart."""
    if outcome.event == "tried":
        yield "✓ A dry run: the store would be written. The writer was not opened, and nothing was written."
        return
    if outcome.event == "done":
        run = f" {safe.text(outcome.run)}" if outcome.run else ""
        yield f"✓ done: run{run}, {formats.count(outcome.transactions)} transactions"
    elif outcome.committed:
        words = {"interrupted": "interrupted", "refused": "refused half-way"}.get(
            outcome.event, "stopped half-way"
        )
        run = f" of run {safe.text(outcome.run)}" if outcome.run else ""
        yield f"✗ {words}; what follows{run} is in the store"
    else:
        yield (
            "✗ interrupted; nothing was written"
            if outcome.event == "interrupted"
            else "✗ nothing was written"
        )
    if outcome.committed:
        yield "  committed  " + ", ".join(safe.text(str(phase)) for phase in outcome.committed)
    if outcome.at:
        yield f"  stopped at {safe.text(outcome.at)}"
    if outcome.stands:
        yield f"  {safe.text(outcome.stands)}"
    yield "  The gate is shut. store-inspector journal shows what was done."


# -- JSON ------------------------------------------------------------------------------------------------


def store_of(gate: Gate) -> dict[str, Any]:
    """The store of an answer (DESIGN 10), as the admission saw it."""
    report = gate.report
    shape: dict[str, Any] = {
        "display": gate.target.display,
        "backend": gate.target.backend,
        "lineage": None if report is None else shapes.value(report.application),
        "version": None if report is None else shapes.value(report.version),
    }
    if report is not None and report.read is not None:
        shape |= {
            "route": str(report.read.route),
            "read_at": shapes.instant(report.read.at),
            "snapshots": report.read.snapshots,
            "kernel_held": report.read.kernel_held,
            "notices": [{"code": each.code, "text": each.text} for each in report.read.notices],
        }
    return shape


def document_of(
    store: Mapping[str, Any], steps: Sequence[Step], preview: Preview | None, outcome: Outcome
) -> str:
    """The whole answer of a gated command as one JSON object."""
    from inspector.actions.gate import error_shape

    parts: dict[str, Any] = {
        "store": dict(store),
        "gate": [_step_object(step) for step in steps],
        "preview": None if preview is None else preview_object(preview),
        "outcome": {
            "event": outcome.event,
            "run": outcome.run,
            "committed": [{"transaction": each.name, "count": each.count} for each in outcome.committed],
            "at": outcome.at,
            "stands": outcome.stands,
            "seconds": round(outcome.seconds, 3),
        },
    }
    if outcome.error is not None:
        parts["refusal"] = shapes.value(error_shape(outcome))
    return shapes.document(**parts)


def _step_object(step: Step) -> dict[str, Any]:
    refusal = None if step.refusal is None else shapes.value(step.refusal.as_dict())
    return {"step": step.number, "name": step.name, "held": step.held, "says": step.says, "refusal": refusal}


def preview_object(preview: Preview) -> dict[str, Any]:
    """A preview as JSON: `statements` are the texts, and each call's `statements` name one by its number."""
    numbers = {text: number for number, text in enumerate(preview.texts)}
    return {
        "action": preview.action,
        "profile": preview.profile,
        "owner": preview.owner,
        "lineage": preview.lineage,
        "run": preview.run,
        "counts": None if preview.counts is None else dict(preview.counts),
        "transactions": preview.transactions,
        "statements_at_most": preview.statements,
        "warnings": list(preview.warnings),
        "notes": list(preview.notes),
        "obstacles": [
            {
                "code": each.code,
                "says": each.says,
                "count": each.count,
                "examples": list(each.named),
                "leave_out": each.leave_out,
                "left_out": each.left_out,
            }
            for each in preview.obstacles
        ],
        "statements": list(preview.texts),
        "calls": [
            {
                "operation": call.operation,
                "does": call.does,
                "about": call.about,
                "transaction": call.transaction,
                "commits": call.commits,
                "rows": list(call.requires),
                "keeps": list(call.keeps),
                "statements": [_statement_object(each, numbers) for each in call.statements],
            }
            for call in preview.calls
        ],
        "more": dict(preview.more),
    }


def _statement_object(statement: PreviewedStatement, numbers: Mapping[str, int]) -> dict[str, Any]:
    return {
        "statement": numbers[statement.text],
        "verb": statement.verb,
        "table": statement.table,
        "parameters": {name: _parameter(value) for name, value in statement.parameters},
        "when": statement.when,
        "times": statement.times,
    }


def _parameter(value: Any) -> Any:
    """A parameter; one that is only known within its transaction is `{"later": why}`."""
    why = getattr(value, "why", None)
    if why is not None and not isinstance(value, str | bytes):
        return {"later": why}
    return shapes.value(value)
