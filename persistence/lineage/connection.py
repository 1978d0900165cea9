"""The checks a writable native connection makes itself (ADR-0128 D7, A.0), on a plain sqlite3.Connection.

The reads before any writable connection can be overtaken: a row may be written between them and the
connection, and a file they could not read may be one it can. So each connection reads the rows again, right
after its busy timeout and before any persistent setting or schema statement; and each writing transaction of
schema application reads them once more under its write lock. A connection that refuses is closed.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable

from persistence.engines.faults import fault
from persistence.errors import LineageRefusal
from persistence.lineage.rows import Seen, meta_values, read_rows
from persistence.lineage.rules import CONNECTION, LATER, Asked, Case, Rule, ask
from persistence.schema.known import LINEAGE, SCHEMA_VERSION

__all__ = [
    "check_first_connection",
    "check_later_connection",
    "check_transaction",
    "check_under_lock",
    "stamp",
]


def check_first_connection(connection: sqlite3.Connection, where: str) -> tuple[Asked, ...]:
    """A connection made while a native open is in progress: lineage, version, table names and shapes again.

    Call it right after the busy timeout, before anything is set. Returns what was asked and answered. Raises
    ForeignLineageError, UnrecognizedStoreError, SchemaTooNewError, or the typed error of a file that cannot
    be read; the connection is closed then. `where` is the store as it may be shown.
    """
    return _guard(connection, where, CONNECTION, read_rows)


def check_later_connection(connection: sqlite3.Connection, where: str) -> None:
    """A connection made after the schema was applied: the lineage and version rows alone.

    Another application's lineage refuses it (DECISIONS 12); a version above this program's does not, so
    SchemaTooNewError comes from an open and never from a write. The connection is closed when it refuses.
    """
    _guard(connection, where, LATER, _rows_alone)


def check_under_lock(connection: sqlite3.Connection, where: str) -> tuple[Asked, ...]:
    """First in each writing transaction of schema application, once it holds the write lock; and ahead of
    the checkpoint of a backup. Lineage is asked before the version, as everywhere.

    Raises like `check_first_connection`, with the transaction rolled back and the connection closed.
    """
    return _guard(connection, where, CONNECTION, read_rows)


def check_transaction(connection: sqlite3.Connection, where: str) -> None:
    """First in an ordinary write transaction, under its lock: whether the store has become another's.

    Raises ForeignLineageError and leaves the connection as it is: rolling back is its owner's.
    """
    _refuse(ask(Case(where, _rows_alone(connection)), LATER))


def stamp(connection: sqlite3.Connection, where: str) -> None:
    """Writes whose store this is, and its version, in the transaction that applied the schema.

    The only place that writes the lineage row: native initialization and a migration that recognized the
    store call it last, under the lock that `check_under_lock` passed under. Raises
    sqlite3.ProgrammingError when no transaction is open, ForeignLineageError when the row is another's.
    """
    if not connection.in_transaction:
        raise sqlite3.ProgrammingError("the lineage row belongs in the transaction that applies the schema")
    check_transaction(connection, where)
    for key, value in (("lineage", LINEAGE), ("version", str(SCHEMA_VERSION))):
        connection.execute(
            "INSERT INTO schema_meta (key, value) VALUES (?, ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, value),
        )


def _rows_alone(connection: sqlite3.Connection) -> Seen:
    lineage, version = meta_values(connection)
    return Seen(lineage=lineage, version=version)


def _guard(
    connection: sqlite3.Connection,
    where: str,
    rules: tuple[Rule, ...],
    read: Callable[[sqlite3.Connection], Seen],
) -> tuple[Asked, ...]:
    try:
        try:
            asked = ask(Case(where, _in_one(connection, read)), rules)
        except sqlite3.Error as error:
            raise fault(error, where) from error
        _refuse(asked)
    except BaseException:
        _close(connection)
        raise
    return asked


def _in_one(connection: sqlite3.Connection, read: Callable[[sqlite3.Connection], Seen]) -> Seen:
    """What is read, of one state of the store: in the transaction that is open, or one of its own."""
    opened = connection.in_transaction
    if not opened:
        connection.execute("BEGIN")
    try:
        return read(connection)
    finally:
        if not opened:
            _roll_back(connection)


def _refuse(asked: tuple[Asked, ...]) -> None:
    refusal: LineageRefusal | None = asked[-1].answer.refusal if asked else None
    if refusal is not None:
        raise refusal


def _roll_back(connection: sqlite3.Connection) -> None:
    # Some errors have ended the transaction already.
    with contextlib.suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _close(connection: sqlite3.Connection) -> None:
    _roll_back(connection)
    with contextlib.suppress(sqlite3.Error):
        connection.close()
