"""Fills a store through the public methods of the lionagi this script's Python has.

Run by that Python alone: `fill.py STORE ANSWERS [--hold]`. ANSWERS gets, as JSON, what lionagi's own
read methods answer about the store. With `--hold` the store stays open: a line is printed when it is
filled, each line read from stdin adds a message and a signal, and the end of stdin closes it.
"""

from __future__ import annotations

import asyncio
import json
import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")

from lionagi.state import StateDB  # noqa: E402

T0 = 1_760_000_000.0
TEXTS = [
    "Tide tables for next week",
    "潮汐表 ⚓ e\u0301 \u202egnitlit\u202c",
    "tab\tCRLF\r\n ESC\x1b[31m [b]markup[/b]",
    "",
]
CLASSES = ["system.System", "instruction.Instruction", "assistant_response.AssistantResponse"]
STATUSES = [
    ("completed", "run.completed.ok"),
    ("failed", "run.failed.exception"),
    ("cancelled", "run.cancelled.system"),
    (None, None),
]


def message(session: int, number: int) -> dict:
    role = ["system", "user", "assistant"][number % 3]
    content = {"instruction": TEXTS[number % 4], "context": [{"deep": [1, 2.5, None, True]}]}
    return {
        "id": f"message-{session}-{number}",
        "created_at": T0 + session * 100 + number,
        "node_metadata": {"lion_class": f"lionagi.protocols.messages.{CLASSES[number % 3]}", "n": number},
        "content": content if number != 4 else ["a list", {"x": 1}],
        "sender": "kim" if role == "user" else f"branch-{session}",
        "recipient": None,
        "channel": None,
        "role": role,
        "embedding": [0.5, -1.25] if number == 1 else None,
    }


async def conversation(db: StateDB) -> None:
    for number, (status, reason) in enumerate(STATUSES):
        at = T0 + number * 100
        await db.create_progression(f"order-{number}")
        await db.create_progression(f"branch-order-{number}")
        await db.create_session(
            {
                "id": f"session-{number}",
                "created_at": at,
                "updated_at": at,
                "name": TEXTS[number],
                "progression_id": f"order-{number}",
                "node_metadata": {"cwd": "/srv", "tags": ["a", TEXTS[1]]} if number else None,
                "status": "running" if status else None,
                "started_at": at,
                "invocation_kind": "agent",
                "agent_name": "clerk",
                "project": "harbour" if number % 2 else None,
                "run_id": f"run-{number // 2}",
                "invocation_id": "invocation-0" if number < 2 else None,
                "artifact_contract_json": {"expected": [{"id": "board", "path": "out/board.md"}]},
            }
        )
        for position in range(6):
            await db.insert_message(message(number, position))
        await db.create_branch(
            {
                "id": f"branch-{number}",
                "created_at": at,
                "name": "main",
                "session_id": f"session-{number}",
                "progression_id": f"branch-order-{number}",
                "node_metadata": {"b": number},
            }
        )
        for position in (2, 0, 1, 3, 4, 5, 0):
            await db.append_to_progression(f"branch-order-{number}", f"message-{number}-{position}")
        await db.append_to_progression(f"branch-order-{number}", "never-inserted")
        for position in range(3):
            await db.insert_session_signal(
                session_id=f"session-{number}", kind="op.note", ts=at + position, payload={"n": position}
            )
        if status:
            await db.update_status(
                "session",
                f"session-{number}",
                new_status=status,
                reason_code=reason,
                reason_summary=TEXTS[2],
                evidence_refs=[{"kind": "session", "id": f"session-{number}"}],
                extra_fields={"ended_at": at + 50},
            )
    await db.update_artifact_verification(
        "session-1", {"status": "failed", "checked_at": T0, "missing_required": [], "produced": []}
    )
    await db.insert_session_control(session_id="session-3", verb="pause", payload={"why": TEXTS[1]})


