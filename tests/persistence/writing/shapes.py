"""Stores compared: every object of the schema, every row; and what a native open did."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from persistence import Mode, StateDB


@contextmanager
def copied(path: Path) -> Iterator[sqlite3.Connection]:
    """A copy of a store with what lies beside it, recovered there; the store itself is not opened."""
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("", "-wal", "-journal"):
            if Path(f"{path}{suffix}").exists():
                shutil.copyfile(f"{path}{suffix}", Path(folder, f"copy{suffix}"))
        with closing(sqlite3.connect(Path(folder, "copy"))) as connection:
            yield connection


def dump(path: Path) -> dict[str, Any]:
    """Schema and rows, with the storage class of every value."""
    with copied(path) as connection:
        schema = sorted(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall())
        out: dict[str, Any] = {"": schema}
        for kind, name, _, _ in schema:
            if kind == "table":
                columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
                shown = ", ".join(f"{column}, typeof({column})" for column in columns)
                out[name] = [
                    dict(zip(columns, zip(row[::2], row[1::2], strict=True), strict=True))
                    for row in connection.execute(f"SELECT {shown} FROM {name} ORDER BY rowid")
                ]
        return out


def shape(path: Path) -> dict[str, Any]:
    """Every table by PRAGMA: columns, foreign keys, indexes with their columns, order and condition."""
    with copied(path) as connection:
        partial = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index'"))
        out = {}
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            indexes = {}
            for _, index, unique, origin, is_partial in connection.execute(f"PRAGMA index_list({name})"):
                parts = connection.execute(f"PRAGMA index_xinfo({index})").fetchall()
                where = (partial[index] or "").partition("WHERE")[2].split() if is_partial else None
                indexes[index] = (unique, origin, where, [part[2:] for part in parts])
            out[name] = (
                connection.execute(f"PRAGMA table_xinfo({name})").fetchall(),
                sorted(row[2:] for row in connection.execute(f"PRAGMA foreign_key_list({name})")),
                indexes,
            )
        return out


async def opened(path: Path, **more: Any) -> Any:
    async with StateDB(path, mode=Mode.NATIVE, **more) as db:
        return db.applied


def beside(path: Path) -> set[str]:
    return {entry.name for entry in path.parent.iterdir()}
