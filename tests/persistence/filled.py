"""Rows for every table of the operational schema, small enough to know by heart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.persistence.stores import message, session

ROWS: dict[str, list[dict[str, Any]]] = {
    "messages": [message(n, sender="kim" if n % 2 else "lea", recipient="b1") for n in range(6)],
    "progressions": [
        {"id": "p000", "created_at": 1.0, "collection": ["m0002", "m0000", "gone", "m0001"]},
        {"id": "p001", "created_at": 2.0, "collection": []},
        {"id": "p002", "created_at": 3.0, "collection": '{"not": "a list"}'},
        {"id": "p003", "created_at": 4.0, "collection": '["cut'},
    ],
    "invocations": [
        {"id": f"i{n}", "skill": "plan" if n else "review", "started_at": 10.0 + n, "status": status}
        | {"created_at": 1.0, "updated_at": 20.0 + n, "node_metadata": {"n": n}}
        for n, status in enumerate(["running", "completed"])
    ],
    "sessions": [
        session(0, status="running", project="harbour", invocation_id="i0", run_id="r0", name="Tide board"),
        session(1, status="completed", project="harbour", invocation_id="i0", cc_session_id="cc1"),
        session(2, status=None, agent_name="clerk", model="m-1", artifact_contract_json={"expected": []}),
        session(3, status="failed", artifact_verification_json={"status": "failed"}, user_label="Mine"),
    ],
    "branches": [
        {"id": f"b{n}", "created_at": 1.0 + n, "session_id": "s000" if n < 2 else "s001"}
        | {"progression_id": f"p00{n}", "node_metadata": None}
        for n in range(3)
    ],
    "shows": [
        {"id": f"h{n}", "topic": f"topic {n}", "goal": "g", "repo": "r", "base_branch": "main"}
        | {"integration_branch": "i", "status": "active", "show_dir": "/x", "created_at": 1.0}
        | {"updated_at": 2.0 + n}
        for n in range(2)
    ],
    "plays": [
        {"id": f"y{n}", "show_id": "h0" if n < 2 else "h1", "name": f"play {n}", "status": "pending"}
        | {"playbook": "x.yaml", "sort_order": 5 - n, "created_at": 1.0, "updated_at": 2.0}
        for n in range(3)
    ],
    "teams": [{"id": "t0", "name": "crew", "created_at": 1.0, "updated_at": 2.0, "members": ["a"]}],
    "team_messages": [
        {"id": f"tm{n}", "team_id": "t0", "sender": "a", "content": "hello", "created_at": 1.0 + n}
        | {"session_id": "s000" if n else None}
        for n in range(2)
    ],
    "schedules": [
        {"id": f"c{n}", "name": f"nightly {2 - n}", "enabled": n % 2, "trigger_type": "cron"}
        | {"action_kind": "agent", "created_at": 1.0, "updated_at": 2.0, "project": "harbour"}
        for n in range(3)
    ],
    "schedule_runs": [
        {"id": f"cr{n}", "schedule_id": f"c{n % 2}", "trigger_context": {"n": n}, "action_kind": "agent"}
        | {"action_args": {}, "status": "completed", "fired_at": 5.0 + n, "created_at": 1.0}
        | {"invocation_id": "i0" if n else None}
        for n in range(3)
    ],
    "workers": [{"worker_id": "w0", "last_heartbeat_at": 4.0, "leased_run_id": "cr0"}],
    "definitions": [
        {"id": f"d{kind}{name}{version}", "kind": kind, "name": name, "path": f"{name}.md"}
        | {"content": f"{name} v{version}", "version": version, "created_at": float(version)}
        for kind, name, upto in (("agent", "clerk", 3), ("playbook", "board", 1))
        for version in range(1, upto + 1)
    ],
    "engine_defs": [
        {"id": "e0", "name": "deep", "kind": "research", "options": {"a": 1}}
        | {"created_at": 1.0, "updated_at": 2.0}
    ],
    "workflow_defs": [
        {"id": "w0", "name": "flow", "spec_json": {"nodes": []}, "created_at": 1.0, "updated_at": 2.0}
    ],
    "projects": [
        {"name": f"project {n}", "source": "manual" if n else "cwd_dir", "created_at": 1.0}
        | {"updated_at": 2.0 + n, "last_seen_at": 2.0}
        for n in range(2)
    ],
    "session_signals": [
        {"id": f"g{n}", "session_id": "s000" if n < 3 else "s001", "seq": n % 3 + 1, "kind": "op.note"}
        | {"ts": 1.0 + n, "payload": {"n": n}}
        for n in range(5)
    ],
    "session_controls": [
        {"id": f"k{n}", "session_id": "s000", "verb": "pause", "payload": None, "created_at": 1.0 + n}
        | {"applied_at": 5.0 if n else None}
        for n in range(2)
    ],
    "engine_runs": [
        {"id": "er0", "kind": "research", "spec_json": {"q": 1}, "status": "completed"}
        | {"started_at": 1.0, "session_id": "s000", "invocation_id": "i0"}
    ],
    "run_tags": [{"session_id": "s000", "tag": "keep", "created_at": 1.0}],
    "approvals": [
        {"id": "a0", "action_kind": "merge", "params_hash": "x", "session_id": "s000"}
        | {"status": "pending", "proposed_at": 1.0, "expires_at": 9.0}
    ],
    "approval_evidence": [
        {"id": f"ae{n}", "sequence": n, "event_type": "proposed", "approval_id": "a0"}
        | {"action_kind": "merge", "status_to": "pending", "params_hash": "x", "created_at": 1.0}
        | {"content_hash": "c", "previous_hash": "p", "chain_hash": "h"}
        for n in range(2)
    ],
    "artifacts": [
        {"id": f"{n:012x}", "invocation_id": invocation, "session_id": held, "created_at": 1.0 + n}
        | {"updated_at": 2.0 + n, "kind": "report", "name": "board", "content": {"v": n}}
        | {"file_path": "out/board.md"}
        for n, (invocation, held) in enumerate([("i0", None), (None, "s000"), ("i1", "s001"), (None, None)])
    ],
    "status_transitions": [
        {"id": f"st{n}", "entity_type": "session", "entity_id": "s000", "previous_status": None}
        | {"status": "running", "reason_code": "run.started.ok", "source": "executor"}
        | {"created_at": 1.0 + n, "evidence_refs": [], "metadata": None}
        for n in range(2)
    ],
    "admin_events": [
        {"id": f"ev{n}", "created_at": 1.0 + n, "action": "doctor.run", "target_id": "s000" if n else None}
        | {"details": {"n": n}, "actor": "admin"}
        for n in range(2)
    ],
    "dispatch_outbox": [
        {"id": "do0", "kind": "note", "deliver_to": "x", "payload": {"a": 1}, "status": "pending"}
        | {"next_attempt_at": 1.0, "created_at": 1.0, "session_id": "s000", "schedule_run_id": "cr0"}
    ],
    "terminal_deliveries": [{"transition_id": "st1", "consumer": "studio", "acked_at": 3.0}],
    "attention_dispositions": [
        {"item_id": "it0", "state": "snoozed", "created_at": 1.0, "updated_at": 2.0, "actor": "kim"}
        | {"source_status": "failed"}
    ],
    "attention_disposition_revisions": [{"item_id": "it0", "revision": 2}],
    "attention_disposition_history": [
        {"id": f"ah{n}", "item_id": "it0", "sequence": n, "new_state": "snoozed", "actor": "kim"}
        | {"created_at": 1.0}
        for n in range(2)
    ],
}
"""Rows by table, parents before children. A release's store takes those of the tables and columns it has."""


def rows_for(table: str, columns: frozenset[str]) -> list[Mapping[str, Any]]:
    """The rows, narrowed to these columns."""
    return [{name: value for name, value in row.items() if name in columns} for row in ROWS[table]]
