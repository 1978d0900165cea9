"""The shapes of `record`'s input: each kind of line with its fields, as help and checks have them."""

from __future__ import annotations

import difflib
import math
import struct
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from inspector.actions.plan import END_REASONS
from persistence.schema.known import REASON_CODES, STATUS_SOURCES

__all__ = ["KINDS", "LineField", "LineKind", "shape_lines"]

Check = Callable[[Any], str | None]
"""What was expected instead, or None when the value will do."""


@dataclass(frozen=True, slots=True)
class LineField:
    """One field of a line. `expects` is the word for what it holds."""

    name: str
    expects: str
    says: str
    check: Check
    required: bool = False


@dataclass(frozen=True, slots=True)
class LineKind:
    """One kind of line, and what it does."""

    name: str
    says: str
    fields: tuple[LineField, ...]

    def field(self, name: str) -> LineField | None:
        return next((each for each in self.fields if each.name == name), None)


def _text(value: Any) -> str | None:
    return None if isinstance(value, str) else "text"


def _word(value: Any) -> str | None:
    return (
        None if isinstance(value, str) and value.strip() and "\0" not in value else "a text that is not empty"
    )


def _number(value: Any) -> str | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return None if good else "a number"


def _time(value: Any) -> str | None:
    return "seconds since 1970 (UTC)" if _number(value) else None


def _whole(value: Any) -> str | None:
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return None if good else "a whole number from 0"


def _object(value: Any) -> str | None:
    return None if isinstance(value, dict) else "an object"


def _list(value: Any) -> str | None:
    return None if isinstance(value, list) else "a list"


def _any(value: Any) -> str | None:
    return None if value is not None else "a JSON value other than null"


def _numbers(value: Any) -> str | None:
    good = isinstance(value, list) and all(_number(each) is None for each in value)
    try:
        struct.pack(f"<{len(value)}f", *value) if good else None
    except (OverflowError, struct.error):
        return "numbers of 32 bits"
    return None if good else "a list of numbers"


def _reason(value: Any) -> str | None:
    if not isinstance(value, str) or value in REASON_CODES:
        return _word(value)
    near = difflib.get_close_matches(value, REASONS, n=3)
    return f"{', '.join(near)}, or another known reason code" if near else "a known reason code"


def _source(value: Any) -> str | None:
    return None if isinstance(value, str) and value in STATUS_SOURCES else ", ".join(STATUS_SOURCES)


def _end_status(value: Any) -> str | None:
    return None if isinstance(value, str) and value in END_REASONS else ", ".join(END_REASONS)


def _running(value: Any) -> str | None:
    return None if value == "running" else "running (what ends a run belongs into `end`)"


def _texts(names: str, says: str) -> tuple[LineField, ...]:
    return tuple(LineField(name, "text", says, _text) for name in names.split())


REASONS = sorted(code for code in REASON_CODES if code.startswith(("run.", "session.")))
"""The reason codes there are for a run."""

_ID = LineField("id", "text", "its id; a new one is made when it is left out", _word)
_CREATED = LineField("created_at", "time", "when it was made; now when left out", _time)
_METADATA = LineField("node_metadata", "object", "whatever else there is to keep", _object)
_REASON = LineField("reason_code", "text", "one of the known reason codes", _reason)
_SUMMARY = LineField("reason_summary", "text", "the reason in words", _text)
_EVIDENCE = LineField("evidence_refs", "list", "what the reason rests on", _list)
_ACTOR = LineField("actor", "text", "who changed it", _text)
_SOURCE = LineField("source", "text", "executor, agent, admin or system", _source)

_MESSAGE = (
    LineField("role", "text", "user, assistant, system, action, ...", _word, required=True),
    LineField("content", "any", "what was said: any JSON value", _any, required=True),
    _ID,
    _CREATED,
    *_texts("sender recipient channel", "as the store has it"),
    LineField("class", "text", "the message's class by name", _word),
    _METADATA,
    LineField("embedding", "list", "numbers of 32 bits", _numbers),
)

