"""A conversation as a file: Markdown for reading, JSON for programs; in pieces, never whole in memory."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any

from inspector import formats, safe

if TYPE_CHECKING:
    from persistence.reading.transcript import Transcript
    from persistence.records import RunDetail, TranscriptEntry, TranscriptPart

__all__ = ["entry_shape", "pieces"]

WHOLE = 4
"""Messages read at a time when each is read whole."""


async def pieces(detail: RunDetail, transcript: Transcript, form: str) -> AsyncIterator[str]:
    """The conversation of a run in `markdown` or `json`, message by message, each whole."""
    if form == "json":
        async for piece in _json(detail, transcript):
            yield piece
    else:
        async for piece in _markdown(detail, transcript):
            yield piece


async def _entries(transcript: Transcript) -> AsyncIterator[TranscriptEntry]:
    """Every entry, whole: short ones by windows, those that were cut one by one."""
    for first in range(0, transcript.length, 256):
        for entry in await transcript.window(first, 256):
            whole = await transcript.whole(entry.position) if entry.truncated else entry
            yield whole or entry


async def _markdown(detail: RunDetail, transcript: Transcript) -> AsyncIterator[str]:
    name = detail.name if isinstance(detail.name, str) and detail.name.strip() else f"Run {detail.id}"
    yield f"# {_heading(name)}\n\n"
    facts = [("run", detail.id), ("status", detail.status)]
    facts += [(label, detail.row.get(column)) for label, column in _FACTS.items()]
    for label, value in facts:
        if value is not None and isinstance(value, str | int | float):
            shown = formats.exact_time(value) if label in ("started", "ended") else value
            yield f"- {label}: {_heading(str(shown))}\n"
    yield f"- messages: {transcript.length}\n"
    async for entry in _entries(transcript):
        yield "\n" + "".join(_markdown_entry(entry))


_FACTS = {
    "agent": "agent_name",
    "model": "model",
    "project": "project",
    "started": "started_at",
    "ended": "ended_at",
}


def _heading(text: str) -> str:
    """On one line, with nothing in it that Markdown would take for structure at its beginning."""
    return safe.text(text).lstrip("#> \t")


def _markdown_entry(entry: TranscriptEntry) -> Iterator[str]:
    number = entry.position + 1
    if not entry.exists:
        yield f"## {number}. (named here, and not there)\n\n`{_heading(entry.id)}`\n"
        return
    when = f", {formats.exact_time(entry.created_at)}" if entry.created_at is not None else ""
    twice = f", again the same as {entry.duplicate_of + 1}" if entry.duplicate_of is not None else ""
    late = ", older than the one before" if entry.out_of_order else ""
    yield f"## {number}. {_heading(entry.role or 'no role')}{when}{twice}{late}\n"
    for part in entry.parts:
        yield "\n"
        yield from _markdown_part(part)


def _markdown_part(part: TranscriptPart) -> Iterator[str]:
    match part.kind:
        case "text":
            yield part.text.rstrip("\n") + "\n"
        case "call":
            yield f"calls `{_heading(part.function or '?')}`\n\n"
            yield _fenced(part.value)
        case "result":
            yield f"`{_heading(part.function or '?')}` gave back\n\n"
            yield _fenced(part.value)
        case _:
            if part.name:
                yield f"{_heading(part.name)}:\n\n"
            yield _fenced(part.value)


def _fenced(value: Any) -> str:
    if isinstance(value, str):
        body, language = value.rstrip("\n"), ""
    else:
        body, language = json.dumps(value, ensure_ascii=False, indent=2, default=str), "json"
    fence = "```"
    while fence in body:
        fence += "`"
    return f"{fence}{language}\n{body}\n{fence}\n"


async def _json(detail: RunDetail, transcript: Transcript) -> AsyncIterator[str]:
    from inspector.reports import shapes

    head = {
        **shapes.head(),
        "run": {name: shapes.value(cell) for name, cell in detail.row.items()},
        "progression": {
            "id": transcript.progression_id,
            "state": transcript.state,
            "length": transcript.length,
        },
    }
    opened = shapes.dumps(head)
    yield f'{opened[:-1]}, "messages": ['
    first = True
    async for entry in _entries(transcript):
        yield ("\n" if first else ",\n") + shapes.dumps(entry_shape(entry))
        first = False
    yield "\n]}\n"


def entry_shape(entry: TranscriptEntry) -> dict[str, Any]:
    """One position of a conversation as JSON answers have it."""
    from inspector.reports import shapes

    shape: dict[str, Any] = {"position": entry.position, "id": entry.id, "exists": entry.exists}
    if entry.duplicate_of is not None:
        shape["duplicate_of"] = entry.duplicate_of
    if entry.out_of_order:
        shape["out_of_order"] = True
    if not entry.exists:
        return shape
    for name in ("role", "sender", "recipient", "channel", "created_at", "class_name", "size"):
        shape[name] = shapes.value(getattr(entry, name))
    if entry.problem is not None:
        shape["unreadable"] = entry.problem
    shape["content"] = shapes.value(entry.content if entry.content is not None else entry.raw)
    return shape
