"""The list of definitions as rows: the newest version of each, and how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from persistence.records import ABSENT, Cell, Column, Row

if TYPE_CHECKING:
    from persistence.reading.page import Page

__all__ = ["COLUMNS", "latest_rows"]

COLUMNS: tuple[Column, ...] = (
    Column("kind", "kind", "text"),
    Column("name", "name", "text"),
    Column("version", "newest", "number"),
    Column("versions", "versions", "number"),
    Column("created_at", "saved", "time"),
    Column("message", "message", "text"),
    Column("id", "id", "id"),
)


def latest_rows(page: Page) -> tuple[Row, ...]:
    """One row a definition, its newest version, from every version in the order of the list."""
    rows: dict[tuple[Any, Any], list[Cell]] = {}
    for version in page:
        key = (version.get("kind"), version.get("name"))
        known = rows.get(key)
        if known is None:
            rows[key] = [
                1 if column.name == "versions" else version.get(column.name, ABSENT) for column in COLUMNS
            ]
        else:
            known[3] = int(known[3]) + 1  # type: ignore[arg-type]
    return tuple(Row(key, tuple(cells)) for key, cells in rows.items())
