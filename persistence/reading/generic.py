"""Reading by SQL text: `fetch_one`, `fetch_all`, `read_snapshot` (ADR-0055 P1).

Values come as they are stored: JSON columns as text, to be given to `persistence.reading.values.decode_json`.
On SQLite an authorizer denies whatever is not a read while the statement runs; a server's transaction is
read-only by itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import TextClause, text

from persistence.engines.reader import DEADLINE
from persistence.errors import ReadOnlyStoreError
from persistence.reading.sqltext import tokens
from persistence.reading.store import ReadingSurface
from persistence.reading.values import readable

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot
    from persistence.records import ReadInfo

__all__ = ["GenericReading", "SnapshotReading", "named"]

Parameters = Mapping[str, Any] | Sequence[Any] | None


def named(sql: str, parameters: Parameters = None) -> tuple[TextClause, dict[str, Any]]:
    """The statement with its `?` made into names, and the values by name.

    Only `?` outside of text, names and comments counts. ValueError when the number of values is another.
    Named parameters (`:name`, with a mapping) stay as they are.
    """
    pieces: list[str] = []
    end = count = 0
    for token in tokens(sql):
        # Colons in text and comments are no parameters; SQLAlchemy reads `\:` as a plain colon.
        pieces.append(sql[end : token.start].replace(":", "\\:"))
        if token.text == "?":
            pieces.append(f":p{count}")
            count += 1
        elif token.kind in ("string", "name"):
            pieces.append(token.text.replace(":", "\\:"))
        else:
            pieces.append(token.text)
        end = token.end
    pieces.append(sql[end:].replace(":", "\\:"))
    statement = text("".join(pieces))
    if parameters is None:
        parameters = ()
    if isinstance(parameters, Mapping):
        if count:
            raise ValueError(f"{count} ? parameters, and values by name")
        return statement, dict(parameters)
    if isinstance(parameters, str | bytes):
        raise TypeError("parameters are a sequence of values or a mapping, not one text")
    if count != len(parameters):
        raise ValueError(f"{count} ? parameters, and {len(parameters)} values")
    return statement, {f"p{position}": value for position, value in enumerate(parameters)}


_READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
_PRAGMAS = {
    "application_id",
    "auto_vacuum",
    "collation_list",
    "compile_options",
    "data_version",
    "database_list",
    "encoding",
    "foreign_key_check",
    "foreign_key_list",
    "foreign_keys",
    "freelist_count",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "journal_mode",
    "module_list",
    "page_count",
    "page_size",
    "pragma_list",
    "query_only",
    "quick_check",
    "schema_version",
    "table_info",
    "table_list",
    "table_xinfo",
    "user_version",
}
_SETTINGS = {"application_id", "auto_vacuum", "encoding", "foreign_keys", "journal_mode", "page_size"}
_SETTINGS |= {"query_only", "schema_version", "user_version"}

_NAMED = (
    "ALTER_TABLE ANALYZE ATTACH CREATE_INDEX CREATE_TABLE CREATE_TEMP_TABLE CREATE_TRIGGER CREATE_VIEW "
    "DELETE DETACH DROP_INDEX DROP_TABLE DROP_TRIGGER DROP_VIEW FUNCTION INSERT PRAGMA REINDEX SAVEPOINT "
    "TRANSACTION UPDATE"
)
_ACTIONS = {getattr(sqlite3, f"SQLITE_{name}"): name.replace("_", " ").lower() for name in _NAMED.split()}


def _allows(action: int, first: str | None, second: str | None) -> bool:
    if action in _READS:
        return True
    if action == sqlite3.SQLITE_FUNCTION:
        return (second or "").lower() != "load_extension"
    if action == sqlite3.SQLITE_TRANSACTION:
        return first == "BEGIN"  # the snapshot's own, which may come with its first statement
    if action == sqlite3.SQLITE_PRAGMA:
        name = (first or "").lower()
        return name in _PRAGMAS and not (name in _SETTINGS and second is not None)
    # The first use of json_each and the like registers its table: SQLite asks for this one update.
    return action == sqlite3.SQLITE_UPDATE and first == "sqlite_master"


class SnapshotReading:
    """Several reads by SQL over one snapshot. Leave it soon: it can hold a writer's log back."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    @property
    def read(self) -> ReadInfo:
        """How and when this snapshot was taken."""
        return self._snapshot.info

    async def fetch_all(self, sql: str, parameters: Parameters = None) -> list[dict[str, Any]]:
        """Every row as a mapping by column name; [] when there is none."""
        statement, values = named(sql, parameters)
        guarded = self._guarded if self._snapshot.dialect == "sqlite" else self._snapshot.rows
        rows = await guarded(statement, values)
        return [{name: readable(value) for name, value in row._mapping.items()} for row in rows]  # type: ignore[attr-defined]

    async def fetch_one(self, sql: str, parameters: Parameters = None) -> dict[str, Any] | None:
        """The first row, or None."""
        rows = await self.fetch_all(sql, parameters)
        return rows[0] if rows else None

    async def _guarded(self, statement: TextClause, values: dict[str, Any]) -> list[Sequence[Any]]:
        denied: list[str] = []

        def decide(action: int, first: str | None, second: str | None, *_: str | None) -> int:
            if _allows(action, first, second):
                return sqlite3.SQLITE_OK
            parts = (_ACTIONS.get(action, f"action {action}"), first, second)
            denied.append(" ".join(part for part in parts if part))
            return sqlite3.SQLITE_DENY

        await self._snapshot.on_driver(lambda connection: connection.set_authorizer(decide))
        try:
            return await self._snapshot.rows(statement, values)
        except Exception as error:
            if not denied:
                raise
            raise ReadOnlyStoreError(
                "This statement is not a read; nothing was run.",
                expected="a statement that only reads",
                observed=denied[0],
                remedy="Read with SELECT; the store is open read-only.",
            ) from error
        finally:
            await self._snapshot.on_driver(lambda connection: connection.set_authorizer(None))


class GenericReading(ReadingSurface):
    """Reads by SQL text, on either backend."""

    @asynccontextmanager
    async def read_snapshot(self, *, deadline: float | None = DEADLINE) -> AsyncIterator[SnapshotReading]:
        """One consistent view of the store for several reads; `deadline` is in seconds, for each."""
        async with self._reading.reader.snapshot(deadline=deadline) as snapshot:
            yield SnapshotReading(snapshot)

    async def fetch_one(
        self, sql: str, parameters: Parameters = None, *, deadline: float | None = DEADLINE
    ) -> dict[str, Any] | None:
        """The first row of a statement that reads, or None. `?` takes values by position, `:name` by name."""
        async with self.read_snapshot(deadline=deadline) as snapshot:
            return await snapshot.fetch_one(sql, parameters)

    async def fetch_all(
        self, sql: str, parameters: Parameters = None, *, deadline: float | None = DEADLINE
    ) -> list[dict[str, Any]]:
        """Every row of a statement that reads, as mappings by column name; [] when there is none.

        ReadOnlyStoreError when it is not a read, ValueError when the parameters do not match.
        """
        async with self.read_snapshot(deadline=deadline) as snapshot:
            return await snapshot.fetch_all(sql, parameters)
