"""What must hold in the store whenever anybody looks: what readers of runs rely on, and the desk's own rules."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.demo.acme_desk import LINEAGE, VERSION
from inspector.demo.acme_desk.shapes import AFTER, OWNED, TABLES

__all__ = ["clocks", "problems", "went_back"]

_ENTRIES = "progressions p, json_each(CASE WHEN json_valid(p.collection) THEN p.collection ELSE '[]' END) e"

_RULES: tuple[tuple[str, str], ...] = (
    # -- what readers of runs rely on (ADR-0128 A.3)
    ("a progression is not a list",
     "SELECT id FROM progressions WHERE NOT json_valid(collection) OR json_type(collection) <> 'array'"),
    ("a message stands twice in a progression",
     f"SELECT p.id || ': ' || e.value FROM {_ENTRIES} GROUP BY p.id, e.value HAVING count(*) > 1"),
    ("a progression names a message that is not there",
     f"SELECT p.id || ': ' || e.value FROM {_ENTRIES} WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.id = e.value)"),
    ("the messages of a progression do not stand as they arrived",
     "SELECT DISTINCT id FROM (SELECT p.id, m.rowid AS arrived, lag(m.rowid) OVER (PARTITION BY p.id ORDER BY e.key)"
     f" AS before FROM {_ENTRIES} JOIN messages m ON m.id = e.value) WHERE arrived < before"),
    ("a session's status is not its newest transition's",
     "SELECT s.id FROM sessions s JOIN status_transitions t ON t.rowid = (SELECT x.rowid FROM status_transitions x"
     " WHERE x.entity_type = 'session' AND x.entity_id = s.id ORDER BY x.created_at DESC, x.rowid DESC LIMIT 1)"
     " WHERE s.status IS NOT t.status"),
    ("a session has its last message after its last change",
     "SELECT id FROM sessions WHERE last_message_at > updated_at"),
    ("a session and its progression have two owners",
     "SELECT s.id FROM sessions s JOIN progressions p ON p.id = s.progression_id WHERE s.owner_id <> p.owner_id"),
    ("a branch and its session have two owners",
     "SELECT b.id FROM branches b JOIN sessions s ON s.id = b.session_id WHERE b.owner_id <> s.owner_id"),
    ("a branch and its progression have two owners",
     "SELECT b.id FROM branches b JOIN progressions p ON p.id = b.progression_id WHERE b.owner_id <> p.owner_id"),
    ("a progression and a message in it have two owners",
     f"SELECT p.id || ': ' || m.id FROM {_ENTRIES} JOIN messages m ON m.id = e.value WHERE m.owner_id <> p.owner_id"),
    ("a session names a message of another owner",
     "SELECT s.id FROM sessions s JOIN messages m ON m.id IN (s.first_msg_id, s.last_msg_id) WHERE m.owner_id <> s.owner_id"),
    ("a branch has a system message of another owner",
     "SELECT b.id FROM branches b JOIN messages m ON m.id = b.system_msg_id WHERE m.owner_id <> b.owner_id"),
    ("a signal and its session have two owners",
     "SELECT g.id FROM session_signals g JOIN sessions s ON s.id = g.session_id WHERE g.owner_id <> s.owner_id"),
    ("a transition and its session have two owners",
     "SELECT t.id FROM status_transitions t JOIN sessions s ON s.id = t.entity_id"
     " WHERE t.entity_type = 'session' AND t.owner_id <> s.owner_id"),
    ("a session and its invocation have two owners",
     "SELECT s.id FROM sessions s JOIN invocations i ON i.id = s.invocation_id WHERE i.owner_id <> s.owner_id"),
    # -- the desk's own
    ("a pin that is neither 0 nor 1", "SELECT id FROM sessions WHERE desk_pinned NOT IN (0, 1)"),
    ("flags below zero", "SELECT id FROM messages WHERE desk_flags < 0"),
    ("a note was never edited so often", "SELECT id FROM ticket_notes WHERE edits < 0"),
    ("a ticket was opened by the desk itself", "SELECT id FROM tickets WHERE opened_by = 'acme-system'"),
)  # fmt: skip


def problems(connection: sqlite3.Connection) -> Iterator[str]:
    """What does not hold, a sentence each; none when all is well."""
    meta = dict(connection.execute("SELECT key, value FROM schema_meta").fetchall())
    if meta.get("lineage") != LINEAGE or meta.get("version") != str(VERSION):
        yield f"the store says it is {meta.get('lineage')!r}, version {meta.get('version')!r}"
    mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
    if mode != "wal":
        yield f"the journal mode is {mode}"
    yield from _shape(connection)
    for answer, *_ in connection.execute("PRAGMA quick_check"):
        if answer != "ok":
            yield f"the file is damaged: {answer}"
    for row in connection.execute("PRAGMA foreign_key_check"):
        yield f"a row of {row[0]} points to a row of {row[2]} that is not there"
    for table in OWNED:
        for (row_id,) in connection.execute(
            f"SELECT id FROM {table} WHERE owner_id NOT IN (SELECT id FROM principals)"
        ):
            yield f"a row of {table} has an owner who is nobody: {row_id}"
    for what, sql in _RULES:
        for (which,) in connection.execute(sql):
            yield f"{what}: {which}"


def clocks(connection: sqlite3.Connection) -> dict[str, list[float | None]]:
    """`updated_at` and `last_message_at` of every session, to be compared with later ones."""
    rows = connection.execute("SELECT id, updated_at, last_message_at FROM sessions ORDER BY id")
    return {row[0]: [row[1], row[2]] for row in rows}


def went_back(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """The sessions whose clocks moved backwards between two readings."""
    for session, before in earlier.items():
        for name, old, new in zip(
            ("updated_at", "last_message_at"), before, now.get(session, before), strict=True
        ):
            if old is not None and (new is None or new < old):
                yield f"{name} of a session went back: {session}"


def _shape(connection: sqlite3.Connection) -> Iterator[str]:
    """The tables, indexes, triggers and views are those of today's schema."""
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE sql IS NOT NULL")}
    wanted = {*TABLES[VERSION], *map(_named, AFTER[VERSION])}
    for name in sorted(wanted - names):
        yield f"{name} is gone"
    for name in sorted(names - wanted):
        if not name.startswith("sqlite_"):
            yield f"{name} was never the desk's"


def _named(statement: str) -> str:
    """The name in `CREATE UNIQUE INDEX name ON ...`."""
    words = statement.split()
    return words[3] if words[1] == "UNIQUE" else words[2]
