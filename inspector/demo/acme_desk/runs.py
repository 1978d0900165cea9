"""How the desk records a run of its own: a session, its branch, and a message at a time."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from inspector.demo.acme_desk.store import put

__all__ = ["Run"]

_KINDS = {
    "system": ("system", "lionagi.protocols.messages.system.System"),
    "user": ("user", "lionagi.protocols.messages.instruction.Instruction"),
    "say": ("assistant", "lionagi.protocols.messages.assistant_response.AssistantResponse"),
    "call": ("action", "lionagi.protocols.messages.action_request.ActionRequest"),
    "result": ("action", "lionagi.protocols.messages.action_response.ActionResponse"),
}


class Run:
    """One run of a principal. Each method is a part of a transaction the caller holds."""

    def __init__(self, connection: sqlite3.Connection, key: str, owner: str) -> None:
        self._connection = connection
        self.id, self.owner = f"{key}-session", owner
        self._key = key
        self._branch, self._lists = f"{key}-branch", (f"{key}-all", f"{key}-main")
        self._order: list[str] = []
        self._status: str | None = None

    def begin(self, at: float, name: str, **columns: Any) -> None:
        """The session with its progressions, branch and first status."""
        for progression in self._lists:
            self._put("progressions", id=progression, created_at=at)
        self._put(
            "sessions", id=self.id, created_at=at, updated_at=at, started_at=at, name=name, status="running",
            progression_id=self._lists[0], invocation_kind="agent", **{"source_kind": "desk", **columns},
        )  # fmt: skip
        self._put(
            "branches", id=self._branch, created_at=at, started_at=at, name="main", session_id=self.id,
            progression_id=self._lists[1], agent_name=columns.get("agent_name"), model=columns.get("model"),
        )  # fmt: skip
        self._moved(at, "running", "run.running.started", "taken up at the desk")
        self.signal(at, "run.started", {"attempt": 1})

    def say(self, at: float, kind: str, content: dict[str, Any], sender: str | None = None) -> str:
        """A message at the end of the run; its id."""
        message = f"{self._key}-{len(self._order):03d}"
        role, name = _KINDS[kind]
        self._put(
            "messages", id=message, created_at=at, content=json.dumps(content, ensure_ascii=False), role=role,
            sender=sender or self.owner, lion_class=self._type(name),
        )  # fmt: skip
        self._order.append(message)
        run = self._connection.execute
        for progression in self._lists:
            run("UPDATE progressions SET collection = ? WHERE id = ?", (json.dumps(self._order), progression))
        run(
            "UPDATE sessions SET first_msg_id = coalesce(first_msg_id, :id), last_msg_id = :id,"
            " last_message_at = max(coalesce(last_message_at, 0), :at), updated_at = max(updated_at, :at)"
            " WHERE id = :session",
            {"id": message, "at": at, "session": self.id},
        )
        if kind == "system":
            run("UPDATE branches SET system_msg_id = ? WHERE id = ?", (message, self._branch))
        return message

    def signal(self, at: float, kind: str, payload: dict[str, Any]) -> None:
        (last,) = self._connection.execute(
            "SELECT coalesce(max(seq), 0) FROM session_signals WHERE session_id = ?", (self.id,)
        ).fetchone()
        self._put(
            "session_signals", id=f"{self._key}-signal-{last + 1}", session_id=self.id, seq=last + 1,
            kind=kind, ts=at, payload=json.dumps(payload),
        )  # fmt: skip

    def end(self, at: float, status: str, reason: str, summary: str) -> None:
        """The terminal status, with its transition, on session and branch."""
        self._connection.execute(
            "UPDATE sessions SET ended_at = :at, duration_ms = round((:at - started_at) * 1000),"
            " num_turns = :turns WHERE id = :id",
            {"at": at, "turns": len(self._order), "id": self.id},
        )
        self._connection.execute(
            "UPDATE branches SET status = ?, ended_at = ? WHERE id = ?", (status, at, self._branch)
        )
        self._moved(at, status, reason, summary)

    def _moved(self, at: float, status: str, reason: str, summary: str) -> None:
        self._connection.execute(
            "UPDATE sessions SET status = ?, status_reason_code = ?, status_reason_summary = ?,"
            " updated_at = max(updated_at, ?) WHERE id = ?",
            (status, reason, summary, at, self.id),
        )
        self._put(
            "status_transitions", id=f"{self._key}-{status}", entity_type="session", entity_id=self.id,
            previous_status=self._status, status=status, reason_code=reason, reason_summary=summary,
            evidence_refs="[]", source="executor", actor="desk", created_at=at, metadata="{}",
        )  # fmt: skip
        self._status = status

    def _type(self, name: str) -> int:
        run = self._connection.execute
        run("INSERT OR IGNORE INTO message_types (lion_class) VALUES (?)", (name,))
        number: int = run("SELECT type_id FROM message_types WHERE lion_class = ?", (name,)).fetchone()[0]
        return number

    def _put(self, table: str, **columns: Any) -> None:
        put(self._connection, table, owner_id=self.owner, **columns)
