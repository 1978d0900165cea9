"""The rows of a damaged table: good ones are shown, the others counted, none hides another.

A page that SQLite cannot make sense of ends every walk that comes to it. The row ids are then had from an
index that has all of them, or, without one, by asking for ever smaller stretches around the damage.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Select, column, func, select, table

from persistence.reading.keys import Key
from persistence.reading.plans import Statement, slot
from persistence.reading.sorting import hinted
from persistence.records import TableShape

if TYPE_CHECKING:
    from typing import Any

    from persistence.engines.reader import Reader

__all__ = ["Salvaged", "corrupt", "salvage"]

_CORRUPT = frozenset((sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_TOOBIG))
_STRETCH = 5_000
_TRIES = 20_000
"""Statements spent on looking around damage; what is not told apart by then counts as not readable."""


@dataclass(frozen=True, slots=True)
class Salvaged:
    """Row ids in order, and how many of them lead to rows that cannot be read (`about`: at most)."""

    ids: array[int]
    unreadable: int
    about: bool


def corrupt(error: sqlite3.DatabaseError) -> bool:
    """Whether SQLite could not make sense of what it read (rather than was busy, or interrupted)."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _CORRUPT


async def salvage(reader: Reader, shape: TableShape, key: Key) -> Salvaged | None:
    """The rows of a table whose own walk came to damage; None when its extent cannot be told either."""
    rowid: ColumnElement[Any] = column(key.names[0])
    for index in shape.indexes:
        if index.where is not None or None in index.columns:
            continue
        name = index.name.replace('"', '""')
        own = hinted(table(shape.name), f'INDEXED BY "{name}"')
        by_index: Select[Any] = select(rowid).select_from(own)
        async with reader.snapshot(deadline=60.0) as snapshot:
            ids = await snapshot.on_driver(partial(_ids, Statement(by_index, "sqlite")))
        if ids is not None:
            bad = 0
            for start in range(0, len(ids), _STRETCH):
                async with reader.snapshot(deadline=60.0) as snapshot:
                    look = partial(_unreadable, shape.name, rowid, ids[start : start + _STRETCH])
                    bad += await snapshot.on_driver(look)
            return Salvaged(ids, bad, about=False)
    async with reader.snapshot(deadline=60.0) as snapshot:
        return await snapshot.on_driver(partial(_around, shape.name, rowid))


def _ids(statement: Statement, connection: sqlite3.Connection) -> array[int] | None:
    try:
        rows = connection.execute(statement.text, statement.positional({})).fetchall()
    except sqlite3.DatabaseError as error:
        if corrupt(error):
            return None
        raise
    return array("q", sorted(row[0] for row in rows))


def _asker(
    connection: sqlite3.Connection, name: str, rowid: ColumnElement[Any]
) -> Callable[[int, int], list[int] | None]:
    """Asks for the row ids of a stretch; None where there is damage in it."""
    query: Select[Any] = select(rowid).select_from(table(name))
    # A stretch of one row is asked for by itself: a walk would look at the row behind it.
    one = Statement(query.where(rowid == slot("low")), "sqlite")
    many = query.where(rowid >= slot("low"), rowid <= slot("high")).order_by(rowid)
    stretch = Statement(many, "sqlite")

    def ask(low: int, high: int) -> list[int] | None:
        statement = one if low == high else stretch
        try:
            values = statement.positional({"low": low, "high": high})
            return [row[0] for row in connection.execute(statement.text, values)]
        except sqlite3.DatabaseError as error:
            if corrupt(error):
                return None
            raise

    return ask


def _unreadable(name: str, rowid: ColumnElement[Any], ids: array[int], connection: sqlite3.Connection) -> int:
    """How many of these rows the table itself does not give."""
    ask = _asker(connection, name, rowid)
    if not ids:
        return 0
    whole = ask(ids[0], ids[-1])
    if whole is not None:
        return len(ids) - len(whole)
    return sum(not ask(each, each) for each in ids)


def _around(name: str, rowid: ColumnElement[Any], connection: sqlite3.Connection) -> Salvaged | None:
    """Without an index: halves of the damaged stretches, down to single row ids."""
    ends = []
    for end in (func.min, func.max):
        query: Select[Any] = select(end(rowid).label("end")).select_from(table(name))
        found = _ids(Statement(query, "sqlite"), connection)
        if not found:
            return None
        ends.append(found[0])
    ask = _asker(connection, name, rowid)
    good: array[int] = array("q")
    lost: array[int] = array("q")
    about = False
    waiting = [(ends[0], ends[1])]
    tries = 0
    while waiting:
        low, high = waiting.pop()
        tries += 1
        ids = ask(low, high) if tries <= _TRIES else None
        if ids is not None:
            good.extend(ids)
        elif low == high or tries > _TRIES:
            about = about or low != high
            lost.append(low)
        else:
            middle = (low + high) // 2
            waiting += [(middle + 1, high), (low, middle)]
    return Salvaged(array("q", sorted((*good, *lost))), len(lost), about or bool(lost))
