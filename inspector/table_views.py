"""Which part of a table is shown, as an address can hold it, and where the links of its rows lead."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inspector import safe
from persistence.records import Cell, ForeignKey, Preview, Row, TableShape, Unreadable

__all__ = ["Link", "TableView", "link_at", "links_in", "where_words"]

Pairs = tuple[tuple[str, Cell], ...]


@dataclass(frozen=True, slots=True)
class TableView:
    """`structure`: how the table is made. `where`: only rows with these values. `at`: the row to go to."""

    structure: bool = False
    where: Pairs = ()
    at: Pairs = ()

    def __str__(self) -> str:
        if self.structure:
            return "structure"
        if self.where:
            return f"where{_packed(self.where)}"
        if self.at:
            return f"at{_packed(self.at)}"
        return "rows"

    @classmethod
    def parse(cls, text: str | None) -> TableView:
        """The view a text names; what it does not understand is all rows."""
        if text == "structure":
            return cls(structure=True)
        for word in ("where", "at"):
            if text and text.startswith(f"{word}["):
                pairs = _unpacked(text[len(word) :])
                return cls(where=pairs) if word == "where" else cls(at=pairs)
        return cls()


@dataclass(frozen=True, slots=True)
class Link:
    """From a row to rows of another table: `pairs` are that table's columns with the values to look for."""

    table: str
    pairs: Pairs
    key: ForeignKey

    @property
    def view(self) -> TableView:
        return TableView(at=self.pairs)


def link_at(shape: TableShape, row: Row, names: Sequence[str], column: str) -> Link | None:
    """Where the value of `column` leads; None when it is no link, or the row has no value to follow."""
    for key in shape.foreign_keys:
        if column in key.columns and len(key.references) == len(key.columns):
            values = [_value(row, names, name) for name in key.columns]
            if all(value is not None for value in values):
                return Link(key.table, tuple(zip(key.references, values, strict=True)), key)
    return None


def links_in(shape: TableShape, row: Row, names: Sequence[str]) -> list[Link]:
    """The tables whose rows may name this one; whether they do is known when they are looked at."""
    out = []
    for table, key in shape.referenced_by:
        if len(key.references) == len(key.columns):
            values = [_value(row, names, name) for name in key.references]
            if all(value is not None for value in values):
                out.append(Link(table, tuple(zip(key.columns, values, strict=True)), key))
    return out


def where_words(pairs: Pairs) -> str:
    """`session_id = 0f3c…, kind = file`, made visible."""
    return ", ".join(f"{safe.text(name)} = {safe.cell(value)}" for name, value in pairs)


def _value(row: Row, names: Sequence[str], name: str) -> Cell:
    """A value that a row can be looked up by; None for one that is not held whole."""
    if name not in names:
        return None
    value = row.cells[names.index(name)] if names.index(name) < len(row.cells) else None
    return value if isinstance(value, str | int | float | bytes) else None


def _packed(pairs: Pairs) -> str:
    out: list[Any] = []
    for name, value in pairs:
        if isinstance(value, Preview | Unreadable):
            raise TypeError("not a value rows are looked up by")
        out.append([name, {"bytes": value.hex()} if isinstance(value, bytes) else value])
    return json.dumps(out, separators=(",", ":"))


def _unpacked(text: str) -> Pairs:
    try:
        found = json.loads(text)
        return tuple(
            (str(name), bytes.fromhex(value["bytes"]) if isinstance(value, dict) else value)
            for name, value in found
            if value is None or isinstance(value, str | int | float | dict)
        )
    except (ValueError, TypeError, KeyError):
        return ()
