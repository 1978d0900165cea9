"""Which plan SQLite would make of the facade's own statements."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy.dialects import sqlite

from persistence import StateDB


@contextmanager
def statements_of(db: StateDB) -> Iterator[list[str]]:
    """Collects, as SQL with its values in place, every statement the facade runs in the block."""
    reader = db._reading.reader
    seen: list[str] = []
    load = reader.load

    async def watched(work: Any, **options: Any) -> Any:
        async def observed(snapshot: Any) -> Any:
            return await work(_Watched(snapshot, seen))

        return await load(observed, **options)

    reader.load = watched  # type: ignore[method-assign]
    try:
        yield seen
    finally:
        reader.load = load  # type: ignore[method-assign]


class _Watched:
    def __init__(self, snapshot: Any, seen: list[str]) -> None:
        self._snapshot = snapshot
        self._seen = seen

    async def rows(self, statement: Any, parameters: Any = None) -> Any:
        if not isinstance(statement, str):
            options = {"literal_binds": True}
            compiled = statement.compile(dialect=sqlite.dialect(), compile_kwargs=options)
            self._seen.append(str(compiled))
        return await self._snapshot.rows(statement, parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._snapshot, name)


def scanned(path: Path, sql: str) -> set[str]:
    """The tables a statement would go through from end to end, be it in an index's order."""
    connection = sqlite3.connect(path)
    try:
        steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
    finally:
        connection.close()
    found = (re.match(r"SCAN (?:TABLE )?(\w+)", step) for step in steps)
    return {match[1] for match in found if match}
