"""ADR-0055 P1: statuses and their history (the rules of `lifecycle.md`)."""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from persistence import LostRaceError, NoSuchRowError, StateDB, TransitionRejectedError
from persistence.schema import metadata
from persistence.schema.known import INVOCATION_KINDS, REASON_CODES, SOURCE_KINDS, STATUSES, TERMINAL
from persistence.writing.native.lifecycle import EDGES
from tests.native import count, one

TABLES = {
    "session": "sessions",
    "show": "shows",
    "play": "plays",
    "invocation": "invocations",
    "team": "teams",
    "schedule_run": "schedule_runs",
}
REASON = {
    "session": "run.failed.exception",
    "show": "show.blocked.no_ready_plays",
    "play": "play.blocked.dep_failed",
    "invocation": "run.failed.exception",
    "team": "team.archived.operator",
    "schedule_run": "run.failed.exception",
}
OVERRIDE = {"override": True, "override_actor": "kim", "override_justification": "repaired by hand"}


@pytest.fixture
async def db(native: StateDB, native_session: str) -> StateDB:
    """One row of each entity, its id the entity's name."""
    await native.create_session({"id": "session", "progression_id": "ps", "status": "running"})
    await native.create_show({"id": "show", "topic": "t", "show_dir": "d"})
    await native.create_play({"id": "play", "show_id": "show", "name": "n"})
    await native.create_invocation({"id": "invocation", "skill": "review"})
    await native.create_team({"id": "team", "name": "crew", "members": ["a", "b"]})
    await native.create_schedule(
        {"id": "sc", "name": "n", "trigger_type": "interval", "action_kind": "agent", "interval_sec": 5}
    )
    await native.create_schedule_run({"id": "schedule_run", "schedule_id": "sc", "action_kind": "agent"})
    return native


async def _status(db: StateDB, entity: str) -> Any:
    return await one(db, f"SELECT status FROM {TABLES[entity]} WHERE id = ?", entity)


async def _everything(db: StateDB) -> dict[str, Any]:
    tables = (*TABLES.values(), "status_transitions", "admin_events")
    return {table: await db.fetch_all(f"SELECT * FROM {table} ORDER BY id") for table in tables}


def _change(db: StateDB, entity: str, status: str, **more: Any) -> Any:
    given = {"new_status": status, "reason_code": REASON.get(entity, "legacy.imported"), **more}
    return db.update_status(entity, given.pop("entity_id", entity), **given)


@pytest.mark.adr("0055-P1-04", "0055-P1-09", "0055-P1-10")
@pytest.mark.parametrize("entity", TABLES)
async def test_each_entity_s_row_and_history_change_together(db: StateDB, entity: str) -> None:
    before = await db.list_status_transitions(entity, entity)
    status = "failed" if entity == "schedule_run" else sorted(TERMINAL[entity])[0]
    changed = await _change(
        db,
        entity,
        status,
        reason_summary="because",
        evidence_refs=[{"kind": "file", "id": "x"}],
        source="agent",
        actor="kim",
        metadata={"k": [1]},
    )
    assert changed is True
    row = await db.fetch_one(f"SELECT * FROM {TABLES[entity]} WHERE id = ?", (entity,))
    history = await db.list_status_transitions(entity, entity)
    assert row is not None and len(history) == len(before) + 1
    last = history[-1]
    assert (row["status"], row["status_reason_code"], row["status_reason_summary"]) == (
        status,
        REASON[entity],
        "because",
    )
    assert last["created_at"] <= row["updated_at"]
    assert (last["entity_type"], last["entity_id"], last["previous_status"], last["status"]) == (
        entity,
        entity,
        {
            "session": "running",
            "show": "active",
            "play": "pending",
            "invocation": "running",
            "team": "active",
            "schedule_run": "running",
        }[entity],
        status,
    )
    assert (last["reason_code"], last["reason_summary"], last["source"], last["actor"]) == (
        REASON[entity],
        "because",
        "agent",
        "kim",
    )
    assert last["evidence_refs"] == [{"kind": "file", "id": "x"}]
    assert last["metadata"] == {"k": [1]}


