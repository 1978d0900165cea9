"""The driver's own connection to a guarded store: every statement passes the write set first (DESIGN 5).

Nothing hands it out: the engine keeps it in a closure on the driver's thread, and what the driver, SQLAlchemy
and everybody else hold is a `Front` without a store of its own. So `other.backup(connection)`, or a method of
the base class called on it, has nothing to work on.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

from persistence.engines.faults import error_name
from persistence.guard.authorizer import Authorizer
from persistence.guard.closed import close_methods
from persistence.guard.refusals import MARK, Refusals
from persistence.guard.writeset import Allowed

__all__ = ["GuardedConnection", "GuardedCursor", "Hold"]

_thread = threading.get_ident


class Hold:
    """What holds one connection: the mark of the transaction an operation runs in, and what spoiled it.

    The mark belongs to the connection, whatever task or thread asks.
    """

    __slots__ = ("authorizer", "operation", "owner", "refusals", "spoiled", "statements", "thread")

    def __init__(self, statements: Mapping[str, Allowed], owner: str | None, refusals: Refusals) -> None:
        self.statements = dict(statements)
        self.owner = owner
        self.refusals = refusals
        self.authorizer = Authorizer()
        self.thread = threading.get_ident()
        self.operation: str | None = None
        self.spoiled: Exception | None = None

    def spoil(self, error: Exception) -> None:
        """The transaction cannot be committed any more, whoever catches the error."""
        if self.operation is not None and self.spoiled is None:
            self.spoiled = error

    def refused_row(self, said: object) -> None:
        """Called by the guard's triggers, within SQLite."""
        message = f"The store's guard refused the row: {said}. Nothing was written."
        self.spoil(self.refusals.refused(message, code="guard-row", observed=str(said)))

    def refuse(self, message: str, *, code: str, **said: str | None) -> NoReturn:
        error = self.refusals.refused(message, code=code, **said)
        if error.operation is None:
            error.operation = "the connection"  # nobody's operation: somebody has reached for it
        self.spoil(error)
        raise error

    def here(self) -> None:
        """Refuses every thread but the driver's own."""
        if threading.get_ident() != self.thread:
            self.refuse("The writer's connection belongs to the thread of its driver.", code="guard-outside")

    def holds(self, sql: object, parameters: object) -> bool:
        """Whether the statement runs as it is: all that `admit` and `checked` ask, at once. They say what it
        is that does not hold."""
        # A subclass of str could compare as one text and be another.
        entry = self.statements.get(sql) if type(sql) is str else None
        if (
            entry is None
            or self.operation not in entry.operations
            or self.spoiled is not None
            or _thread() != self.thread
            or type(parameters) is not tuple
            or len(parameters) != len(entry.names)
        ):
            return False
        for position in entry.positions:
            value = parameters[position]
            if type(value) is not str or value != self.owner:
                return False
        return True

    def admit(self, sql: object) -> Allowed | None:
        """The entry of a statement's text; None for a read of admission. Every other is refused."""
        self.here()
        if self.authorizer.inspecting:
            return None
        if self.operation is None:
            self.refuse(
                "No operation is running on this connection, so no statement runs on it.",
                code="guard-outside",
                expected="an operation the profile names",
                observed=_shown(sql),
            )
        if self.spoiled is not None:
            raise self.refusals.refused(
                "The transaction was rolled back after a denial; nothing else is run in it.",
                code="guard-poisoned",
                observed=str(self.spoiled),
            ) from self.spoiled
        entry = self.statements.get(sql) if type(sql) is str else None  # as in `holds`
        if entry is None or self.operation not in entry.operations:
            self.refuse(
                "The statement is none of those this operation declares. Nothing of it ran.",
                code="guard-statement",
                expected=f"a statement of {self.operation}",
                observed=_shown(sql),
            )
        return entry

    def checked(self, entry: Allowed, parameters: object) -> Any:
        """The parameters, as they may be bound. Raises the refusal of another owner's."""
        # A sequence of another type could answer differently when it is bound.
        if type(parameters) is not tuple or len(parameters) != len(entry.names):
            self.refuse(
                "The values of a declared statement come as one tuple, each in its place.",
                code="guard-statement",
                expected=f"{len(entry.names)} values",
                observed=type(parameters).__name__,
            )
        for position in entry.positions:
            value = parameters[position]
            if type(value) is not str or value != self.owner:
                self.refuse(
                    f"A statement on {entry.table} carries another owner. Nothing of it ran.",
                    code="guard-owner",
                    expected=self.owner,
                    observed=_shown(value),
                )
        return parameters


