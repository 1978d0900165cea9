"""The statements most operations are made of: one row added, changed, removed, by table and columns.

Built once for each set of columns; values come encoded, under `v_` for what is written and `k_` for what a
row is found by.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Executable, bindparam, case, delete, or_, select, update
from sqlalchemy.sql.schema import Column, Table

from persistence.engines.statements import Statement, Steps, Target
from persistence.schema import metadata
from persistence.writing.values import refuse, row_values

__all__ = [
    "FORWARD",
    "changed_row",
    "given",
    "insert_into",
    "key",
    "later",
    "new_id",
    "new_row",
    "now",
    "removed_row",
    "row_of",
    "select_for_update",
    "short_id",
    "table",
    "update_by",
    "value",
]

FORWARD = frozenset(("updated_at", "last_message_at", "last_seen_at"))
"""Clocks that only move forward, whatever a caller gives."""


def now() -> float:
    return time.time()


def new_id() -> str:
    """32 hexadecimal characters."""
    return uuid.uuid4().hex


def short_id() -> str:
    """12 hexadecimal characters: what artifacts and administrative events are known by."""
    return uuid.uuid4().hex[:12]


def table(name: str) -> Table:
    return metadata.tables[name]


def value(column: Column[Any]) -> ColumnElement[Any]:
    """The parameter a column's new value comes by."""
    return bindparam(f"v_{column.name}", type_=column.type)


def key(column: Column[Any], name: str | None = None) -> ColumnElement[Any]:
    """The parameter a row is found by."""
    return bindparam(f"k_{name or column.name}", type_=column.type)


def later(column: Column[Any]) -> ColumnElement[Any]:
    """The larger of what is stored and what is given."""
    given_value = value(column)
    return case((or_(column.is_(None), column < given_value), given_value), else_=column)


@lru_cache(maxsize=1024)
def insert_into(name: str, columns: tuple[str, ...], *, skip_taken: str | None = None) -> Statement:
    """INSERT of these columns; `skip_taken` names the key on which a clash leaves the row that is there."""

    def build(target: Target) -> Executable:
        into = table(name)
        insert = target.insert(into).values({column: value(into.c[column]) for column in columns})
        if skip_taken is not None:
            insert = insert.on_conflict_do_nothing(index_elements=[into.c[skip_taken]])
        statement: Executable = insert
        return statement

    return Statement(build)


@lru_cache(maxsize=1024)
def update_by(
    name: str, by: str, columns: tuple[str, ...], if_null: frozenset[str] = frozenset()
) -> Statement:
    """UPDATE of these columns where `by` is the key; clocks move forward only, `if_null` fill gaps only."""

    def build(_: Target) -> Executable:
        into = table(name)
        changes: dict[str, ColumnElement[Any]] = {}
        for column in columns:
            changes[column] = later(into.c[column]) if column in FORWARD else value(into.c[column])
            if column in if_null:
                changes[column] = case((into.c[column].is_(None), changes[column]), else_=into.c[column])
        return update(into).where(into.c[by] == key(into.c[by])).values(changes)

    return Statement(build)


@cache
def delete_by(name: str, by: str) -> Statement:
    return Statement(lambda _: delete(table(name)).where(table(name).c[by] == key(table(name).c[by])))


@cache
def select_for_update(name: str, by: str, columns: tuple[str, ...]) -> Statement:
    """The row's columns, locked until the transaction ends (SQLite's one writer needs no such lock)."""

    def build(target: Target) -> Executable:
        of = table(name)
        query = select(*(of.c[column] for column in columns)).where(of.c[by] == key(of.c[by]))
        return query if target.sqlite else query.with_for_update()

    return Statement(build, rows=True)


# -- steps -------------------------------------------------------------------------------------------------


def new_row(name: str, values: Mapping[str, Any], *, skip_taken: str | None = None) -> Steps[bool]:
    """Adds a row whose values are encoded; False when a row with the key to be skipped was there."""
    statement = insert_into(name, tuple(column[2:] for column in values), skip_taken=skip_taken)
    outcome = yield statement(**values)
    return outcome.changed > 0


def changed_row(
    name: str,
    by: str,
    identity: Any,
    values: Mapping[str, Any],
    if_null: frozenset[str] = frozenset(),
) -> Steps[bool]:
    """Changes a row; False when there is none."""
    columns = tuple(column[2:] for column in values)
    outcome = yield update_by(name, by, columns, if_null & set(columns))(**values, **{f"k_{by}": identity})
    return outcome.changed > 0


def removed_row(name: str, by: str, identity: Any) -> Steps[bool]:
    """Removes a row, and what the schema removes with it; False when there is none."""
    outcome = yield delete_by(name, by)(**{f"k_{by}": identity})
    return outcome.changed > 0


# -- what a caller gave ------------------------------------------------------------------------------------


def given(name: str, fields: Mapping[str, Any], required: Collection[str]) -> dict[str, Any]:
    """The caller's mapping as a dict of its own. ValueRefusedError for what is missing."""
    if not isinstance(fields, Mapping):
        refuse(name, f"A row of {name} is given as a mapping.", "a mapping", type(fields).__name__)
    row = dict(fields)
    missing = [column for column in required if row.get(column) is None]
    if missing:
        refuse(name, f"A row of {name} needs {', '.join(missing)}.", ", ".join(required), f"no {missing[0]}")
    return row


def row_of(name: str, fields: Mapping[str, Any], dialect: str) -> dict[str, Any]:
    """The fields encoded for a write. A None where a default or nothing would be stored is left out."""
    defaulted = _defaulted(name)
    if defaulted:
        fields = {
            column: content
            for column, content in fields.items()
            if content is not None or column not in defaulted
        }
    return row_values(table(name), fields, dialect)


@cache
def _defaulted(name: str) -> frozenset[str]:
    """The columns whose table has a default for them."""
    return frozenset(column.name for column in table(name).c if column.server_default is not None)
