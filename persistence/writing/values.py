"""What a value becomes in a column, or why the column cannot keep it as it is.

Nothing is changed in silence: a value either reads back equal, or it is refused (ValueRefusedError) before
any statement. Refused are NaN and infinities, lone surrogates, numbers too wide for the column, mapping
keys that are no text, a NUL where PostgreSQL has no room for one, and kinds a column does not hold. Two
things are kept by their JSON meaning: a tuple reads back as a list, and a whole number written as a float
may read back as an int of the same value.

An embedding is kept as messages keep it everywhere: 32-bit floats, little-endian.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, NoReturn

from sqlalchemy import JSON, Column, Float, Integer, LargeBinary, Table

from persistence.errors import ValueRefusedError

__all__ = ["encode", "identifier_fault", "json_text", "row_values", "text_fault"]

_WIDEST = 2**63
_SERVER_WIDEST = 2**31  # the operational schema's whole numbers are `integer` on PostgreSQL
_DEEPEST = 200
"""Levels of nesting a JSON value may have; readers of both databases stop at some depth of their own."""

_write_json = json.JSONEncoder(allow_nan=False, check_circular=False).encode  # `_DEEPEST` ends a circle

_Encoder = Callable[[Any, bool, str], Any]


def encode(table: Table, column: str, value: Any, dialect: str) -> Any:
    """The value as the driver is to be given it for this column. Raises ValueRefusedError."""
    of = _columns(table)[column]
    if value is None and of.nullable:
        return None
    return of.encoder(value, dialect != "sqlite", of.where)


def row_values(table: Table, fields: Mapping[str, Any], dialect: str) -> dict[str, Any]:
    """All the fields encoded, each under `v_` and its column's name. Raises ValueRefusedError, also for an
    unknown column."""
    known = _columns(table)
    server = dialect != "sqlite"
    out: dict[str, Any] = {}
    for column, value in fields.items():
        of = known.get(column)
        if of is None:
            refuse(
                f"{table.name}.{column}",
                "There is no such column.",
                "a column of the table",
                f"{column!r:.80}",
            )
        parameter, encoder, nullable, where = of
        out[parameter] = None if value is None and nullable else encoder(value, server, where)
    return out


class _Column(NamedTuple):
    parameter: str
    encoder: _Encoder
    nullable: bool
    where: str


@cache
def _columns(table: Table) -> dict[str, _Column]:
    return {
        column.name: _Column(
            f"v_{column.name}", _encoder(column), bool(column.nullable), f"{table.name}.{column.name}"
        )
        for column in table.columns
    }


def _encoder(column: Column[Any]) -> _Encoder:
    if isinstance(column.type, JSON):
        return _json
    if isinstance(column.type, Integer):
        return _integer
    if isinstance(column.type, Float):
        return _real
    if isinstance(column.type, LargeBinary):
        return _embedding
    return _text


def refuse(where: str, message: str, expected: str, observed: str) -> NoReturn:
    raise ValueRefusedError(
        message,
        where=where,
        expected=expected,
        observed=observed,
        remedy="Nothing was written. Give the value as the column can keep it.",
    )


# -- text ------------------------------------------------------------------------------------------------


def text_fault(value: str, server: bool) -> str | None:
    """Why a text cannot be kept as it is; None when it can."""
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            return f"a lone surrogate at position {error.start}"
    if server and "\0" in value:
        return f"a NUL at position {value.index(chr(0))}, which PostgreSQL's text cannot hold"
    return None


def _text(value: Any, server: bool, where: str) -> str:
    if not isinstance(value, str):
        refuse(where, f"{where} holds text.", "text", _kind(value))
    if not server and value.isascii():
        return value
    fault = text_fault(value, server)
    if fault is not None:
        refuse(where, f"{where} cannot keep this text as it is: {fault}.", "text", fault)
    return value


def identifier_fault(value: Any) -> str | None:
    """Why something cannot be a message id of a progression; None when it can.

    A NUL is refused on both databases: SQLite's own JSON functions end a text there, so that they could
    not tell whether the id is in the collection already.
    """
    if not isinstance(value, str):
        return f"not text but {_kind(value)}"
    if "\0" in value:
        return "a NUL"
    return text_fault(value, False)


# -- numbers and bytes -----------------------------------------------------------------------------------


def _integer(value: Any, server: bool, where: str) -> int:
    if not isinstance(value, int):
        refuse(where, f"{where} holds a whole number.", "a whole number", _kind(value))
    widest = _SERVER_WIDEST if server else _WIDEST
    if not -widest <= value < widest:
        bits = 32 if server else 64
        refuse(where, f"{where} holds {bits}-bit numbers.", f"{bits} bits", f"{value.bit_length()} bits")
    return int(value)


def _real(value: Any, server: bool, where: str) -> float:
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(where, f"{where} holds a number.", "a number", _kind(value))
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        refuse(where, f"{where} holds finite numbers.", "a finite number", f"{value!r:.40}")
    if number != value:
        refuse(where, f"{where} would round this number.", "a number a float holds", f"{value!r:.40}")
    return number


def _embedding(value: Any, server: bool, where: str) -> bytes:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if not isinstance(value, list | tuple):
        refuse(where, f"{where} holds bytes, or a list of numbers.", "bytes or numbers", _kind(value))
    try:
        packed = struct.pack(f"<{len(value)}f", *value)
    except (struct.error, OverflowError, TypeError) as error:
        refuse(where, f"{where} holds numbers of 32 bits.", "numbers of 32 bits", str(error))
    if not all(map(math.isfinite, value)):
        refuse(where, f"{where} holds finite numbers.", "finite numbers", "NaN or an infinity")
    return packed


# -- JSON ------------------------------------------------------------------------------------------------


def json_text(value: Any, where: str, *, server: bool = False) -> str:
    """The JSON text of a value, in ASCII. Raises ValueRefusedError for what would not read back equal."""
    try:
        fault = _json_fault(value, server, 0)
    except RecursionError:
        fault = "nested too deeply"
    if fault is not None:
        refuse(where, f"{where} cannot keep this value as it is: {fault}.", "a JSON value", fault)
    return _write_json(value)


def _json(value: Any, server: bool, where: str) -> Any:
    if isinstance(value, dict):
        return json_text(value, where, server=server)
    if isinstance(value, Mapping):
        value = dict(value)
    text = json_text(value, where, server=server)
    if not server and isinstance(value, int | float) and not isinstance(value, bool):
        # A JSON column makes a number of a text that looks like one; given as the number it stays exact.
        return value
    return text


def _json_fault(value: Any, server: bool, depth: int) -> str | None:
    if isinstance(value, str):
        return None if not server and value.isascii() else text_fault(value, server)
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return None if -_WIDEST <= value < _WIDEST else f"a number of {value.bit_length()} bits"
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{value} is no JSON number"
    if depth >= _DEEPEST:
        return f"nested more than {_DEEPEST} levels deep"
    if isinstance(value, dict):
        for key, part in value.items():
            if not server and type(key) is type(part) is str and key.isascii() and part.isascii():
                continue  # what most of them are
            if not isinstance(key, str):
                return f"a key that is not text but {_kind(key)}"
            fault = text_fault(key, server) or _json_fault(part, server, depth + 1)
            if fault is not None:
                return fault
        return None
    if isinstance(value, list | tuple):
        for part in value:
            fault = _json_fault(part, server, depth + 1)
            if fault is not None:
                return fault
        return None
    return f"{_kind(value)} has no JSON form"


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
