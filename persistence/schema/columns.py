"""The column kinds of the operational schema, and the metadata its tables belong to.

Five kinds suffice: text, whole numbers, times and other reals (seconds since 1970), JSON, and bytes. On
SQLite they are declared TEXT, INTEGER, FLOAT, JSON and BLOB; on PostgreSQL text, integer, double
precision, json and bytea.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Text,
    text,
)
from sqlalchemy.types import TypeEngine

__all__ = [
    "blob",
    "check",
    "index",
    "integer",
    "json",
    "link",
    "metadata",
    "one_of",
    "real",
    "string",
    "unique_index",
]

metadata = MetaData()
"""All tables of the operational schema; complete once `persistence.schema` is imported."""


def _column(
    name: str, kind: TypeEngine[Any], *rest: Any, key: bool, required: bool, default: str | None, unique: bool
) -> Column[Any]:
    return Column(
        name,
        kind,
        *rest,
        primary_key=key,
        nullable=not (required or key),
        server_default=default,
        unique=unique or None,
    )


def string(
    name: str,
    *rest: ForeignKey,
    key: bool = False,
    required: bool = False,
    default: str | None = None,
    unique: bool = False,
) -> Column[Any]:
    return _column(name, Text(), *rest, key=key, required=required, default=default, unique=unique)


def integer(
    name: str,
    *rest: ForeignKey,
    key: bool = False,
    required: bool = False,
    default: str | None = None,
) -> Column[Any]:
    return _column(name, Integer(), *rest, key=key, required=required, default=default, unique=False)


def real(name: str, *, required: bool = False) -> Column[Any]:
    return _column(name, Float(), key=False, required=required, default=None, unique=False)


def json(name: str, *, required: bool = False, default: str | None = None) -> Column[Any]:
    return _column(name, JSON(), key=False, required=required, default=default, unique=False)


def blob(name: str) -> Column[Any]:
    return _column(name, LargeBinary(), key=False, required=False, default=None, unique=False)


def link(target: str, *, on_delete: str | None = None) -> ForeignKey:
    """A foreign key to `table.column`; nothing happens to the row when its parent goes, unless said."""
    return ForeignKey(target, ondelete=on_delete)


def check(name: str, condition: str) -> CheckConstraint:
    """A named check; `condition` is SQL both dialects read the same."""
    return CheckConstraint(text(condition), name=name)


def one_of(name: str, column: str, *values: str, or_null: bool = False) -> CheckConstraint:
    """A named check that the column holds one of the values (or, on request, NULL)."""
    listed = ",".join(f"'{value}'" for value in values)
    condition = f"{column} IN ({listed})"
    return check(name, f"{column} IS NULL OR {condition}" if or_null else condition)


def index(name: str, *columns: Any, where: str | None = None) -> Index:
    """A plain or partial index."""
    return _index(name, columns, where, unique=False)


def unique_index(name: str, *columns: Any, where: str | None = None) -> Index:
    """A unique index; with `where`, one that holds among those rows alone."""
    return _index(name, columns, where, unique=True)


def _index(name: str, columns: tuple[Any, ...], where: str | None, *, unique: bool) -> Index:
    if where is None:
        return Index(name, *columns, unique=unique)
    return Index(name, *columns, unique=unique, sqlite_where=text(where), postgresql_where=text(where))
