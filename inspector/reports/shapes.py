"""The JSON a person's programs read (DESIGN 10): one object, exact values, a mark where there is none.

Text is ASCII with JSON's escapes, so that what is not UTF-8 in a store survives as the surrogates it was
decoded to and nothing in it can speak to a terminal.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from inspector.version import __version__
from persistence.basics import Mark, Preview, Unreadable

if TYPE_CHECKING:
    from persistence.records import Column, ReadInfo, StoreFacts

__all__ = [
    "FORMAT",
    "document",
    "dumps",
    "head",
    "instant",
    "row_object",
    "store_shape",
    "unique_names",
    "value",
]

FORMAT = 1
"""Raised only if a shape could not grow any other way."""


def value(cell: Any) -> Any:
    """A cell, or a decoded JSON value, as JSON can carry it exactly.

    Bytes become `{"base64": ...}`, a value that could not be read `{"unreadable": why}`, one that is not in
    this store `{"absent": why}`, a head of a longer value `{"preview": ..., "size": bytes}`, a number JSON
    has no word for `{"number": "Infinity"}`.
    """
    match cell:
        case None | bool() | str():
            return cell
        case int():
            return cell if cell.bit_length() < 14_000 else {"number": hex(cell)}
        case float():
            return cell if math.isfinite(cell) else {"number": _odd_number(cell)}
        case bytes() | bytearray() | memoryview():
            from base64 import b64encode

            return {"base64": b64encode(cell).decode("ascii")}
        case Unreadable():
            shape: dict[str, Any] = {"unreadable": cell.why}
            if cell.raw is not None:
                shape["raw"] = value(cell.raw)
            return shape
        case Preview():
            return {"preview": value(cell.head), "size": cell.size}
        case Mark():
            return {"absent": cell.value}
        case Mapping():
            return {str(name): value(inner) for name, inner in cell.items()}
        case list() | tuple():
            return [value(inner) for inner in cell]
        case _:
            return str(cell)


def _odd_number(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    return "Infinity" if number > 0 else "-Infinity"


def dumps(shape: Any, *, indent: int | None = None) -> str:
    import json

    return json.dumps(shape, ensure_ascii=True, allow_nan=False, indent=indent)


def head() -> dict[str, Any]:
    """What every answer begins with."""
    return {"format": FORMAT, "tool": "store-inspector", "version": __version__}


def document(**parts: Any) -> str:
    """A whole answer as text."""
    return dumps({**head(), **parts}, indent=2)


def instant(seconds: float) -> str:
    """A moment of this program's own, in UTC to the millisecond."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def store_shape(facts: StoreFacts, read: ReadInfo | None = None) -> dict[str, Any]:
    """What the store is, how it was read and when: the `store` of every answer."""
    read = read or facts.read
    shape: dict[str, Any] = {
        "display": facts.display,
        "backend": facts.backend,
        "lineage": value(facts.lineage),
        "version": value(facts.version),
        "size": facts.size,
        "library": facts.library,
    }
    if read is not None:
        shape |= {
            "route": str(read.route),
            "read_at": instant(read.at),
            "snapshots": read.snapshots,
            "kernel_held": read.kernel_held,
            "notices": [{"code": notice.code, "text": notice.text} for notice in read.notices],
        }
    return shape


def unique_names(columns: Iterable[Column]) -> list[str]:
    """The columns' names, a repeated one with a number behind it (`name`, `name:2`)."""
    columns = list(columns)
    seen: dict[str, int] = {}
    taken = {column.name for column in columns}
    names = []
    for column in columns:
        number = seen[column.name] = seen.get(column.name, 0) + 1
        name = column.name
        while number > 1 and (name := f"{column.name}:{number}") in taken:
            number += 1
        taken.add(name)
        names.append(name)
    return names


def row_object(names: Sequence[str], cells: Sequence[Any]) -> dict[str, Any]:
    return {name: value(cell) for name, cell in zip(names, cells, strict=True)}
