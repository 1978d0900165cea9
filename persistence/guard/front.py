"""What the driver and SQLAlchemy hold in the place of a guarded store's connection.

A `sqlite3.Connection` that is closed from the start: whatever is called on it refuses, and the methods of its
base class, `backup` from another connection included, find no database behind it. The store itself is opened
and guarded by the `connect` listener, and what reaches it is handed to the engine alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from persistence.errors import StateCompatibilityRefused
from persistence.guard.closed import close_methods

__all__ = ["Front", "FrontCursor", "Strings"]


class Strings(NamedTuple):
    """What a front pulls: the real connection is behind these functions, and in no attribute."""

    refuse: Callable[[str], NoReturn]
    interrupt: Callable[[], None]
    close: Callable[[], None]
    in_transaction: Callable[[], bool]
    total_changes: Callable[[], int]


class FrontCursor:
    """A cursor without a store: it answers the one question SQLAlchemy has for a new connection."""

    arraysize = 1
    lastrowid = None
    rowcount = -1

    def __init__(self, front: Front) -> None:
        self.connection = front
        self.description: tuple[tuple[Any, ...], ...] | None = None
        self._rows: list[tuple[Any, ...]] = []

    def execute(self, sql: object, parameters: object = ()) -> FrontCursor:
        if sql != "PRAGMA read_uncommitted":  # SQLAlchemy's: which isolation is this?
            self.connection._refuse("execute")
        self.description = (("read_uncommitted", None, None, None, None, None, None),)
        self._rows = [(0,)]
        return self

    def executemany(self, sql: object, rows: object) -> NoReturn:
        self.connection._refuse("executemany")

    def executescript(self, script: object) -> NoReturn:
        self.connection._refuse("executescript")

    def fetchone(self) -> Any:
        return self._rows.pop(0) if self._rows else None

    def fetchmany(self, size: int = 1) -> list[Any]:
        found, self._rows = self._rows[:size], self._rows[size:]
        return found

    def fetchall(self) -> list[Any]:
        found, self._rows = self._rows, []
        return found

    def close(self) -> None:
        self._rows = []


class Front(sqlite3.Connection):
    """See the module. Attributes that only tell something answer; everything else refuses."""

    def __init__(self, where: str, profile: str = "", *_more: Any, **_named: Any) -> None:
        if "_where" in vars(self):
            self._refuse("__init__")
        super().__init__(":memory:")
        super().close()  # there is no database to be reached through the base
        self._where = where
        self._profile = profile
        self._strings: Strings | None = None

    def string(self, strings: Strings) -> None:
        """Ties the front to the store that was opened and guarded. Once."""
        if self._strings is not None:
            self._refuse("string")
        self._strings = strings

    def cursor(self, factory: object = None) -> Any:
        return FrontCursor(self)

    def create_function(self, name: str, *_arguments: Any, **_named: Any) -> None:
        """SQLAlchemy gives each new connection functions of its own; a guarded one does without them."""
        if self._strings is not None:
            self._refuse("create_function")

    def commit(self) -> None:
        """Nothing, as there is nothing to commit; within an operation it is refused."""
        if self.in_transaction:
            self._refuse("commit")

    def rollback(self) -> None:
        """Nothing, as for `commit`: pools ask for it when a connection comes back."""
        if self.in_transaction:
            self._refuse("rollback")

    def interrupt(self) -> None:
        if self._strings is not None:
            self._strings.interrupt()

    def close(self) -> None:
        """Lets the store go. Within an operation it is refused."""
        if self.in_transaction:
            self._refuse("close")
        if self._strings is not None:
            self._strings.close()

    @property
    def in_transaction(self) -> bool:
        return self._strings is not None and self._strings.in_transaction()

    @property
    def total_changes(self) -> int:
        return 0 if self._strings is None else self._strings.total_changes()

    @property
    def isolation_level(self) -> None:
        return None

    @isolation_level.setter
    def isolation_level(self, value: object) -> None:
        self._refuse("isolation_level = ...")

    def _refuse(self, method: str) -> NoReturn:
        if self._strings is not None:
            self._strings.refuse(method)
        raise StateCompatibilityRefused(
            f"{method}: no store was opened behind this connection. Nothing was done.",
            code="guard-not-installed",
            profile=self._profile,
            where=self._where,
            rule="guard",
            observed=method,
            remedy="Open the store again: it is then admitted anew, or refused with the reason.",
        )

    def __reduce__(self) -> NoReturn:
        raise TypeError("a connection cannot be pickled or copied")


close_methods(Front, frozenset())
