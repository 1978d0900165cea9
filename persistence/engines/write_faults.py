"""What the databases say when they refuse a write, as the typed errors people are told."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy.exc import IntegrityError

from persistence.engines.faults import error_name, fault
from persistence.engines.server_faults import server_fault
from persistence.errors import (
    BusyError,
    ConstraintError,
    StoreError,
    StorePermissionError,
    ValueRefusedError,
)

__all__ = ["StoreIntegrityError", "server_write_fault", "sqlite_write_fault"]


class StoreIntegrityError(ConstraintError, IntegrityError):  # type: ignore[misc]
    """A constraint refused a row: an integrity error, for those who know SQLAlchemy's, and a typed one."""

    def __init__(self, message: str, orig: BaseException, **fields: Any) -> None:
        IntegrityError.__init__(self, None, None, orig)
        # The typed fields, without the base's own `__init__`: the next class in line is SQLAlchemy's.
        told = ConstraintError(message, **fields)
        self.__dict__.update(told.__dict__)
        self.args = told.args

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        fields = ("code", "where", "expected", "observed", "remedy", "committed")
        given = {name: getattr(self, name) for name in fields}
        return _again, (self.message, str(self.orig), given)


def _again(message: str, orig: str, fields: dict[str, Any]) -> StoreIntegrityError:
    return StoreIntegrityError(message, Exception(orig), **fields)


_NOTHING = "Nothing was written."


def sqlite_write_fault(error: Exception, where: str) -> Exception:
    """The typed error for what SQLite, or its driver, answered to a write."""
    if isinstance(error, sqlite3.IntegrityError):
        return StoreIntegrityError(
            f"The store refused the row: {error}. {_NOTHING}",
            error,
            where=where,
            observed=str(error),
            remedy="See which row or key it names; what is there already stays as it is.",
        )
    if isinstance(
        error, OverflowError | sqlite3.InterfaceError | sqlite3.ProgrammingError | sqlite3.DataError
    ):
        return ValueRefusedError(
            f"The store cannot keep a value as it is: {error}. {_NOTHING}", where=where, observed=str(error)
        )
    if not isinstance(error, sqlite3.Error):
        return error
    name = error_name(error)
    if name == "SQLITE_FULL":
        return StoreError(
            f"There is no room left for this write. {_NOTHING}",
            code="no-room",
            where=where,
            observed=str(error),
            remedy="Make room where the store lies, then try again.",
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return StorePermissionError(
            f"The store, or a file beside it, may not be written by this user. {_NOTHING}",
            where=where,
            observed=f"{error} ({name})",
            remedy="Ask the owner of the store for the right to write it and the folder it lies in.",
        )
    return fault(error, where)


def server_write_fault(error: Exception, where: str) -> Exception:
    """The typed error for what PostgreSQL, or its driver, answered to a write."""
    import asyncpg

    if isinstance(error, asyncpg.IntegrityConstraintViolationError):
        return StoreIntegrityError(
            f"The store refused the row: {error}. {_NOTHING}",
            error,
            where=where,
            observed=str(error),
            remedy="See which row or key it names; what is there already stays as it is.",
        )
    if isinstance(
        error, asyncpg.DataError | asyncpg.exceptions.DataError | asyncpg.CharacterNotInRepertoireError
    ):
        return ValueRefusedError(
            f"The store cannot keep a value as it is: {error}. {_NOTHING}", where=where, observed=str(error)
        )
    busy = (
        asyncpg.LockNotAvailableError,
        asyncpg.DeadlockDetectedError,
        asyncpg.SerializationError,
        asyncpg.QueryCanceledError,
    )
    if isinstance(error, busy):
        return BusyError(
            f"Another program held what this write needs, and did not let go in time. {_NOTHING}",
            where=where,
            observed=str(error),
            remedy="Try again in a moment. Nothing is wrong with the store.",
        )
    if isinstance(error, asyncpg.InsufficientPrivilegeError | asyncpg.ReadOnlySQLTransactionError):
        return StorePermissionError(
            f"The server does not let this user write there. {_NOTHING}", where=where, observed=str(error)
        )
    return server_fault(error, where) or error
