"""A managed store, recorded into by the real lionagi 0.36.0's compatibility mode and by ours, row by row."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from persistence import StateDB
from tests.interop.compatibly import THEIRS, Call, run_compat
from tests.managed import profile_of

LIVE = {"session_id": "s", "branch_progression_id": "bp", "session_progression_id": "sp"}


def message(identity: str, role: str = "user") -> dict[str, Any]:
    return {
        "id": identity,
        "created_at": 1_770_000_000.0,
        "content": {"text": f"{identity} said this"},
        "role": role,
        "sender": "kim",
        "node_metadata": {"lion_class": "lionagi.protocols.messages.instruction.Instruction"},
    }


def status(new: str, reason: str, **more: Any) -> Call:
    return ("update_status", ["session", "s"], {"new_status": new, "reason_code": reason, **more})


BEGIN: list[Call] = [
    ("create_progression", ["sp"], {}),
    (
        "create_session",
        [
            {
                "id": "s",
                "progression_id": "sp",
                "created_at": 1_770_000_000.0,
                "updated_at": 1_770_000_000.0,
                "status": "running",
                "started_at": 1_770_000_000.0,
                "name": "tides",
                "model": "mo",
                "invocation_id": "kim-inv",
                "node_metadata": {"kept": 1},
            }
        ],
        {},
    ),
    ("insert_message", [message("sys", "system")], {}),
    ("create_progression", ["bp", ["sys"]], {}),
    (
        "create_branch",
        [{"id": "b", "session_id": "s", "progression_id": "bp", "system_msg_id": "sys", "created_at": 1.0}],
        {},
    ),
    ("persist_live_message", [message("m1")], {**LIVE, "activity_at": 1_770_000_001.0}),
    ("persist_live_message", [message("m2", "assistant")], {**LIVE, "activity_at": 1_770_000_002.0}),
    ("persist_live_message", [message("m2", "assistant")], {**LIVE, "activity_at": 1.0}),
    (
        "insert_session_signal",
        [],
        {"session_id": "s", "kind": "k", "op_id": "o", "ts": 2.0, "payload": {"n": 1}},
    ),
    ("insert_session_signal", [], {"session_id": "s", "kind": "k", "ts": 3.0, "payload": {"n": 2}}),
    (
        "update_session",
        ["s"],
        {
            "first_msg_id": "sys",
            "last_msg_id": "m2",
            "node_metadata": {"more": 2},
            "input_tokens": 3,
            "output_tokens": 4,
            "total_cost_usd": 0.5,
            "num_turns": 2,
        },
    ),
    ("update_artifact_verification", ["s", {"status": "passed", "produced": []}], {}),
    ("merge_session_node_metadata", ["s", {"error": {"said": "no"}}], {}),
    ("update_branch", ["b"], {"model": "mo", "provider": "pr"}),
    ("set_session_user_label", ["s", "mine"], {}),
]
ENDS: dict[str, list[Call]] = {
    "completed": [
        ("finalize_branch", ["b"], {"status": "completed", "ended_at": 9.0}),
        status("completed", "run.completed.ok", reason_summary="done", extra_fields={"ended_at": 9.0}),
        ("finalize_branch", ["b"], {"status": "failed"}),
    ],
    "failed": [
        ("finalize_branch", ["b"], {"status": "failed", "ended_at": 9.0}),
        status("failed", "run.failed.exception", evidence_refs=[{"kind": "file", "id": "x"}]),
    ],
    "cancelled": [
        status("cancelled", "run.cancelled.sigint", expected_statuses=["running"], source="executor")
    ],
}


def rows(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Every row by table, its JSON read; what each program makes up for itself is left out.

    So is the duration, which theirs derives whenever a status ends a session, from its clock.
    """
    made_up = {
        "sessions": {"updated_at", "ended_at", "duration_ms"},
        "progressions": {"created_at"},
        "session_signals": {"id"},
        "status_transitions": {"id", "created_at"},
        "invocations": {"updated_at"},
    }
    out: dict[str, list[dict[str, Any]]] = {}
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in names:
            found = connection.execute(f'SELECT * FROM "{name}" ORDER BY rowid').fetchall()
            out[name] = [
                {
                    column: plain(row[column])
                    for column in row.keys()  # noqa: SIM118 (a Row iterates over its values)
                    if column not in made_up.get(name, set())
                }
                for row in found
            ]
    return out


def plain(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "[", "n"):
        try:
            return json.loads(value) or None
        except ValueError:
            return value
    return value


@pytest.mark.parametrize("end", ENDS)
async def test_the_same_life_leaves_the_same_rows(
    end: str, desk: Path, lionagi_python: str, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs.db"
    shutil.copyfile(desk, theirs)
    calls = [*BEGIN, *ENDS[end]]
    answers = run_compat(lionagi_python, tmp_path, theirs, _as_theirs(calls))["returns"]
    mine: list[Any] = []
    async with StateDB(desk, profile=profile_of(*THEIRS), owner="kim") as db:
        for method, positional, named in calls:
            mine.append(await getattr(db, method)(*positional, **named))
    assert mine == answers
    ours, their_rows = rows(desk), rows(theirs)
    for table in their_rows:
        assert ours[table] == their_rows[table], table


def _as_theirs(calls: list[Call]) -> list[Call]:
    return [
        (method, positional, {name: value for name, value in named.items() if name != "expected_statuses"})
        for method, positional, named in calls
    ]