def _shown(value: object) -> str:
    text = value if type(value) is str else f"a {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:200]}…"


_EXECUTE = sqlite3.Cursor.execute


class GuardedCursor(sqlite3.Cursor):
    """A cursor of a guarded connection."""

    def execute(self, sql: Any, parameters: Any = (), /) -> GuardedCursor:
        connection: Any = self.connection
        hold: Hold = connection.hold
        try:
            if not (hold.holds(sql, parameters) and connection.in_transaction):
                entry = hold.admit(sql)
                if entry is not None:
                    connection.within()
                    hold.checked(entry, parameters)
            _EXECUTE(self, sql, parameters)
        except Exception as error:
            connection.failed(error)
            raise
        return self

    def executemany(self, sql: Any, rows: Iterable[Any], /) -> GuardedCursor:
        connection: Any = self.connection
        hold: Hold = connection.hold

        def checked(entry: Allowed) -> Iterator[Any]:
            for row in rows:
                yield hold.checked(entry, row)  # bound before the next one is taken

        try:
            entry = hold.admit(sql)
            if entry is not None:
                connection.within()
            sqlite3.Cursor.executemany(self, sql, rows if entry is None else checked(entry))
        except Exception as error:
            connection.failed(error)
            raise
        return self

    def executescript(self, sql_script: Any, /) -> NoReturn:
        connection: Any = self.connection
        connection._refuse("executescript")
        raise AssertionError


class GuardedConnection(sqlite3.Connection):
    """See the module. `hold` is set once, right after it was made and before any statement runs."""

    hold: Hold

    def __init__(self, *arguments: Any, **named: Any) -> None:
        if hasattr(self, "hold"):
            self._refuse("__init__")  # it would open another file in the place of this one
        super().__init__(*arguments, **named)

    def cursor(self, factory: object = None) -> Any:
        """A cursor that asks; a caller's own class is not used."""
        self.hold.here()
        return super().cursor(GuardedCursor)

    def execute(self, sql: Any, parameters: Any = (), /) -> GuardedCursor:
        self.hold.here()
        return GuardedCursor(self).execute(sql, parameters)

    def executemany(self, sql: Any, rows: Iterable[Any], /) -> GuardedCursor:
        self.hold.here()
        return GuardedCursor(self).executemany(sql, rows)

    def within(self) -> None:
        """Refuses a statement after the store ended the transaction by itself: it would stand alone."""
        if not self.in_transaction:
            self.hold.refuse(
                "The store ended the transaction by itself. Nothing was written.",
                code="guard-ended",
                expected="the transaction that was begun",
                observed="none",
            )

    def running(self) -> int:
        """Asked by the guard's triggers: whether an operation's transaction is what writes."""
        return int(self.hold.operation is not None and self.in_transaction)

    def failed(self, error: Exception) -> None:
        """After an error of a statement: a denial rolls the transaction back at once, and is told as such."""
        hold = self.hold
        denied = hold.authorizer.denied
        told: Exception | None = None
        if isinstance(error, sqlite3.Error):
            if denied is not None and error_name(error).startswith("SQLITE_AUTH"):
                told = hold.refusals.refused(
                    f"SQLite was told to deny this: {denied}. Nothing was written.",
                    code="guard-denied",
                    expected="what the profile lists",
                    observed=denied,
                )
                hold.spoil(told)
            elif str(error).startswith(MARK):
                told = hold.spoiled
        if hold.spoiled is not None and threading.get_ident() == hold.thread:
            self.undo()
        if told is not None:
            raise told from error

    def undo(self) -> None:
        """Rolls back, by the engine's own door."""
        if self.in_transaction:
            authorizer = self.hold.authorizer
            authorizer.door = "ROLLBACK"
            try:
                sqlite3.Connection.cursor(self).execute("ROLLBACK")
            finally:
                authorizer.door = None

    def _refuse(self, method: str) -> NoReturn:
        try:
            self.hold.refuse(
                f"{method} is closed on the connection of a guarded store. Nothing was done.",
                code="guard-connection",
                observed=method,
            )
        finally:
            if self.hold.spoiled is not None and threading.get_ident() == self.hold.thread:
                self.undo()


close_methods(
    GuardedConnection,
    # `__call__` only compiles, which the authorizer is asked about; cursors go through it.
    frozenset((
        "__call__", "close", "getlimit", "in_transaction", "interrupt", "row_factory", "text_factory",
        "total_changes",
    )),
)  # fmt: skip
