"""ADR-0128 A.2 and D1, the native side: what a run does to a store of this lineage."""

from __future__ import annotations

from pathlib import Path

import pytest

from persistence import Mode, StateDB, StoreError
from persistence.runs import record_run
from tests.native import Backend, count, one


@pytest.mark.adr("0128-A2-21")
async def test_a_project_is_noted_after_the_session_and_may_fail_alone(
    native: StateDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with record_run(native, project="harbour", project_source="cwd") as run:
        assert await one(native, "SELECT source FROM projects WHERE name = 'harbour'") == "cwd"
    async with record_run(native, project="harbour") as again:
        pass
    assert await count(native, "projects") == 1, "by name"

    async def broken(*_: object, **__: object) -> None:
        raise StoreError("the projects are not to be had")

    monkeypatch.setattr(native, "register_project", broken)
    async with record_run(native, project="quay") as alone:
        pass
    for recorder, registered in ((run, True), (again, True), (alone, False)):
        session = await native.get_session(recorder.session_id)
        assert session is not None and session["status"] == "completed"
        assert session["project"] in ("harbour", "quay")
        assert recorder.project_registered is registered


@pytest.mark.adr("0128-A2-40")
async def test_natively_metadata_is_read_merged_and_written_whole(native: StateDB) -> None:
    async with record_run(native, node_metadata={"kept": 1, "mine": {"a": 1}}) as run:
        await run.end("completed", "run.completed.ok", metadata={"mine": {"b": 2}})
        session = await native.get_session(run.session_id)
        assert session is not None
        assert session["node_metadata"] == {"kept": 1, "mine": {"b": 2}}
        await native.update_session(run.session_id, node_metadata={"whole": 1})
        session = await native.get_session(run.session_id)
        assert session is not None and session["node_metadata"] == {"whole": 1}


@pytest.mark.adr("0128-A2-26", "0128-A2-29", "0128-A2-30", "0128-A2-31")
async def test_the_same_live_message_natively(native: StateDB, native_session: str) -> None:
    await native.persist_live_message(
        {"id": "m", "content": {"a": 1}, "role": "system"},
        session_id=native_session,
        branch_progression_id="pb",
        session_progression_id="ps",
        system_branch_id="b",
        activity_at=4e9,
    )
    await native.persist_live_message(
        {"id": "m2", "content": {"a": 1}, "role": "user"},
        session_id=native_session,
        branch_progression_id="pb",
        session_progression_id="ps",
        activity_at=1.0,
    )
    assert await native.get_progression("ps") == await native.get_progression("pb") == ["m", "m2"]
    assert await one(native, "SELECT system_msg_id FROM branches WHERE id = 'b'") == "m"
    assert await one(native, "SELECT last_message_at FROM sessions WHERE id = ?", native_session) == 4e9
    await native.create_branch({"id": "b", "session_id": native_session, "progression_id": "ps"})
    assert await one(native, "SELECT progression_id FROM branches WHERE id = 'b'") == "pb", (
        "a clash is skipped"
    )


@pytest.mark.adr("0128-A2-47")
async def test_an_override_leaves_an_event_natively(native: StateDB, native_session: str) -> None:
    end = {"new_status": "completed", "reason_code": "run.completed.ok"}
    await native.update_status("session", native_session, **end)
    await native.update_status(
        "session",
        native_session,
        new_status="running",
        reason_code="session.reopened.by_resume",
        override=True,
        override_actor="kim",
        override_justification="resume",
    )
    assert await one(native, "SELECT action FROM admin_events") == "status_transition_override"


@pytest.mark.adr("0128-D1-01")
async def test_a_native_open_sets_up_its_connection_applies_the_schema_and_serves(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    async with StateDB(path, mode=Mode.NATIVE) as db:
        assert db.applied is not None and db.applied.created
        assert await one(db, "PRAGMA journal_mode") == "wal"
        assert await one(db, "SELECT value FROM schema_meta WHERE key = 'version'") == "4"
        assert await one(db, "SELECT value FROM schema_meta WHERE key = 'lineage'") == "lionagi"
        async with record_run(db) as run:
            await run.message({"id": "m", "content": {}, "role": "user"})
        assert await count(db, "messages") == 1


@pytest.mark.adr("0128-A2-11")
async def test_a_clash_of_a_progression_is_skipped_natively(native: StateDB, native_backend: Backend) -> None:
    await native.create_progression("p", ["a"])
    await native.create_progression("p", ["b"])
    assert await native.get_progression("p") == ["a"]
