"""Lines of JSON into checked lines of a run: bounded, one object each, told by their number when they fail.

What a line may say is in `record_fields`. Every fault is a `RecordInputError` that names the line; nothing of
the data is repeated in it beyond a few characters.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from inspector.actions.fitness import DEEPEST, unfit
from inspector.actions.record_fields import KINDS, MESSAGE_FIELDS, LineKind
from persistence.errors import StoreError

__all__ = ["LONGEST_LINE", "Line", "LineSplitter", "RecordInputError", "read_line"]

LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of one line; messages of that size are shown, longer ones are not."""


class RecordInputError(StoreError, ValueError):
    """A line of the input is not one that can be recorded."""

    default_code: ClassVar[str] = "record-input"


@dataclass(frozen=True, slots=True)
class Line:
    """A line that was checked: its kind, and its fields by name."""

    number: int
    kind: str
    fields: Mapping[str, Any]


class LineSplitter:
    """Pieces of input into lines with their numbers; holds at most one line. `name` is what the input is."""

    def __init__(self, name: str, *, longest: int = LONGEST_LINE) -> None:
        self.name = name
        self.number = 0
        self._longest = longest
        self._pieces: list[bytes] = []
        self._held = 0

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """The lines that end in this piece; blank ones are counted and left out."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            yield from self._line(end)
        self._hold(rest)

    def close(self) -> Iterator[tuple[int, bytes]]:
        """What is left when the input has ended without a line's end."""
        if self._held:
            yield from self._line(b"")

    def _hold(self, piece: bytes) -> None:
        self._held += len(piece)
        if self._held > self._longest:
            _fault(
                f"{self.name}, line {self.number + 1}",
                "The line is too long to be a line of a run.",
                f"at most {self._longest} bytes",
                f"more than {self._longest} bytes",
            )
        if piece:
            self._pieces.append(piece)

    def _line(self, end: bytes) -> Iterator[tuple[int, bytes]]:
        self._hold(end)
        line = b"".join(self._pieces)
        self._pieces.clear()
        self._held = 0
        self.number += 1
        if line.strip():
            yield self.number, line


def read_line(data: bytes, number: int, name: str) -> Line:
    """The line, checked. Raises RecordInputError."""
    where = f"{name}, line {number}"
    shape = _object(data, where)
    named = shape.get("kind")
    kind = KINDS.get(named) if isinstance(named, str) else None
    if kind is None:
        _fault(where, "The line says no kind there is.", ", ".join(KINDS), _shown(named, "no kind"))
    fields = {name: value for name, value in shape.items() if name != "kind"}
    _checked(kind, fields, where)
    system = fields.get("system") if kind.name == "branch" else None
    if system is not None:
        _checked(MESSAGE_FIELDS, system, f"{where}, system")
    return Line(number, kind.name, fields)


def _object(data: bytes, where: str) -> dict[str, Any]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        _fault(where, "The line is not UTF-8.", "UTF-8", f"byte {data[error.start]:#04x} at {error.start}")
    if text.startswith("\ufeff"):
        _fault(where, "The line begins with a byte order mark.", "an object", "U+FEFF")

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(found)
        if len(out) < len(found):
            seen: set[str] = set()
            twice = next(key for key, _ in found if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            _fault(where, "A key stands twice in one object.", "each key once", _shown(twice))
        return out

    def constant(word: str) -> NoReturn:
        _fault(where, "The line holds a number JSON has no word for.", "a finite number", word)

    try:
        shape = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
        fault = unfit(shape)
    except RecordInputError:
        raise
    except RecursionError:
        _fault(where, "The line is nested too deeply.", f"at most {DEEPEST} levels", "more")
    except ValueError as error:
        _fault(where, "The line is not JSON.", "one JSON object", str(error)[:80])
    if not isinstance(shape, dict):
        _fault(where, "The line is JSON, but no object.", "one JSON object", f"a {type(shape).__name__}")
    if fault is not None:
        _fault(where, "The line holds what no store can keep as it is.", "text and numbers of 64 bits", fault)
    return shape


def _checked(kind: LineKind, fields: Mapping[str, Any], where: str) -> None:
    for name, value in fields.items():
        field = kind.field(name)
        if field is None:
            known = [each.name for each in kind.fields]
            close = difflib.get_close_matches(name, known, n=1)
            expected = f"{close[0]}, or another field" if close else ", ".join(known)
            _fault(where, f"{_one(kind).capitalize()} has no such field.", expected, _shown(name))
        expected_instead = field.check(value)
        if expected_instead is not None:
            said = f"The field {name} of {_one(kind)} cannot be this."
            _fault(where, said, expected_instead, _shown(value))
    for field in kind.fields:
        if field.required and field.name not in fields:
            said = f"{_one(kind).capitalize()} needs its {field.name}."
            _fault(where, said, field.expects, f"no {field.name}")


def _one(kind: LineKind) -> str:
    return f"an {kind.name}" if kind.name == "end" else f"a {kind.name}"


def _shown(value: Any, nothing: str = "null") -> str:
    if value is None:
        return nothing
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _fault(where: str, message: str, expected: str, observed: str) -> NoReturn:
    raise RecordInputError(
        message,
        where=where,
        expected=expected,
        observed=observed,
        remedy="See `store-inspector record --help` for what each kind of line holds.",
    )
