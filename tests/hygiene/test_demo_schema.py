"""The demo's schema file is the operational schema: the same tables, columns, keys and indexes."""

from __future__ import annotations

import sqlite3
from importlib.resources import files
from typing import Any


def facts(statements: list[str]) -> dict[str, Any]:
    connection = sqlite3.connect(":memory:")
    for statement in statements:
        connection.execute(statement)
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found: dict[str, Any] = {}
    for table in tables:
        indexes = {
            row[1]: (row[2:], [tuple(part) for part in connection.execute(f"PRAGMA index_xinfo('{row[1]}')")])
            for row in connection.execute(f"PRAGMA index_list('{table}')")
        }
        found[table] = (
            [tuple(row) for row in connection.execute(f"PRAGMA table_xinfo('{table}')")],
            sorted(tuple(row) for row in connection.execute(f"PRAGMA foreign_key_list('{table}')")),
            indexes,
        )
    connection.close()
    return found


def test_the_demo_store_has_the_operational_schema() -> None:
    from sqlalchemy.dialects import sqlite
    from sqlalchemy.schema import CreateIndex, CreateTable

    from persistence.schema import metadata

    dialect = sqlite.dialect()  # type: ignore[no-untyped-call]
    made = []
    for table in metadata.sorted_tables:
        made.append(str(CreateTable(table).compile(dialect=dialect)))
        made += [str(CreateIndex(index).compile(dialect=dialect)) for index in
                 sorted(table.indexes, key=lambda index: str(index.name))]  # fmt: skip
    text = (files("inspector.demo") / "schema.sql").read_text("utf-8")
    shipped = [statement for statement in text.split(";\n") if statement.strip()]
    assert facts(shipped) == facts(made) and len(facts(made)) == 32
