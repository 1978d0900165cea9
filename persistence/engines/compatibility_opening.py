"""Opening the writer of a store another application manages, so that a refused open changes no byte of it.

Called on the driver's thread, after admission on a read-only route. Only settings of the connection are made;
the journal mode is asked for, never set; a journal is never rolled back, a log never folded in by a refusal.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, NoReturn, TypeVar

from persistence import files
from persistence.engines.gate import gate_for
from persistence.engines.native_sqlite import TEXT, Stop
from persistence.engines.statements import Steps
from persistence.engines.write_faults import sqlite_write_fault
from persistence.guard.connection import GuardedConnection, Hold
from persistence.guard.front import Front, Strings
from persistence.guard.refusals import Refusals
from persistence.guard.same_store import Readmit
from persistence.guard.transaction import TransactionGuard
from persistence.guard.triggers import RUNNING, SPOIL, recursion, triggers
from persistence.guard.writeset import WriteSet
from persistence.location import StoreLocation, sqlite_uri

__all__ = ["SETTINGS", "Hand", "Plan", "open_guarded"]

T = TypeVar("T")

SETTINGS = ("foreign_keys=ON", "synchronous=NORMAL", "recursive_triggers=ON")
"""All that is set beside the busy timeout, for this connection alone (ADR-0128 D1, DECISIONS 20)."""

_READS_TO_END = 10.0  # seconds reads of this process have to end before a writer can be opened


@dataclass(frozen=True, slots=True)
class Plan:
    """What a writer is opened for: the store as it was admitted, and what may be written."""

    location: StoreLocation
    path: bytes
    identity: files.Identity
    writes: WriteSet
    readmit: Readmit
    busy_timeout: int  # milliseconds


class Hand(NamedTuple):
    """What the engine, and nobody else, reaches a guarded connection by: no attribute leads to it."""

    transact: Callable[..., object]


def open_guarded(plan: Plan, front: Front) -> Hand:
    """Opens, proves and guards the store behind `front`. Raises the typed refusals and faults; nothing is
    left open then, and nothing of the store has changed."""
    refusals = Refusals(plan.location.display, plan.writes.profile)
    with gate_for(plan.identity).opening(time.monotonic() + _READS_TO_END):
        _nothing_to_undo(plan, refusals)
        try:
            connection = _connect(plan, refusals)
        except sqlite3.Error as error:
            raise sqlite_write_fault(error, plan.location.display) from error
        try:
            guard = _guarded(plan, connection)
        except BaseException as error:
            _close_unseen(plan.path, connection)
            if isinstance(error, sqlite3.Error | OSError):
                raise sqlite_write_fault(error, plan.location.display) from error
            raise
    front.string(_strings(connection))

    def transact(
        operation: str, steps: Callable[[], Steps[T]], stop: Stop, kept: Callable[[T], object] | None
    ) -> T:
        return guard.transact(operation, steps, stop, kept)

    return Hand(transact)


def _nothing_to_undo(plan: Plan, refusals: Refusals) -> None:
    """A connection that may write would roll a journal back as soon as it reads."""
    if files.status(plan.path + b"-journal") is not None:
        raise refusals.refused(
            "A rollback journal lies beside the store. Nothing was opened.",
            code="journal-beside",
            expected="a store in WAL mode, without a journal",
            observed="a -journal file",
        )


def _connect(plan: Plan, refusals: Refusals) -> GuardedConnection:
    connection = sqlite3.connect(
        sqlite_uri(plan.path, "mode=rw"),
        uri=True,
        timeout=plan.busy_timeout / 1000,
        isolation_level=None,
        cached_statements=512,
        factory=GuardedConnection,
    )
    connection.hold = Hold(plan.writes.statements, plan.writes.owner, refusals)
    connection.text_factory = TEXT
    return connection


def _guarded(plan: Plan, connection: GuardedConnection) -> TransactionGuard:
    plain = sqlite3.Connection.cursor(connection)
    refusals = connection.hold.refusals
    mode = str(plain.execute("PRAGMA journal_mode").fetchone()[0])
    if mode != "wal":
        raise refusals.refused(
            "The store is not in WAL mode, and its journal mode is not this program's to set.",
            code="journal-mode",
            expected="journal_mode wal",
            observed=mode,
        )
    again = recursion(plan.writes.profile)
    if again is not None:
        raise refusals.refused(
            "A trigger of the store could set itself off again on a guarded connection.",
            code="guard-trigger",
            expected="no trigger that reaches its own table",
            observed=again,
        )
    for setting in SETTINGS:
        plain.execute(f"PRAGMA {setting}")
    sqlite3.Connection.create_function(connection, SPOIL, 1, connection.hold.refused_row)
    sqlite3.Connection.create_function(connection, RUNNING, 0, connection.running)
    found = triggers(plan.writes.profile, plan.writes.owner)
    assert plan.location.path is not None
    guard = TransactionGuard(
        connection,
        plan.location.path,  # as it was given: a link may be turned
        plan.identity,
        plan.writes.profile,
        plan.readmit,
        frozenset(trigger.name for trigger in found),
    )
    guard.admit()
    for trigger in found:
        plain.execute(trigger.sql)
    guard.install()
    return guard


def _close_unseen(path: bytes, connection: sqlite3.Connection) -> None:
    """Closes a writer that was refused. The last one to close folds the log in, so that a reader, which
    cannot, is open until after it."""
    with contextlib.ExitStack() as last:
        with contextlib.suppress(sqlite3.Error, OSError):
            if os.stat(path + b"-wal").st_size:
                reader = sqlite3.connect(sqlite_uri(path, "mode=ro"), uri=True)
                last.callback(reader.close)
                reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        sqlite3.Connection.close(connection)


def _strings(connection: GuardedConnection) -> Strings:
    def refuse(method: str) -> NoReturn:
        connection._refuse(method)
        raise AssertionError

    def interrupt() -> None:
        with contextlib.suppress(sqlite3.Error):  # closed just now
            connection.interrupt()

    def in_transaction() -> bool:
        return connection.hold.operation is not None

    return Strings(
        refuse, interrupt, partial(_close, connection), in_transaction, lambda: connection.total_changes
    )


def _close(connection: GuardedConnection) -> None:
    sqlite3.Connection.close(connection)
