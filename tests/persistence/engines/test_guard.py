"""Generic reads: what somebody typed runs on a connection that denies whatever is not a read."""

from __future__ import annotations

import inspect
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from persistence.engines import direct, guard
from persistence.errors import ReadOnlyStoreError, StoreError
from persistence.location import locate
from tests.persistence.engines.states import ROWS, crashed_log, make, traces


@pytest.fixture(params=["wal", "delete", "live log"])
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    path = tmp_path / "s.db"
    if request.param == "live log":
        crashed_log(path)
    else:
        make(path, request.param)
        connection = sqlite3.connect(path)
        connection.execute("CREATE VIRTUAL TABLE f USING fts5(body)")
        connection.execute("INSERT INTO f VALUES ('tide tables')")
        connection.execute("CREATE VIEW v AS SELECT a FROM t")
        connection.commit()
        connection.close()
    before = traces(tmp_path)
    yield path
    assert traces(tmp_path) == before


def ask(path: Path, statement: str) -> list[tuple[object, ...]]:
    return direct.read(locate(path), lambda c: c.execute(statement).fetchall(), generic=True)[0]


READS = {
    "select": "SELECT count(*) FROM t",
    "json_each": "SELECT sum(value) FROM json_each('[1, 2]')",
    "pragma": "PRAGMA table_info(t)",
    "pragma function": "SELECT name FROM pragma_table_info('t')",
    "pragma value": "PRAGMA journal_mode",
    "dbstat": "SELECT count(*) FROM dbstat",
    "recursive": "WITH RECURSIVE c(n) AS (VALUES (1) UNION SELECT n + 1 FROM c LIMIT 9) SELECT n FROM c",
    "window": "SELECT row_number() OVER (ORDER BY a) FROM t LIMIT 1",
    "sorted in memory": "SELECT b FROM t ORDER BY b DESC",
    "explain": "EXPLAIN QUERY PLAN SELECT * FROM t WHERE a = 1",
    "check": "PRAGMA quick_check",
    "list": "SELECT * FROM pragma_database_list",
}


@pytest.mark.parametrize("name", READS)
def test_reads_go_through(store: Path, name: str) -> None:
    assert ask(store, READS[name])


def test_full_text_search_and_views_go_through(tmp_path: Path) -> None:
    path = make(tmp_path / "s.db")
    connection = sqlite3.connect(path)
    connection.execute("CREATE VIRTUAL TABLE f USING fts5(body)")
    connection.execute("INSERT INTO f VALUES ('tide tables')")
    connection.execute("CREATE VIEW v AS SELECT a FROM t")
    connection.commit()
    connection.close()
    assert ask(path, "SELECT body FROM f WHERE f MATCH 'tide'") == [("tide tables",)]
    assert ask(path, "SELECT count(*) FROM v") == [(ROWS,)]
    with pytest.raises(ReadOnlyStoreError):
        ask(path, "INSERT INTO f(f) VALUES ('optimize')")
    with pytest.raises(ReadOnlyStoreError):
        ask(path, "REINDEX")  # asked once for each index


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO t VALUES (9999, 'x')",
        "REPLACE INTO t VALUES (1, 'x')",
        "INSERT INTO t VALUES (1, 'x') ON CONFLICT(a) DO UPDATE SET b = 'x'",
        "UPDATE t SET b = 'x' RETURNING a",
        "DELETE FROM t",
        "CREATE TABLE x(a)",
        "CREATE TEMP TABLE x(a)",
        "CREATE VIEW x AS SELECT 1",
        "CREATE TEMP TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE temp.x USING fts5(a)",
        "CREATE INDEX x ON t(b)",
        "DROP TABLE t",
        "ALTER TABLE t RENAME TO x",
        "ANALYZE",
        "ATTACH ':memory:' AS other",
        "ATTACH 'new.db' AS other",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO 'new.db'",
        "BEGIN IMMEDIATE",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT x",
        "PRAGMA user_version = 9",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA query_only = 0",
        "PRAGMA writable_schema = 1",
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "PRAGMA optimize",
        "PRAGMA temp_store_directory = '/'",
        "PRAGMA trusted_schema = 1",
        "PRAGMA hard_heap_limit = 1",
        "SELECT load_extension('x')",
        "SELECT fts3_tokenizer('x')",
        "INSERT INTO sqlite_master VALUES ('table', 'x', 'x', 0, 'CREATE TABLE x(a)')",
        "UPDATE sqlite_master SET sql = '' WHERE name = 't'",
        "DELETE FROM sqlite_master",
    ],
)
def test_everything_else_is_denied(store: Path, statement: str) -> None:
    with pytest.raises(StoreError) as caught:
        ask(store, statement)
    assert isinstance(caught.value, ReadOnlyStoreError) or caught.value.code == "bad-query"


def test_a_denial_leaves_the_connection_usable(store: Path) -> None:
    def twice(connection: sqlite3.Connection) -> int:
        with pytest.raises(sqlite3.DatabaseError):
            connection.execute("DELETE FROM t")
        return int(connection.execute("SELECT count(*) FROM t").fetchone()[0])

    assert direct.read(locate(store), twice, generic=True)[0] >= ROWS


def test_an_action_sqlite_adds_later_is_denied() -> None:
    """Deny lists age, allow lists do not (exqlite #344)."""
    assert guard.authorize(9999, None, None, None, None) == sqlite3.SQLITE_DENY
    known = {
        action: guard.authorize(action, "t", None, "main", None)
        for name, action in vars(sqlite3).items()
        if name.startswith("SQLITE_") and name.removeprefix("SQLITE_").split("_")[0]
        in ("CREATE", "DROP", "DELETE", "INSERT", "UPDATE", "ALTER", "ATTACH", "DETACH", "REINDEX", "ANALYZE",
            "SAVEPOINT", "TRANSACTION")
    }  # fmt: skip
    assert len(known) > 20 and set(known.values()) == {sqlite3.SQLITE_DENY}


def test_the_callback_is_a_plain_function() -> None:
    """A coroutine function answers no number, which denies everything (aiosqlite PR 349)."""
    assert not inspect.iscoroutinefunction(guard.authorize)
    assert guard.authorize(sqlite3.SQLITE_SELECT, None, None, None, None) == sqlite3.SQLITE_OK