@pytest.mark.adr("0055-P1-10")
async def test_history_has_no_foreign_key_to_its_entity(db: StateDB) -> None:
    assert not metadata.tables["status_transitions"].foreign_keys
    before = await count(db, "status_transitions")
    await db.execute("DELETE FROM plays")
    assert await count(db, "status_transitions") == before


@pytest.mark.adr("0055-P1-05")
@pytest.mark.parametrize(
    ("word", "entity"),
    [("run", "session"), *((table, entity) for entity, table in TABLES.items())],
)
async def test_other_names_of_an_entity(db: StateDB, word: str, entity: str) -> None:
    status = "failed" if entity == "schedule_run" else sorted(TERMINAL[entity])[0]
    assert await _change(db, word, status, entity_id=entity, reason_code=REASON[entity])
    assert (await db.list_status_transitions(entity, entity))[-1]["status"] == status


@pytest.mark.adr("0055-P1-06")
@pytest.mark.parametrize("word", ["branch", "schedule", "dispatch", "", "Session", "sessions; --", None, 5])
async def test_any_other_entity_is_refused(db: StateDB, word: Any) -> None:
    before = await _everything(db)
    with pytest.raises(ValueError, match="entity type"):
        await _change(db, word, "failed", entity_id="session")
    assert await _everything(db) == before


@pytest.mark.adr("0055-P1-07")
async def test_dispatches_have_statuses_of_their_own(db: StateDB) -> None:
    dispatch_id = await db.enqueue_dispatch({"kind": "mail", "deliver_to": "kim", "payload": {"n": 1}})
    for status in ("delivering", "delivered", "acked", "dead_letter", "expired", "pending"):
        assert await db.update_dispatch(dispatch_id, status=status, attempt=1)
    for status in ("running", "completed", ""):
        with pytest.raises(IntegrityError):
            await db.update_dispatch(dispatch_id, status=status)
    assert await db.update_dispatch(dispatch_id, status="delivering", expected_statuses={"acked"}) is False
    assert await db.update_dispatch("missing", status="pending") is False
    same = {"kind": "mail", "deliver_to": "kim", "payload": {}, "dedup_key": "once"}
    assert await db.enqueue_dispatch(same) == await db.enqueue_dispatch({**same, "payload": {"other": 1}})
    assert await count(db, "dispatch_outbox") == 2
    assert await count(db, "status_transitions") == len(TABLES) + 1 - 1  # none of a dispatch, none of a team


@pytest.mark.adr("0055-P1-08")
async def test_a_session_may_have_no_status(db: StateDB) -> None:
    await db.create_session({"id": "none", "progression_id": "ps"})
    assert await one(db, "SELECT status FROM sessions WHERE id = 'none'") is None
    assert await db.list_status_transitions("session", "none") == []
    assert await _change(db, "session", "failed", entity_id="none", expected_statuses={"running"}) is False
    assert await _change(db, "session", "running", entity_id="none", expected_statuses={None, "failed"})
    (transition,) = await db.list_status_transitions("session", "none")
    assert (transition["previous_status"], transition["status"]) == (None, "running")


@pytest.mark.adr("0055-P1-11", "0055-P1-12")
async def test_reason_codes_are_a_closed_list(db: StateDB) -> None:
    for code in REASON_CODES - {"legacy.imported"}:
        parts = code.split(".")
        assert len(parts) == 3 and code == code.lower() and all(parts), code
    before = await _everything(db)
    for odd in ("run.failed", "run.failed.unheard_of", "RUN.FAILED.EXCEPTION", "", None, 5):
        with pytest.raises(ValueError, match="reason code"):
            await _change(db, "session", "failed", reason_code=odd)
    assert await _everything(db) == before
    assert await _change(db, "session", "failed", reason_code="legacy.imported")


@pytest.mark.adr("0055-P1-13")
async def test_sources_are_four(db: StateDB) -> None:
    before = await _everything(db)
    for odd in ("user", "", "Executor", None):
        with pytest.raises(ValueError, match="source"):
            await _change(db, "session", "failed", source=odd)
    assert await _everything(db) == before
    for source in ("executor", "agent", "admin", "system"):
        assert await _change(db, "session", "failed", source=source)