KINDS: dict[str, LineKind] = {
    "session": LineKind(
        "session",
        "The run: the first line, and the only one of its kind. It is running from then on.",
        (
            _ID,
            LineField("progression_id", "text", "the id of its order of messages", _word),
            *_texts("name agent_name model provider effort project project_source", "what it is called by"),
            *_texts("run_id cc_session_id user playbook_name agent_hash", "as the store has it"),
            *_texts(
                "invocation_kind invocation_id source_kind show_topic show_play_name", "as the store has it"
            ),
            LineField("started_at", "time", "when it began; now when left out", _time),
            _CREATED,
            LineField("artifacts_path", "text", "the directory its expected files are in", _word),
            LineField(
                "artifact_contract",
                "object",
                "the files it is expected to leave; looked at when it ends",
                _object,
            ),
            _METADATA,
        ),
    ),
    "branch": LineKind(
        "branch",
        "A branch of the run. Messages belong to the last one unless they name another.",
        (
            _ID,
            LineField("progression_id", "text", "the id of its order of messages", _word),
            *_texts("name model provider agent_name user", "what it is called by"),
            LineField("system", "object", "its system message: the fields of a message", _object),
            _CREATED,
            _METADATA,
        ),
    ),
    "message": LineKind(
        "message",
        "A message, at the end of its branch's order and of the run's.",
        (
            *_MESSAGE,
            LineField("branch", "text", "its branch, by id or by name; the last one when left out", _word),
        ),
    ),
    "signal": LineKind(
        "signal",
        "Something that happened. The store numbers them.",
        (
            LineField("signal", "text", "its kind", _word, required=True),
            LineField("payload", "object", "what it says", _object),
            LineField("op_id", "text", "what it belongs to", _text),
            LineField("ts", "time", "when it happened; now when left out", _time),
        ),
    ),
    "status": LineKind(
        "status",
        "A change within a running run: a reason for its status, kept in its history.",
        (
            LineField("status", "text", "running", _running, required=True),
            LineField("reason_code", "text", "one of the known reason codes", _reason, required=True),
            _SUMMARY,
            _EVIDENCE,
            _SOURCE,
            _ACTOR,
            LineField("metadata", "object", "kept with the change", _object),
        ),
    ),
    "end": LineKind(
        "end",
        "The end: branches, usage and status. Nothing may follow it.",
        (
            LineField("status", "text", ", ".join(END_REASONS), _end_status, required=True),
            _REASON,
            _SUMMARY,
            _EVIDENCE,
            _SOURCE,
            _ACTOR,
            LineField("ended_at", "time", "when it ended; now when left out", _time),
            LineField("input_tokens", "number", "usage", _whole),
            LineField("output_tokens", "number", "usage", _whole),
            LineField("num_turns", "number", "usage", _whole),
            LineField("total_cost_usd", "number", "usage", _number),
            _METADATA,
        ),
    ),
}

MESSAGE_FIELDS: LineKind = LineKind("system", "The system message of a branch.", _MESSAGE)


def shape_lines() -> list[str]:
    """The shapes as lines of plain text, for the command's help."""
    out: list[str] = []
    for kind in KINDS.values():
        out += [f'{{"kind": "{kind.name}", ...}}  {kind.says}']
        needed = [each for each in kind.fields if each.required]
        others = [each for each in kind.fields if not each.required]
        told = [f"{each.name} ({each.expects}, needed)" for each in needed]
        told += [f"{each.name} ({each.expects})" for each in others]
        out += textwrap.wrap(", ".join(told), 88, initial_indent="  ", subsequent_indent="  ")
    out += ["", "Reason codes (every end has its own when none is named):"]
    out += textwrap.wrap(", ".join(REASONS), 88, initial_indent="  ", subsequent_indent="  ")
    return out
