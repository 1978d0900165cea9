"""What went wrong in SQLite, as the typed errors people are told (DESIGN 9: busy is busy, never corrupt)."""

from __future__ import annotations

import re
import sqlite3
from typing import Any

from persistence.errors import (
    BusyError,
    MissingTableError,
    NotAStoreError,
    ReadOnlyStoreError,
    StoreDamagedError,
    StoreError,
    StorePermissionError,
)

__all__ = ["error_name", "fault", "quoting_error"]

_NO_TABLE = re.compile(r"no such (table|view): (.+)", re.DOTALL)
_NO_COLUMN = re.compile(r"no such column: (.+)", re.DOTALL)


def error_name(error: BaseException) -> str:
    """SQLite's name of an error, such as `SQLITE_BUSY_RECOVERY`; empty when it has none."""
    return str(getattr(error, "sqlite_errorname", None) or "")


def quoting_error(error: UnicodeDecodeError) -> sqlite3.DatabaseError:
    """What SQLite said: its message quotes a schema that is not UTF-8, which its module fails to decode."""
    quoted = sqlite3.DatabaseError(bytes(error.object).decode("utf-8", "backslashreplace"))
    quoted.sqlite_errorname = "SQLITE_CORRUPT"
    return quoted


def fault(error: sqlite3.Error, where: str) -> StoreError:
    """The typed error for what SQLite answered to a read. Interrupts are the caller's to tell apart."""
    name, text = error_name(error), str(error)
    found: dict[str, Any] = {"where": where, "observed": f"{text} ({name})" if name else text}
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return BusyError(
            "Another program holds the store, and did not let go in time.",
            remedy="Try again in a moment. Nothing is wrong with the store.",
            **found,
        )
    if name == "SQLITE_PROTOCOL" or name.startswith("SQLITE_IOERR_LOCK"):
        return BusyError(
            "The store could not be locked for reading.",
            code="no-locks",
            remedy="Its file system may not support locks; a copy on a local disk can be read.",
            **found,
        )
    if name.startswith("SQLITE_NOTADB"):
        return NotAStoreError("SQLite does not recognize the file as a database.", **found)
    if name.startswith("SQLITE_CORRUPT"):
        return StoreDamagedError(
            "SQLite found a part of the store that makes no sense.",
            remedy="The store was not touched. Other tables may still be readable; keep the file as it is "
            "and make a copy before any repair.",
            **found,
        )
    if text.startswith("unsupported file format"):
        return StoreDamagedError(
            "The file says that it has a format this SQLite does not read.",
            remedy="The store was not touched. Keep the file as it is; a newer SQLite may read it.",
            **found,
        )
    # A function that is denied is told as a plain error, by its words alone.
    if name.startswith(("SQLITE_AUTH", "SQLITE_READONLY")) or str(error).startswith("not authorized"):
        return ReadOnlyStoreError(
            "The store is open for reading only; this statement does more than read.",
            remedy="Ask with a SELECT.",
            **found,
        )
    if name.startswith("SQLITE_PERM"):
        return StorePermissionError("The store may not be read by this user.", **found)
    if name.startswith("SQLITE_CANTOPEN"):
        return StoreError(
            "SQLite could not open the store or a file beside it.",
            code="cannot-open",
            remedy="See that the file and what lies beside it may be read by this user.",
            **found,
        )
    if name.startswith("SQLITE_IOERR"):
        return StoreError(
            "The store could not be read from its device.",
            code="io-error",
            remedy="The store was not touched. Look at the device and the system's log.",
            **found,
        )
    if name in ("SQLITE_NOMEM", "SQLITE_FULL"):
        return StoreError("There is not enough memory for this read.", code="no-memory", **found)
    return _statement(text, found)


def _statement(text: str, found: dict[str, Any]) -> StoreError:
    missing = _NO_TABLE.match(text)
    if missing:
        return MissingTableError(f"The store has no {missing[1]} {missing[2]}.", **found)
    column = _NO_COLUMN.match(text)
    if column:
        return MissingTableError(f"The store has no column {column[1]}.", code="no-such-column", **found)
    return StoreError("SQLite could not run this statement.", code="bad-query", **found)
