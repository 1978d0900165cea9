"""How people at the desk read runs: the list, one run whole, and a run as it happened. All by owner."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from inspector.demo.acme_desk.invariants import problems

__all__ = ["detail", "listing", "readback", "stream"]

Shape = dict[str, Any]


def listing(connection: sqlite3.Connection, owner: str | None = None) -> list[Shape]:
    """The runs, newest first: of one principal, or of all."""
    rows = connection.execute(
        "SELECT s.id, s.name, s.status, s.owner_id AS owner, s.agent_name AS agent, s.updated_at,"
        " s.last_message_at, s.desk_pinned AS pinned, json_array_length(p.collection) AS messages,"
        " (SELECT count(*) FROM tickets t WHERE t.session_id = s.id) AS tickets"
        " FROM sessions s JOIN progressions p ON p.id = s.progression_id AND p.owner_id = s.owner_id"
        " WHERE :owner IS NULL OR s.owner_id = :owner"
        " ORDER BY s.desk_pinned DESC, s.updated_at DESC, s.id",
        {"owner": owner},
    )
    return [dict(row) for row in rows]


def detail(connection: sqlite3.Connection, session: str, owner: str | None = None) -> Shape | None:
    """One run with all that belongs to it; None when there is none, or it is not that owner's."""
    row = connection.execute(
        "SELECT * FROM sessions WHERE id = :id AND (:owner IS NULL OR owner_id = :owner)",
        {"id": session, "owner": owner},
    ).fetchone()
    if row is None:
        return None
    mine = row["owner_id"]
    branches = connection.execute(
        "SELECT b.id, b.name, b.status, b.ended_at, b.system_msg_id, b.owner_id AS owner, p.collection"
        " FROM branches b JOIN progressions p ON p.id = b.progression_id AND p.owner_id = b.owner_id"
        " WHERE b.session_id = ? AND b.owner_id = ? ORDER BY b.created_at, b.id",
        (session, mine),
    )
    return {
        "session": {name: row[name] for name in row.keys()},  # noqa: SIM118 (a Row iterates its values)
        "messages": list(_messages(connection, row["progression_id"], mine)),
        "branches": [{**dict(one), "collection": _ids(one["collection"])} for one in branches],
        "signals": _rows(
            connection,
            "SELECT seq, kind, op_id, ts, payload FROM session_signals"
            " WHERE session_id = ? AND owner_id = ? ORDER BY seq",
            session,
            mine,
        ),
        "transitions": _rows(
            connection,
            "SELECT previous_status, status, reason_code, reason_summary, source, actor, created_at"
            " FROM status_transitions WHERE entity_type = 'session' AND entity_id = ? AND owner_id = ?"
            " ORDER BY created_at, rowid",
            session,
            mine,
        ),
        "tickets": _rows(
            connection, "SELECT id, subject FROM tickets WHERE session_id = ? ORDER BY id", session
        ),
    }


def stream(connection: sqlite3.Connection, session: str, owner: str | None = None) -> list[Shape]:
    """A run as it happened: messages in the order of its progression, signals and changes of status between."""
    found = detail(connection, session, owner)
    if found is None:
        return []
    out = [{"at": one["created_at"], "what": "message", **one} for one in found["messages"]]
    rest = [{"at": one["ts"], "what": "signal", **one} for one in found["signals"]]
    rest += [{"at": one["created_at"], "what": "status", **one} for one in found["transitions"]]
    for one in sorted(rest, key=lambda event: event["at"]):
        place = next((n for n, other in enumerate(out) if other["at"] > one["at"]), len(out))
        out.insert(place, one)
    return out


def readback(connection: sqlite3.Connection, session: str) -> Shape:
    """What all three ways say of one run, in one object, and what the desk holds against the store.

    `found`, `owner`, `status`; `listed`: it stands in its owner's list and in nobody else's; `messages`: ids
    in order; `branches`, `transitions`, `signals`, `tickets`; `stream`: how many events; `problems`.
    """
    connection.execute("BEGIN")  # one moment for all of it
    try:
        found = detail(connection, session)
        said: Shape = {"session": session, "found": found is not None, "problems": list(problems(connection))}
        if found is not None:
            row = found["session"]
            owners = [
                person
                for (person,) in connection.execute("SELECT id FROM principals ORDER BY id")
                if any(one["id"] == session for one in listing(connection, person))
            ]
            said |= {
                "owner": row["owner_id"],
                "status": row["status"],
                "listed": owners == [row["owner_id"]],
                "messages": [one["id"] for one in found["messages"]],
                "branches": found["branches"],
                "transitions": found["transitions"],
                "signals": found["signals"],
                "tickets": found["tickets"],
                "stream": len(stream(connection, session, row["owner_id"])),
                "row": row,
            }
        return said
    finally:
        connection.execute("ROLLBACK")


def _messages(connection: sqlite3.Connection, progression: str, owner: str) -> Iterator[Shape]:
    for row in connection.execute(
        "SELECT m.id, m.created_at, m.role, m.sender, m.recipient, t.lion_class AS kind, m.content,"
        " m.desk_flags AS flags"
        " FROM progressions p, json_each(p.collection) e"
        " JOIN messages m ON m.id = e.value AND m.owner_id = p.owner_id"
        " JOIN message_types t ON t.type_id = m.lion_class"
        " WHERE p.id = ? AND p.owner_id = ? ORDER BY e.key",
        (progression, owner),
    ):
        yield dict(row)


def _rows(connection: sqlite3.Connection, sql: str, *values: object) -> list[Shape]:
    return [dict(row) for row in connection.execute(sql, values)]


def _ids(collection: str) -> list[Any]:
    found = json.loads(collection)
    return found if isinstance(found, list) else []
