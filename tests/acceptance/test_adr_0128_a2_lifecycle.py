"""ADR-0128 A.2: statuses, and the events of a run with their handlers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from persistence import (
    ForeignLineageError,
    LostRaceError,
    Mode,
    StateCompatibilityRefused,
    StateDB,
    TransitionRejectedError,
    handles,
    shared_handle,
)
from persistence.engines.gate import gate_for
from persistence.guard.transaction import TransactionGuard
from persistence.run_events import RunEvent, RunEventKind, emit
from persistence.runs import RunRecorder, record_run
from tests.managed import Spied, dump, live, make_run, manager, message, profile_of, stamps
from tests.persistence.compatibility.lifecycle import no

START, BRANCH, END, SESSION_END = (
    RunEventKind.SESSION_START,
    RunEventKind.BRANCH_CREATE,
    RunEventKind.BRANCH_END,
    RunEventKind.SESSION_END,
)


async def row(db: StateDB, table: str, identity: str) -> dict[str, Any]:
    found = await db.fetch_one(f"SELECT * FROM {table} WHERE id = ?", (identity,))
    assert found is not None
    return found


async def completed(db: StateDB, session: str = "s", **more: Any) -> bool:
    named = {"new_status": "completed", "reason_code": "run.completed.ok", **more}
    return await db.update_status("session", session, **named)


# -- update_status -----------------------------------------------------------------------------------------


@pytest.mark.adr("0128-A2-46")
async def test_a_status_and_its_transition_are_one_transaction(
    run: StateDB, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dump(desk)
    assert await completed(run, expected_statuses=["failed", None]) is False
    assert await completed(run, expected_updated_at=1.0) is False
    assert dump(desk) == before
    assert await completed(run, expected_statuses=["running"], reason_summary="done", actor="kim") is True
    assert run.committed["status"] == 1, "what found nothing to write is no phase"
    found = await row(run, "sessions", "s")
    (_, last) = await run.fetch_all("SELECT * FROM status_transitions WHERE entity_id = 's' ORDER BY rowid")
    assert (found["status"], found["status_reason_code"], found["status_reason_summary"]) == (
        "completed",
        "run.completed.ok",
        "done",
    )
    assert (last["previous_status"], last["status"], last["actor"]) == ("running", "completed", "kim")
    assert found["ended_at"] is not None
    # The update is held to the status that was read: another one in between is a lost race.
    await make_run(run, "2")
    outcome = TransactionGuard._outcome

    def stale(self: TransactionGuard, call: Any) -> Any:
        answer = outcome(self, call)
        text = call.statement.compiled("sqlite").sql
        return (
            answer._replace(rows=[("kim", "failed", 1.0)]) if "sessions.updated_at \nFROM" in text else answer
        )

    monkeypatch.setattr(TransactionGuard, "_outcome", stale)
    before = dump(desk)
    with pytest.raises(LostRaceError):
        await run.update_status("session", "s2", new_status="failed", reason_code="run.failed.exception")
    assert dump(desk) == before


@pytest.mark.adr("0128-A2-47", "0128-A2-50")
async def test_a_rejected_change_leaves_an_event_of_the_owner_and_nothing_else(
    run: StateDB, desk: Path
) -> None:
    await completed(run)
    before = dump(desk)
    with pytest.raises(TransitionRejectedError) as caught:
        await run.update_status("session", "s", new_status="running", reason_code="run.started.ok")
    assert caught.value.committed == ("admin event",)
    assert run.committed["admin event"] == 1 and run.committed["status"] == 1
    after = dump(desk)
    assert {name for name in after if after[name] != before[name]} == {"admin_events"}
    (event,) = await run.fetch_all("SELECT * FROM admin_events WHERE target_id = 's'")
    assert (event["action"], event["owner_id"]) == ("status_transition_rejected", "kim")
    assert json.loads(event["details"])["attempted_status"] == "running"
    transitions = await run.fetch_all("SELECT owner_id FROM status_transitions WHERE entity_id = 's'")
    assert [one["owner_id"] for one in transitions] == ["kim", "kim"]


@pytest.mark.adr("0128-A2-48", "0128-A2-49")
async def test_update_status_is_for_the_own_session_and_knows_no_override(run: StateDB, desk: Path) -> None:
    before = dump(desk)
    over = {"override": True, "override_actor": "kim", "override_justification": "why"}
    for call, code in (
        (completed(run, "lee-sess"), "not-own"),
        (completed(run, "kim-old-sess"), "not-own"),
        (completed(run, **over), "override"),
        (run.update_session("s", status="failed", reason_code="run.failed.exception", **over), "override"),
        (
            run.update_status(
                "invocation", "kim-inv", new_status="completed", reason_code="run.completed.ok"
            ),
            "not-a-session",
        ),
    ):
        assert (await no(call)).code == code
    for wrong in (
        completed(run, reason_code="no.such.reason"),
        completed(run, source="nobody"),
        completed(run, extra_fields={"name": "x"}),
        run.update_status("thing", "s", new_status="completed", reason_code="run.completed.ok"),
    ):
        with pytest.raises(ValueError):
            await wrong
    assert dump(desk) == before


@pytest.mark.adr("0128-A2-57")
@pytest.mark.parametrize("status", [None, "running", "failed"])
async def test_a_branch_ends_only_while_it_has_not(run: StateDB, desk: Path, status: str | None) -> None:
    manager(desk, f"UPDATE branches SET status = {'NULL' if status is None else repr(status)} WHERE id = 'b'")
    ended = await run.finalize_branch("b", status="completed", ended_at=7.0)
    assert ended is (status != "failed")
    found = await row(run, "branches", "b")
    assert (found["status"], found["ended_at"]) == (("completed", 7.0) if ended else ("failed", None))
    before = dump(desk)
    assert (await no(run.finalize_branch("lee-branch", status="completed"))).code == "not-own"
    with pytest.raises(ValueError):
        await run.finalize_branch("b", status="running")
    if not ended:
        with pytest.raises(TransitionRejectedError):
            await run.update_branch("b", status="running")
    assert dump(desk) == before


# -- events ------------------------------------------------------------------------------------------------


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The shared handles that were looked for."""
    seen: list[Any] = []

    @asynccontextmanager
    async def looked(store: Any, **named: Any) -> AsyncIterator[StateDB]:
        seen.append((store, named))
        async with shared_handle(store, **named) as db:
            yield db

    monkeypatch.setattr(handles, "shared_handle", looked)
    return seen


