"""Whether a value can be written as it is: UTF-8, finite numbers of 64 bits, JSON that is not too deep."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from persistence.records import Mark, Preview, Unreadable
from persistence.schema.known import JSON_COLUMNS

__all__ = ["DEEPEST", "unfit", "unfit_cell"]

DEEPEST = 200
"""Levels of nesting the store's readers go down."""

_WIDEST = 2**63
_NUMBERS = frozenset(
    (
        *("created_at", "updated_at", "started_at", "ended_at", "ended_at_is_approximate", "last_message_at"),
        *("duration_ms", "input_tokens", "output_tokens", "num_turns", "total_cost_usd", "ts", "seq"),
    )
)


def unfit(value: Any, depth: int = 0) -> str | None:
    """Why a JSON value cannot be kept as it is; None when it can."""
    match value:
        case None | bool():
            return None
        case str():
            return _surrogate(value)
        case float():
            return None if math.isfinite(value) else "a number that is not finite"
        case int():
            return None if -_WIDEST <= value < _WIDEST else f"a whole number of {value.bit_length()} bits"
        case Mapping() | list() | tuple():
            if depth >= DEEPEST:
                return f"nested more than {DEEPEST} levels deep"
            inner = [*value, *value.values()] if isinstance(value, Mapping) else value
            return next((fault for each in inner if (fault := unfit(each, depth + 1)) is not None), None)
        case Unreadable():
            return value.why
        case Preview():
            return f"{value.size} bytes, too long to be copied"
        case Mark():
            return value.value
        case _:
            return f"a {type(value).__name__}"


def unfit_cell(table: str, column: str, value: Any) -> str | None:
    """Why a decoded cell cannot be written into this column; None when it can."""
    if value is None:
        return None
    if column in JSON_COLUMNS.get(table, ()) or isinstance(value, Unreadable | Preview | Mark):
        return unfit(value)
    if column == "embedding":
        good = isinstance(value, bytes) or (isinstance(value, list) and unfit(value) is None)
        return None if good else "no list of numbers"
    if column in _NUMBERS:
        good = isinstance(value, int | float) and not isinstance(value, bool)
        return unfit(value) if good else f"a {type(value).__name__} where a number belongs"
    if not isinstance(value, str):
        return f"a {type(value).__name__} where text belongs"
    if "\0" in value and (column == "id" or column.endswith("_id")):
        return "an id with a NUL in it"
    return _surrogate(value)


def _surrogate(text: str) -> str | None:
    if text.isascii():
        return None
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "text that is not UTF-8"
    return None
