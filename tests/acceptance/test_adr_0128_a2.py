"""ADR-0128 A.2: what each operation does, in one transaction, on a store acme-desk manages."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from persistence import ConstraintError, StateCompatibilityRefused, StateDB
from persistence.engines.statements import Call, Outcome
from persistence.guard.transaction import TransactionGuard
from persistence.runs import RunRecorder
from persistence.writing.compatibility.sessions import _COLUMNS
from tests.managed import AGENT, Spied, dump, live, make_run, manager, message


async def row(db: StateDB, table: str, identity: str) -> dict[str, Any]:
    found = await db.fetch_one(f"SELECT * FROM {table} WHERE id = ?", (identity,))
    assert found is not None
    return found


async def refused(call: Any) -> StateCompatibilityRefused:
    with pytest.raises(StateCompatibilityRefused) as caught:
        await call
    return caught.value


# -- progressions ------------------------------------------------------------------------------------------


@pytest.mark.adr("0128-A2-11", "0128-D4-13")
async def test_create_progression_adds_one_row_a_call(kim: StateDB, desk: Path, spied: Spied) -> None:
    before = dump(desk)
    await kim.create_progression("sp")
    await kim.create_progression("bp")
    after = dump(desk)
    assert kim.committed == {"progression": 2}
    added = [one for one in after["progressions"] if one not in before["progressions"]]
    assert [(one[0], one[2], one[3]) for one in added] == [("bp", "[]", "kim"), ("sp", "[]", "kim")]
    assert {name: rows for name, rows in after.items() if name != "progressions"} == {
        name: rows for name, rows in before.items() if name != "progressions"
    }
    assert len(spied.of("create_progression")) == 2


@pytest.mark.adr("0128-A2-12", "0128-A1-04")
@pytest.mark.parametrize("taken", ["lee-prog", "kim-old-prog", "sp"])
async def test_a_used_progression_id_refuses(run: StateDB, desk: Path, taken: str) -> None:
    before = dump(desk)
    error = await refused(run.create_progression(taken))
    assert (error.code, error.operation, error.committed) == ("id-taken", "create_progression", ())
    assert dump(desk) == before


@pytest.mark.adr("0128-A2-13")
@pytest.mark.parametrize("listed", ["lee-msg", "nobody-s"])
async def test_a_progression_lists_this_run_s_messages_alone(
    run: StateDB, desk: Path, spied: Spied, listed: str
) -> None:
    before = dump(desk)
    error = await refused(run.create_progression("p", ["m", listed]))
    assert error.code == "not-own" and spied.of("create_progression") == []
    assert dump(desk) == before
    await run.create_progression("p", ["m"])
    assert await run.get_progression("p") == ["m"]


# -- sessions ----------------------------------------------------------------------------------------------


@pytest.mark.adr("0128-A2-14", "0128-A2-22")
async def test_create_session_writes_its_columns_and_the_owner(kim: StateDB, desk: Path) -> None:
    await kim.create_progression("sp")
    given: dict[str, Any] = {name: f"a {name}" for name in _COLUMNS}
    given |= dict.fromkeys(("first_msg_id", "last_msg_id", "invocation_id"))
    given |= dict.fromkeys(("created_at", "updated_at", "started_at", "last_message_at", "ended_at"), 5.0)
    given |= {"id": "s", "progression_id": "sp", "status": None, "source_kind": "imported_fs"}
    given |= {"node_metadata": {"a": 1}, "ended_at_is_approximate": 1, "duration_ms": 7.5}
    given |= {"artifact_contract_json": {"expected": []}, "artifact_verification_json": {"status": "passed"}}
    tables = dump(desk)
    await kim.create_session(given)
    found = await row(kim, "sessions", "s")
    assert len(_COLUMNS) == 33
    for name in _COLUMNS:
        there = found[name]
        assert (json.loads(there) if isinstance(given[name], dict) else there) == given[name], name
    assert found["owner_id"] == "kim" and (found["desk_pinned"], found["desk_note"]) == (0, None)
    assert found["project"] == "a project"
    after = dump(desk)
    assert [name for name in after if after[name] != tables[name]] == ["sessions"]
    assert "projects" not in after


@pytest.mark.adr("0128-A2-15", "0128-A2-19", "0128-D4-16")
async def test_a_declared_status_comes_with_its_reason_and_first_transition(kim: StateDB, desk: Path) -> None:
    await kim.create_progression("sp")
    await kim.create_session({"id": "s", "progression_id": "sp", "status": "running"})
    found = await row(kim, "sessions", "s")
    assert (found["status"], found["status_reason_code"]) == ("running", "run.started.ok")
    (first,) = await kim.fetch_all("SELECT * FROM status_transitions WHERE entity_id = 's'")
    assert (first["previous_status"], first["status"], first["owner_id"]) == (None, "running", "kim")
    assert found["owner_id"] == "kim"
    # An id with a history is no new run's, whoever wrote it.
    manager(
        desk,
        "INSERT INTO status_transitions (id, entity_type, entity_id, status, reason_code, source, created_at"
        ", owner_id) VALUES ('t', 'session', 's2', 'running', 'run.started.ok', 'system', 1.0, 'lee')",
    )
    before = dump(desk)
    error = await refused(kim.create_session({"id": "s2", "progression_id": "sp", "status": "running"}))
    assert error.code == "id-taken"
    assert dump(desk) == before


@pytest.mark.adr("0128-A2-16", "0128-A2-20")
async def test_a_session_names_an_invocation_of_its_owner_or_none(kim: StateDB, desk: Path) -> None:
    await kim.create_progression("sp")
    before = dump(desk)
    for invocation in ("lee-inv", "nobody-s"):
        session = {"id": "s", "progression_id": "sp", "status": "running", "invocation_id": invocation}
        error = await refused(kim.create_session(session))
        assert error.code == "not-own"
        assert dump(desk) == before
    stored = await row(kim, "invocations", "kim-inv")
    await kim.create_session({"id": "s", "progression_id": "sp", "invocation_id": "kim-inv"})
    counted = await row(kim, "invocations", "kim-inv")
    assert counted["session_count"] == stored["session_count"] + 1
    assert counted["updated_at"] > stored["updated_at"]
    changed = {name for name in counted if counted[name] != stored[name]}
    assert changed == {"session_count", "updated_at"}
    await kim.create_session({"id": "s-alone", "progression_id": "sp"})


@pytest.mark.adr("0128-A2-17")
async def test_create_session_is_one_transaction(kim: StateDB, desk: Path) -> None:
    await kim.create_progression("sp")
    before = dump(desk)
    # Its last effect fails: the invocation is another's. The row, the reason and the transition go with it.
    await refused(
        kim.create_session(
            {"id": "s", "progression_id": "sp", "status": "running", "invocation_id": "lee-inv"}
        )
    )
    assert dump(desk) == before
    await kim.create_session({"id": "s", "progression_id": "sp", "status": "running"})
    assert kim.committed == {"progression": 1, "session": 1}


@pytest.mark.adr("0128-A2-18")
@pytest.mark.parametrize(
    ("session", "code"),
    [
        ({"id": "lee-sess"}, "id-taken"),
        ({"id": "kim-old-sess"}, "id-taken"),
        ({"id": "s"}, "id-taken"),
        ({"progression_id": "lee-prog"}, "not-own"),
        ({"progression_id": "kim-old-prog"}, "not-own"),
        ({"first_msg_id": "lee-msg"}, "not-own"),
        ({"last_msg_id": "lee-msg"}, "not-own"),
    ],
)
async def test_create_session_refuses_what_is_not_new_or_own(
    run: StateDB, desk: Path, session: dict[str, Any], code: str
) -> None:
    before = dump(desk)
    error = await refused(run.create_session({"id": "new", "progression_id": "sp", **session}))
    assert error.code == code
    assert dump(desk) == before


# -- messages ----------------------------------------------------------------------------------------------


@pytest.mark.adr("0128-A2-23", "0128-A2-24")
async def test_insert_message_adds_its_class_when_it_is_absent(
    kim: StateDB, desk: Path, spied: Spied
) -> None:
    types = dict(manager(desk, "SELECT lion_class, type_id FROM message_types"))
    assert AGENT not in types
    await kim.insert_message(message("m1"))
    assert kim.committed == {"message": 1}
    ran = [text.split()[0:3] for text in spied.of("insert_message")]
    assert ran[1] == ["INSERT", "INTO", "message_types"] and "owner" not in spied.of("insert_message")[1]
    found = await row(kim, "messages", "m1")
    now = dict(manager(desk, "SELECT lion_class, type_id FROM message_types"))
    assert {name: number for name, number in now.items() if name != AGENT} == types
    assert found["lion_class"] == now[AGENT] and found["owner_id"] == "kim" and found["desk_flags"] == 0
    spied.clear()
    await kim.insert_message(message("m2", lion_class_str=next(iter(types))))
    assert all("message_types (" not in text for text in spied.of("insert_message"))
    assert dict(manager(desk, "SELECT lion_class, type_id FROM message_types")) == now


@pytest.mark.adr("0128-A2-25")
async def test_a_message_is_new_or_own_and_then_rewritten(kim: StateDB, desk: Path) -> None:
    await kim.insert_message(message("m", "first", created_at=5.0, sender="a"))
    await kim.insert_message(message("m", "second", created_at=9.0))
    found = await row(kim, "messages", "m")
    assert json.loads(found["content"]) == {"text": "second"}
    assert (found["created_at"], found["sender"], found["owner_id"]) == (5.0, None, "kim")
    before = dump(desk)
    error = await refused(kim.insert_message(message("lee-msg")))
    assert error.code == "id-taken" and "another owner's" in error.message
    assert dump(desk) == before


# -- branches ----------------------------------------------------------------------------------------------


@pytest.mark.adr("0128-A2-26")
async def test_create_branch_adds_one_row_in_one_transaction(kim: StateDB) -> None:
    await make_run(kim)
    await kim.insert_message(message("sys"))
    branch = {"id": "b2", "session_id": "s", "progression_id": "bp", "system_msg_id": "sys", "model": "mo"}
    await kim.create_branch({**branch, "provider": "pr", "agent_name": "ag", "name": "n", "user": "u"})
    found = await row(kim, "branches", "b2")
    assert kim.committed["branch"] == 2
    assert {name: found[name] for name in branch} == branch
    assert (found["owner_id"], found["status"], found["ended_at"]) == ("kim", None, None)


@pytest.mark.adr("0128-A2-27", "0128-A2-28")
@pytest.mark.parametrize(
    ("branch", "code"),
    [
        ({"id": "lee-branch"}, "id-taken"),
        ({"id": "b"}, "id-taken"),
        ({"session_id": "lee-sess"}, "not-own"),
        ({"session_id": "kim-old-sess"}, "not-own"),
        ({"progression_id": "lee-prog"}, "not-own"),
        ({"progression_id": "kim-old-prog"}, "not-own"),
        ({"system_msg_id": "lee-msg"}, "not-own"),
    ],
)
async def test_create_branch_refuses_what_is_not_new_or_own(
    run: StateDB, desk: Path, branch: dict[str, Any], code: str
) -> None:
    before = dump(desk)
    error = await refused(
        run.create_branch({"id": "new", "session_id": "s", "progression_id": "bp", **branch})
    )
    assert error.code == code
    assert dump(desk) == before


@pytest.mark.adr("0128-A2-28")
async def test_parents_that_were_taken_meanwhile_refuse_a_branch(run: StateDB, desk: Path) -> None:
    manager(desk, "PRAGMA foreign_keys = ON", "UPDATE progressions SET owner_id = 'lee' WHERE id = 'bp'")
    before = dump(desk)
    error = await refused(run.create_branch({"id": "new", "session_id": "s", "progression_id": "bp"}))
    assert error.code == "row-gone" and error.observed == "owner 'lee'"
    assert dump(desk) == before


# -- live messages -----------------------------------------------------------------------------------------


@pytest.mark.adr("0128-A2-29", "0128-A2-30", "0128-A2-32", "0128-D4-14")
async def test_a_live_message_is_kept_whole_in_one_transaction(run: StateDB) -> None:
    committed = run.committed["live message"]
    await live(run, "sys", system_branch_id="b")
    await live(run, "m2")
    await live(run, "m2")  # again: rewritten in its place
    assert run.committed["live message"] == committed + 3
    assert await run.get_progression("sp") == await run.get_progression("bp") == ["m", "sys", "m2"]
    assert (await row(run, "branches", "b"))["system_msg_id"] == "sys"
    assert (await row(run, "messages", "m2"))["owner_id"] == "kim"


@pytest.mark.adr("0128-A2-32")
async def test_a_live_message_that_is_refused_at_its_last_step_leaves_nothing(
    run: StateDB, desk: Path
) -> None:
    await run.update_status("session", "s", new_status="completed", reason_code="run.completed.ok")
    before = dump(desk)
    error = await refused(live(run, "late"))
    assert (error.code, error.observed) == ("session-ended", "status 'completed'")
    assert dump(desk) == before


@pytest.mark.adr("0128-A2-31")
async def test_clocks_only_move_forward(run: StateDB) -> None:
    await live(run, "far", activity_at=4_000_000_000.0)
    await live(run, "near", activity_at=5.0)
    found = await row(run, "sessions", "s")
    assert found["last_message_at"] == found["updated_at"] == 4_000_000_000.0


@pytest.mark.adr("0128-A2-33")
@pytest.mark.parametrize(
    "named",
    [
        {"session_id": "lee-sess"},
        {"session_id": "kim-old-sess"},
        {"branch_progression_id": "lee-prog"},
        {"session_progression_id": "kim-old-prog"},
        {"system_branch_id": "lee-branch"},
    ],
)
async def test_a_live_message_goes_into_this_run_alone(
    run: StateDB, desk: Path, spied: Spied, named: dict[str, str]
) -> None:
    before = dump(desk)
    spied.clear()
    error = await refused(live(run, "new", **named))
    assert error.code == "not-own" and spied.texts == []
    assert dump(desk) == before


@pytest.mark.adr("0128-D4-15")
async def test_append_to_progression_appends_to_own_progressions_alone(run: StateDB, desk: Path) -> None:
    await run.insert_message(message("m2"))
    await run.append_to_progression("bp", "m2")
    await run.append_to_progression("bp", "m2")
    assert await run.get_progression("bp") == ["m", "m2"]
    before = dump(desk)
    for progression, entry in (("lee-prog", "m2"), ("kim-old-prog", "m2"), ("bp", "lee-msg"), ("bp", "none")):
        assert (await refused(run.append_to_progression(progression, entry))).code == "not-own"
    assert dump(desk) == before


# -- signals -----------------------------------------------------------------------------------------------


@pytest.mark.adr("0128-A2-34", "0128-A2-37")
async def test_signals_are_numbered_one_after_another(run: StateDB, desk: Path, spied: Spied) -> None:
    numbers = [
        await run.insert_session_signal(session_id="s", kind="k", ts=1.0, payload={"n": n}) for n in range(3)
    ]
    assert numbers == [1, 2, 3] and run.committed["signal"] == 3
    (adds,) = {text for text in spied.of("insert_session_signal") if text.startswith("INSERT")}
    assert "CONFLICT" not in adds and " OR " not in adds
    before = dump(desk)
    error = await refused(run.insert_session_signal(session_id="lee-sess", kind="k", ts=1.0, payload={}))
    assert error.code == "not-own"
    assert dump(desk) == before


@pytest.mark.adr("0128-A2-35")
async def test_signal_numbers_are_taken_one_writer_at_a_time(run: StateDB) -> None:
    async def one(n: int) -> int:
        return await run.insert_session_signal(session_id="s", kind="k", ts=float(n), payload={})

    assert sorted(await asyncio.gather(*(one(n) for n in range(12)))) == list(range(1, 13))


@pytest.mark.adr("0128-A2-36")
async def test_a_lost_race_for_a_signal_s_number_raises(
    run: StateDB, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def signal() -> int:
        return await run.insert_session_signal(session_id="s", kind="k", ts=1.0, payload={})

    assert await signal() == 1
    outcome = TransactionGuard._outcome

    def stale(self: TransactionGuard, call: Call) -> Outcome:
        found = outcome(self, call)
        return (
            found._replace(rows=[(1,)])
            if "max(session_signals.seq)" in str(call.statement.compiled("sqlite"))
            else found
        )

    monkeypatch.setattr(TransactionGuard, "_outcome", stale)  # as if the other one had not been there yet
    before = dump(desk)
    with pytest.raises(ConstraintError):
        await signal()
    assert dump(desk) == before
    recorder = RunRecorder(run, session_id="s")
    assert await recorder.signal("k", {}) is None and recorder.dropped_signals == 1
    assert dump(desk) == before
    monkeypatch.undo()
    assert await recorder.signal("k", {}) == 2
