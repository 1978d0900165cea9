"""What tells a table's rows apart, and which of its orders an index serves (DESIGN 3.1.1).

Pure functions over a table's shape: nothing here reads a store.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from persistence.records import Index, TableShape

__all__ = ["Key", "Term", "choose_key", "rowid_alias", "served", "terms"]

_ROWID_NAMES = ("rowid", "_rowid_", "oid")
_NOT_NULL = re.compile(
    r"""^\(?\s*(?:"([^"]+)"|\[([^\]]+)\]|`([^`]+)`|([^\W\d]\w*))\s+IS\s+NOT\s+NULL\s*\)?$""", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Key:
    """The columns that name a row, never NULL. `rowid`: SQLite's row id, under a name no column shadows."""

    names: tuple[str, ...]
    rowid: bool = False


@dataclass(frozen=True, slots=True)
class Term:
    """One step of an order."""

    name: str
    nullable: bool = False


def choose_key(shape: TableShape, dialect: str) -> Key | None:
    """The table's usable key; None for views, virtual tables and tables without one."""
    if shape.kind not in ("table", "shadow") or shape.unreadable is not None:
        return None
    if dialect == "sqlite":
        if shape.has_rowid:
            taken = {column.name.lower() for column in shape.columns}
            return Key((next(name for name in _ROWID_NAMES if name not in taken),), rowid=True)
        # All three names of the row id are columns: an INTEGER PRIMARY KEY is the row id all the same.
        if _is_integer_key(shape):
            return Key(shape.primary_key)
    for names in (shape.primary_key, *shape.unique):
        columns = [shape.column(name) for name in names]
        if columns and all(column is not None and not column.nullable for column in columns):
            return Key(names)
    return None


def _is_integer_key(shape: TableShape) -> bool:
    if len(shape.primary_key) != 1:
        return False
    column = shape.column(shape.primary_key[0])
    return (
        column is not None
        and column.type.upper() == "INTEGER"
        and not any(index.origin == "pk" for index in shape.indexes)
    )


def rowid_alias(shape: TableShape, key: Key) -> str | None:
    """The column that is the row id itself (an INTEGER PRIMARY KEY)."""
    return shape.primary_key[0] if key.rowid and _is_integer_key(shape) else None


def terms(shape: TableShape, key: Key, column: str | None) -> tuple[Term, ...]:
    """The order by a column with ties by key; by key alone when there is none (or the key begins with it)."""
    by_key = tuple(Term(name) for name in key.names)
    if column is None or column == rowid_alias(shape, key):
        return by_key
    declared = shape.column(column)
    rest = tuple(term for term in by_key if term.name != column)
    if len(rest) < len(by_key):
        return (Term(column), *rest)
    return (Term(column, nullable=declared is None or declared.nullable), *rest)


def served(
    shape: TableShape, key: Key, wanted: tuple[Term, ...], equal: Collection[str], dialect: str
) -> bool:
    """Whether some index gives rows in the wanted order, the columns of `equal` being held to one value.

    Then any page costs what it shows. Without such an index the order has to be built.
    """
    names = [term.name for term in wanted if term.name not in equal]
    if not equal and tuple(names) == key.names:
        return True
    return any(_serves(index, key, names, set(equal), dialect) for index in _all_indexes(shape, key))


def _all_indexes(shape: TableShape, key: Key) -> tuple[Index, ...]:
    # A WITHOUT ROWID table is its own primary key index; SQLite lists it, some servers' catalogues may not.
    own = Index("", key.names, unique=True, origin="pk", descending=())
    return shape.indexes if key.rowid else (*shape.indexes, own)


def _serves(index: Index, key: Key, names: list[str], equal: set[str], dialect: str) -> bool:
    if None in index.columns or "collate" in (index.sql or "").lower():
        return False
    columns = [column for column in index.columns if column is not None]
    if index.where is not None and not _holds_all(index.where, equal):
        return False
    if set(columns[: len(equal)]) != equal:
        return False
    rest = columns[len(equal) :]
    descending = list(index.descending)[len(equal) :] or [False] * len(rest)
    if dialect == "sqlite":
        for name in key.names:
            if name not in columns:
                rest.append(name)
                descending.append(False)
        return rest[: len(names)] == names and len(set(descending[: len(names)])) <= 1
    # PostgreSQL sorts the ties of a served first column by itself, and reads an index both ways.
    return bool(rest) and rest[0] == names[0]


def _holds_all(where: str, equal: set[str]) -> bool:
    """Whether a partial index (`WHERE column IS NOT NULL`) has every row the equalities can name."""
    found = _NOT_NULL.match(where.strip())
    return found is not None and next(name for name in found.groups() if name) in equal