@pytest.mark.adr("0055-P1-14")
async def test_companion_fields(db: StateDB) -> None:
    before = await _everything(db)
    for entity, field in (("session", "name"), ("session", "id"), ("play", "ended_at"), ("show", "status")):
        with pytest.raises(ValueError, match="companion field"):
            await _change(db, entity, sorted(TERMINAL[entity])[0], extra_fields={field: 1.0})
    assert await _everything(db) == before
    await _change(db, "session", "completed", extra_fields={"ended_at": 1234.5})
    assert await one(db, "SELECT ended_at FROM sessions WHERE id = 'session'") == 1234.5


@pytest.mark.adr("0055-P1-15")
def test_the_signature() -> None:
    parameters = inspect.signature(StateDB.update_status).parameters
    empty = inspect.Parameter.empty
    assert {name: parameter.default for name, parameter in parameters.items() if name != "self"} == {
        "entity_type": empty,
        "entity_id": empty,
        "new_status": empty,
        "reason_code": empty,
        "reason_summary": "",
        "evidence_refs": None,
        "source": "executor",
        "actor": None,
        "metadata": None,
        "expected_statuses": None,
        "expected_updated_at": None,
        "extra_fields": None,
        "override": False,
        "override_actor": None,
        "override_justification": None,
    }
    named = [p for name, p in parameters.items() if name not in ("self", "entity_type", "entity_id")]
    assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in named)
    assert inspect.signature(StateDB.update_status).return_annotation == "bool"


@pytest.mark.adr("0055-P1-16")
async def test_a_missing_entity(db: StateDB) -> None:
    for entity in TABLES:
        with pytest.raises(LookupError) as missing:
            await _change(db, entity, sorted(TERMINAL[entity])[0], entity_id="missing")
        assert isinstance(missing.value, NoSuchRowError)


@pytest.mark.adr("0055-P1-17")
async def test_expected_statuses(db: StateDB) -> None:
    before = await _everything(db)
    for expected in ({"failed"}, {None}, set(), frozenset({"completed", None})):
        assert await _change(db, "session", "failed", expected_statuses=expected) is False
    assert await _everything(db) == before
    assert await _change(db, "session", "failed", expected_statuses={"running", None})
    with pytest.raises(ValueError, match="expected statuses"):
        await _change(db, "session", "failed", expected_statuses="failed")


