"""A managed store of acme-desk's, a run to take from elsewhere, and a gate before the one."""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from inspector.actions.gate import Gate
from inspector.actions.journal import Entry, Journal, Unread, journal_files, read_line
from inspector.actions.plan import Action
from inspector.actions.policy import WritePolicy
from inspector.demo.acme_desk.invariants import problems
from inspector.demo.acme_desk.reading import readback
from inspector.demo.acme_desk.store import initialize, opened
from persistence import locate
from tests.persistence.stores import make_store, message, put, session

__all__ = [
    "LINEAGE", "OWNER", "PROFILE", "all_hold", "desk", "entries", "gate_of", "marks", "read_back", "ready",
    "rows", "source", "transition",
]  # fmt: skip

PROFILE = "acme-desk-fresh-run"
OWNER = "kim"
LINEAGE = "acme-desk"


@cache
def _desk() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "managed.db")
        initialize(path, sample=True)
        return path.read_bytes()


def desk(path: Path) -> Path:
    """A store of acme-desk's at rest, with a few rows of lee's and kim's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_desk())
    return path


def marks(store: Path) -> dict[str, tuple[str, int]]:
    """Digest and modification time of the store's file and of everything beside it."""
    return {
        each.name: (hashlib.sha256(each.read_bytes()).hexdigest(), each.stat().st_mtime_ns)
        for each in sorted(store.parent.iterdir())
        if each.is_file()
    }


def rows(path: Path, sql: str, *values: object) -> list[Any]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()


def all_hold(path: Path) -> bool:
    """Whether everything holds that acme-desk itself asks of its store."""
    with opened(path) as connection:
        found = list(problems(connection))
    assert found == []
    return True


def read_back(path: Path, run: str) -> dict[str, Any]:
    """The run as acme-desk reads it, with what does not hold."""
    with opened(path) as connection:
        return readback(connection, run)


def gate_of(action: Action, store: Path, folder: Path, **fields: Any) -> Gate:
    """A gate whose journal is in `folder`, started with --allow-writes unless it is said otherwise."""
    allowed, policy = fields.pop("allowed", True), fields.pop("policy", WritePolicy())
    return Gate(action, locate(str(store)), allowed=allowed, policy=policy, journal=Journal(folder), **fields)


async def ready(action: Action, store: Path, folder: Path, **fields: Any) -> Gate:
    """A gate at which everything was done that a person does."""
    profile, owner = fields.pop("profile", PROFILE), fields.pop("owner", OWNER)
    lineage = fields.pop("lineage", LINEAGE)
    gate = gate_of(action, store, folder, **fields)
    await gate.choose_profile(profile)
    gate.choose_owner(owner)
    await gate.admit()
    await gate.prepare()
    gate.shown()
    gate.type_lineage(lineage)
    return gate


def entries(folder: Path) -> list[Entry]:
    """What the journal has, line by line."""
    found: list[Entry | Unread] = [
        read_line(line) for path in journal_files(folder) for line in path.read_bytes().splitlines()
    ]
    assert all(isinstance(each, Entry) for each in found)
    return [each for each in found if isinstance(each, Entry)]


def source(path: Path, count: int = 6, **session_fields: Any) -> Path:
    """A lionagi store with one run `s001`: `count` messages, two branches, signals, and a history."""
    make_store(path)
    ids = [f"m{number:04}" for number in range(count)]
    put(path, "messages", *(message(number) for number in range(count)))
    for name, order in (("p001", ids), ("pb1", ids[::2]), ("pb2", ids[1::2])):
        put(path, "progressions", {"id": name, "created_at": 1.0, "collection": order})
    given: dict[str, Any] = {
        "status": "completed",
        "status_reason_code": "run.completed.ok",
        "name": "Tide board",
        "agent_name": "pilot",
        "model": "model-3",
        "started_at": 1000.0,
        "ended_at": 1900.0,
        "last_message_at": 1800.0,
        "input_tokens": 7,
        "user_label": "kept",
        **({"first_msg_id": ids[0], "last_msg_id": ids[-1]} if ids else {}),
        **session_fields,
    }
    put(path, "sessions", session(1, **given))
    for number, status in ((1, "completed"), (2, "failed")):
        branch = {"id": f"b{number}", "session_id": "s001", "progression_id": f"pb{number}"}
        branch |= {"name": f"branch {number}", "status": status}
        put(path, "branches", {**branch, "created_at": 1.0, "ended_at": 1850.0})
    for seq in (1, 2, 4):
        signal = {"id": f"g{seq}", "session_id": "s001", "seq": seq, "kind": "tool", "op_id": f"o{seq}"}
        put(path, "session_signals", {**signal, "ts": 5.0 + seq, "payload": {"n": seq}})
    put(path, "status_transitions", transition(0, None, "running"))
    put(path, "status_transitions", transition(1, "running", "completed"))
    return path


def transition(number: int, before: str | None, after: str, **fields: Any) -> dict[str, Any]:
    """A row of the run's history."""
    return {
        "id": f"t{number}",
        "entity_type": "session",
        "entity_id": "s001",
        "previous_status": before,
        "status": after,
        "reason_code": "run.started.ok" if after == "running" else f"run.{after}.ok",
        "reason_summary": f"because {number}",
        "evidence_refs": [{"at": number}],
        "source": "executor",
        "actor": "pilot",
        "created_at": 1000.0 + number,
        "metadata": {"k": number},
        **fields,
    }