async def around(db: StateDB) -> None:
    await db.register_project(
        "harbour", "git_remote", path="/srv/harbour", github="https://example.invalid/x"
    )
    for number, status in enumerate(["completed", "failed"]):
        await db.create_invocation(
            {
                "id": f"invocation-{number}",
                "skill": "review",
                "prompt": TEXTS[number],
                "started_at": T0 + number,
                "created_at": T0,
                "updated_at": T0,
                "status": "running",
                "node_metadata": {"argv": [TEXTS[2]]},
            }
        )
        await db.update_invocation(f"invocation-{number}", status=status, ended_at=T0 + 9)
    await db.create_show(
        {
            "id": "show-0",
            "topic": "tides",
            "goal": TEXTS[0],
            "repo": "acme/harbour",
            "base_branch": "main",
            "integration_branch": "int",
            "status": "active",
            "show_dir": "/srv/shows/0",
            "status_source": "fs",
            "created_at": T0,
        }
    )
    for number in range(3):
        await db.create_play(
            {
                "id": f"play-{number}",
                "show_id": "show-0",
                "name": f"play {number}",
                "playbook": "board.yaml",
                "status": "pending",
                "depends_on": [f"play {n}" for n in range(number)],
                "sort_order": 3 - number,
            }
        )
    for number in range(2):
        await db.create_schedule(
            {
                "id": f"schedule-{number}",
                "name": f"nightly {number}",
                "enabled": number,
                "trigger_type": "cron",
                "cron_expr": "0 3 * * *",
                "action_kind": "agent",
                "action_prompt": TEXTS[number],
                "on_success": {"notify": True},
                "created_at": T0,
                "updated_at": T0,
            }
        )
    for number in range(2):
        await db.create_schedule_run(
            {
                "id": f"schedule-run-{number}",
                "schedule_id": "schedule-1",
                "invocation_id": "invocation-0" if number else None,
                "trigger_context": {"n": number},
                "action_kind": "agent",
                "action_args": {"argv": [TEXTS[1]]},
                "status": "running",
                "fired_at": T0 + number,
                "created_at": T0,
            }
        )
    for version in range(3):
        await db.save_definition(
            kind="agent", name="clerk", path="agents/clerk.md", content=f"# v{version}\n{TEXTS[1]}"
        )
    await db.save_definition(kind="playbook", name="board", path="board.yaml", content="a: 1", message="x")
    await db.save_definition(kind="skill", name="tides", path="SKILL.md", content="")
    await db.create_engine_def(
        {"id": "engine-def-0", "name": "deep", "kind": "research", "options": {"a": 1}}
    )
    await db.create_workflow_def({"id": "workflow-0", "name": "flow", "spec_json": {"nodes": [], "e": [1]}})


async def after_sessions(db: StateDB) -> None:
    await db.insert_engine_run(
        run_id="engine-run-0",
        kind="research",
        spec_json={"q": TEXTS[1]},
        started_at=T0,
        session_id="session-0",
    )
    await db.insert_admin_event(action="doctor.run", details={"t": TEXTS[1]}, target_id="session-0")
    places = [("invocation-0", None), (None, "session-0"), ("invocation-1", "session-1"), (None, None)]
    for version in range(2):
        for invocation, session in places:
            await db.insert_artifact(
                kind="report",
                name="board",
                content={"v": version, "t": TEXTS[1]},
                invocation_id=invocation,
                session_id=session,
                file_path="out/board.md",
            )


async def answers(db: StateDB) -> dict:
    sessions = await db.list_sessions(limit=1000)
    ids = [row["id"] for row in sessions]
    branches = {key: await db.list_branches(key) for key in ids}
    schedules = await db.list_schedules(limit=1000)
    return {
        "sessions": sessions,
        "session": {key: await db.get_session(key) for key in ids},
        "branches": branches,
        "branch_messages": {
            row["id"]: await db.get_branch_messages(row["id"]) for rows in branches.values() for row in rows
        },
        "progressions": {
            row["progression_id"]: await db.get_progression(row["progression_id"])
            for rows in branches.values()
            for row in rows
        },
        "signals": {key: await db.get_session_signals_after(key, 0, limit=100) for key in ids},
        "controls": await db.list_pending_session_controls("session-3"),
        "sessions_for_run": await db.get_sessions_for_run("run-0"),
        "sessions_for_invocation": await db.list_sessions_for_invocation("invocation-0"),
        "invocations": await db.list_invocations(limit=1000),
        "shows": await db.list_shows(),
        "plays": await db.list_plays("show-0"),
        "schedules": schedules,
        "schedule_runs": {row["id"]: await db.list_schedule_runs(row["id"]) for row in schedules},
        "versions": await db.list_definition_versions("agent", "clerk"),
        "latest": await db.list_latest_definition_versions(),
        "definition": await db.get_definition("agent", "clerk"),
        "definition_1": await db.get_definition("agent", "clerk", version=1),
        "engine_defs": await db.list_engine_defs(),
        "workflow_defs": await db.list_workflow_defs(),
        "engine_runs": await db.list_engine_runs(),
        "projects": await db.list_projects(),
        "admin_events": await db.list_admin_events(),
        "artifacts_for_session": {key: await db.list_artifacts_for_session(key) for key in ids},
        "artifacts_for_invocation": await db.list_artifacts_for_invocation("invocation-0"),
        "transitions": await db.fetch_all("SELECT * FROM status_transitions ORDER BY created_at, id"),
        "schema_version": await db.schema_version(),
    }


async def hold(db: StateDB) -> None:
    print("filled", flush=True)
    loop = asyncio.get_running_loop()
    number = 6
    while await loop.run_in_executor(None, sys.stdin.readline):
        await db.insert_message(message(0, number))
        await db.append_to_progression("branch-order-0", f"message-0-{number}")
        await db.insert_session_signal(session_id="session-0", kind="op.more", ts=T0, payload={"n": number})
        number += 1
        print("added", flush=True)


async def main(store: str, out: str, *options: str) -> None:
    db = StateDB(path=store)
    await db.open()
    await around(db)
    await conversation(db)
    await after_sessions(db)
    Path(out).write_text(json.dumps(await answers(db)), "utf-8")
    if "--hold" in options:
        await hold(db)
    await db.close()


asyncio.run(main(*sys.argv[1:]))