@pytest.mark.adr("0128-A2-02", "0128-A2-04", "0128-A2-06", "0128-A2-07", "0128-A2-10", "0128-A2-52")
async def test_a_run_s_events_carry_its_own_handle(
    kim: StateDB, desk: Path, spied: Spied, lookups: list[Any]
) -> None:
    told: list[RunEvent] = []
    wrote: dict[str, list[str]] = {}

    async def keep(event: RunEvent) -> None:
        told.append(event)
        before = len(spied.texts)
        await emit(event)
        wrote[event.kind] = [name for name, _ in spied.texts[before:]]

    kinds = (START, BRANCH, END, SESSION_END)
    recorder = RunRecorder(kim, handlers=dict.fromkeys(kinds, keep))
    await recorder.begin(model="mo")
    await recorder.message(message("m1"))
    admission = kim.admission
    assert admission is not None and admission.identity is not None
    assert [one.kind for one in gate_for(admission.identity).handles] == ["compatibility"]
    await recorder.end("completed", "run.completed.ok", usage={"input_tokens": 3})
    assert [event.kind for event in told] == [*kinds]
    assert all(event.db is kim for event in told)
    assert wrote[START] == wrote[BRANCH] == [], "set-up has written all of it"
    assert set(wrote[END]) == {"finalize_branch"} and set(wrote[SESSION_END]) == {"update_session"}
    assert lookups == []


@pytest.mark.adr("0128-A2-05")
async def test_set_up_writes_what_the_handlers_would(kim: StateDB) -> None:
    provenance = {"model": "mo", "provider": "pr", "agent_name": "ag", "effort": "high", "project": "p"}
    recorder = RunRecorder(kim)
    await recorder.begin(**provenance, invocation_id="kim-inv", agent_hash="h", project_source="s")
    session = await row(kim, "sessions", recorder.session_id)
    branch = await row(kim, "branches", recorder.branch_id)
    assert session["status"] == "running" and session["started_at"] is not None
    assert {name: session[name] for name in provenance} == provenance
    assert session["invocation_id"] == "kim-inv"
    assert (branch["model"], branch["provider"], branch["agent_name"]) == ("mo", "pr", "ag")


