"""The transaction of a guarded store: begun, asked, run, counted and committed in one piece (DESIGN 5).

Under the write lock, and before any statement, the store has to be what was admitted (`same_store`).
Everything here runs on the driver's thread.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from time import perf_counter
from typing import Any, NoReturn, TypeVar

from persistence import files
from persistence.engines.faults import error_name
from persistence.engines.native_sqlite import Stop
from persistence.engines.statements import Call, Outcome, Steps
from persistence.engines.write_faults import sqlite_write_fault
from persistence.errors import CancelledReadError
from persistence.guard.authorizer import Action, Ceiling, words
from persistence.guard.connection import GuardedConnection, GuardedCursor
from persistence.guard.lock_time import SINCE
from persistence.guard.same_store import Readmit, SameStore
from persistence.profiles.records import Profile

__all__ = ["TransactionGuard"]

T = TypeVar("T")

_NOTHING = "Nothing was written."
_CHANGED = Outcome((), 0), Outcome((), 1)


class TransactionGuard:
    """See the module. One for each guarded connection, which nobody else has."""

    def __init__(
        self,
        connection: GuardedConnection,
        path: bytes,
        identity: files.Identity,
        profile: Profile,
        readmit: Readmit,
        triggers: frozenset[str],
    ) -> None:
        self._connection = connection
        self._hold = connection.hold
        self._own = sqlite3.Connection.cursor(connection)  # not for statements of an operation
        self._own.row_factory = None
        self._cursor: GuardedCursor = connection.cursor()
        self._refusals = connection.hold.refusals
        self._ceiling = Ceiling(profile)
        self._triggers = triggers
        self._firing: frozenset[str] = frozenset()
        self._store = SameStore(
            connection, path, identity, profile, readmit, self._plain, lambda: self._firing <= self._know()
        )

    # -- installing ---------------------------------------------------------------------------------

    def admit(self) -> None:
        """Admission again, under the write lock. Raises the refusal of a store that moved meanwhile."""
        self._end("BEGIN")
        try:
            self._store.check()
        finally:
            self._undo()

    def install(self) -> None:
        """Has SQLite ask the authorizer from now on, about what the write set was seen to need; then proves
        it by an empty transaction. Raises the refusal of a store whose own triggers would do more."""
        self._firing = self._know()
        self.admit()

    def _know(self) -> frozenset[str]:
        """Compiles every statement of the write set and the guard's own, and lists what they ask for.

        Returns the names of the guard's triggers that would fire.
        """
        authorizer = self._hold.authorizer
        sqlite3.Connection.set_authorizer(self._connection, authorizer)  # whatever was compiled is again
        texts = {text: len(entry.names) for text, entry in self._hold.statements.items()}
        texts |= self._store.questions
        seen = authorizer.record()
        known: frozenset[Action] | None = None
        try:
            for text, count in texts.items():
                self._plain(f"EXPLAIN {text}", (None,) * count)
            known = frozenset(seen)
        finally:
            authorizer.know(known)
        for action in sorted(known, key=repr):
            if not self._ceiling.allows(action):
                authorizer.know(frozenset())
                self._refuse(
                    "A statement of the profile's operations would do more here than the profile allows. "
                    + _NOTHING,
                    code="guard-trigger" if action[4] else "guard-statement",
                    expected="what the profile lists",
                    observed=words(action),
                )
        return self._triggers & {action[4] for action in known if action[4] is not None}

    # -- one transaction ----------------------------------------------------------------------------

    def transact(
        self,
        operation: str,
        steps: Callable[[], Steps[T]],
        stop: Stop,
        kept: Callable[[T], object] | None,
    ) -> T:
        """The steps as one, or nothing of them. `kept` is told of the result right after the commit.

        Raises StateCompatibilityRefused, and the typed errors of SQLite (BusyError, ConstraintError, ...).
        """
        hold = self._hold
        if hold.operation is not None:
            hold.refuse("An operation is running on this connection already.", code="guard-outside")
        hold.operation = self._refusals.operation = operation
        hold.spoiled = None
        hold.authorizer.clear()
        try:
            stop.check()
            self._end("BEGIN")
            SINCE.moment = perf_counter()
            self._store.check()
            result = self._drive(steps(), stop)
            stop.check()
            self._commit()
            if kept is not None:
                kept(result)
            return result
        except (sqlite3.Error, OverflowError) as error:
            self._undo()
            raise self._told(error) from error
        except BaseException:
            self._undo()
            raise
        finally:
            hold.operation = self._refusals.operation = None
            hold.spoiled = None

    def _drive(self, steps: Steps[T], stop: Stop) -> T:
        run, go_on = self._outcome, steps.send
        try:
            call = next(steps)
            while True:
                if stop.asked:
                    stop.check()
                call = go_on(run(call))
        except StopIteration as done:
            result: T = done.value
            return result
        finally:
            steps.close()

    def _outcome(self, call: Call) -> Outcome:
        statement, values, rows = call
        sql, _, _, bound = statement.compiled("sqlite")
        cursor = self._cursor
        if rows is not None:
            cursor.executemany(sql, map(bound, rows))
            self._counted(sql, cursor.rowcount, len(rows))
            return Outcome((), cursor.rowcount)
        cursor.execute(sql, bound(values))
        changed = cursor.rowcount
        self._counted(sql, changed, 1)
        if not statement.rows:
            return _CHANGED[changed] if 0 <= changed <= 1 else Outcome((), changed)
        names = tuple(column[0] for column in cursor.description or ()) if statement.named else ()
        return Outcome(cursor.fetchall(), changed, names)

    def _counted(self, sql: str, changed: int, times: int) -> None:
        entry = self._hold.statements[sql]
        least, most = entry.changes
        if entry.verb != "select" and not least * times <= changed <= most * times:
            self._refuse(
                f"A statement on {entry.table} did not change the rows it was meant to. {_NOTHING}",
                code="guard-changes",
                expected=f"{least * times}" if least == most else f"{least * times} to {most * times}",
                observed=f"{changed} rows",
            )

    def _commit(self) -> None:
        hold, connection = self._hold, self._connection
        denied = hold.authorizer.denied
        if hold.spoiled is not None or denied is not None:
            raise self._refusals.refused(
                f"Something was denied in this transaction, so it is not committed. {_NOTHING}",
                code="guard-poisoned",
                observed=denied or str(hold.spoiled),
            ) from hold.spoiled
        if not connection.in_transaction:
            self._ended()
        try:
            self._end("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:
                raise
            raise self._refusals.refused(
                "The store ended the transaction while it was committed; whether it was kept is not known.",
                code="commit-unknown",
                observed=str(error),
            ) from error

    # -- the private door ---------------------------------------------------------------------------

    def _plain(self, sql: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Rows of a statement of the guard's own."""
        return self._own.execute(sql, parameters).fetchall()

    def _end(self, word: str) -> None:
        """BEGIN, COMMIT or ROLLBACK."""
        authorizer = self._hold.authorizer
        authorizer.door = word
        try:
            self._own.execute("BEGIN IMMEDIATE" if word == "BEGIN" else word)
        finally:
            authorizer.door = None

    def _undo(self) -> None:
        if self._connection.in_transaction:
            self._end("ROLLBACK")

    def _told(self, error: Exception) -> Exception:
        if error_name(error) == "SQLITE_INTERRUPT":
            return CancelledReadError(f"The write was interrupted. {_NOTHING}", where=self._refusals.where)
        return sqlite_write_fault(error, self._refusals.where)

    def _ended(self) -> NoReturn:
        hold = self._hold
        if hold.spoiled is not None:
            raise self._refusals.refused(
                f"Something was denied in this transaction, which was rolled back. {_NOTHING}",
                code="guard-poisoned",
                observed=str(hold.spoiled),
            ) from hold.spoiled
        self._refuse(
            f"The store ended the transaction by itself. {_NOTHING}",
            code="guard-ended",
            expected="the transaction that was begun",
            observed="none",
        )

    def _refuse(
        self, message: str, *, code: str, expected: str | None = None, observed: str | None = None
    ) -> NoReturn:
        raise self._refusals.refused(message, code=code, expected=expected, observed=observed)
