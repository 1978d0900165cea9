"""What was tried on the public operations of lionagi 0.36.0's compatibility mode, tried on ours by name.

Where that one linked rows across owners, moved a clock back, undid an end, stored a duplicate, kept a half of
what failed or lost sight of its own rows, ours does not: every attempt is refused, or leaves the store within
the readers' invariants. The names are those the attempts were made under.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from persistence import (
    BusyError,
    ConstraintError,
    StateCompatibilityRefused,
    StateDB,
    StoreError,
    TransitionRejectedError,
)
from tests.managed import dump, live, make_run, manager, message, profile_of, stamps
from tests.persistence.compatibility.lifecycle import held

Ask = Callable[[StateDB], Awaitable[Any]]
REFUSED = StateCompatibilityRefused


@dataclass(frozen=True)
class Attempt:
    """`raises` None: it goes through, and `changes` are the tables it may change."""

    ask: Ask
    raises: type[Exception] | None = REFUSED
    changes: tuple[str, ...] = ()


def session(**fields: Any) -> Ask:
    return lambda db: db.create_session({"id": "new", "progression_id": "sp", **fields})


def branch(**fields: Any) -> Ask:
    return lambda db: db.create_branch({"id": "new", "session_id": "s", "progression_id": "bp", **fields})


def update(identity: str = "s", **fields: Any) -> Ask:
    return lambda db: db.update_session(identity, **fields)


def status(identity: str, new: str = "failed", entity: str = "session", **more: Any) -> Ask:
    return lambda db: db.update_status(
        entity, identity, new_status=new, reason_code="run.failed.exception", **more
    )


OVERRIDE = {"override": True, "override_actor": "kim", "override_justification": "why"}

OPERATIONS: dict[str, Attempt] = {
    "op-create_session-existing-foreign": Attempt(session(id="lee-sess")),
    "op-create_session-existing-own": Attempt(session(id="s")),
    "op-create_session-foreign-progression": Attempt(session(progression_id="lee-prog")),
    "op-create_session-older-own-progression": Attempt(session(progression_id="kim-old-prog")),
    "op-create_session-foreign-message-link": Attempt(session(first_msg_id="lee-msg")),
    "op-create_session-foreign-invocation": Attempt(session(invocation_id="lee-inv")),
    "op-create_session-own-invocation": Attempt(
        session(invocation_id="kim-inv"), None, ("sessions", "invocations")
    ),
    "op-create_session-owner-key": Attempt(session(owner_id="lee")),
    "op-create_session-violates-check": Attempt(session(source_kind="imported_codex"), ConstraintError),
    "op-create_progression-existing-foreign": Attempt(lambda db: db.create_progression("lee-prog")),
    "op-create_progression-existing-older-own": Attempt(lambda db: db.create_progression("kim-old-prog")),
    "op-create_progression-foreign-message": Attempt(lambda db: db.create_progression("new", ["lee-msg"])),
    "op-create_progression-duplicate-message": Attempt(
        lambda db: db.create_progression("new", ["m", "m"]), None, ("progressions",)
    ),
    # Not of its profile, and an operation of ours.
    "method-append_to_progression-own": Attempt(
        lambda db: db.append_to_progression("bp", "m"), None, ("progressions",)
    ),
    "method-append_to_progression-foreign": Attempt(lambda db: db.append_to_progression("lee-prog", "m")),
    "op-insert_message-existing-foreign": Attempt(lambda db: db.insert_message(message("lee-msg"))),
    "op-insert_message-own-again": Attempt(
        lambda db: db.insert_message(message("m", "again")), None, ("messages",)
    ),
    "op-insert_message-own-again-created-at": Attempt(
        lambda db: db.insert_message(message("m", "again", created_at=1.0)), None, ("messages",)
    ),
    "op-create_branch-foreign-session": Attempt(branch(session_id="lee-sess")),
    "op-create_branch-foreign-progression": Attempt(branch(progression_id="lee-prog")),
    "op-create_branch-existing-foreign": Attempt(branch(id="lee-branch")),
    "op-live-foreign-session": Attempt(lambda db: live(db, "new", session_id="lee-sess")),
    "op-live-foreign-progression": Attempt(lambda db: live(db, "new", branch_progression_id="lee-prog")),
    "op-live-older-own-progression": Attempt(
        lambda db: live(db, "new", branch_progression_id="kim-old-prog")
    ),
    "op-live-existing-foreign-message": Attempt(lambda db: live(db, "lee-msg")),
    "op-live-old-activity": Attempt(
        lambda db: live(db, "new", activity_at=1.0), None, ("messages", "progressions")
    ),
    "op-signal-foreign-session": Attempt(
        lambda db: db.insert_session_signal(session_id="lee-sess", kind="k", ts=1.0, payload={})
    ),
    "op-update_session-foreign": Attempt(update("lee-sess", name="x")),
    "op-update_session-older-own": Attempt(update("kim-old-sess", name="x")),
    "op-update_session-foreign-link": Attempt(update(last_msg_id="lee-msg")),
    "op-update_session-foreign-invocation": Attempt(update(invocation_id="lee-inv")),
    "op-update_session-owner-column": Attempt(update(owner_id="lee")),
    "op-update_session-clock-backwards": Attempt(update(last_message_at=1.0), None, ("sessions",)),
    "op-update_session-started-at-again": Attempt(update(started_at=1.0), None, ("sessions",)),
    "op-update_session-metadata-list": Attempt(update(node_metadata=[1])),
    "op-update_session-metadata-merge": Attempt(update(node_metadata={"a": 1}), None, ("sessions",)),
    "op-update_status-foreign": Attempt(status("lee-sess")),
    "op-update_status-override": Attempt(status("s", **OVERRIDE)),
    "op-update_status-invocation": Attempt(status("kim-inv", entity="invocation")),
    "op-verification-foreign": Attempt(lambda db: db.update_artifact_verification("lee-sess", {})),
    "op-merge-foreign": Attempt(lambda db: db.merge_session_node_metadata("lee-sess", {"a": 1})),
    "op-label-foreign": Attempt(lambda db: db.set_session_user_label("lee-sess", "x")),
    "op-branch-finalize-foreign": Attempt(lambda db: db.finalize_branch("lee-branch", status="failed")),
    "op-branch-update-foreign": Attempt(lambda db: db.update_branch("lee-branch", name="x")),
    "op-branch-update-foreign-message": Attempt(lambda db: db.update_branch("b", system_msg_id="lee-msg")),
    "op-branch-update-metadata": Attempt(
        lambda db: db.update_branch("b", node_metadata={"b": 2}), None, ("branches",)
    ),
    "op-status-then-check-fails": Attempt(
        update(status="completed", reason_code="run.completed.ok", source_kind="imported_codex"),
        ConstraintError,
    ),
}


@pytest.fixture
async def ran(run: StateDB) -> StateDB:
    await run.update_session("s", started_at=5.0, node_metadata={"kept": 1})
    await run.update_branch("b", node_metadata={"a": 1})
    return run


@pytest.mark.parametrize("name", OPERATIONS)
async def test_an_attempt_is_refused_or_stays_within_the_run(name: str, ran: StateDB, desk: Path) -> None:
    attempt = OPERATIONS[name]
    before, written = dump(desk), stamps(desk)
    if attempt.raises is not None:
        with pytest.raises(attempt.raises) as caught:
            await attempt.ask(ran)
        assert isinstance(caught.value, StoreError) and caught.value.committed == ()
        assert dump(desk) == before and stamps(desk) == written
    else:
        await attempt.ask(ran)
        after = dump(desk)
        changed = {table for table in after if after[table] != before[table]}
        assert changed <= {*attempt.changes, "sessions"}
        others = {table: [row for row in rows if row[-1] == "lee"] for table, rows in before.items()}
        assert {table: [row for row in rows if row[-1] == "lee"] for table, rows in after.items()} == others
    await within(ran, desk)
    await live(ran, "next")  # and the run goes on


async def within(db: StateDB, desk: Path) -> None:
    """What holds of the run whatever was tried."""
    ((last, started, metadata),) = manager(
        desk, "SELECT last_message_at, started_at, node_metadata FROM sessions WHERE id = 's'"
    )
    assert last > 1_700_000_000 and started == 5.0 and json.loads(metadata)["kept"] == 1
    ((branch_metadata, linked),) = manager(
        desk, "SELECT node_metadata, system_msg_id FROM branches WHERE id = 'b'"
    )
    assert json.loads(branch_metadata)["a"] == 1 and linked != "lee-msg"
    for (collection,) in manager(desk, "SELECT collection FROM progressions"):
        ids = json.loads(collection)
        assert len(ids) == len(set(ids))


async def test_what_ended_stays_ended(ran: StateDB, desk: Path) -> None:
    """op-branch-update-status-back, op-live-after-terminal, op-update_status-leave-terminal"""
    await ran.finalize_branch("b", status="completed")
    await status("s", "completed")(ran)
    before = dump(desk)
    with pytest.raises(TransitionRejectedError):
        await ran.update_branch("b", status="running")
    with pytest.raises(StateCompatibilityRefused, match="has ended"):
        await live(ran, "late")
    with pytest.raises(StateCompatibilityRefused, match="has ended"):
        await ran.insert_messages([message("late")], progression_ids=["bp"], session_id="s")
    assert dump(desk) == before
    with pytest.raises(TransitionRejectedError) as caught:
        await status("s", "running")(ran)
    assert caught.value.committed == ("admin event",)
    after = dump(desk)
    assert [table for table in after if after[table] != before[table]] == ["admin_events"]


@pytest.mark.parametrize("table", ["sessions:s", "messages:m", "branches:b", "progressions:sp"])
async def test_rows_the_manager_took_or_removed_are_not_written_again(
    ran: StateDB, desk: Path, table: str
) -> None:
    """moved-row-taken, moved-row-deleted"""
    name, _, identity = table.partition(":")
    asks: dict[str, Ask] = {
        "sessions": update(name="x"),
        "messages": lambda db: db.insert_message(message("m", "again")),
        "branches": lambda db: db.update_branch("b", name="x"),
        "progressions": lambda db: live(db, "new"),
    }
    for change in (f"UPDATE {name} SET owner_id = 'lee'", f"DELETE FROM {name}"):
        manager(desk, f"{change} WHERE id = '{identity}'")
        before = dump(desk)
        with pytest.raises(StateCompatibilityRefused) as caught:
            await asks[name](ran)
        assert caught.value.code == "row-gone"
        assert dump(desk) == before


async def test_a_handle_that_was_closed_knows_none_of_its_rows(desk: Path) -> None:
    """reopen-keeps-created"""
    db = StateDB(desk, profile=profile_of(), owner="kim")
    async with db:
        await make_run(db)
        writer = db._writer
    manager(desk, "UPDATE sessions SET name = 'the desk made it anew' WHERE id = 's'")
    before = dump(desk)
    async with db:
        assert db.committed == {}
        with pytest.raises(StateCompatibilityRefused) as caught:
            await db.update_session("s", name="mine")
        assert caught.value.code == "not-own"
    assert not writer._created.made(("sessions", "s"))
    with pytest.raises(StoreError):
        await writer.update_session("s", name="mine")  # what somebody kept of a closed handle
    assert dump(desk) == before


async def test_cancelling_never_loses_what_was_committed(ran: StateDB, desk: Path) -> None:
    """cancel-mid-operation, and the cut between COMMIT and the bookkeeping"""
    for number in range(25):
        task = asyncio.create_task(live(ran, f"c{number}"))
        await asyncio.sleep(0)
        if number % 5:
            await asyncio.sleep(number / 20_000)
        task.cancel()
        await asyncio.wait([task])
        there = manager(desk, f"SELECT count(*) FROM messages WHERE id = 'c{number}'") == [(1,)]
        assert ran._writer._created.made(("messages", f"c{number}")) is there
        await live(ran, f"c{number}")  # whichever it was, the run can go on with it
    ids = [f"c{number}" for number in range(25)]
    assert await ran.get_progression("sp") == ["m", *ids]


async def test_a_manager_that_holds_the_store_makes_it_busy(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """busy-writer"""
    monkeypatch.setenv("LIONAGI_SQLITE_BUSY_TIMEOUT_MS", "10")
    async with StateDB(desk, profile=profile_of(), owner="kim") as db:
        await make_run(db)
        before = dump(desk)
        async with held(desk):
            with pytest.raises(BusyError) as caught:
                await live(db, "new")
        assert caught.value.exit_status == 4 and dump(desk) == before
        await live(db, "new")


async def test_reading_beside_it_goes_on(ran: StateDB, desk: Path) -> None:
    """readonly-open-same-process"""
    async with StateDB(desk) as reading:
        found = await reading.get_session("s")
        assert found is not None and found["status"] == "running"
        await live(ran, "new")
        assert await reading.get_progression("sp") == ["m", "new"]
