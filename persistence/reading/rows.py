"""The rows of any table or view, whoever made it, as a windowed source."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Text, and_, cast, column, false, literal_column, or_

from persistence.errors import MissingTableError, StoreError
from persistence.reading.listed import Field, Listed
from persistence.reading.listing import Listing
from persistence.reading.plans import value
from persistence.reading.previews import Source
from persistence.records import Cell, Column, ColumnKind, Order, Preview, TableColumn, TableShape

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot
    from persistence.reading.source import RowSource
    from persistence.reading.store import StoreReading

__all__ = ["find_table", "kind_of", "listed_table", "rows", "rows_among", "shown_columns", "where_equal"]

_NUMBERS = ("INT", "REAL", "FLOA", "DOUB", "NUM", "DEC", "SERIAL", "OID")
_MOST_KEYS = 500
_TEXTS = ("CHAR", "CLOB", "TEXT")


def rows(
    reading: StoreReading,
    table: str,
    *,
    order: Order | None = None,
    where: Mapping[str, Cell] | None = None,
) -> RowSource:
    """The table's rows by its own key, or in `order`; `where` holds columns to values they equal.

    Nothing is read before the first window; that one raises MissingTableError, or StoreError with code
    `no-such-column` or `no-such-order`, where the store does not have what is asked for.
    """
    equal = dict(where or {})

    async def make(snapshot: Snapshot) -> Listed:
        shape = await find_table(reading, snapshot, table)
        return listed_table(shape, snapshot.dialect, equal)

    return Listing(reading, table, make, order)


def rows_among(reading: StoreReading, table: str, keys: Sequence[tuple[Any, ...]]) -> RowSource:
    """The rows of a table that have these keys (its own, as `Row.key` of `rows` gives them), by key."""

    async def make(snapshot: Snapshot) -> Listed:
        shape = await find_table(reading, snapshot, table)
        listed = listed_table(shape, snapshot.dialect, {})
        key = listed.key
        if key is None:
            among: ColumnElement[bool] = false()
        elif key.rowid:  # as literals: there may be more of them than a statement takes values
            ids = ",".join(str(int(each[0])) for each in keys)
            among = column(key.names[0]).op("IN")(literal_column(f"({ids})"))
        else:
            among = or_(
                false(),
                *[
                    and_(*[column(name) == value(part) for name, part in zip(key.names, each, strict=True)])
                    for each in keys[:_MOST_KEYS]
                ],
            )
        return replace(listed, conditions=(among,), narrowed=True)

    return Listing(reading, table, make)


async def find_table(reading: StoreReading, snapshot: Snapshot, name: str) -> TableShape:
    """The shape of a table or view; MissingTableError when there is none, StoreError if it is unreadable."""
    shape = (await reading.tables(snapshot)).get(name)
    if shape is None:
        raise MissingTableError(
            f"There is no table or view {name!r} in this store.",
            where=reading.location.display,
            observed=name,
            remedy="An older release, or another application, has other tables: Tables lists those here.",
        )
    if shape.unreadable is not None:
        raise StoreError(
            f"The shape of {name!r} cannot be read: {shape.unreadable}.",
            code="unreadable-table",
            where=name,
            observed=shape.unreadable,
        )
    return shape


def listed_table(shape: TableShape, dialect: str, equal: Mapping[str, Cell]) -> Listed:
    """A table as it is listed: all columns but hidden ones, under equalities."""
    spelled: set[str] = set()
    for name, wanted in equal.items():
        declared = shape.column(name)
        if declared is None:
            raise StoreError(
                f"The table has no column {name!r}.", code="no-such-column", where=shape.name, observed=name
            )
        if dialect != "sqlite" and isinstance(wanted, str) and not _takes_text(declared):
            spelled.add(name)
    return Listed(
        shape,
        dialect,
        tuple(
            Field(shown, Source(shown.name, declared.type))
            for shown, declared in zip(shown_columns(shape), _visible(shape), strict=True)
        ),
        conditions=where_equal(equal, spelled),
        equal=frozenset(equal) - spelled,
        narrowed=bool(spelled),
    )


def _takes_text(declared: TableColumn) -> bool:
    """Whether a server compares the column with a text; a cell's text may be what it made of a uuid."""
    kind = declared.type.lower()
    return kind in ("text", "name", '"char"', "citext") or kind.startswith("char")


def where_equal(equal: Mapping[str, Cell], spelled: Collection[str] = ()) -> tuple[ColumnElement[bool], ...]:
    """Conditions that hold columns to values, those of `spelled` by their text; None holds one to NULL."""
    out: list[ColumnElement[bool]] = []
    for name, wanted in equal.items():
        named: ColumnElement[Any] = cast(column(name), Text) if name in spelled else column(name)
        if isinstance(wanted, Preview):
            raise ValueError("a preview is not the value a row is looked up by")
        out.append(named.is_(None) if wanted is None else named == value(wanted))
    return tuple(out)


def shown_columns(shape: TableShape) -> tuple[Column, ...]:
    """The columns of a table as a list shows them, with what their values name."""
    links = {
        key.columns[0]: (key.table, key.references[0])
        for key in shape.foreign_keys
        if len(key.columns) == 1 and len(key.references) == 1
    }
    return tuple(
        Column(each.name, each.name, kind_of(each, shape), links_to=links.get(each.name))
        for each in _visible(shape)
    )


def _visible(shape: TableShape) -> list[TableColumn]:
    return [each for each in shape.columns if not each.hidden]


def kind_of(declared: TableColumn, shape: TableShape) -> ColumnKind:
    """How a column's values are best shown. Only in known tables does a name mean a time or a state."""
    kind, name = declared.type.upper(), declared.name.lower()
    number = any(word in kind for word in _NUMBERS)
    if "JSON" in kind:
        return "json"
    if "BLOB" in kind or kind == "BYTEA":
        return "blob"
    if shape.group is not None:
        if number and (name.endswith("_at") or name == "ts"):
            return "time"
        if name.endswith("_usd"):
            return "money"
        if name == "status" or name.endswith("_status"):
            return "status"
        if name == "id" or name.endswith("_id"):
            return "id"
    if number:
        return "number"
    return "text" if any(word in kind for word in _TEXTS) else "any"
