"""The authorizer denies what it does not list, and lists no more than profile and manifest both do."""

from __future__ import annotations

import sqlite3

import pytest

from persistence.guard.authorizer import Action, Authorizer, Ceiling, words
from tests.persistence.guard import kit

ACTIONS = {
    name: value
    for name, value in vars(sqlite3).items()
    if name.startswith("SQLITE_")
    and name.removeprefix("SQLITE_").split("_")[0]
    in ("CREATE", "DROP", "DELETE", "INSERT", "UPDATE", "ALTER", "REINDEX", "ANALYZE", "ATTACH", "DETACH",
        "PRAGMA", "READ", "SELECT", "TRANSACTION", "SAVEPOINT", "FUNCTION", "RECURSIVE")
    and isinstance(value, int)
}  # fmt: skip


@pytest.mark.parametrize("kind", [*ACTIONS.values(), 0, 34, 99], ids=[*ACTIONS, "0", "34", "99"])
def test_what_is_not_listed_is_denied(kind: int) -> None:
    """Never SQLITE_IGNORE, under which a statement would go on without its effect."""
    authorizer = Authorizer()
    authorizer.know(frozenset())
    for first in ("messages", "schema_version", "BEGIN", None):
        answer = authorizer(kind, first, "x", "main", None)
        assert answer == sqlite3.SQLITE_DENY
    assert authorizer.denied


def test_what_is_listed_is_allowed() -> None:
    action: Action = (sqlite3.SQLITE_INSERT, "messages", None, "main", None)
    authorizer = Authorizer()
    authorizer.know(frozenset((action,)))
    assert authorizer(*action) == sqlite3.SQLITE_OK
    assert authorizer.denied is None
    for other in (
        (sqlite3.SQLITE_INSERT, "messages", None, "temp", None),
        (sqlite3.SQLITE_INSERT, "messages", None, "main", "a trigger"),
        (sqlite3.SQLITE_INSERT, "Messages", None, "main", None),
    ):
        assert authorizer(*other) == sqlite3.SQLITE_DENY


def test_the_door_is_open_for_one_word_at_a_time() -> None:
    authorizer = Authorizer()
    for word in ("BEGIN", "COMMIT", "ROLLBACK"):
        authorizer.door = word
        for other in ("BEGIN", "COMMIT", "ROLLBACK"):
            answer = authorizer(sqlite3.SQLITE_TRANSACTION, other, None, None, None)
            assert answer == (sqlite3.SQLITE_OK if other == word else sqlite3.SQLITE_DENY)
    authorizer.door = None
    assert authorizer(sqlite3.SQLITE_TRANSACTION, None, None, None, None) == sqlite3.SQLITE_DENY


def test_pragmas_are_read_and_never_set() -> None:
    authorizer = Authorizer()
    for name in ("schema_version", "data_version", "journal_mode"):
        assert authorizer(sqlite3.SQLITE_PRAGMA, name, None, None, None) == sqlite3.SQLITE_OK
        assert authorizer(sqlite3.SQLITE_PRAGMA, name, "5", None, None) == sqlite3.SQLITE_DENY
    assert authorizer(sqlite3.SQLITE_PRAGMA, "wal_checkpoint", None, None, None) == sqlite3.SQLITE_DENY


def test_admission_reads_and_does_not_write() -> None:
    authorizer = Authorizer()
    authorizer.inspecting = True
    assert authorizer(sqlite3.SQLITE_PRAGMA, "table_xinfo", "messages", "main", None) == sqlite3.SQLITE_OK
    assert authorizer(sqlite3.SQLITE_READ, "tickets", "id", "main", None) == sqlite3.SQLITE_OK
    for kind in (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_CREATE_TEMP_TABLE):
        assert authorizer(kind, "messages", None, "main", None) == sqlite3.SQLITE_DENY


def test_the_first_denial_is_kept() -> None:
    authorizer = Authorizer()
    authorizer(sqlite3.SQLITE_DELETE, "messages", None, "main", None)
    authorizer(sqlite3.SQLITE_ATTACH, "x", None, None, None)
    assert authorizer.denied == "DELETE messages"
    authorizer.clear()
    assert authorizer.denied is None
    assert words((sqlite3.SQLITE_UPDATE, "t", "a", "temp", "g")) == "UPDATE t a in temp by trigger g"
    assert words((99, None, None, None, None)) == "action 99"


CEILING: dict[str, tuple[Action, bool]] = {
    "an insert the profile has": ((18, "messages", None, "main", None), True),
    "in another spelling": ((18, "MESSAGES", None, "main", None), True),
    "in the temp schema": ((18, "messages", None, "temp", None), False),
    "of another file": ((18, "messages", None, "other", None), False),
    "an insert it has not": ((18, "principals", None, "main", None), False),
    "an insert outside": ((18, "tickets", None, "main", None), False),
    "an insert into the schema": ((18, "sqlite_master", None, "main", None), False),
    "an update of a column it has": ((23, "sessions", "updated_at", "main", None), True),
    "an update of one it has not": ((23, "sessions", "desk_pinned", "main", None), False),
    "an update of the owner": ((23, "messages", "owner_id", "main", None), False),
    "an update of the row id": ((23, "messages", "ROWID", "main", None), False),
    "a delete": ((9, "messages", None, "main", None), False),
    "a read of the closure": ((20, "sessions", "id", "main", None), True),
    "a read of whose store it is": ((20, "schema_meta", "value", "main", None), True),
    "a read of a table whose key leads in": ((20, "tickets", "session_id", "main", None), True),
    "a read outside": ((20, "ticket_notes", "body", "main", None), False),
    "a function": ((31, None, "json_insert", None, None), True),
    "a dangerous function": ((31, None, "LOAD_EXTENSION", None, None), False),
    "a setting": ((19, "user_version", "5", None, None), False),
    "a transaction": ((22, "BEGIN", None, None, None), False),
    "a savepoint": ((32, "BEGIN", "x", None, None), False),
}


@pytest.mark.parametrize("name", CEILING)
def test_the_profile_is_the_ceiling(name: str) -> None:
    action, allowed = CEILING[name]
    assert Ceiling(kit.profile()).allows(action) is allowed
