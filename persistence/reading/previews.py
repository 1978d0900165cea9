"""The head of a cell and its size, by SELECT alone: where a cell cannot be opened by row id.

SQLite loads a whole text for that, so `cells` asks this way only where it must.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, LargeBinary, Text, case, cast, column, func, literal_column, null

from persistence.reading.decoding import Decoder
from persistence.reading.values import readable
from persistence.records import Cell, CellPart, Preview

__all__ = ["HEAD", "HEAD_CHARACTERS", "LONGEST", "Source", "cell_part", "heads", "part_of", "previewed"]

HEAD = 800
"""Bytes up to which a cell is shown whole; of a longer one `HEAD_CHARACTERS` come."""
HEAD_CHARACTERS = 200
LONGEST = 64 * 1024 * 1024
"""Bytes up to which a whole cell is loaded."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a cell comes from: a stored column, or an expression over its row that stays short."""

    stored: str | None = None
    type: str = ""
    computed: ColumnElement[Any] | None = None


def previewed(sources: Sequence[Source], dialect: str, limit: int) -> list[ColumnElement[Any]]:
    """What to SELECT for each source's head, its size and its kind; `heads` makes cells of such a row."""
    chosen: list[ColumnElement[Any]] = []
    for source in sources:
        if source.stored is None:
            chosen += [null() if source.computed is None else source.computed, null(), null()]
        elif dialect == "sqlite":
            chosen += _sqlite_head(column(source.stored), limit)
        else:
            chosen += _server_head(column(source.stored), source.type.lower(), limit)
    return [item.label(f"c{n}") for n, item in enumerate(chosen)]


def _sqlite_head(cell: ColumnElement[Any], limit: int) -> list[ColumnElement[Any]]:
    # As bytes: the substr of a text ends at its first NUL, and of an empty blob it makes NULL.
    kind, raw = func.typeof(cell), cast(cell, LargeBinary)
    head = func.coalesce(func.substr(raw, 1, limit), literal_column("x''"))
    size = func.length(raw)
    return [
        case({"text": head, "blob": head}, value=kind, else_=cell),
        case({"text": size, "blob": size}, value=kind),
        kind,
    ]


_PLAIN = ("smallint", "integer", "bigint", "real", "double precision", "boolean", "oid")


def _server_head(cell: ColumnElement[Any], kind: str, limit: int) -> list[ColumnElement[Any]]:
    if kind in _PLAIN:
        return [cell, null(), null()]
    if kind == "bytea":
        return [func.substr(cell, 1, limit), func.length(cell), null()]
    text = cast(cell, Text)
    return [func.substr(text, 1, limit), func.octet_length(text), null()]


def heads(row: Sequence[Any], decode: Decoder, limit: int, head: int = HEAD_CHARACTERS) -> tuple[Cell, ...]:
    """The cells of a row selected by `previewed`."""
    out: list[Cell] = []
    for place in range(0, len(row), 3):
        content, size, kind = row[place : place + 3]
        content = readable(content)
        whole = size is None or size <= limit
        if kind == "text" and isinstance(content, bytes):
            content = decode(content) if whole else decode.head(content, head)
        out.append(
            content if whole or not isinstance(content, str | bytes) else Preview(content[:head], size)
        )
    return tuple(out)


def part_of(name: str, kind: str, dialect: str, offset: int, length: int) -> list[ColumnElement[Any]]:
    """What to SELECT for some bytes of one stored cell; `cell_part` makes the part of such a row."""
    cell: ColumnElement[Any] = column(name)
    if dialect == "sqlite":
        raw: ColumnElement[Any] = cast(cell, LargeBinary)
        said: ColumnElement[Any] = func.typeof(cell)
    else:
        binary = kind.lower() == "bytea"
        raw = cell if binary else func.convert_to(cast(cell, Text), "UTF8")
        said = literal_column("'blob'" if binary else "'text'")
    return [said, func.length(raw), func.substr(raw, offset + 1, length)]


def cell_part(row: Sequence[Any], offset: int) -> CellPart | None:
    """The part a row selected by `part_of` holds; None for NULL."""
    said, size, data = row
    if size is None:
        return None
    kinds: dict[str, Literal["text", "blob", "value"]] = {"text": "text", "blob": "blob"}
    return CellPart(bytes(data or b""), offset, size, kinds.get(said, "value"))
