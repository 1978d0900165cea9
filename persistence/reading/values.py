"""What a stored value means: the one documented decoder of the facade (ADR-0055 D1).

Nothing here raises for what a store holds: a value that cannot be read becomes `Unreadable`, which says
why and keeps what is there.

- A JSON column gives its native value whether the driver handed it over decoded or as JSON text.
- SQL NULL and the JSON text `null` both read as absent (None): 0.26 stored the first, later releases the
  second.
- Text that is not JSON, NaN and infinities, an object that names a key twice, and an integer past 64
  bits are `Unreadable`: passing them on would change them in silence.
- Text that is not UTF-8 keeps its bytes as surrogate escapes (`surrogateescape`), JSON or not.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections import Counter
from collections.abc import Callable
from json.scanner import make_scanner
from typing import Any

from persistence.records import Cell, Unreadable

__all__ = ["decode_embedding", "decode_json", "readable"]

_WIDEST = 2**63


def decode_json(value: Any) -> Any:
    """The native value of a JSON column's cell; None for both kinds of absence; `Unreadable` otherwise.

    Takes what any driver gives: a decoded value, JSON text, UTF-8 bytes of JSON text.
    """
    if value is None or isinstance(value, bool | Unreadable):
        return value
    if isinstance(value, memoryview | bytearray):
        value = bytes(value)
    if isinstance(value, bytes):
        text = value.decode("utf-8", "surrogateescape")
    elif isinstance(value, str):
        text = value
    else:
        return value if (why := _odd(value)) is None else Unreadable(why, repr(value))
    try:
        # Only a long number, or one with an exponent, can be past what is kept: in a short text that is
        # soon seen, in a long one it is cheaper to ask of each number.
        if len(text) < 2_000 and not _LONG.search(text):
            return _short(text)
        return _WHOLE.decode(text)
    except (_Refused, ValueError) as error:
        return Unreadable(_why(error), value)
    except RecursionError:
        return Unreadable("JSON nested too deeply to be read", value)


def _short(text: str) -> Any:
    try:
        found, end = _scan(text, 0)
        if end == len(text):
            return found
    except StopIteration:  # blanks before it, or no JSON
        pass
    return _SHORT.decode(text)


class _Refused(Exception):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        names = Counter(key for key, _ in pairs)
        twice = next(key for key, count in names.items() if count > 1)
        raise _Refused(f"a JSON object names the key {twice[:60]!r} twice")
    return out


def _constant(name: str) -> Any:
    raise _Refused(f"{name} is no JSON value")


def _integer(digits: str) -> int:
    if len(digits) > 20 or not -_WIDEST <= (number := int(digits)) < _WIDEST:
        raise _Refused(f"a number of {len(digits.lstrip('-'))} digits does not fit 64 bits")
    return number


def _real(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _Refused(f"the number {text[:40]} is past what a float can hold")
    return number


_LONG = re.compile(r"[0-9](?:[eE]|[0-9]{18})")
_SHORT = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)
_scan: Callable[[str, int], tuple[Any, int]] = make_scanner(_SHORT)  # type: ignore[arg-type]
_WHOLE = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer, parse_float=_real
)


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} at position {error.pos}"
    return str(error)


def _odd(value: Any) -> str | None:
    if isinstance(value, int) and not -_WIDEST <= value < _WIDEST:
        return "a number does not fit 64 bits"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} is no JSON value"
    return None


def readable(value: Any) -> Cell:
    """A stored scalar as a cell: bytes stay bytes, anything a driver made of a type becomes its text."""
    if value is None or isinstance(value, str | bytes | int | float):
        return int(value) if isinstance(value, bool) else value
    if isinstance(value, memoryview | bytearray):
        return bytes(value)
    if isinstance(value, Unreadable):
        return value
    return str(value)


def decode_embedding(value: Cell) -> Any:
    """The numbers of a message's embedding (little-endian 32-bit floats); what is none stays as it is."""
    if not isinstance(value, bytes) or len(value) % 4:
        return value
    return list(struct.unpack(f"<{len(value) // 4}f", value))
