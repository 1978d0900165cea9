"""The TEMP triggers alone, on a plain connection: what SQLite itself holds on whatever path."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from persistence.guard.refusals import MARK
from persistence.guard.triggers import RUNNING, SPOIL, recursion, triggers
from persistence.profiles.records import Closure, ObjectShape
from tests.persistence.guard import kit

Held = Callable[..., tuple[sqlite3.Connection, list[str]]]


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    made: list[sqlite3.Connection] = []

    def make(
        owner: str | None = "kim", *first: str, running: int = 1
    ) -> tuple[sqlite3.Connection, list[str]]:
        path = kit.managed(tmp_path / str(len(made)))
        kit.manager(path, *first)
        connection = sqlite3.connect(path, isolation_level=None)
        made.append(connection)
        refused: list[str] = []
        connection.create_function(SPOIL, 1, refused.append)
        connection.create_function(RUNNING, 0, lambda: running)
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA recursive_triggers = ON")
        for trigger in triggers(kit.profile(path), owner):
            connection.execute(trigger.sql)
        return connection, refused

    yield make
    for connection in made:
        connection.close()


MESSAGE = "INSERT{how} INTO messages (id, created_at, content, role, lion_class, owner_id) VALUES {values}"


def message(identifier: str, owner: str, how: str = "") -> str:
    return MESSAGE.format(how=how, values=f"('{identifier}', 1.0, '1', 'user', 0, '{owner}')")


REFUSED = {
    "another owner": message("x", "lee"),
    "another owner, or ignore": message("x", "lee", " OR IGNORE"),
    "another owner, or fail": message("x", "lee", " OR FAIL"),
    "replace another's": message("lee-msg", "kim", " OR REPLACE"),
    "upsert over another's": message("lee-msg", "kim") + " ON CONFLICT (id) DO UPDATE SET content = '9'",
    "the default's owner": "INSERT INTO progressions (id, created_at) VALUES ('x', 1.0)",
    "another owner's row": "UPDATE messages SET content = '9'",
    "another owner's row, or ignore": "UPDATE OR IGNORE messages SET content = '9'",
    "an own row given away": "UPDATE progressions SET owner_id = 'lee' WHERE id = 'kim-old-prog'",
    "a row taken": "UPDATE progressions SET owner_id = 'kim' WHERE id = 'lee-prog'",
    "a column the profile keeps": "UPDATE sessions SET desk_pinned = 1 WHERE id = 'kim-old-sess'",
    "an id": "UPDATE progressions SET id = 'x' WHERE id = 'kim-old-prog'",
    "a table without updates": "UPDATE message_types SET lion_class = 'x' WHERE type_id = 1",
    "a table without inserts": (
        "INSERT INTO sessions (id, created_at, progression_id, updated_at, owner_id) "
        "VALUES ('x', 1, 'kim-old-prog', 1, 'kim')"
    ),
    "a table of the closure": "INSERT INTO principals VALUES ('eve', 'Eve', 'person', 1.0)",
    "a delete": "DELETE FROM progressions WHERE id = 'kim-old-prog'",
    "a delete in a lookup table": "DELETE FROM message_types",
    "a delete by cascade": "DELETE FROM sessions WHERE id = 'lee-sess'",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(held: Held, name: str) -> None:
    connection, refused = held()
    before = connection.total_changes
    with pytest.raises(sqlite3.IntegrityError, match=MARK):
        connection.execute(REFUSED[name])
    assert len(refused) == 1  # the transaction is spoiled, whoever catches the error
    assert connection.total_changes == before


def test_what_is_not(held: Held) -> None:
    connection, refused = held()
    connection.execute(message("x", "kim"))
    connection.execute("UPDATE messages SET content = '2' WHERE id = 'x'")
    connection.execute("UPDATE progressions SET collection = '[1]' WHERE owner_id = 'kim'")
    connection.execute("INSERT INTO message_types (lion_class) VALUES ('x') ON CONFLICT DO NOTHING")
    connection.execute("INSERT INTO tickets VALUES (7, 'x', NULL, 'kim')")  # for the authorizer to deny
    assert refused == []


def test_the_file_does_not_know_them(held: Held, tmp_path: Path) -> None:
    connection, _ = held()
    other = sqlite3.connect(tmp_path / "0" / "desk.db")
    found = other.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
    other.close()
    assert found == [("ticket_notes_count",)]
    (count,) = connection.execute("SELECT count(*) FROM sqlite_temp_master").fetchone()
    assert count > 20


@pytest.mark.parametrize("collation", ["NOCASE", "RTRIM"])
def test_the_columns_collation_does_not_decide(held: Held, collation: str) -> None:
    """Under another collation 'KIM' or 'kim ' would be equal to 'kim'."""
    connection, refused = held(
        "kim",
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, 'owner_id   TEXT', 'owner_id TEXT COLLATE "
        f"{collation}') WHERE name = 'progressions'",
    )
    for owner in ("KIM", "kim "):
        with pytest.raises(sqlite3.IntegrityError, match=MARK):
            connection.execute("INSERT INTO progressions VALUES ('x', 1.0, '[]', ?)", (owner,))
    assert len(refused) == 2


@pytest.mark.parametrize(
    "owner", ["o'brien", "a\nb", "tab\t", "日本", "\u202ex", "'); DROP TABLE messages; --", "e\u0301", '"']
)
def test_owners_of_any_text(held: Held, owner: str) -> None:
    connection, _ = held(owner)
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("INSERT INTO progressions VALUES ('x', 1.0, '[]', ?)", (owner,))
    connection.execute("UPDATE progressions SET collection = '[1]' WHERE id = 'x'")
    with pytest.raises(sqlite3.IntegrityError, match=MARK):
        connection.execute("INSERT INTO progressions VALUES ('y', 1.0, '[]', ?)", (owner + " ",))


def test_without_an_owner_rows_still_do_not_go(held: Held) -> None:
    connection, refused = held(None)
    connection.execute(message("x", "lee"))
    connection.execute("UPDATE messages SET content = '9'")
    with pytest.raises(sqlite3.IntegrityError, match=MARK):
        connection.execute(message("lee-msg", "kim", " OR REPLACE"))
    with pytest.raises(sqlite3.IntegrityError, match=MARK):
        connection.execute("DELETE FROM messages")
    assert len(refused) == 2


@pytest.mark.parametrize("owner", ["kim", None])
@pytest.mark.parametrize(
    "sql",
    [
        message("x", "kim"),
        "UPDATE progressions SET collection = '[1]' WHERE id = 'kim-old-prog'",
        "INSERT INTO message_types (lion_class) VALUES ('x')",
    ],
)
def test_outside_an_operation_nothing_is_written(held: Held, sql: str, owner: str | None) -> None:
    connection, refused = held(owner, running=0)
    with pytest.raises(sqlite3.IntegrityError, match=MARK):
        connection.execute(sql)
    assert len(refused) == 1


def test_triggers_that_could_set_themselves_off() -> None:
    profile = kit.profile()

    def with_triggers(*shapes: tuple[str, str, tuple[str, ...]]) -> str | None:
        objects = tuple(ObjectShape("trigger", name, table, "", (), writes) for name, table, writes in shapes)
        closure = Closure(profile.closure.tables, profile.closure.incoming, objects)
        return recursion(replace(profile, closure=closure))

    assert with_triggers() is None
    assert with_triggers(("a", "messages", ("sessions",))) is None
    assert with_triggers(("a", "Messages", ("messages",))) == "a"
    assert with_triggers(("a", "messages", ("sessions",)), ("b", "SESSIONS", ("messages",))) == "a"
    assert with_triggers(("a", "messages", ("sessions",)), ("b", "sessions", ("branches",))) is None
