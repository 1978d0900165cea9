"""Cursors: the key of the last row of an answer, for `--after`. Opaque to whoever passes them on."""

from __future__ import annotations

import json
from base64 import b64decode, urlsafe_b64decode, urlsafe_b64encode
from typing import TYPE_CHECKING, Any

import click

from inspector.reports import shapes

if TYPE_CHECKING:
    from persistence.reading.source import RowSource

__all__ = ["read_cursor", "write_cursor"]


def write_cursor(source: RowSource, key: tuple[Any, ...]) -> str:
    """The cursor behind the row with this key, good for this source in this order only."""
    body = shapes.dumps([*_about(source), [shapes.value(part) for part in key]])
    return urlsafe_b64encode(body.encode("ascii")).rstrip(b"=").decode("ascii")


def read_cursor(source: RowSource, cursor: str) -> tuple[Any, ...]:
    """The key in a cursor. One that was not written here, or for another list, is a usage error."""
    try:
        raw = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        *about, key = json.loads(raw)
        parts = tuple(_part(part) for part in key)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise click.BadParameter("this is not a cursor of an earlier answer", param_hint="--after") from None
    if about != _about(source):
        raise click.BadParameter(
            "this cursor is of another list or order; ask with the same options", param_hint="--after"
        )
    return parts


def _about(source: RowSource) -> list[Any]:
    order = source.order
    return [source.name, None if order is None else [order.column, order.descending]]


def _part(part: Any) -> Any:
    match part:
        case {"base64": text}:
            return b64decode(text, validate=True)
        case {"number": text}:
            return float(text) if not text.startswith(("0x", "-0x")) else int(text, 16)
        case None | bool() | int() | float() | str():
            return part
        case _:
            raise ValueError(part)
