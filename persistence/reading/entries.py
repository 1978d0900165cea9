"""A message's content taken apart for people: text, tool calls, results, other JSON.

The names of the content's keys are facts of the stores (`system_message`, `instruction`,
`assistant_response`, `function`, `arguments`, `output`); any other shape, of any other message class, is
shown as the JSON it is, and what is not JSON as it lies there with the reason.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from persistence.reading.prefixes import completed
from persistence.reading.values import decode_json
from persistence.records import Cell, Preview, TranscriptPart, Unreadable

__all__ = ["Content", "content_of", "searchable"]

_TEXTS = {
    "system_message": "system",
    "instruction": "instruction",
    "guidance": "guidance",
    "assistant_response": "response",
    "text": "text",
    "content": "text",
    "message": "text",
    "summary": "summary",
    "error": "error",
}


@dataclass(frozen=True, slots=True)
class Content:
    """What a content cell holds, as `TranscriptEntry` has it."""

    parts: tuple[TranscriptPart, ...] = ()
    value: Any = None
    raw: str | None = None
    problem: str | None = None
    truncated: bool = False


def content_of(cell: Cell, head: int | None) -> Content:
    """The content of a cell; texts are cut after `head` characters (None: not at all).

    The JSON of a Preview ends somewhere in the middle: it is read as far as it goes.
    """
    if isinstance(cell, Preview):
        text = cell.head if isinstance(cell.head, str) else cell.head.decode("utf-8", "surrogateescape")
        value = completed(text)
        if value is None:
            return _raw(text, "too long to be read as JSON here", head, more=True)
        return Content(tuple(_cut(part, head) for part in _parts(value)), value, truncated=True)
    value = decode_json(cell)
    problem = None
    if isinstance(value, Unreadable):
        problem = value.why
        text = cell if isinstance(cell, str) else ""
        if isinstance(cell, bytes):
            text = cell.decode("utf-8", "surrogateescape")
        try:
            value = json.loads(text)  # NaN, a key named twice: shown, and told
        except (ValueError, RecursionError):
            return _raw(text, problem, head)
    parts = tuple(_cut(part, head) for part in _parts(value))
    return Content(parts, value, problem=problem, truncated=any(part.cut for part in parts))


def _raw(text: str, problem: str, head: int | None, *, more: bool = False) -> Content:
    part = _cut(TranscriptPart("text", text=text), head)
    return Content((part,), None, part.text, problem, truncated=more or part.cut)


def _parts(value: Any) -> list[TranscriptPart]:
    if isinstance(value, str):
        return [TranscriptPart("text", text=value)] if value else []
    if value is None:
        return []
    if not isinstance(value, dict):
        return [TranscriptPart("json", value=value)]
    left = dict(value)
    out: list[TranscriptPart] = []
    if isinstance(left.get("function"), str) and ("arguments" in left or "output" in left):
        function, arguments = left.pop("function"), left.pop("arguments", None)
        if "output" in left:
            output = left.pop("output")
            out.append(TranscriptPart("result", function=function, value=output, arguments=arguments))
        else:
            out.append(TranscriptPart("call", function=function, value=arguments))
    for key, name in _TEXTS.items():
        if isinstance(left.get(key), str):
            text = left.pop(key)
            if text:
                out.append(TranscriptPart("text", name, text))
    out.extend(
        TranscriptPart("json", str(key), value=each)
        for key, each in left.items()
        if each is not None and each != "" and each != [] and each != {}
    )
    return out


def _cut(part: TranscriptPart, head: int | None) -> TranscriptPart:
    if head is not None and part.kind == "text" and len(part.text) > head:
        return replace(part, text=part.text[:head], cut=True)
    return part


def searchable(parts: tuple[TranscriptPart, ...]) -> str:
    """What of a message can be found by text: all that is shown of it, the keys of its JSON included."""
    found: list[str] = []
    for part in parts:
        found += [part.text, part.function or "", part.name if part.kind == "json" else ""]
        waiting = [part.value, part.arguments]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                found += map(str, value)
                waiting.extend(value.values())
            elif isinstance(value, list):
                waiting.extend(value)
            elif value is not None:
                found.append(value if isinstance(value, str) else json.dumps(value))
    return "\n".join(found)
