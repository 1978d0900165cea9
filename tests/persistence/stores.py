"""Small stores for tests: the schema of a release, and rows put in with plain sqlite3."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Column
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from persistence.schema import metadata
from persistence.schema.known import MESSAGE_TYPES, RELEASES, columns_of

_DIALECT = sqlite.dialect()


def make_store(path: Path, release: str = RELEASES[-1], *, wal: bool = False) -> Path:
    """An empty store with the tables and columns this release's stores have."""
    path.write_bytes(_empty(release, wal))
    return path


@cache
def _empty(release: str, wal: bool) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder, "empty.db"))
        connection.execute("PRAGMA synchronous=OFF")
        if wal:
            connection.execute("PRAGMA journal_mode=WAL")
        for table in metadata.sorted_tables:
            there = columns_of(table.name, release)
            if there == {column.name for column in table.columns}:
                connection.execute(str(CreateTable(table).compile(dialect=_DIALECT)))
                for index in sorted(table.indexes, key=lambda index: str(index.name)):
                    connection.execute(str(CreateIndex(index).compile(dialect=_DIALECT)))
            elif there:
                columns = ", ".join(_column(column) for column in table.columns if column.name in there)
                connection.execute(f"CREATE TABLE {table.name} ({columns})")
        connection.executemany("INSERT INTO message_types VALUES (?, ?)", MESSAGE_TYPES)
        connection.execute("INSERT INTO schema_meta VALUES ('version', '4')")
        connection.execute("INSERT INTO schema_meta VALUES ('lineage', 'lionagi')")
        connection.commit()
        connection.close()
        return Path(folder, "empty.db").read_bytes()


def _column(column: Column[Any]) -> str:
    key = " PRIMARY KEY" if column.primary_key else ""
    return f'"{column.name}" {column.type.compile(_DIALECT)}{key}'


def put(path: Path, table: str, *rows: Mapping[str, Any]) -> None:
    """Adds rows; mappings and lists are stored as JSON text, everything else as it is."""
    connection = sqlite3.connect(path)
    for row in rows:
        values = [json.dumps(v) if isinstance(v, dict | list) else v for v in row.values()]
        names = ", ".join(f'"{name}"' for name in row)
        marks = ", ".join("?" for _ in row)
        connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)
    connection.commit()
    connection.close()


def run_sql(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def marks_of(path: Path) -> dict[str, tuple[str, int, int]]:
    """Digest, size and modification time of the store's file and of whatever is beside it."""
    return {
        entry.name: (
            hashlib.sha256(entry.read_bytes()).hexdigest(),
            entry.stat().st_size,
            entry.stat().st_mtime_ns,
        )
        for entry in sorted(path.parent.iterdir())
    }


def session(number: int, **fields: Any) -> dict[str, Any]:
    """A session's row with what the schema requires."""
    row = {
        "id": f"s{number:03}",
        "created_at": 1000.0 + number,
        "updated_at": 2000.0 + number,
        "progression_id": f"p{number:03}",
    }
    return {**row, **fields}


def message(number: int, **fields: Any) -> dict[str, Any]:
    """A message's row with what the schema requires."""
    row = {
        "id": f"m{number:04}",
        "created_at": 1000.0 + number,
        "content": {"assistant_response": f"text {number}"},
        "role": "assistant",
        "lion_class": 3,
    }
    return {**row, **fields}


def make_filled(path: Path, release: str = RELEASES[-1]) -> Path:
    """A store of this release with the rows of `tests.persistence.filled` that fit it."""
    path.write_bytes(_filled(release))
    return path


@cache
def _filled(release: str) -> bytes:
    from tests.persistence.filled import ROWS, rows_for

    with tempfile.TemporaryDirectory() as folder:
        path = make_store(Path(folder, "filled.db"), release)
        for table in ROWS:
            there = columns_of(table, release)
            if there:
                put(path, table, *rows_for(table, there))
        return path.read_bytes()
