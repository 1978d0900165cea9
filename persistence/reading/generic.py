"""Reading by SQL text: `fetch_one`, `fetch_all`, `read_snapshot` (ADR-0055 P1).

Values come as they are stored: JSON columns as text, to be given to `persistence.reading.values.decode_json`.
SQLite's authorizer, or the server's read-only transaction, denies whatever is not a read.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import TextClause, text

from persistence.engines.reader import DEADLINE
from persistence.reading.sqltext import tokens, writes
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


class SnapshotReading:
    """Several reads by SQL over one snapshot. Leave it soon: it can hold a writer's log back.

    `read.snapshots` above one says that the store moved between two of them and was read anew.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    @property
    def read(self) -> ReadInfo:
        """How and when this snapshot was taken."""
        return self._snapshot.info

    async def fetch_all(self, sql: str, parameters: Parameters = None) -> list[dict[str, Any]]:
        """Every row as a mapping by column name; [] when there is none."""
        if writes(sql):
            self._snapshot.not_reading(sql)
        statement, values = named(sql, parameters)
        rows = await self._snapshot.rows(statement, values)
        return [{name: readable(value) for name, value in row._mapping.items()} for row in rows]  # type: ignore[attr-defined]

    async def fetch_one(self, sql: str, parameters: Parameters = None) -> dict[str, Any] | None:
        """The first row, or None."""
        rows = await self.fetch_all(sql, parameters)
        return rows[0] if rows else None


class GenericReading(ReadingSurface):
    """Reads by SQL text, on either backend."""

    @asynccontextmanager
    async def read_snapshot(self, *, deadline: float | None = DEADLINE) -> AsyncIterator[SnapshotReading]:
        """One consistent view of the store for several reads; `deadline` is in seconds, for each."""
        async with self._reading.reader.snapshot(deadline=deadline, generic=True) as snapshot:
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
