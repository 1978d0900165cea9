"""`create_all` on SQLite gives the store lionagi 0.36.0 makes, object by object."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

from persistence.reading.sqltext import index_predicate, table_text
from persistence.schema import metadata
from persistence.schema.known import TABLES
from tests.persistence.schema.facts import FACTS

TABLE_FACTS: dict[str, Any] = FACTS["sqlite"]["tables"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path: Path = tmp_path_factory.mktemp("schema") / "made.db"
    engine = create_engine(f"sqlite:///{path}")
    metadata.create_all(engine)
    engine.dispose()
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    yield connection
    connection.close()


def test_every_table_and_no_other(made: sqlite3.Connection) -> None:
    names = {row["name"] for row in made.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert names == set(TABLE_FACTS) == set(TABLES)
    assert not made.execute("SELECT 1 FROM sqlite_master WHERE type IN ('view', 'trigger')").fetchall()


@pytest.mark.parametrize("table", TABLES)
def test_columns(made: sqlite3.Connection, table: str) -> None:
    seen = [
        {
            "name": row["name"],
            "type": row["type"],
            "notnull": bool(row["notnull"]),
            "default": row["dflt_value"],
            "pk": row["pk"],
            "generated": None if row["hidden"] == 0 else row["hidden"],
        }
        for row in made.execute(f"PRAGMA table_xinfo({table})")
    ]
    assert seen == TABLE_FACTS[table]["columns"]
    keyed = sorted((column["pk"], column["name"]) for column in seen if column["pk"])
    assert [name for _, name in keyed] == TABLE_FACTS[table]["primary_key"]


@pytest.mark.parametrize("table", TABLES)
def test_checks(made: sqlite3.Connection, table: str) -> None:
    sql = made.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()["sql"]
    assert sorted(table_text(sql).checks) == sorted(
        fact["expression"] for fact in TABLE_FACTS[table]["checks"]
    )
    for fact in TABLE_FACTS[table]["checks"]:
        assert f"CONSTRAINT {fact['name']} CHECK" in sql


@pytest.mark.parametrize("table", TABLES)
def test_foreign_keys(made: sqlite3.Connection, table: str) -> None:
    seen = [
        {
            "columns": [row["from"]],
            "parent": row["table"],
            "parent_columns": [row["to"]],
            "on_update": row["on_update"],
            "on_delete": row["on_delete"],
        }
        for row in made.execute(f"PRAGMA foreign_key_list({table})")
    ]
    assert sorted(seen, key=repr) == sorted(TABLE_FACTS[table]["foreign_keys"], key=repr)


def _indexes(made: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    origins = {"c": "create index", "u": "unique constraint", "pk": "primary key"}
    out = []
    for row in made.execute(f"PRAGMA index_list({table})").fetchall():
        parts = [part for part in made.execute(f"PRAGMA index_xinfo({row['name']})") if part["key"]]
        sql = made.execute("SELECT sql FROM sqlite_master WHERE name = ?", (row["name"],)).fetchone()["sql"]
        out.append(
            {
                "name": row["name"],
                "columns": [part["name"] for part in parts],
                "desc": [part["name"] for part in parts if part["desc"]] or None,
                "where": index_predicate(sql) if row["partial"] else None,
                "origin": origins[row["origin"]],
                "unique": bool(row["unique"]),
            }
        )
    return out


@pytest.mark.parametrize("table", TABLES)
def test_indexes(made: sqlite3.Connection, table: str) -> None:
    facts = TABLE_FACTS[table]
    expected = [{**fact, "unique": False} for fact in facts["indexes"]]
    expected += [{**fact, "unique": True} for fact in facts["unique"]]

    def order(entry: dict[str, Any]) -> str:
        return str(entry["name"])

    assert sorted(_indexes(made, table), key=order) == sorted(expected, key=order)


def test_message_types_seed_is_the_releases_own() -> None:
    from persistence.schema.known import MESSAGE_TYPES

    assert [list(row) for row in MESSAGE_TYPES] == FACTS["seed_rows"]["message_types"]
