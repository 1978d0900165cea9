"""A run's conversation as Markdown (for reading) and JSON (exact), in pieces, position by position.

Markdown is made visible like everything that is read; each text stands in a quotation and each value in a
fence that nothing inside can close. JSON carries the content exactly as it is stored: its numbers keep their
digits and its keys their order, because its text is passed on, not read and written again.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inspector import formats, safe
from inspector.reports import shapes
from persistence.records import Mark, Unreadable

if TYPE_CHECKING:
    from persistence.reading.transcript import Transcript
    from persistence.records import BranchInfo, RunDetail, TranscriptEntry, TranscriptPart

__all__ = [
    "Conversation",
    "conversation_of",
    "message_object",
    "pieces",
    "progression_object",
    "run_object",
    "title_of",
]

CHUNK = 50
WHOLE = 1 << 30  # more characters than a part can have


@dataclass(frozen=True, slots=True)
class Conversation:
    """Which progression a run's conversation is read from: a branch's, or (None) the run's own."""

    branch: BranchInfo | None
    progression_id: str | None


def conversation_of(detail: RunDetail, wanted: str | None = None) -> Conversation | None:
    """The conversation of the branch `wanted` names (its id, a beginning of it, or its name); None: no such.

    Without `wanted` it is the branch that says most, or the run's own progression when there is no branch.
    """
    branches = detail.branches
    if wanted is not None:
        fits: tuple[Callable[[BranchInfo], bool], ...] = (
            lambda branch: branch.id == wanted,
            lambda branch: branch.name == wanted,
            lambda branch: branch.id.startswith(wanted),
            lambda branch: isinstance(branch.name, str) and branch.name.startswith(wanted),
        )
        for fit in fits:
            found = [branch for branch in branches if fit(branch)]
            if len(found) == 1:
                return Conversation(found[0], found[0].progression_id)
        return None
    counted = [branch for branch in branches if isinstance(branch.messages, int) and branch.messages]
    if counted:
        most = max(counted, key=lambda branch: branch.messages if isinstance(branch.messages, int) else 0)
        return Conversation(most, most.progression_id)
    return Conversation(None, detail.progression_id)


def title_of(detail: RunDetail) -> str:
    """The run's name as one visible line; its id when it has none."""
    name = detail.name
    return safe.text(name) if isinstance(name, str) and name.strip() else safe.text(detail.id)


def run_object(detail: RunDetail) -> dict[str, Any]:
    """The `run` of a JSON answer."""
    return {
        "id": detail.id,
        "row": shapes.value(detail.row),
        "length": detail.length,
        "messages": shapes.value(detail.messages),
        "branches": [
            {"id": branch.id, "messages": shapes.value(branch.messages), "row": shapes.value(branch.row)}
            for branch in detail.branches
        ],
        "invocation": shapes.value(detail.invocation),
        "show": shapes.value(detail.show),
        "plays": shapes.value(detail.plays),
        "contract": shapes.value(detail.contract),
        "verification": shapes.value(detail.verification),
        "counts": shapes.value(detail.counts),
        "missing_columns": list(detail.missing_columns),
        "missing_tables": list(detail.missing_tables),
    }


