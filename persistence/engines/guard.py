"""The authorizer of generic reads: it denies whatever is not known to be a read (DESIGN 3.1).

An allow list, since deny lists age: an action SQLite adds later is denied.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

__all__ = ["authorize", "deny_writes"]

_RECURSIVE = 33  # SQLITE_RECURSIVE; the sqlite3 module has it from 3.11 on
# fmt: off
_TAKE_NAMES = frozenset((
    "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo",
    "foreign_key_list", "foreign_key_check", "integrity_check", "quick_check",
))
_PRAGMAS = _TAKE_NAMES | frozenset((
    "database_list", "collation_list", "function_list", "module_list", "pragma_list", "compile_options",
    "page_count", "page_size", "freelist_count", "max_page_count", "journal_mode", "encoding",
    "user_version", "application_id", "schema_version", "data_version", "auto_vacuum",
    "read_uncommitted", "query_only",
))
# fmt: on
_DENIED_FUNCTIONS = frozenset(("load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"))


def authorize(
    action: int, first: str | None, second: str | None, database: str | None, _trigger: str | None
) -> int:
    """SQLite's question about one thing a statement would do: SQLITE_OK for a read, else SQLITE_DENY."""
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, _RECURSIVE):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_DENY if (second or "").lower() in _DENIED_FUNCTIONS else sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_UPDATE and first == "sqlite_master":
        # Asked when json_each, dbstat or a pragma function is first used on a connection, as their tables
        # are declared. A real update of it fails all the same: the schema is not writable.
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_PRAGMA:
        name = (first or "").lower()
        if name in _PRAGMAS and (second is None or name in _TAKE_NAMES):
            return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def deny_writes(connection: sqlite3.Connection) -> None:
    """Has the connection deny every write from now on; its transaction must have been begun.

    What ends the transaction is denied too: it ends with the connection.
    """
    guarded: Callable[..., int] = authorize
    connection.set_authorizer(guarded)
