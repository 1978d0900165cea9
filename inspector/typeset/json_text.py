"""JSON for reading: what fits stays on one line, the rest is indented; keys, texts and numbers in roles."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from inspector import safe
from inspector.typeset.lines import Line, Run, fold, line_width, visible, wrap
from persistence.records import Mark, Preview, Unreadable

__all__ = ["json_lines", "json_run", "one_line"]

INDENT = 2
MOST_ITEMS = 200
"""Members of one object or list that are shown here; the viewer shows them all."""
DEEPEST = 40


def json_lines(value: Any, width: int, *, limit: int = MOST_ITEMS) -> list[Line]:
    """A value that JSON holds, as lines of at most `width` cells."""
    return _lines(value, (), (), max(8, width), 0, limit)


def one_line(value: Any, width: int) -> Line | None:
    """The value on one line if it fits into `width` cells, otherwise None."""
    runs = _flat(value, width * 2 + 8)
    if runs is None or line_width(runs) > width:
        return None
    return tuple(runs)


def json_run(value: Any) -> Run:
    """A text, number, truth or nothing, as JSON writes it."""
    match value:
        case str():
            return Run(_quoted(value), "json-text")
        case bool():
            return Run("true" if value else "false", "json-word")
        case None:
            return Run("null", "json-word")
        case int() | float():
            return Run(safe.cell(value), "json-number")
        case Preview():
            return Run(_quoted(str(value.head)) + "…", "json-text")
        case Unreadable() | Mark():
            return Run(safe.cell(value), "refuse")
        case _:
            return Run(safe.text(value), "json-text")


def _quoted(text: str) -> str:
    """As JSON quotes it, with what people read left as it is and everything else visible."""
    try:
        quoted = json.dumps(text, ensure_ascii=False)
    except (ValueError, UnicodeError):
        quoted = f'"{text}"'
    return visible(quoted, limit=4_000).replace("\n", " ")


def _flat(value: Any, room: int) -> list[Run] | None:
    """The value as runs on one line; None once it is clear that it will not fit into `room` characters."""
    out: list[Run] = []

    def put(item: Any, depth: int) -> bool:
        nonlocal room
        if depth > DEEPEST:
            return False
        if isinstance(item, Mapping):
            pairs = list(item.items())[: room + 1]
            if not pairs:
                return add("{}", "quiet")
            if not add("{ ", "quiet"):
                return False
            for index, (key, member) in enumerate(pairs):
                if index and not add(", ", "quiet"):
                    return False
                if not (add(_quoted(str(key))[1:-1], "json-key") and add(": ", "quiet")):
                    return False
                if not put(member, depth + 1):
                    return False
            return add(" }", "quiet")
        if isinstance(item, Sequence) and not isinstance(item, str | bytes | Preview):
            if not item:
                return add("[]", "quiet")
            if not add("[", "quiet"):
                return False
            for index, member in enumerate(item):
                if index and not add(", ", "quiet"):
                    return False
                if not put(member, depth + 1):
                    return False
            return add("]", "quiet")
        if isinstance(item, str) and len(item) > room:
            return False
        run = json_run(item)
        return add(run.text, run.role)

    def add(text: str, role: str) -> bool:
        nonlocal room
        room -= len(text)
        out.append(Run(text, role))
        return room >= 0

    return out if put(value, 0) else None


def _lines(
    value: Any, lead: tuple[Run, ...], tail: tuple[Run, ...], width: int, depth: int, limit: int
) -> list[Line]:
    """`lead` stands before the value (its key), `tail` after it (the comma)."""
    indent = Run(" " * (INDENT * depth)) if depth else None
    before = (indent, *lead) if indent is not None else lead
    room = width - line_width(before) - line_width(tail)
    flat = one_line(value, room) if room > 0 else None
    if flat is not None:
        return [(*before, *flat, *tail)]
    container = isinstance(value, Mapping) or (
        isinstance(value, Sequence) and not isinstance(value, str | bytes | Preview)
    )
    if not container or depth >= DEEPEST or INDENT * depth > width // 2:
        return _long(value, before, tail, width)
    mapping = isinstance(value, Mapping)
    opening, closing = ("{", "}") if mapping else ("[", "]")
    out: list[Line] = [(*before, Run(opening, "quiet"))]
    members = list(value.items()) if mapping else [(None, member) for member in value]
    for index, (key, member) in enumerate(members[:limit]):
        comma = (Run(",", "quiet"),) if index < len(members) - 1 else ()
        name = (Run(_quoted(str(key))[1:-1], "json-key"), Run(": ", "quiet")) if mapping else ()
        out += _lines(member, name, comma, width, depth + 1, limit)
    inner = Run(" " * (INDENT * (depth + 1)))
    if len(members) > limit:
        out.append((inner, Run(f"… {len(members) - limit:,} more", "quiet")))
    out.append((*((indent,) if indent is not None else ()), Run(closing, "quiet"), *tail))
    return out


def _long(value: Any, before: tuple[Run, ...], tail: tuple[Run, ...], width: int) -> list[Line]:
    """A text longer than a line (or something nested too deep): broken, and indented under its key."""
    column = min(line_width(before), width // 2)
    run = json_run(value) if not isinstance(value, Mapping | list | tuple) else Run("…", "quiet")
    cut = wrap if " " in run.text[:200] else fold
    broken = cut([run, *tail], max(8, width - max(column, INDENT)))
    pad = Run(" " * column)
    out: list[Line] = [(*before, *broken[0])] if broken else [before]
    out += [(pad, *line) for line in broken[1:]]
    return out
