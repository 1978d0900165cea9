"""A store under construction: plain sqlite3, as another program would write it.

Only ever used in a child process: the application itself opens no store's file (POSIX locks).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any, Self

__all__ = ["StoreWriter", "as_json"]

CLASSES = ("__unknown__", "system.System", "instruction.Instruction", "assistant_response.AssistantResponse",
           "action_request.ActionRequest", "action_response.ActionResponse")  # fmt: skip
PACKAGE = "lionagi.protocols.messages."


def as_json(value: Any) -> str:
    """JSON as such stores keep it: ASCII, with escapes."""
    return json.dumps(value, ensure_ascii=True)


class StoreWriter:
    """Inserts rows given as columns; lists and mappings become JSON. One transaction until `commit`."""

    def __init__(self, path: Path, *, created_at: float | None = None) -> None:
        """Opens the store; with `created_at` makes a new one, in WAL mode, with its first rows."""
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._statements: dict[tuple[str, tuple[str, ...]], str] = {}
        if created_at is not None:
            self._create(created_at)

    def _create(self, created_at: float) -> None:
        run = self._connection.execute
        run("PRAGMA journal_mode=WAL")
        run("PRAGMA synchronous=OFF")
        run("BEGIN IMMEDIATE")
        for statement in (files("inspector.demo") / "schema.sql").read_text("utf-8").split(";\n"):
            if statement.strip():
                run(statement)
        for number, name in enumerate(CLASSES):
            self.add("message_types", type_id=number, lion_class=name if number == 0 else PACKAGE + name)
        meta = {
            "version": "4",
            "lineage": "lionagi",
            "created_at": str(int(created_at)),
            "migration.dispatched_at_backfill": "1",
            "migration.attention_dispositions_backfill": "1",
            "migration.imported_role_label_backfill": "1",
            "migration.session_ended_at_backfill": "1",
        }
        for key, value in meta.items():
            self.add("schema_meta", key=key, value=value)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def wait(self, milliseconds: int) -> None:
        """How long to wait for another writer."""
        self._connection.execute(f"PRAGMA busy_timeout={int(milliseconds)}")

    def begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self._connection.execute("COMMIT")

    def add(self, table: str, **columns: Any) -> None:
        names = tuple(columns)
        statement = self._statements.get((table, names))
        if statement is None:
            marks = ", ".join("?" * len(names))
            quoted = ", ".join(f'"{name}"' for name in names)
            statement = f'INSERT INTO "{table}" ({quoted}) VALUES ({marks})'  # noqa: S608 (names of ours)
            self._statements[table, names] = statement
        self._connection.execute(statement, [_stored(value) for value in columns.values()])

    def change(self, table: str, key: str, **columns: Any) -> None:
        """Sets columns of the row with this id."""
        changes = ", ".join(f'"{name}" = ?' for name in columns)
        values = [*map(_stored, columns.values()), key]
        self._connection.execute(f'UPDATE "{table}" SET {changes} WHERE id = ?', values)  # noqa: S608

    def progression(self, progression: str, created_at: float, ids: Iterable[str]) -> None:
        self.add("progressions", id=progression, created_at=created_at, collection=as_json(list(ids)))


def _stored(value: Any) -> Any:
    return as_json(value) if isinstance(value, Mapping | list | tuple) else value
