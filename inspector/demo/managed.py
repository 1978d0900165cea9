"""The store acme-desk manages, and five copies of it after somebody changed something in each.

The first is admitted by the profile made for it. Each of the others differs in one thing, as a migration of
the desk's might have left it, and is not.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from inspector.demo.acme_desk.migrations import rebuild
from inspector.demo.acme_desk.shapes import AFTER, TABLES
from inspector.demo.acme_desk.store import connect, transaction
from inspector.demo.acme_desk.story import tell

__all__ = ["BUILDERS"]

_Build = Callable[[Path, Path, float], dict[str, int]]
_Change = Callable[[sqlite3.Connection], object]
_TODAY = TABLES[7]


@cache
def _told(clock: float) -> tuple[bytes, dict[str, int]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "desk.db")
        holds = tell(path, clock)
        return path.read_bytes(), holds


def _managed(path: Path, files: Path, clock: float) -> dict[str, int]:
    content, holds = _told(clock)
    path.write_bytes(content)
    return holds


def _drifted(change: _Change, path: Path, files: Path, clock: float) -> dict[str, int]:
    holds = _managed(path, files, clock)
    connection = connect(path)
    try:
        for pragma in ("synchronous", "foreign_keys"):
            connection.execute(f"PRAGMA {pragma} = OFF")
        with transaction(connection):
            change(connection)
    finally:
        connection.close()
    return holds


def _reshaped(table: str, old: str, new: str) -> _Change:
    """A table with one piece of its statement written otherwise, and the rows it had."""
    statement = _TODAY[table].replace(old, new)

    def change(connection: sqlite3.Connection) -> None:
        rebuild(connection, table, statement)
        for made in AFTER[7]:
            if f" ON {table} (" in made:
                connection.execute(made)

    return change


def _priority(connection: sqlite3.Connection) -> None:
    """Every session must have a priority now, and there is none to fall back on."""
    old = "desk_note                  TEXT,"
    new = f"{old}\n  priority                   TEXT NOT NULL{{}},"
    _reshaped("sessions", old, new.format(" DEFAULT 'normal'"))(connection)
    _reshaped("sessions", old, new.format(""))(connection)


def _follow_up(connection: sqlite3.Connection) -> None:
    connection.execute(
        "CREATE TRIGGER session_ticket AFTER INSERT ON sessions BEGIN"
        " INSERT INTO tickets (subject, session_id, opened_by)"
        " VALUES ('look at ' || coalesce(NEW.name, NEW.id), NEW.id, NEW.owner_id); END"
    )


def _rollback(path: Path, files: Path, clock: float) -> dict[str, int]:
    holds = _managed(path, files, clock)
    connection = connect(path)
    connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    connection.close()
    return holds


_KINDS = "IN ('live', 'imported_fs', 'desk')"
_TOGETHER = "FOREIGN KEY (session_id, owner_id) REFERENCES sessions(id, owner_id) ON DELETE CASCADE"
_APART = (
    "FOREIGN KEY (session_id) REFERENCES sessions(id) ON DELETE CASCADE,\n"
    "  FOREIGN KEY (owner_id) REFERENCES principals(id) ON DELETE CASCADE"
)

BUILDERS: dict[str, _Build] = {
    "desk": _managed,
    "desk-priority": partial(_drifted, _priority),
    "desk-mail": partial(_drifted, _reshaped("sessions", _KINDS, "IN ('live', 'mail', 'desk')")),
    "desk-follow-up": partial(_drifted, _follow_up),
    "desk-regrouped": partial(_drifted, _reshaped("branches", _TOGETHER, _APART)),
    "desk-rollback": _rollback,
}
