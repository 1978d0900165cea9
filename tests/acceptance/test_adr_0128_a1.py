"""ADR-0128 A.0 and A.1: one entry point, a fresh run; what is outside it refuses, every byte as it was."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from persistence import ForeignLineageError, Mode, StateCompatibilityRefused, StateDB, TransitionRejectedError
from persistence.runs import record_run
from tests.acceptance.test_adr_0128_d4 import FIRST
from tests.managed import Spied, dump, live, make_run, manager, message, shipped, stamps
from tests.persistence.stores import marks_of

Ask = Callable[[StateDB], Awaitable[Any]]


@pytest.fixture
async def first(desk: Path) -> Any:
    async with StateDB(desk, profile=shipped(), owner="kim") as db:
        await make_run(db)
        yield db


@pytest.mark.adr("0128-A1-01")
async def test_the_first_profile_is_for_a_fresh_run_and_the_recorder_is_it(desk: Path) -> None:
    assert FIRST <= set(shipped().operations) <= FIRST | {"update_branch", "set_session_user_label"}
    async with StateDB(desk, profile="acme-desk-fresh-run", owner="kim") as db, record_run(db) as run:
        await run.message(message("m1"))
    assert manager(desk, f"SELECT status, owner_id FROM sessions WHERE id = '{run.session_id}'") == [
        ("completed", "kim")
    ]


@pytest.mark.adr("0128-A1-02")
async def test_a_run_reaches_the_store_in_four_ways_alone(desk: Path, spied: Spied) -> None:
    async with StateDB(desk, profile=shipped(), owner="kim") as db:
        phases = []
        async with record_run(db, system=message("sys", role="system")) as run:
            phases.append([*dict.fromkeys(name for name, _ in spied.texts)])
            spied.clear()
            await run.message(message("m1"))
            phases.append([*dict.fromkeys(name for name, _ in spied.texts)])
            spied.clear()
            await run.signal("k", {})
            phases.append([*dict.fromkeys(name for name, _ in spied.texts)])
            spied.clear()
        phases.append([*dict.fromkeys(name for name, _ in spied.texts)])
    assert phases == [
        ["insert_message", "create_progression", "create_session", "create_branch"],
        ["persist_live_message"],
        ["insert_session_signal"],
        ["update_session", "finalize_branch", "update_status"],
    ]


OUTSIDE: dict[str, tuple[str, Ask]] = {
    "repair of a session's order": (
        "0128-A1-03",
        lambda db: db._writer.repair_session_progression("s", "p"),
    ),
    "repair of a branch's order": ("0128-A1-03", lambda db: db._writer.repair_branch_progression("b", "p")),
    "a repaired order": ("0128-A1-04", lambda db: db.create_progression("kim-old-prog", [])),
    "attaching an invocation": (
        "0128-A1-07",
        lambda db: db.attach_session_invocation("s", "kim-inv"),
    ),
    "a show": ("0128-A1-08", lambda db: db.create_show({"id": "x"})),
    "a play": ("0128-A1-08", lambda db: db.create_play({"id": "x"})),
    "a team": ("0128-A1-08", lambda db: db.create_team({"id": "x"})),
    "a team's message": ("0128-A1-08", lambda db: db.insert_team_message({"id": "x"})),
    "an invocation": ("0128-A1-08", lambda db: db.create_invocation({"id": "x", "skill": "y"})),
    "a schedule": ("0128-A1-09", lambda db: db.create_schedule({"id": "x"})),
    "a schedule's run": ("0128-A1-09", lambda db: db.create_schedule_run({"id": "x"})),
    "an engine definition": ("0128-A1-09", lambda db: db.create_engine_def({"id": "x"})),
    "an engine run": ("0128-A1-09", lambda db: db.insert_engine_run(run_id="x", kind="k", spec_json={})),
    "an engine run's status": ("0128-A1-09", lambda db: db.update_engine_run("x", status="failed")),
    "submission": ("0128-A1-10", lambda db: db._writer.submit_run({"prompt": "x"})),
}
ADOPTING: dict[str, tuple[str, Ask]] = {
    "reopening": (
        "0128-A1-05",
        lambda db: db.update_status(
            "session", "kim-old-sess", new_status="running", reason_code="session.reopened.by_resume"
        ),
    ),
    "reopening by override": (
        "0128-A1-05",
        lambda db: db.update_status(
            "session",
            "s",
            new_status="running",
            reason_code="session.reopened.by_resume",
            override=True,
            override_actor="kim",
            override_justification="resume",
        ),
    ),
    "marking a found session failed": (
        "0128-A1-06",
        lambda db: db.update_status(
            "session", "kim-old-sess", new_status="failed", reason_code="run.failed.exception"
        ),
    ),
    "a message into a found session": ("0128-A1-06", lambda db: live(db, "x", session_id="kim-old-sess")),
}
EVERY = {**OUTSIDE, **ADOPTING}


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=pytest.mark.adr(one, "0128-A4-05")) for what, (one, _) in EVERY.items()]
)
async def test_what_is_outside_a_fresh_run_refuses(
    what: str, first: StateDB, desk: Path, spied: Spied
) -> None:
    before, written = dump(desk), stamps(desk)
    spied.clear()
    with pytest.raises(StateCompatibilityRefused) as caught:
        await EVERY[what][1](first)
    assert caught.value.operation and caught.value.profile == shipped().identity
    assert not any(text.startswith(("INSERT", "UPDATE")) for _, text in spied.texts if "create_p" not in _)
    assert dump(desk) == before and stamps(desk) == written


@pytest.mark.adr("0128-A1-05")
async def test_a_run_that_ended_is_not_reopened(first: StateDB, desk: Path) -> None:
    await first.update_status("session", "s", new_status="completed", reason_code="run.completed.ok")
    before = dump(desk)
    with pytest.raises(TransitionRejectedError) as caught:
        await first.update_status(
            "session", "s", new_status="running", reason_code="session.reopened.by_resume"
        )
    assert caught.value.committed == ("admin event",)
    after = dump(desk)
    (event,) = [row for row in after["admin_events"] if row not in before["admin_events"]]
    assert event[-1] == "kim"
    assert {name: rows for name, rows in after.items() if name != "admin_events"} == {
        name: rows for name, rows in before.items() if name != "admin_events"
    }


@pytest.mark.adr("0128-A4-04")
async def test_a_native_open_of_a_managed_store_changes_no_byte(desk: Path) -> None:
    before = marks_of(desk)
    with pytest.raises(ForeignLineageError):
        await StateDB(desk, mode=Mode.NATIVE).open()
    assert marks_of(desk) == before


@pytest.mark.adr("0128-A4-04", "0128-A2-09")
async def test_a_native_open_beside_a_compatibility_handle_is_refused(first: StateDB, desk: Path) -> None:
    before, written = dump(desk), stamps(desk)
    with pytest.raises((StateCompatibilityRefused, ForeignLineageError)):
        await StateDB(desk, mode=Mode.NATIVE).open()
    assert dump(desk) == before and stamps(desk) == written
    await live(first, "next")
