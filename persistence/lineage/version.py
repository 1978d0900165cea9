"""What a `schema_meta` version is: every value falls into exactly one class, none through a comparison.

ADR-0128 D7 and DECISIONS 9: a release writes `1` to `4` as plain text. Nothing else is compared as a number,
except to see whether some lenient reader would take it for one above this program's own.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from persistence.schema.known import SCHEMA_VERSION

__all__ = ["Value", "Version", "VersionKind", "classify"]

Value = str | bytes | int | float
"""A value as SQLite keeps it; text that is not UTF-8 carries surrogate escapes."""

_PLAIN = re.compile(r"[1-9][0-9]*")
_WHOLE = re.compile(r"\s*([+-]?)(\d+(?:_\d+)*)(?:\.0*)?\s*")
_FLOAT = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?\s*", re.IGNORECASE)
_BASED = re.compile(r"\s*\+?0[xob][0-9a-f_]+\s*", re.IGNORECASE)
_DIGITS = 400  # more than any version has; longer ones are not made into numbers


class VersionKind(StrEnum):
    """The classes. The first three are plain whole numbers; the rest no release writes."""

    LOWER = "lower"
    EQUAL = "equal"
    HIGHER = "higher"
    MISSING = "missing"
    EMPTY = "empty"
    SPACED = "spaced"
    PADDED = "padded"
    ZERO = "zero"
    NEGATIVE = "negative"
    ODDLY_WRITTEN = "oddly written"
    NOT_WHOLE = "not a whole number"
    NOT_TEXT = "not text"
    SEVERAL = "several rows"


class Version(NamedTuple):
    """The class of the version rows, and their values. `above`: some reader takes it for one above ours."""

    kind: VersionKind
    values: tuple[Value, ...] = ()
    above: bool = False

    @property
    def plain(self) -> bool:
        """Whether it is what a release writes: a whole number from 1, plainly."""
        return self.kind in (VersionKind.LOWER, VersionKind.EQUAL, VersionKind.HIGHER)

    @property
    def shown(self) -> Value | None:
        return self.values[0] if self.values else None

    @property
    def words(self) -> str:
        """Reads on after "the version is"."""
        if self.kind is VersionKind.MISSING:
            return "missing"
        text = ", ".join(_shown(value) for value in self.values)
        if self.plain:
            return f"{text}, {_RELATION[self.kind]}"
        return f"{text}, which is {_WHY[self.kind]}"


_RELATION = {
    VersionKind.LOWER: f"lower than this program's {SCHEMA_VERSION}",
    VersionKind.EQUAL: "this program's own",
    VersionKind.HIGHER: f"higher than this program's {SCHEMA_VERSION}",
}
_WHY = {
    VersionKind.EMPTY: "empty",
    VersionKind.SPACED: "a number with spaces around it",
    VersionKind.PADDED: "a number padded with zeros",
    VersionKind.ZERO: "zero",
    VersionKind.NEGATIVE: "a negative number",
    VersionKind.ODDLY_WRITTEN: "a number written as no release writes one",
    VersionKind.NOT_WHOLE: "not written as a whole number",
    VersionKind.NOT_TEXT: "not text",
    VersionKind.SEVERAL: "more than one row",
}


def classify(values: tuple[Value, ...]) -> Version:
    """The class of the values of every row whose key is `version` and whose value is not NULL."""
    above = any(_reads_above(value) for value in values)
    if not values:
        return Version(VersionKind.MISSING)
    if len(values) > 1:
        return Version(VersionKind.SEVERAL, values, above)
    return Version(_kind(values[0]), values, above)


def _kind(value: Value) -> VersionKind:
    if not isinstance(value, str):
        return VersionKind.NOT_TEXT
    if _PLAIN.fullmatch(value):
        if len(value) > _DIGITS:
            return VersionKind.HIGHER
        number = int(value)
        if number == SCHEMA_VERSION:
            return VersionKind.EQUAL
        return VersionKind.HIGHER if number > SCHEMA_VERSION else VersionKind.LOWER
    if not value:
        return VersionKind.EMPTY
    whole = _WHOLE.fullmatch(value)
    if value != value.strip() or not value.strip():
        return VersionKind.SPACED if whole or not value.strip() else VersionKind.NOT_WHOLE
    if whole is None or "." in value:
        return VersionKind.ODDLY_WRITTEN if _BASED.fullmatch(value) else VersionKind.NOT_WHOLE
    if not value.isascii() or "_" in value or whole[1] == "+":
        return VersionKind.ODDLY_WRITTEN
    if not whole[2].strip("0"):
        return VersionKind.ZERO
    return VersionKind.NEGATIVE if whole[1] == "-" else VersionKind.PADDED


def _reads_above(value: Value) -> bool:
    """Whether any spelling a lenient reader accepts makes this a whole number above ours (DECISIONS 9)."""
    if isinstance(value, bytes):
        # A cast reads a blob's bytes as text.
        value = value.decode("latin-1")
    if isinstance(value, int):
        return value > SCHEMA_VERSION
    if isinstance(value, float):
        return value > SCHEMA_VERSION and value == value // 1
    text = value.partition("\0")[0] if "\0" in value else value
    whole = _WHOLE.fullmatch(text)
    if whole is not None:
        digits = whole[2].replace("_", "")
        if whole[1] == "-":
            return False
        return int(digits) > SCHEMA_VERSION if len(digits) <= _DIGITS else bool(digits.strip("0"))
    if _BASED.fullmatch(text):
        try:
            return int(text, 0) > SCHEMA_VERSION
        except ValueError:
            return False
    if len(text) <= _DIGITS and _FLOAT.fullmatch(text):
        number = float(text)
        return number > SCHEMA_VERSION and (number == number // 1 or number == float("inf"))
    return False


def _shown(value: Value) -> str:
    if isinstance(value, str):
        return repr(value) if len(value) <= 60 else f"{value[:60]!r}… ({len(value)} characters)"
    if isinstance(value, bytes):
        return f"the bytes {value[:40]!r}{'…' if len(value) > 40 else ''}"
    return f"the number {value!r}"
