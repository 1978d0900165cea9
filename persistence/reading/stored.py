"""A few rows as they are stored, by condition: what a page about one thing shows of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, column, func, select, table

from persistence.reading.cells import Cells
from persistence.reading.decoding import decoding
from persistence.reading.keys import choose_key
from persistence.reading.plans import Ask, Plan, Statement
from persistence.reading.previews import Source, heads, previewed
from persistence.records import Cell, TableShape

__all__ = ["LONG", "counted", "stored"]

LONG = 1024 * 1024
"""Bytes up to which a cell of such a row is loaded whole."""


def stored(
    shape: TableShape,
    dialect: str,
    conditions: Sequence[ColumnElement[bool]],
    *,
    order: str | None = None,
    limit: int = 1,
    cells: int = LONG,
) -> Plan[list[dict[str, Cell]]]:
    """Up to `limit` rows that meet the conditions, as column to cell (longer than `cells`: a Preview)."""
    names = [each.name for each in shape.columns if not each.hidden]
    sources = [Source(each.name, each.type) for each in shape.columns if not each.hidden]
    key = choose_key(shape, dialect)
    own = table(shape.name)
    by: list[ColumnElement[Any]] = []
    if order is not None and shape.column(order) is not None:
        by.append(column(order).asc().nulls_last())
    if key is None:
        decode = yield from decoding(dialect)
        query: Select[Any] = select(*previewed(sources, dialect, cells)).select_from(own)
        rows = yield Ask(Statement(query.where(*conditions).order_by(*by).limit(limit), dialect))
        return [dict(zip(names, heads(row, decode, cells), strict=True)) for row in rows]
    keys: list[ColumnElement[Any]] = [column(name) for name in key.names]
    query = select(*keys).select_from(own).where(*conditions).order_by(*by, *keys).limit(limit)
    found = yield Ask(Statement(query, dialect))
    blobs = not any(each.generated is not None for each in shape.columns)
    reading = Cells(own, key, sources, dialect, blobs=blobs)
    rows = yield from reading.read([tuple(row) for row in found], cells)
    return [dict(zip(names, row, strict=True)) for row in rows if row is not None]


def counted(shape: TableShape, dialect: str, conditions: Sequence[ColumnElement[bool]]) -> Plan[int]:
    """How many rows meet the conditions; give ones an index serves."""
    query = select(func.count().label("n")).select_from(table(shape.name)).where(*conditions)
    rows = yield Ask(Statement(query, dialect))
    return int(rows[0][0])
