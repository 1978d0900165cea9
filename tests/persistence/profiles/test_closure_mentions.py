"""Which tables a trigger or view names: held against what SQLite itself resolves when it prepares them."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persistence.profiles.closure_mentions import mentions
from persistence.profiles.tokens import tokens

TABLES = "CREATE TABLE {name} (id INTEGER PRIMARY KEY, a, b, messages, sessions)"
NAMES = ("sessions", "messages", "tickets", "feed", "odd name", "lone")

BODIES = (
    "INSERT INTO feed (a) VALUES (NEW.id)",
    "INSERT INTO 'messages' (a) VALUES (1)",
    'INSERT OR IGNORE INTO "odd name" (a) VALUES (1)',
    "REPLACE INTO [messages] (a) VALUES (1)",
    "UPDATE sessions SET messages = 1",
    "UPDATE OR FAIL `messages` SET a = 'sessions'",
    "UPDATE feed SET (a, b) = (SELECT a, b FROM messages WHERE id = 1)",
    "UPDATE feed SET a = s.a FROM sessions AS s, messages AS m WHERE s.id = m.id",
    "DELETE FROM messages WHERE id = OLD.id",
    "DELETE FROM feed WHERE a IN lone",
    "DELETE FROM feed WHERE a NOT IN (SELECT id FROM sessions)",
    "SELECT messages, sessions FROM feed",
    "SELECT 'messages', \"feed\".messages FROM feed /* sessions */ -- messages",
    "SELECT a IS NOT DISTINCT FROM b, messages FROM feed",
    "SELECT 1 FROM feed AS messages WHERE messages.a = 1",
    "SELECT f.a FROM feed f JOIN (messages m JOIN sessions s ON m.id = s.id) ON f.id = m.id",
    "SELECT f.a FROM feed f LEFT OUTER JOIN messages m ON (f.id, 1) = (m.id, 1), sessions s WHERE f.a = s.a",
    "SELECT (SELECT count(*) FROM sessions), a FROM feed GROUP BY a, messages ORDER BY a, sessions",
    "SELECT x.value, messages.a FROM feed, json_each(feed.a) AS x, messages",
    "SELECT a FROM feed UNION ALL SELECT m.a FROM (SELECT a, b FROM tickets) AS t, messages m LIMIT 1, 2",
    "INSERT INTO feed (a) SELECT a FROM messages WHERE true ON CONFLICT (id) DO UPDATE SET a = 1, b = 2",
    "INSERT INTO feed (a, messages) VALUES (1, CASE WHEN NEW.a THEN 'sessions' ELSE \"NEW\".b END)",
    "SELECT count(*) OVER (PARTITION BY f.a, f.messages ORDER BY f.b), t.a FROM feed f, tickets t",
)


def _store() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE lone (a)")
    for name in NAMES[:-1]:
        connection.execute(TABLES.format(name=f'"{name}"'))
    return connection


def _resolved(connection: sqlite3.Connection, statement: str, inner: str) -> set[str]:
    """The tables SQLite reads or writes within the trigger or view when it prepares the statement."""
    found: set[str] = set()
    acts = (sqlite3.SQLITE_READ, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE)

    def ask(action: int, table: str | None, _: str | None, __: str | None, within: str | None) -> int:
        if action in acts and within == inner and table is not None:
            found.add(table)
        return sqlite3.SQLITE_OK

    connection.set_authorizer(ask)
    try:
        connection.execute(f"EXPLAIN {statement}").fetchall()
    finally:
        connection.set_authorizer(None)
    return found


@pytest.mark.parametrize("body", BODIES)
def test_a_triggers_tables_are_those_sqlite_resolves(body: str) -> None:
    head = "CREATE TRIGGER fires AFTER UPDATE OF a, b ON tickets WHEN NEW.a IS NOT NULL"
    sql = f"{head} BEGIN {body}\n; END"
    with closing(_store()) as connection:
        connection.execute(sql)
        found = mentions(tokens(sql))
        theirs = _resolved(connection, "UPDATE tickets SET a = 1", "fires")
        # The row itself is read under the trigger's own table; json_each is no table of the store.
        named = {name for name in found.names if name in NAMES}
        assert named - {"tickets"} == theirs - {"tickets", "json_each"}


@pytest.mark.parametrize("query", [body for body in BODIES if body.startswith("SELECT")])
def test_a_views_tables_are_those_sqlite_resolves(query: str) -> None:
    sql = f"CREATE VIEW shows AS {query}"
    with closing(_store()) as connection:
        connection.execute(sql)
        theirs = _resolved(connection, "SELECT * FROM shows", "shows")
        assert {name for name in mentions(tokens(sql)).names if name in NAMES} == theirs & set(NAMES)


def test_the_statements_that_write_are_told_with_their_verbs() -> None:
    found = mentions(
        tokens(
            "CREATE TRIGGER t BEFORE DELETE ON x BEGIN "
            "INSERT INTO a SELECT 1 FROM b; UPDATE c SET d = 1; DELETE FROM e; REPLACE INTO f VALUES (1); END"
        )
    )
    assert [(write.verb, write.table) for write in found.writes] == [
        ("insert", "a"),
        ("update", "c"),
        ("delete", "e"),
        ("insert", "f"),
    ]
    assert found.reads == {"b"}


def test_a_common_table_expression_under_a_tables_name_counts_as_the_table() -> None:
    sql = "CREATE VIEW v AS WITH messages (a) AS (SELECT 1) SELECT a FROM messages"
    assert "messages" in mentions(tokens(sql)).names


class _Maker:
    """Queries at random over the tables, with their names as strings, columns and aliases among them."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._aliases = 0
        self.used: set[str] = set()

    def query(self, depth: int = 3) -> str:
        """One that gives a single column `a`."""
        sources = [self._source(depth) for _ in range(self._chance.choice((1, 1, 2, 3)))]
        first = sources[0][0]
        joined = sources[0][1]
        for alias, text in sources[1:]:
            joined += self._chance.choice(
                (
                    f", {text}",
                    f" JOIN {text} ON {alias}.a = {first}.a",
                    f" LEFT OUTER JOIN {text} ON 'messages'",
                )
            )
        words = [f"SELECT {self._value(first, depth)} AS a FROM {joined}"]
        if self._chance.random() < 0.6:
            words.append(f"WHERE {self._condition(first, depth)}")
        words += [f"GROUP BY {first}.a, {first}.a"] * (self._chance.random() < 0.2)
        if depth > 1 and self._chance.random() < 0.2:
            words.append(f"UNION ALL {self.query(depth - 1)}")
        return " ".join(words)

    def _source(self, depth: int) -> tuple[str, str]:
        self._aliases += 1
        alias = f"x{self._aliases}"
        if depth > 1 and self._chance.random() < 0.25:
            return alias, f"({self.query(depth - 1)}) AS {alias}"
        name = self._chance.choice(NAMES)
        self.used.add(name)
        spelled = self._chance.choice(('"{}"', "[{}]", "`{}`", "'{}'", 'main."{}"')).format(name)
        return alias, f"{spelled} {self._chance.choice(('AS ', ''))}{alias}"

    def _value(self, alias: str, depth: int) -> str:
        if depth > 1 and self._chance.random() < 0.25:
            return f"({self.query(depth - 1)})"
        return self._chance.choice(
            (f"{alias}.a", f"coalesce({alias}.a, 'sessions')", f"{alias}.a || ' FROM messages, feed'")
        )

    def _condition(self, alias: str, depth: int) -> str:
        if self._chance.random() < 0.2:
            self.used.add("lone")
            return f"{alias}.a IN lone"
        if depth > 1 and self._chance.random() < 0.25:
            return f"EXISTS ({self.query(depth - 1)}) AND {alias}.a NOT IN ({self.query(depth - 1)})"
        return self._chance.choice(
            (
                f"{alias}.a IS NOT DISTINCT FROM 'messages'",
                f"{alias}.a IN ('messages', 'feed')",
                f"{alias}.a /* FROM sessions */ > 1 -- JOIN messages\n",
            )
        )


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_any_querys_tables_are_those_sqlite_resolves(seed: int) -> None:
    maker = _Maker(random.Random(seed))
    query = maker.query()
    with closing(_store()) as connection:
        connection.execute(f"CREATE VIEW shows AS {query}")
        acts: set[str] = set()

        def ask(action: int, table: str | None, *_: str | None) -> int:
            if action == sqlite3.SQLITE_READ and table in NAMES:
                acts.add(table)
            return sqlite3.SQLITE_OK

        connection.set_authorizer(ask)
        connection.execute("EXPLAIN SELECT * FROM shows").fetchall()
        connection.set_authorizer(None)
    found = mentions(tokens(f"CREATE VIEW shows AS {query}")).names
    assert found >= acts, "SQLite leaves out what it need not read, and reads nothing else"
    assert found == maker.used
