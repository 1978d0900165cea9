"""A table's shape as data and in words: keys, links in and out, checks, indexes, triggers, its SQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from inspector import safe
from inspector.reports import shapes

if TYPE_CHECKING:
    from persistence.records import ForeignKey, Index, TableShape

__all__ = ["shape_lines", "shape_object"]


def shape_object(shape: TableShape) -> dict[str, Any]:
    """Everything known of the shape, for JSON."""
    found: dict[str, Any] = shapes.value(asdict(shape))
    return found


def shape_lines(shape: TableShape) -> Iterator[str]:
    """What is not in the list of columns, as visible lines of plain text."""
    groups: list[tuple[str, list[str]]] = [
        ("unique", [", ".join(map(safe.text, names)) for names in shape.unique]),
        ("links to", [_link(key) for key in shape.foreign_keys]),
        ("linked from", [f"{safe.text(name)} {_link(key)}" for name, key in shape.referenced_by]),
        ("checks", [safe.text(check) for check in shape.checks]),
        ("indexes", [_index(index) for index in shape.indexes]),
        ("triggers", [safe.text(name) for name, _ in shape.triggers]),
    ]
    for title, lines in groups:
        if lines:
            yield ""
            yield title
            yield from (f"  {line}" for line in lines)
    if shape.sql:
        yield ""
        yield from safe.lines(shape.sql).split("\n")
    if shape.unreadable:
        yield f"✗ its shape is not readable: {safe.text(shape.unreadable)}"


def _link(key: ForeignKey) -> str:
    there = f"{safe.text(key.table)} ({', '.join(map(safe.text, key.references))})"
    rules = [f"on delete {key.on_delete.lower()}"] if key.on_delete != "NO ACTION" else []
    rules += [f"on update {key.on_update.lower()}"] if key.on_update != "NO ACTION" else []
    return " ".join([f"({', '.join(map(safe.text, key.columns))}) → {there}", *map(safe.text, rules)])


def _index(index: Index) -> str:
    columns = ", ".join(
        safe.text(column) if column is not None else "(expression)" for column in index.columns
    )
    unique = "unique " if index.unique else ""
    where = f" where {safe.text(index.where)}" if index.where else ""
    return f"{safe.text(index.name)}  {unique}({columns}){where}"
