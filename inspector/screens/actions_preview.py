"""The preview of an action as entries of a tall list: warnings, what is in the way, call by call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector import formats, safe
from inspector.actions.plan import SHOWN
from inspector.reports.actions import plain_name
from inspector.typeset.lines import Line, Run, clipped, line, prefixed, wrap
from inspector.widgets.section_list import Build, Entry, Section

if TYPE_CHECKING:
    from inspector.actions.plan import Obstacle
    from inspector.actions.preview import Preview, PreviewedCall, PreviewedStatement

__all__ = [
    "MOST",
    "CallOf",
    "ObstacleOf",
    "WholePreview",
    "call_lines",
    "call_text",
    "obstacle_lines",
    "obstacle_text",
    "previewed",
]

MOST = 20_000
"""Calls that are told one by one; of more than these the first few of each operation."""
VALUE = 60
"""Cells of a parameter in the list; enter shows it whole."""


@dataclass(frozen=True, slots=True)
class CallOf:
    """Leads to one call, whole."""

    call: PreviewedCall


@dataclass(frozen=True, slots=True)
class ObstacleOf:
    """Leads to all that is named of what is in the way."""

    obstacle: Obstacle


@dataclass(frozen=True, slots=True)
class WholePreview:
    """Leads to the preview with every call in it."""


def previewed(preview: Preview) -> Iterator[Section]:
    """Everything a person must have seen before the name is worth typing."""
    told = [Entry(f"warning {at}", _note("▲", "notice", words)) for at, words in enumerate(preview.warnings)]
    told += [Entry(f"note {at}", _note("·", "quiet", words)) for at, words in enumerate(preview.notes)]
    obstacles = tuple(
        Entry(f"obstacle {at}", _obstacle(each), ObstacleOf(each))
        for at, each in enumerate(preview.obstacles)
    )
    if obstacles:
        stops = len(preview.stops)
        note = f"{stops} in the way; l leaves out what can be" if stops else "left out, as it was said"
        yield Section("obstacles", "the source", obstacles, note)
    owner = "" if preview.owner is None else f", owner {safe.text(preview.owner, limit=60)}"
    yield Section("told", "preview", tuple(told), f"{safe.text(preview.profile)}{owner}")
    if preview.calls:
        calls = tuple(Entry(f"call {at}", _call(call), CallOf(call)) for at, call in enumerate(preview.calls))
        if preview.more:
            calls = (*calls, Entry("more", _more(preview), WholePreview()))
        note = (
            f"{formats.several(preview.transactions or 0, 'transaction')}; each is committed or is not there"
        )
        yield Section("calls", "calls, each one transaction", calls, note)


def _note(sign: str, role: str, words: str) -> Build:
    def build(room: int) -> list[Line]:
        plain = "plain" if role == "notice" else "quiet"
        return prefixed(
            Run("  "), wrap([Run(safe.text(words), plain)], room - 2), first=Run(f"{sign} ", role)
        )

    return build


def _obstacle(obstacle: Obstacle) -> Build:
    return lambda room: obstacle_lines(obstacle, room, whole=False)


def obstacle_lines(obstacle: Obstacle, room: int, *, whole: bool) -> list[Line]:
    """What is in the way: in a few words, the entries it is about by name, and what goes on without it."""
    sign = Run("✗ ", "refuse") if obstacle.stops else Run("▲ ", "notice")
    end = "" if obstacle.stops else " Left out."
    says = f"{safe.text(obstacle.says)}{end}  ({obstacle.code}, {formats.count(obstacle.count)})"
    out = prefixed(Run("  "), wrap([Run(says, "plain")], room - 2), first=sign)
    shown = None if whole else SHOWN
    for each in obstacle.named[:shown]:
        words = safe.text(each) if whole else safe.clip(safe.text(each), room - 4)
        out += _wrapped(words, "code", room, "    ")
    if more := obstacle.beyond(shown):
        words = f"and {formats.count(more)} more{'' if whole else '; enter names them'}"
        out.append(line((f"    {words}", "quiet")))
    if obstacle.stops and not whole:
        words = "l goes on without it" if obstacle.leave_out else "nothing goes on with it"
        out.append(line((f"    {words}", "ok" if obstacle.leave_out else "quiet")))
    return out


def obstacle_text(obstacle: Obstacle) -> str:
    """All that is named of it, as text to copy."""
    rows = obstacle_lines(obstacle, 200, whole=True)
    return "\n".join("".join(run.text for run in row).rstrip() for row in rows) + "\n"


def _more(preview: Preview) -> Build:
    def build(room: int) -> list[Line]:
        rows = [
            line(
                (f"{safe.text(name)}  ", "strong"),
                (f"{formats.count(count)} more of the same statements", "quiet"),
            )
            for name, count in preview.more.items()
        ]
        total = preview.transactions or 0
        words = (
            "enter tells every call"
            if total <= MOST
            else f"too many to tell one by one: {formats.count(total)}"
        )
        return [*rows, line((words, "quiet"))]

    return build


def _call(call: PreviewedCall) -> Build:
    return lambda room: [*call_lines(call, room, whole=False), ()]


def call_lines(call: PreviewedCall, room: int, *, whole: bool) -> list[Line]:
    """A call: the rows it asks for, its statements with their parameters, and what is committed with it."""
    out: list[Line] = [
        line(
            (safe.text(call.operation), "strong"),
            (f"  {safe.text(call.about)}" if call.about else "", "plain"),
            (f"   commits {safe.text(call.transaction)}", "quiet"),
        )
    ]
    if whole:
        out += ((), *_wrapped(call.does, "plain", room, ""), *_wrapped(call.commits, "quiet", room, ""), ())
    for row in call.requires:
        out += prefixed(
            Run("       "), wrap([Run(safe.text(row), "quiet")], room - 7), first=Run("  row  ", "quiet")
        )
    for each in call.statements:
        out += _statement(each, room, whole)
    return out


def _statement(statement: PreviewedStatement, room: int, whole: bool) -> list[Line]:
    text = safe.text(" ".join(statement.text.split()), limit=20_000)
    if whole:
        out = ((), *_wrapped(text, "code", room, "  "))
    else:
        out = (clipped(line(("  ", ""), (text, "code")), room),)
    said: list[Run] = []
    for name, value in statement.parameters:
        plain = value if value is None or isinstance(value, str | int | float | bytes) else str(value)
        limit = max(1, len(plain)) if whole and isinstance(plain, str) else VALUE
        said += [Run(f"{safe.text(plain_name(name))} ", "quiet"), Run(safe.cell(plain, limit=limit), "plain")]
        said.append(Run("   "))
    if statement.times > 1:
        said.append(Run(f"{formats.count(statement.times)} times, each with other values   ", "notice"))
    if statement.when:
        said.append(Run(safe.text(statement.when), "notice"))
    return [*out, *prefixed(Run("    "), wrap(said, room - 4))] if said else list(out)


def _wrapped(words: str, role: str, room: int, indent: str) -> list[Line]:
    return prefixed(Run(indent), wrap([Run(safe.text(words, limit=20_000), role)], room - len(indent)))


def call_text(call: PreviewedCall) -> str:
    """A call whole, as text to copy."""
    rows = call_lines(call, 100, whole=True)
    return "\n".join("".join(run.text for run in row).rstrip() for row in rows) + "\n"
