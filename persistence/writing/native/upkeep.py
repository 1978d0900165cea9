"""SQL by text, and the store's own upkeep (ADR-0055 P1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import text

from persistence.engines.native import NativeEngine
from persistence.engines.statements import Outcome, Statement, Steps
from persistence.reading.generic import named
from persistence.reading.sqltext import tokens
from persistence.writing.native.group import Group
from persistence.writing.values import refuse, text_fault

__all__ = ["SqlWrites", "UpkeepWrites"]

Parameters = Mapping[str, Any] | Sequence[Any] | None

_OWN = frozenset(("BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "ATTACH", "DETACH", "VACUUM"))
"""First words of statements that would end, split or leave the transaction they are run in."""


class SqlWrites(Group):
    """Statements given as text. `?` takes values by position, `:name` by name."""

    async def execute(self, sql: str, params: Parameters = None) -> None:
        """Runs one statement; it returns no row count. Transactions are begun by `transaction()` alone.

        ValueError when the values are not as many as the parameters, or one cannot be kept as it is.
        """
        await self._sql(sql, params, rows=False)

    async def _sql(self, sql: str, params: Parameters, *, rows: bool) -> Outcome:
        clause, values = named(sql, params)
        first = next((token.word() for token in tokens(sql)), "")
        if first in _OWN:
            refuse(
                "execute",
                f"{first} does not belong in a transaction of the store's own. Nothing was run.",
                "one statement of the transaction",
                first,
            )
        dialect = self._runner.dialect
        for name, given in values.items():
            _plain(name, given, dialect != "sqlite")
        statement = _prepared(clause.text, rows)
        missing = [name for name in statement.compiled(dialect).names if name not in values]
        if missing:
            raise ValueError(f"no value for :{missing[0]}")
        return await self._run(_once, statement, values)


@lru_cache(maxsize=256)
def _prepared(sql: str, rows: bool) -> Statement:
    return Statement(lambda _: text(sql), rows=rows, named=rows)


def _once(statement: Statement, values: Mapping[str, Any]) -> Steps[Outcome]:
    return (yield statement(**values))


def _plain(name: str, given: Any, server: bool) -> None:
    """Refuses a value that a driver would change in silence, or that no column holds."""
    fault = None
    if isinstance(given, str):
        fault = text_fault(given, server)
    elif isinstance(given, float) and math.isnan(given):
        fault = "NaN, which the database makes a NULL of"
    elif isinstance(given, int) and not -(2**63) <= given < 2**63:
        fault = f"a number of {given.bit_length()} bits"
    elif not isinstance(given, int | float | bytes | None):
        fault = f"a {type(given).__name__}, which no column holds"
    if fault is not None:
        where = f"parameter {name}"
        refuse(where, f"This value cannot be given to a statement: {fault}.", "a plain value", fault)


class UpkeepWrites(SqlWrites):
    """What is done to a store as a whole."""

    _engine: NativeEngine

    async def checkpoint(self, mode: str = "PASSIVE") -> tuple[int, int, int] | None:
        """Folds the write-ahead log into the file: (busy, frames in the log, frames folded in).

        `mode` is PASSIVE, FULL, RESTART or TRUNCATE, else ValueError. None on a server.
        """
        return await self._engine.checkpoint(mode)

    async def vacuum(self) -> None:
        """Rebuilds the store without its free pages."""
        await self._engine.vacuum()