@pytest.mark.adr("0055-P1-18")
async def test_expected_updated_at(db: StateDB, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = await one(db, "SELECT updated_at FROM sessions WHERE id = 'session'")
    before = await _everything(db)
    assert await _change(db, "session", "failed", expected_updated_at=seen - 1) is False
    assert await _everything(db) == before
    # A clock that stands still, or went back, still lets a change be seen.
    monkeypatch.setattr("persistence.writing.native.lifecycle.now", lambda: seen - 100)
    assert await _change(db, "session", "failed", expected_updated_at=seen)
    assert await _change(db, "session", "failed", expected_updated_at=seen) is False


@pytest.mark.adr("0055-P1-19")
async def test_the_update_asks_again_for_the_status_it_read(
    db: StateDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row is changed between the read and the write, as only something beside the store's rules can."""
    from persistence.writing.native import lifecycle

    real = lifecycle._write
    await db.create_session({"id": "none", "progression_id": "ps"})

    def stale(change: Any, name: str, status: Any, *rest: Any) -> Any:
        call = real(change, name, status, *rest)
        return call._replace(values={**call.values, "k_status": "cancelled" if status is None else None})

    before = await _everything(db)
    with monkeypatch.context() as patched:
        patched.setattr(lifecycle, "_write", stale)
        for entity_id in ("session", "none"):
            with pytest.raises(RuntimeError) as lost:
                await _change(db, "session", "failed", entity_id=entity_id)
            assert isinstance(lost.value, LostRaceError)
        seen = await one(db, "SELECT updated_at FROM sessions WHERE id = 'session'")
        assert await _change(db, "session", "failed", expected_updated_at=seen) is False
    assert await _everything(db) == before
    assert await _change(db, "session", "failed", entity_id="none")


@pytest.mark.adr("0055-P1-20")
async def test_writing_the_same_status_again(db: StateDB) -> None:
    for status in ("running", "failed", "failed"):
        assert await _change(db, "session", status, reason_summary="first")
    assert await _change(
        db, "session", "failed", reason_code="run.failed.exit_nonzero", reason_summary="again"
    )
    history = await db.list_status_transitions("session", "session")
    assert [(row["previous_status"], row["status"]) for row in history] == [
        (None, "running"),
        ("running", "running"),
        ("running", "failed"),
        ("failed", "failed"),
        ("failed", "failed"),
    ]
    row = await db.get_session("session")
    assert row is not None
    assert (row["status_reason_code"], row["status_reason_summary"]) == ("run.failed.exit_nonzero", "again")


@pytest.mark.adr("0055-P1-21")
@pytest.mark.parametrize("entity", ["session", "invocation", "show", "play", "team"])
async def test_leaving_a_terminal_status(db: StateDB, entity: str) -> None:
    first = await _status(db, entity)
    terminal = sorted(TERMINAL[entity])[0]
    await _change(db, entity, terminal)
    before = await _everything(db)
    with pytest.raises(TransitionRejectedError):
        await _change(db, entity, first)
    after = await _everything(db)
    assert {**after, "admin_events": []} == {**before, "admin_events": []}
    (event,) = await db.list_admin_events(action="status_transition_rejected")
    assert event["target_id"] == entity
    assert event["details"] == {
        "entity_type": entity,
        "previous_status": terminal,
        "attempted_status": first,
        "reason_code": REASON[entity],
        "source": "executor",
    }
    for half in (
        {"override": True},
        {**OVERRIDE, "override_actor": ""},
        {**OVERRIDE, "override_justification": None},
    ):
        with pytest.raises(ValueError, match="override"):
            await _change(db, entity, first, **half)
    assert await _everything(db) == after
    assert await _change(db, entity, first, **OVERRIDE)
    assert await _status(db, entity) == first
    (event,) = await db.list_admin_events(action="status_transition_override")
    assert (event["actor"], event["details"]["justification"]) == ("kim", "repaired by hand")
    assert await count(db, "admin_events") == 2


async def test_a_session_that_is_reopened_has_no_end(db: StateDB) -> None:
    await _change(db, "session", "failed")
    ended = await one(db, "SELECT ended_at FROM sessions WHERE id = 'session'")
    assert ended is not None
    await _change(db, "session", "failed")
    assert await one(db, "SELECT ended_at FROM sessions WHERE id = 'session'") == ended
    await _change(db, "session", "running", **OVERRIDE)
    assert await one(db, "SELECT ended_at FROM sessions WHERE id = 'session'") is None


@pytest.mark.adr("0055-P1-22", "0055-P1-23", "0055-P1-24")
async def test_the_edges_of_a_schedule_run(db: StateDB) -> None:
    assert {state: set(edges) for state, edges in EDGES["schedule_run"].items()} == {
        "queued": {"waiting_dependency", "running", "skipped", "cancelled"},
        "waiting_dependency": {"queued", "cancelled"},
        "running": {"completed", "failed", "timed_out", "retry_wait", "queued", "cancelled"},
        "retry_wait": {"queued", "cancelled"},
    }
    assert set(STATUSES["schedule_run"]) - set(EDGES["schedule_run"]) == TERMINAL["schedule_run"]
    for start, target in itertools.product(STATUSES["schedule_run"], repeat=2):
        await db.execute("UPDATE schedule_runs SET status = ?", (start,))
        history = await count(db, "status_transitions")
        if target == start or target in EDGES["schedule_run"].get(start, ()):
            assert await _change(db, "schedule_run", target) is True
            assert await _status(db, "schedule_run") == target
        else:
            with pytest.raises(TransitionRejectedError):
                await _change(db, "schedule_run", target)
            assert await _status(db, "schedule_run") == start
            assert await count(db, "status_transitions") == history


@pytest.mark.adr("0055-P1-25")
async def test_vocabularies(db: StateDB) -> None:
    before = await _everything(db)
    for entity in TABLES:
        for odd in ("done", "", "Running", None):
            with pytest.raises(ValueError, match="status"):
                await _change(db, entity, odd)
    creations: list[Any] = [
        lambda: db.create_session({"id": "x", "progression_id": "ps", "status": "done"}),
        lambda: db.create_invocation({"id": "x", "skill": "s", "status": "done"}),
        lambda: db.create_show({"id": "x", "topic": "x", "show_dir": "d", "status": "done"}),
        lambda: db.create_play({"id": "x", "show_id": "show", "name": "x", "status": "done"}),
        lambda: db.create_team({"id": "x", "name": "x", "status": "done"}),
        lambda: db.create_schedule_run({"id": "x", "action_kind": "agent", "status": "done"}),
    ]
    for create in creations:
        with pytest.raises(ValueError, match="status"):
            await create()
    for column, listed in (("invocation_kind", INVOCATION_KINDS), ("source_kind", SOURCE_KINDS)):
        with pytest.raises(IntegrityError):
            await db.update_session("s", **{column: "other"})
        for word in listed:
            await db.update_session("s", **{column: word})
    after = await _everything(db)
    del before["sessions"], after["sessions"]
    assert after == before


@pytest.mark.adr("0055-P1-09")
async def test_updates_that_carry_a_status_go_by_the_same_rules(db: StateDB) -> None:
    """A status and what is set with it is one transaction (DECISIONS 16)."""
    await db.update_session(
        "session", status="failed", reason_code="run.failed.exception", model="m", num_turns=3
    )
    row = await db.get_session("session")
    assert row is not None
    assert (row["status"], row["model"], row["num_turns"]) == ("failed", "m", 3)
    assert len(await db.list_status_transitions("session", "session")) == 2
    before = await _everything(db)
    with pytest.raises(ValueError, match="reason"):
        await db.update_session("session", status="failed")
    with pytest.raises(IntegrityError):
        await db.update_session(
            "session", status="failed", reason_code="run.failed.exception", invocation_kind="odd"
        )
    assert await _everything(db) == before, "nothing of it, the status neither"
    with pytest.raises(TransitionRejectedError):
        await db.update_session("session", status="running", reason_code="run.started.ok", model="other")
    assert await one(db, "SELECT model FROM sessions WHERE id = 'session'") == "m"
    for name in ("status_reason_code", "id", "created_at", "no_such_column"):
        with pytest.raises(ValueError, match=name):
            await db.update_session("session", **{name: "x"})
    await db.update_play("play", status="running", reason_code="play.pending.ready", worktree="w")
    assert await _status(db, "play") == "running"
    await db.update_schedule_run(
        "schedule_run", status="completed", reason_code="run.completed.ok", exit_code=0
    )
    assert await one(db, "SELECT exit_code FROM schedule_runs") == 0


@pytest.mark.adr("0055-P1-10")
async def test_what_is_made_with_a_status_has_its_first_transition(db: StateDB) -> None:
    expected = {
        "session": ("running", "run.started.ok"),
        "show": ("active", "show.active.created"),
        "play": ("pending", "play.pending.created"),
        "invocation": ("running", "run.started.ok"),
        "schedule_run": ("running", "run.started.ok"),
    }
    for entity, (status, code) in expected.items():
        (first,) = await db.list_status_transitions(entity, entity)
        assert (first["previous_status"], first["status"], first["reason_code"]) == (None, status, code)
        assert (first["source"], first["actor"]) == ("system", f"create_{entity}")
    await db.create_session({"id": "old", "progression_id": "ps", "status": "completed", "updated_at": 50.0})
    (first,) = await db.list_status_transitions("session", "old")
    assert first["reason_code"] == "legacy.imported"
    row = await db.get_session("old")
    assert row is not None and (row["ended_at"], row["ended_at_is_approximate"]) == (50.0, 1)
