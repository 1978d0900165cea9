"""One entry of a conversation as lines: who, when, what; a call with its arguments, a result with its output.

What cannot be shown as it should be (named but not there, twice, out of order, not JSON) is said in the
entry, in its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from inspector import formats, safe
from inspector.typeset.json_text import json_lines, one_line
from inspector.typeset.lines import Line, Run, line, line_width, prefixed, visible, wrap
from inspector.typeset.markdown import markdown_lines

if TYPE_CHECKING:
    from persistence.records import TranscriptEntry, TranscriptPart

__all__ = ["CLIPPED", "Fold", "Laid", "Manner", "Setting", "entry_lines"]

CLIPPED = 16
"""Lines of one entry that are shown unless more is asked for."""
SILENCE = 600.0
"""Seconds without a message that are worth a line."""
TIME = 10
"""Cells the time takes at the right."""


class Manner(StrEnum):
    """How content is set."""

    MARKDOWN = "markdown"
    TEXT = "text"
    JSON = "json"


class Fold(StrEnum):
    """How much of an entry is shown: its first line, its beginning, or all that is loaded."""

    SHUT = "shut"
    CLIPPED = "clipped"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Setting:
    """What the lines of an entry depend on besides the entry."""

    width: int
    numbers: int  # cells the widest position takes
    manner: Manner
    fold: Fold
    exact: bool = False  # dates with every time

    @property
    def indent(self) -> int:
        return self.numbers + 2

    @property
    def room(self) -> int:
        return max(8, self.width - self.indent)


ROLES = {
    "system": ("system", "quiet"),
    "user": ("user", "accent"),
    "assistant": ("assistant", "ok"),
    "action": ("tool", "code"),
    "tool": ("tool", "code"),
}


class Laid(NamedTuple):
    """The lines of an entry; the first `lead` of them stand above it (a blank line, a day, a silence)."""

    lead: int
    lines: list[Line]


def entry_lines(
    entry: TranscriptEntry, before: TranscriptEntry | None, setting: Setting, was: float | None = None
) -> Laid:
    """An entry as lines. `before` is the one above it (None: there is none, or it is not loaded), `was` the
    time of the last one that has a time."""
    out = _between(entry, before, setting, was)
    lead = len(out)
    return Laid(lead, out + _own_lines(entry, setting))


def _own_lines(entry: TranscriptEntry, setting: Setting) -> list[Line]:
    if not entry.exists:
        return [_dangling(entry, setting)]
    body = _body(entry, setting)
    head, body = _head(entry, body, setting)
    out: list[Line] = [head]
    pad = Run(" " * setting.indent)
    if setting.fold is Fold.SHUT:
        return out
    cut = body
    if setting.fold is Fold.CLIPPED and len(body) > CLIPPED:
        cut = body[: CLIPPED - 2]
    out += prefixed(pad, cut)
    left = len(body) - len(cut)
    if left or entry.truncated:
        out.append(_more(entry, left, pad))
    return out


def _between(
    entry: TranscriptEntry, before: TranscriptEntry | None, setting: Setting, was: float | None
) -> list[Line]:
    """What stands above an entry: a blank line, a silence, a new day; nothing above a result."""
    out: list[Line] = []
    at = formats.moment(entry.created_at)
    pad = Run(" " * setting.indent)
    another_day = at is not None and was is not None and formats.day(at) != formats.day(was)
    if at is not None and (entry.position == 0 or another_day):
        if entry.position:
            out.append(())
        out += [(pad, Run(formats.day(at), "quiet")), ()]
        return out
    if at is not None and was is not None and at - was >= SILENCE:
        out += [(), (pad, Run(f"┄ {formats.duration(at - was)} of silence", "quiet")), ()]
        return out
    if before is None or setting.fold is Fold.SHUT or _answers(entry, before):
        return out
    return [()]


def _answers(entry: TranscriptEntry, before: TranscriptEntry) -> bool:
    """Whether an entry is the result of the call just above it."""
    result = next((part for part in entry.parts if part.kind == "result"), None)
    call = next((part for part in before.parts if part.kind == "call"), None)
    return result is not None and call is not None and result.function == call.function


def _dangling(entry: TranscriptEntry, setting: Setting) -> Line:
    number = f"{entry.position + 1:>{setting.numbers}}"
    shown = safe.clip(safe.text(entry.id), 48)
    return line(
        (number, "quiet"),
        "  ",
        ("▲ ", "notice"),
        (shown, "code"),
        (" is named here and does not exist", "notice"),
    )


def _head(entry: TranscriptEntry, body: list[Line], setting: Setting) -> tuple[Line, list[Line]]:
    """The first line of an entry, and what is left of the body (a short call stands in it whole)."""
    left: list[Run] = [Run(f"{entry.position + 1:>{setting.numbers}}", "quiet"), Run("  ")]
    first = entry.parts[0] if entry.parts else None
    right = _times(entry, setting)
    room = setting.width - line_width(right) - 2
    if first is not None and first.kind in ("call", "result"):
        arrow = Run("→ ", "accent") if first.kind == "call" else Run("← ", "quiet")
        left += [arrow, Run(safe.clip(safe.text(first.function or "?"), 40), "code bold")]
    else:
        name, role = ROLES.get(entry.role or "", (safe.clip(safe.text(entry.role or "no role"), 20), "code"))
        left.append(Run(name, f"{role} bold"))
    left += _marks(entry)
    if len(body) == 1 and first is not None and first.kind in ("call", "result"):
        if line_width(left) + 2 + line_width(body[0]) <= room:
            left += [Run("  "), *body[0]]
            body = []
    elif setting.fold is Fold.SHUT and body:
        spare = room - line_width(left) - 2
        left += [Run("  "), *_first_words(body, spare)]
    gap = setting.width - line_width(left) - line_width(right)
    if gap < 1:
        return tuple(left), body
    return (*left, Run(" " * gap), *right), body


def _first_words(body: list[Line], room: int) -> list[Run]:
    text = " ".join(" ".join(run.text for run in each).strip() for each in body[:4]).strip()
    return [Run(safe.clip(" ".join(text.split()), room), "quiet")] if room > 4 else []


def _marks(entry: TranscriptEntry) -> list[Run]:
    out: list[Run] = []
    if entry.duplicate_of is not None:
        out.append(Run(f"  ▲ again, the same as {entry.duplicate_of + 1}", "notice"))
    if entry.out_of_order:
        out.append(Run("  ▲ older than the one before", "notice"))
    if entry.problem:
        out.append(Run(f"  ✗ {safe.clip(safe.text(entry.problem), 60)}", "refuse"))
    return out


def _times(entry: TranscriptEntry, setting: Setting) -> list[Run]:
    if entry.created_at is None:
        return []
    at = entry.created_at
    words = formats.exact_time(at, zone=False) if setting.exact else formats.clock(at)
    return [Run(words, "quiet")]


def _more(entry: TranscriptEntry, left: int, pad: Run) -> Line:
    words = f"{formats.several(left, 'line')} more" if left else "there is more"
    return (pad, Run(f"… {words}, {formats.size(entry.size)} in all: enter", "quiet"))


def _body(entry: TranscriptEntry, setting: Setting) -> list[Line]:
    if setting.manner is Manner.JSON:
        return _as_json(entry, setting)
    out: list[Line] = []
    for part in entry.parts:
        lines = _part(part, setting)
        if out and lines and part.kind not in ("call", "result"):
            out.append(())
        out += lines
    return out


def _part(part: TranscriptPart, setting: Setting) -> list[Line]:
    room = setting.room
    match part.kind:
        case "text":
            text = part.text or ""
            if setting.manner is Manner.MARKDOWN:
                return markdown_lines(text, room)
            return wrap([Run(visible(text))], room)
        case "call":
            return _value_lines(part.value, room) if part.value not in (None, {}, []) else []
        case "result":
            return _value_lines(part.value, room)
        case _:
            label = Run(safe.clip(safe.text(part.name or "also"), 24) + "  ", "quiet")
            flat = one_line(part.value, room - line_width([label]))
            if flat is not None:
                return [(label, *flat)]
            return [(label,), *prefixed(Run("  "), _value_lines(part.value, room - 2))]


def _value_lines(value: object, room: int) -> list[Line]:
    """A value for reading: a text with line breaks as text, everything else as JSON."""
    if isinstance(value, str) and "\n" in value.strip():
        return prefixed(Run("│ ", "line"), wrap([Run(visible(value), "code")], room - 2))
    return json_lines(value, room)


def _as_json(entry: TranscriptEntry, setting: Setting) -> list[Line]:
    if entry.content is None:
        return wrap([Run(visible(entry.raw or ""), "code")], setting.room)
    return json_lines(entry.content, setting.room)