@pytest.mark.adr("0128-A2-03", "0128-A2-53", "0128-A2-54", "0128-A2-55", "0128-A2-56")
async def test_an_event_without_a_handle_finds_the_shared_one(desk: Path, lookups: list[Any]) -> None:
    way = {"store": desk, "profile": profile_of(), "owner": "kim"}
    async with shared_handle(desk, profile=profile_of(), owner="kim") as db:
        await db.create_progression("sp")
        await db.create_session({"id": "s", "progression_id": "sp"})
        await db.create_branch({"id": "b", "session_id": "s", "progression_id": "sp", "model": "old"})
        details = {"model": "mo", "provider": "pr", "started_at": 5.0, "invocation_id": "kim-inv"}
        await emit(RunEvent(START, "s", details=details, **way))
        assert db.committed["status"] == 1 and db.committed["session update"] == 1
        assert len(lookups) == 1
        session = await row(db, "sessions", "s")
        assert (session["status"], session["started_at"], session["model"]) == ("running", 5.0, "mo")
        (transition,) = await db.fetch_all("SELECT owner_id FROM status_transitions WHERE entity_id = 's'")
        assert transition["owner_id"] == "kim"
        await emit(RunEvent(START, "s", details={"started_at": 1.0}, **way))
        assert (await row(db, "sessions", "s"))["started_at"] == 5.0, "the first one stays"
        assert db.committed["status"] == 1, "it is running already"
        await emit(RunEvent(BRANCH, "s", "b", details={"provider": "pr"}, **way))
        branch = await row(db, "branches", "b")
        assert (branch["model"], branch["provider"], branch["agent_name"]) == (None, "pr", None)
        before = dump(desk)
        for event in (
            RunEvent(START, "lee-sess", **way),
            RunEvent(START, "s", details={"invocation_id": "lee-inv"}, **way),
            RunEvent(BRANCH, "s", "lee-branch", **way),
        ):
            assert (await no(emit(event))).code == "not-own"
        assert dump(desk) == before


@pytest.mark.adr("0128-A2-08")
@pytest.mark.parametrize("own_handle", [True, False])
async def test_a_branch_of_another_principal_is_left_alone(
    run: StateDB, desk: Path, own_handle: bool
) -> None:
    way: dict[str, Any] = (
        {"db": run} if own_handle else {"store": desk, "profile": profile_of(), "owner": "kim"}
    )
    before = dump(desk)
    await_none = RunEvent(BRANCH, "s", "lee-branch", details={"model": "x"}, **way)
    if own_handle:
        await emit(await_none)
    else:
        await no(emit(await_none))
    await no(emit(RunEvent(END, "s", "lee-branch", details={"status": "completed"}, **way)))
    assert dump(desk) == before


@pytest.mark.adr("0128-A2-09")
@pytest.mark.parametrize("kind", [START, BRANCH, END, SESSION_END])
async def test_a_fallback_to_a_store_that_is_held_is_refused(
    run: StateDB, desk: Path, spied: Spied, kind: RunEventKind
) -> None:
    before, written = dump(desk), stamps(desk)
    spied.clear()
    with pytest.raises((StateCompatibilityRefused, ForeignLineageError)):
        await emit(RunEvent(kind, "s", "b", store=desk, details={"status": "completed"}))
    assert spied.texts == [] and dump(desk) == before and stamps(desk) == written


