"""Every get and list of the facade on a store with a row in every table."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from persistence import StateDB, UnreadableValueError
from tests.persistence.filled import ROWS
from tests.persistence.stores import make_filled


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[StateDB]:
    async with StateDB(make_filled(tmp_path / "state.db")) as opened:
        yield opened


GETS = [
    ("get_session", "sessions", "id"),
    ("get_branch", "branches", "id"),
    ("get_message", "messages", "id"),
    ("get_message_type", "message_types", "type_id"),
    ("get_invocation", "invocations", "id"),
    ("get_show", "shows", "id"),
    ("get_play", "plays", "id"),
    ("get_team", "teams", "id"),
    ("get_team_message", "team_messages", "id"),
    ("get_schedule", "schedules", "id"),
    ("get_schedule_run", "schedule_runs", "id"),
    ("get_worker", "workers", "worker_id"),
    ("get_engine_def", "engine_defs", "id"),
    ("get_workflow_def", "workflow_defs", "id"),
    ("get_project", "projects", "name"),
    ("get_session_signal", "session_signals", "id"),
    ("get_session_control", "session_controls", "id"),
    ("get_engine_run", "engine_runs", "id"),
    ("get_approval", "approvals", "id"),
    ("get_artifact", "artifacts", "id"),
    ("get_status_transition", "status_transitions", "id"),
    ("get_admin_event", "admin_events", "id"),
    ("get_dispatch", "dispatch_outbox", "id"),
    ("get_attention_disposition", "attention_dispositions", "item_id"),
]


@pytest.mark.parametrize(("method", "table", "key"), GETS)
async def test_a_row_is_got_by_its_key(db: StateDB, method: str, table: str, key: str) -> None:
    rows = ROWS.get(table) or [{"type_id": 3, "lion_class": None}]
    wanted = rows[-1]
    row = await getattr(db, method)(wanted[key])
    assert isinstance(row, dict)
    for name, value in wanted.items():
        assert value is None or row[name] == value, name
    assert await getattr(db, method)(10**6 if key == "type_id" else "no such key") is None


async def ids(page: Any, key: str = "id") -> list[Any]:
    return [row[key] for row in await page]


async def test_sessions(db: StateDB) -> None:
    assert await ids(db.list_sessions()) == ["s003", "s002", "s001", "s000"]
    assert await ids(db.list_sessions(status="running")) == ["s000"]
    assert await ids(db.list_sessions(status=["running", None])) == ["s002", "s000"]
    assert await ids(db.list_sessions(status=[])) == []
    assert await ids(db.list_sessions(project="harbour", before=2001.0)) == ["s000"]
    assert await ids(db.list_sessions(since=2002.0)) == ["s003", "s002"]
    assert await ids(db.list_sessions(agent_name="clerk", model="m-1")) == ["s002"]
    assert await ids(db.list_sessions(run_id="r0", invocation_id="i0")) == ["s000"]
    assert await ids(db.list_sessions(text="tIDE")) == ["s000"]
    assert await ids(db.list_sessions(text="mine")) == ["s003"]
    assert await ids(db.list_sessions(text="%")) == []
    assert await ids(db.list_sessions_for_invocation("i0")) == ["s000", "s001"]
    assert await ids(db.get_sessions_for_run("r0")) == ["s000"]
    assert (await db.get_session_by_cc_id("cc1") or {})["id"] == "s001"
    assert await db.count_sessions() == 4
    assert await db.count_sessions(status=["failed", "running"]) == 2


async def test_branches_messages_and_progressions(db: StateDB) -> None:
    assert await ids(db.list_branches("s000")) == ["b0", "b1"]
    assert await ids(db.list_branches()) == ["b0", "b1", "b2"]
    assert await ids(db.list_messages(sender="kim", since=1003.0)) == ["m0003", "m0005"]
    assert await ids(db.list_messages(role="user")) == []
    assert await db.get_progression("p000") == ["m0002", "m0000", "gone", "m0001"]
    assert await db.get_progression("p001") == []
    assert await db.get_progression("no such") == []
    for broken in ("p002", "p003"):
        with pytest.raises(UnreadableValueError) as caught:
            await db.get_progression(broken)
        assert broken in (caught.value.where or "")
    assert await ids(db.get_branch_messages("b0")) == ["m0002", "m0000", "m0001"]
    assert await db.get_branch_messages("no such") == []
    got = await db.get_messages(["m0001", "gone", "m0001", "m0000"])
    assert set(got) == {"m0000", "m0001"}
    assert got["m0000"]["lion_class_str"].endswith("AssistantResponse")
    assert got["m0000"]["content"] == {"assistant_response": "text 0"}
    assert await ids(db.list_progressions()) == ["p000", "p001", "p002", "p003"]
    assert await ids(db.list_message_types(), "type_id") == [0, 1, 2, 3, 4, 5]


async def test_many_messages_are_got_at_once(db: StateDB) -> None:
    assert set(await db.get_messages([f"m{n:04}" for n in range(3000)])) == {f"m{n:04}" for n in range(6)}
    assert await db.get_messages([]) == {}


async def test_execution(db: StateDB) -> None:
    assert await ids(db.list_invocations()) == ["i1", "i0"]
    assert await ids(db.list_invocations(skill="plan")) == ["i1"]
    assert await ids(db.list_invocations(status="running", before=11.0)) == ["i0"]
    assert await db.count_invocations(skill="plan") == 1
    assert await ids(db.list_shows(status="active")) == ["h1", "h0"]
    assert (await db.get_show_by_topic("topic 1") or {})["id"] == "h1"
    assert await ids(db.list_plays("h0")) == ["y1", "y0"]
    assert await ids(db.list_plays(status="pending")) == ["y2", "y1", "y0"]
    assert await ids(db.list_teams()) == ["t0"]
    assert await ids(db.list_team_messages("t0")) == ["tm0", "tm1"]
    assert await ids(db.list_team_messages(session_id="s000")) == ["tm1"]


async def test_scheduling(db: StateDB) -> None:
    assert await ids(db.list_schedules()) == ["c2", "c1", "c0"]
    assert await ids(db.list_schedules(enabled=True)) == ["c1"]
    assert await ids(db.list_schedules(enabled=False, project="harbour")) == ["c2", "c0"]
    assert (await db.get_schedule_by_name("nightly 2") or {})["id"] == "c0"
    assert await ids(db.list_schedule_runs("c0")) == ["cr2", "cr0"]
    assert await ids(db.list_schedule_runs(since=6.0, before=7.0)) == ["cr1"]
    assert (await db.get_schedule_run_by_invocation("i0") or {})["id"] == "cr2"
    assert await ids(db.list_workers(), "worker_id") == ["w0"]


async def test_definitions(db: StateDB) -> None:
    latest = await db.get_definition("agent", "clerk")
    assert latest is not None and (latest["version"], latest["content"]) == (3, "clerk v3")
    second = await db.get_definition("agent", "clerk", version=2)
    assert second is not None and second["path"] == "clerk.md"
    assert await db.get_definition("agent", "clerk", version=9) is None
    assert await db.get_definition("playbook", "clerk") is None
    versions = await db.list_definition_versions("agent", "clerk")
    assert [row["version"] for row in versions] == [3, 2, 1]
    assert all("path" not in row and "content" not in row for row in versions)
    assert await ids(db.list_latest_definition_versions(), "name") == ["clerk", "board"]
    assert len(await db.list_definitions(kind="agent")) == 3
    assert (await db.get_engine_def_by_name("deep") or {})["options"] == {"a": 1}
    assert (await db.get_workflow_def_by_name("flow") or {})["spec_json"] == {"nodes": []}
    assert await ids(db.list_engine_defs(kind="research")) == ["e0"]
    assert await ids(db.list_workflow_defs()) == ["w0"]


async def test_control(db: StateDB) -> None:
    assert await db.schema_version() == "4"
    assert await db.get_meta("lineage") == "lionagi"
    assert await db.get_meta("nothing") is None
    assert await ids(db.list_meta(), "key") == ["lineage", "version"]
    assert await ids(db.list_projects(), "name") == ["project 1", "project 0"]
    assert await ids(db.list_projects(source="cwd_dir"), "name") == ["project 0"]
    assert await ids(db.list_session_signals("s000")) == ["g0", "g1", "g2"]
    assert await ids(db.get_session_signals_after("s000", 1)) == ["g1", "g2"]
    assert await ids(db.get_session_signals_after("s000", 0, limit=2)) == ["g0", "g1"]
    assert await ids(db.list_session_controls("s000")) == ["k0", "k1"]
    assert await ids(db.list_pending_session_controls("s000")) == ["k0"]
    assert await ids(db.list_session_controls(pending=False)) == ["k1"]
    assert await ids(db.list_engine_runs(session_id="s000", invocation_id="i0")) == ["er0"]
    assert await ids(db.list_run_tags(tag="keep"), "session_id") == ["s000"]
    assert await ids(db.list_approvals(session_id="s000", status="pending")) == ["a0"]
    assert await ids(db.list_approval_evidence("a0")) == ["ae0", "ae1"]


async def test_evidence_and_delivery(db: StateDB) -> None:
    assert len(await db.list_artifacts()) == 4
    assert [row["content"] for row in await db.list_artifacts_for_session("s001")] == [{"v": 2}]
    assert [row["content"] for row in await db.list_artifacts_for_invocation("i0")] == [{"v": 0}]
    assert len(await db.list_artifacts(kind="report", name="board")) == 4
    assert await db.get_artifact_contract("s002") == {"expected": []}
    assert await db.get_artifact_verification("s003") == {"status": "failed"}
    assert await db.get_artifact_verification("s000") is None
    assert await db.get_artifact_verification("no such") is None
    for word in ("session", "sessions", "run", "runs"):
        found = await ids(db.list_status_transitions(word, "s000"))
        assert found == (["st0", "st1"] if word != "runs" else []), word
    assert await ids(db.list_admin_events()) == ["ev1", "ev0"]
    assert await ids(db.list_admin_events(target_id="s000", action="doctor.run")) == ["ev1"]
    assert await ids(db.list_dispatches(session_id="s000", schedule_run_id="cr0")) == ["do0"]
    assert await ids(db.list_terminal_deliveries(consumer="studio"), "transition_id") == ["st1"]
    assert await ids(db.list_attention_dispositions(state="snoozed"), "item_id") == ["it0"]
    assert await ids(db.list_attention_history("it0")) == ["ah0", "ah1"]


async def test_another_application_s_columns_come_along(tmp_path: Path) -> None:
    from tests.persistence.stores import run_sql

    path = make_filled(tmp_path / "state.db")
    run_sql(path, "ALTER TABLE sessions ADD COLUMN owner_principal TEXT DEFAULT 'kim'")
    async with StateDB(path) as db:
        assert (await db.get_session("s000") or {})["owner_principal"] == "kim"
        assert (await db.list_sessions(limit=1))[0]["owner_principal"] == "kim"


async def test_json_declared_by_anybody_is_decoded(tmp_path: Path) -> None:
    from tests.persistence.stores import run_sql

    path = make_filled(tmp_path / "state.db")
    run_sql(path, "ALTER TABLE shows ADD COLUMN extra JSON", "UPDATE shows SET extra = '[1]'")
    async with StateDB(path) as db:
        assert (await db.get_show("h0") or {})["extra"] == [1]
