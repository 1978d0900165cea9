"""A store under construction: rows are told one by one, and written together by the native writer.

Only ever used in a child process: the application itself opens no store for writing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from persistence import Mode, StateDB

__all__ = ["StoreWriter", "natively"]


def natively(path: Path) -> AbstractAsyncContextManager[StateDB]:
    """The store, open as its own program opens it; a new one is made."""
    return StateDB(path, mode=Mode.NATIVE)


class StoreWriter:
    """Gathers rows, given as columns, until they are written."""

    def __init__(self) -> None:
        self.rows: dict[str, list[dict[str, Any]]] = {}

    def add(self, table: str, **columns: Any) -> None:
        self.rows.setdefault(table, []).append(columns)

    def progression(self, progression: str, created_at: float, ids: Iterable[str]) -> None:
        self.add("progressions", id=progression, created_at=created_at, collection=json.dumps(list(ids)))

    def make(self, path: Path, created_at: float) -> None:
        """A new store with these rows, made at that moment."""
        asyncio.run(self._make(path, created_at))

    async def _make(self, path: Path, created_at: float) -> None:
        async with natively(path) as db, db.transaction() as transaction:
            await transaction.insert_rows(self.rows)
            moment = str(int(created_at))
            await transaction.execute("UPDATE schema_meta SET value = ? WHERE key = 'created_at'", [moment])

    async def write(self, db: StateDB) -> None:
        """These rows, into a store that is open."""
        async with db.transaction() as transaction:
            await transaction.insert_rows(self.rows)