@pytest.mark.adr("0128-A2-58", "0128-A2-60")
async def test_a_session_s_end_without_a_handle_is_a_transition_then_usage(desk: Path) -> None:
    way = {"store": desk, "profile": profile_of(), "owner": "kim"}
    async with shared_handle(desk, profile=profile_of(), owner="kim") as db:
        await make_run(db, started_at=5.0, node_metadata={"kept": 1})
        details = {
            "status": "failed",
            "reason_code": "run.failed.exception",
            "ended_at": 9.0,
            "error": {"said": "no"},
            "input_tokens": 3,
        }
        await emit(RunEvent(SESSION_END, "s", details=details, **way))
        assert db.committed["session update"] == 2
        found = await row(db, "sessions", "s")
        assert (found["status"], found["ended_at"], found["duration_ms"]) == ("failed", 9.0, 4000.0)
        assert json.loads(found["node_metadata"]) == {"kept": 1, "error": {"said": "no"}}
        assert found["input_tokens"] == 3
        before = dump(desk)
        assert (await no(emit(RunEvent(SESSION_END, "lee-sess", details=details, **way)))).code == "not-own"
        assert dump(desk) == before


@pytest.mark.adr("0128-A2-59")
@pytest.mark.parametrize("passed_along", [True, False])
async def test_with_the_handle_or_a_terminal_session_only_usage_is_written(
    desk: Path, passed_along: bool, spied: Spied
) -> None:
    async with shared_handle(desk, profile=profile_of(), owner="kim") as db:
        await make_run(db)
        if not passed_along:
            await completed(db)
        before = await row(db, "sessions", "s")
        spied.clear()
        way: dict[str, Any] = {"store": desk, "profile": profile_of(), "owner": "kim"}
        details = {"status": "failed", "reason_code": "run.failed.exception", "num_turns": 4, "error": "x"}
        await emit(RunEvent(SESSION_END, "s", details=details, **({"db": db} if passed_along else way)))
        after = await row(db, "sessions", "s")
        assert {name for name in after if after[name] != before[name]} == {"num_turns", "updated_at"}
        assert {name for name, _ in spied.texts} == {"update_session"}


@pytest.mark.adr("0128-A2-51")
async def test_callbacks_come_after_the_commit_and_write_nothing(
    kim: StateDB, desk: Path, spied: Spied
) -> None:
    seen: list[Any] = []

    async def over(recorder: RunRecorder) -> None:
        before = len(spied.texts)
        (found,) = manager(desk, f"SELECT status FROM sessions WHERE id = '{recorder.session_id}'")
        seen.append((found[0], len(spied.texts) - before))

    recorder = RunRecorder(kim, callbacks=(over, over))
    await recorder.begin()
    await recorder.end("completed", "run.completed.ok")
    assert seen == [("completed", 0)] * 2


# -- natively ----------------------------------------------------------------------------------------------


@pytest.mark.adr("0128-D1-13", "0128-D1-14", "0128-D1-15")
async def test_handles_are_shared_by_store_mode_profile_and_owner(desk: Path, tmp_path: Path) -> None:
    ways: list[Callable[[], Any]] = [
        lambda: shared_handle(desk),
        lambda: shared_handle(desk, profile=profile_of(), owner="kim"),
        lambda: shared_handle(desk, profile=profile_of(), owner="lee"),
        lambda: shared_handle(desk, profile="acme-desk-fresh-run", owner="kim"),
    ]
    seen: list[int] = []
    async with ways[0]() as a, ways[1]() as b, ways[2]() as c, ways[3]() as d:
        assert len({id(one) for one in (a, b, c, d)}) == 4
        for way, first in zip(ways, (a, b, c, d), strict=True):
            async with way() as again:
                assert again is first
                seen.append(id(again))
        from persistence.profiles.catalogue import load_profile

        async with shared_handle(desk, profile=load_profile("acme-desk-fresh-run"), owner="kim") as named:
            assert named is d, "the same document, however it was named"
    native = tmp_path / "own" / "state.db"
    async with shared_handle(native, mode=Mode.NATIVE) as own, shared_handle(native) as reading:
        assert own is not reading


async def test_a_run_is_recorded_in_the_middle_of_another_s(kim: StateDB, desk: Path) -> None:
    async with record_run(kim) as one, record_run(kim) as two:
        await one.message(message("one-1"))
        await two.message(message("two-1"))
        await live_names(one, two)
    rows = dict(manager(desk, "SELECT id, status FROM sessions"))
    assert rows[one.session_id] == rows[two.session_id] == "completed"


async def live_names(one: RunRecorder, two: RunRecorder) -> None:
    assert one.session_id != two.session_id
    assert (await no(live(one.db, "x", session_id="lee-sess"))).code == "not-own"
