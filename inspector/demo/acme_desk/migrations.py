"""The desk's own migrations: from schema 5 to 6, and from 6 to today's. Each is one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from inspector.demo.acme_desk import VERSION, DeskError
from inspector.demo.acme_desk.shapes import AFTER, OWNED, TABLES
from inspector.demo.acme_desk.store import connect, transaction, version_of

__all__ = ["migrate", "rebuild"]

NOBODYS = "acme-system"
"""Who owns what nobody took."""


def migrate(path: Path | str) -> tuple[int, int]:
    """Brings a store of ours to today's schema; (the schema it had, the one it has)."""
    connection = connect(path)
    try:
        first = version_of(connection)
        connection.execute("PRAGMA foreign_keys = OFF")  # tables are put in the place of others
        while (now := version_of(connection)) != VERSION:
            step = _STEPS.get(now)
            if step is None:
                raise DeskError(f"there is no way from schema {now} to {VERSION}")
            with transaction(connection):
                if version_of(connection) != now:
                    continue  # another desk was quicker
                step(connection)
                broken = connection.execute("PRAGMA foreign_key_check").fetchall()
                if broken:
                    raise DeskError(f"{len(broken)} rows would point nowhere")
                connection.execute("UPDATE schema_meta SET value = ? WHERE key = 'version'", (str(now + 1),))
        return first, VERSION
    finally:
        connection.close()


def rebuild(connection: sqlite3.Connection, table: str, statement: str) -> None:
    """Puts a table of that shape in the place of one, with the rows and the columns both have.

    In a transaction, with foreign keys off. The table's indexes and triggers go with it.
    """
    made = f"{table}__next"
    connection.execute(statement.replace(f"CREATE TABLE {table} ", f"CREATE TABLE {made} ", 1))
    had, has = _columns(connection, table), _columns(connection, made)
    both = ", ".join(f'"{name}"' for name in has if name in had)
    connection.execute(f"INSERT INTO {made} ({both}) SELECT {both} FROM {table}")
    connection.execute(f"DROP TABLE {table}")
    connection.execute(f"ALTER TABLE {made} RENAME TO {table}")


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def _clear(connection: sqlite3.Connection) -> None:
    """Takes away what stands on tables and is made again afterwards."""
    found = connection.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger')"
        " OR (type = 'index' AND sql IS NOT NULL)"
    ).fetchall()
    for kind, name in found:
        connection.execute(f'DROP {kind} "{name}"')


def _five_to_six(connection: sqlite3.Connection) -> None:
    """Every row gets an owner: the person who took the run, and the desk where nobody did."""
    _clear(connection)
    connection.execute("ALTER TABLE desk_people RENAME TO principals")
    for table in OWNED:
        connection.execute(
            f"ALTER TABLE {table} ADD COLUMN owner_id TEXT NOT NULL DEFAULT '{NOBODYS}' REFERENCES principals(id)"
        )
    connection.execute("UPDATE sessions SET owner_id = taken_by WHERE taken_by IS NOT NULL")
    owner = "(SELECT owner_id FROM sessions WHERE id = {})"
    for table, link in (("branches", "session_id"), ("session_signals", "session_id")):
        connection.execute(f"UPDATE {table} SET owner_id = {owner.format(f'{table}.{link}')}")
    connection.execute(
        f"UPDATE status_transitions SET owner_id = {owner.format('entity_id')}"
        " WHERE entity_type = 'session' AND entity_id IN (SELECT id FROM sessions)"
    )
    connection.execute(
        "UPDATE progressions SET owner_id = coalesce("
        "(SELECT owner_id FROM sessions WHERE progression_id = progressions.id),"
        f" (SELECT owner_id FROM branches WHERE progression_id = progressions.id), '{NOBODYS}')"
    )
    connection.execute(
        "UPDATE messages SET owner_id = coalesce((SELECT p.owner_id FROM progressions p, json_each(p.collection) e"
        f" WHERE e.value = messages.id LIMIT 1), '{NOBODYS}')"
    )
    connection.execute(
        "UPDATE invocations SET owner_id = coalesce("
        f"(SELECT owner_id FROM sessions WHERE invocation_id = invocations.id LIMIT 1), '{NOBODYS}')"
    )
    for table in ("sessions", "tickets"):
        rebuild(connection, table, TABLES[6][table])
    for statement in AFTER[6]:
        connection.execute(statement)


def _six_to_seven(connection: sqlite3.Connection) -> None:
    """A branch belongs to a session of the same owner, and the desk may flag messages and note runs."""
    _clear(connection)
    connection.execute(
        "UPDATE branches SET owner_id = (SELECT owner_id FROM sessions WHERE id = branches.session_id)"
    )
    for table in ("principals", "messages", "sessions", "branches", "ticket_notes"):
        rebuild(connection, table, TABLES[7][table])
    connection.execute(f"UPDATE principals SET kind = 'service' WHERE id = '{NOBODYS}'")
    for statement in AFTER[7]:
        connection.execute(statement)


_STEPS: dict[int, Callable[[sqlite3.Connection], None]] = {5: _five_to_six, 6: _six_to_seven}