_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def _as_it_is(text: str) -> str | None:
    """Stored JSON as JSON text of our own: ASCII, on one line, otherwise untouched; None: it is no JSON."""
    try:
        json.loads(text, parse_constant=_no_constant, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    # Only strings can hold what is not ASCII, and only blanks between values can be line ends.
    return (
        _NOT_ASCII.sub(lambda found: json.dumps(found.group())[1:-1], text)
        .replace("\n", " ")
        .replace("\r", " ")
    )


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def message_object(entry: TranscriptEntry, row: Mapping[str, Any] | None) -> str:
    """One position as a JSON object: what is known of it, and the content as it is stored."""
    shape: dict[str, Any] = {"position": entry.position, "id": entry.id, "state": _state(entry)}
    if entry.duplicate_of is not None:
        shape["duplicate_of"] = entry.duplicate_of
    if entry.out_of_order:
        shape["out_of_order"] = True
    if row is None:
        return shapes.dumps(shape)
    for name in ("role", "sender", "recipient", "channel", "created_at"):
        shape[name] = shapes.value(row.get(name))
    shape["class"] = shapes.value(row.get("class_name"))
    content = row.get("content")
    exact = _as_it_is(content) if isinstance(content, str) else None
    if exact is not None:
        return f'{shapes.dumps(shape)[:-1]}, "content": {exact}}}'
    if isinstance(content, str):
        content = Unreadable(entry.problem or "not JSON", content)
    return shapes.dumps(shape | {"content": shapes.value(content)})


def _state(entry: TranscriptEntry) -> str:
    if entry.exists:
        return "there"
    return entry.problem or "missing"


async def pieces(
    detail: RunDetail,
    transcript: Transcript,
    form: str,
    *,
    store: Mapping[str, Any] | None = None,
    branch: BranchInfo | None = None,
) -> AsyncIterator[str]:
    """The conversation as `markdown` or `json`. `store` is what the JSON says of where it comes from."""
    make = _markdown if form == "markdown" else _json
    async for piece in make(detail, transcript, store, branch):
        yield piece


async def _json(
    detail: RunDetail, transcript: Transcript, store: Mapping[str, Any] | None, branch: BranchInfo | None
) -> AsyncIterator[str]:
    top = shapes.head()
    if store is not None:
        top["store"] = store
    top["run"] = run_object(detail)
    top["branch"] = None if branch is None else branch.id
    top["progression"] = progression_object(transcript)
    yield f'{shapes.dumps(top)[:-1]}, "rows": ['
    comma = "\n"
    for first in range(0, transcript.length, CHUNK):
        entries = await transcript.window(first, CHUNK, 0)
        rows = await transcript.stored(first, CHUNK)
        for entry, row in zip(entries, rows, strict=False):
            yield f"{comma}{message_object(entry, row)}"
            comma = ",\n"
    yield '\n], "next": null, "complete": true}\n'


def progression_object(transcript: Transcript) -> dict[str, Any]:
    return {
        "id": transcript.progression_id,
        "state": transcript.state,
        "length": transcript.length,
        "duplicates": transcript.duplicates,
        "why": transcript.why,
    }


async def _markdown(
    detail: RunDetail, transcript: Transcript, store: Mapping[str, Any] | None, branch: BranchInfo | None
) -> AsyncIterator[str]:
    yield f"# {_escaped(title_of(detail))}\n\n"
    for label, said in _facts(detail, branch):
        yield f"- {label}: {_escaped(said)}\n"
    if transcript.state not in ("list", "empty"):
        yield f"\n**The conversation is not readable: {_escaped(transcript.why or transcript.state)}.**\n"
    for first in range(0, transcript.length, CHUNK):
        for entry in await transcript.window(first, CHUNK, WHOLE):
            whole = await transcript.whole(entry.position) if entry.truncated else entry
            yield "".join(_message(whole or entry))


def _facts(detail: RunDetail, branch: BranchInfo | None) -> Iterator[tuple[str, str]]:
    row = detail.row
    yield "run", safe.text(detail.id)
    for label, name in (
        ("status", "status"),
        ("agent", "agent_name"),
        ("model", "model"),
        ("project", "project"),
    ):
        if row.get(name) is not None and not isinstance(row.get(name), Mark):
            yield label, safe.cell(row[name])
    if isinstance(row.get("started_at"), int | float):
        yield "started", formats.exact_time(row["started_at"])
    if detail.length is not None:
        yield "took", formats.duration(detail.length)
    if branch is not None:
        yield "branch", safe.cell(branch.name)


def _message(entry: TranscriptEntry) -> Iterator[str]:
    number = formats.count(entry.position + 1)
    if not entry.exists:
        why = "is named here and does not exist" if entry.problem is None else entry.problem
        yield f"\n## {number} ▲ {_escaped(safe.text(entry.id))} {_escaped(safe.text(why))}\n"
        return
    at = f", {formats.exact_time(entry.created_at)}" if entry.created_at is not None else ""
    again = f" ▲ the same as {entry.duplicate_of + 1}" if entry.duplicate_of is not None else ""
    late = " ▲ older than the one before" if entry.out_of_order else ""
    yield f"\n## {number} {_escaped(safe.text(entry.role or 'no role'))}{at}{again}{late}\n"
    if entry.problem is not None:
        yield f"\n▲ {_escaped(safe.text(entry.problem))}\n"
    for part in entry.parts:
        yield from _part(part)


def _part(part: TranscriptPart) -> Iterator[str]:
    match part.kind:
        case "text":
            yield "\n" + "".join(f"> {line}".rstrip() + "\n" for line in _lines(part.text))
        case "call":
            yield f"\n→ **{_escaped(safe.text(part.function or ''))}**\n{_fenced(part.value)}"
        case "result":
            yield f"\n← **{_escaped(safe.text(part.function or ''))}**\n{_fenced(part.value)}"
        case _:
            name = f"\n{_escaped(safe.text(part.name))}\n" if part.name else ""
            yield f"{name}{_fenced(part.value)}"


def _lines(text: str) -> list[str]:
    return safe.lines(text, limit=len(text) + 1).split("\n")


def _fenced(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    shown = "\n".join(_lines(text))
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return f"\n{fence}{'' if isinstance(value, str) else 'json'}\n{shown}\n{fence}\n"


_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~&!])")


def _escaped(visible: str) -> str:
    return _MARKUP.sub(r"\\\1", visible)
