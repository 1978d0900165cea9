"""What the real lionagi 0.36.0 wrote, read by this project: the same answers, and not a byte changed."""

from __future__ import annotations

from typing import Any

import pytest

from persistence import StateDB
from persistence.reading.values import decode_json
from persistence.schema.known import TABLES
from tests.interop.conftest import RealStore, Writer
from tests.persistence.stores import marks_of


def agrees(ours: dict[str, Any] | None, theirs: dict[str, Any] | None) -> bool:
    """Every column both have holds the same; lionagi adds figures of its own, and leaves columns out."""
    if ours is None or theirs is None:
        return ours is theirs
    shared = [name for name in ours if name in theirs]
    assert len(shared) > 3
    for name in shared:
        assert ours[name] == theirs[name], name
    return True


def all_agree(ours: Any, theirs: Any) -> bool:
    assert len(ours) == len(theirs)
    return all(agrees(left, right) for left, right in zip(ours, theirs, strict=True))


async def test_lists_and_gets_answer_the_same(made: RealStore) -> None:
    before = marks_of(made.path)
    real = made.answers
    async with StateDB(made.path) as db:
        assert all_agree(await db.list_sessions(), real["sessions"])
        for key, row in real["session"].items():
            assert agrees(await db.get_session(key), row)
            assert all_agree(await db.list_branches(key), real["branches"][key])
            assert all_agree(await db.get_session_signals_after(key, 0), real["signals"][key])
            ours = await db.list_artifacts_for_session(key)
            assert all_agree(ours, real["artifacts_for_session"][key])
        for key, rows in real["branch_messages"].items():
            ours_messages = await db.get_branch_messages(key)
            assert ours_messages == rows
            assert len(rows) == 6
        for key, order in real["progressions"].items():
            assert await db.get_progression(key) == order
            assert order[-1] == "never-inserted"
        assert all_agree(await db.list_pending_session_controls("session-3"), real["controls"])
        by_id = {row["id"]: row for row in real["sessions_for_run"]}
        assert {row["id"] for row in await db.get_sessions_for_run("run-0")} == set(by_id)
        ours = await db.list_sessions_for_invocation("invocation-0")
        assert {row["id"] for row in ours} == {row["id"] for row in real["sessions_for_invocation"]}
        assert all_agree(await db.list_invocations(), real["invocations"])
        assert all_agree(await db.list_shows(), real["shows"])
        assert all_agree(await db.list_plays("show-0"), real["plays"])
        schedules = {row["id"]: row for row in await db.list_schedules()}
        assert all(agrees(schedules[row["id"]], row) for row in real["schedules"])
        for key, rows in real["schedule_runs"].items():
            assert all_agree(await db.list_schedule_runs(key), rows)
        assert await db.list_definition_versions("agent", "clerk") == real["versions"]
        latest = await db.list_latest_definition_versions()
        assert [(row["kind"], row["name"], row["version"]) for row in latest] == [
            (row["kind"], row["name"], row["version"]) for row in real["latest"]
        ]
        assert await db.get_definition("agent", "clerk") == real["definition"]
        assert await db.get_definition("agent", "clerk", version=1) == real["definition_1"]
        assert all_agree(await db.list_engine_defs(), real["engine_defs"])
        assert all_agree(await db.list_workflow_defs(), real["workflow_defs"])
        assert all_agree(await db.list_engine_runs(), real["engine_runs"])
        projects = {row["name"]: row for row in await db.list_projects()}
        assert all(agrees(projects[row["name"]], row) for row in real["projects"])
        ours = await db.list_artifacts_for_invocation("invocation-0")
        assert all_agree(ours, real["artifacts_for_invocation"])
        assert await db.schema_version() == real["schema_version"] == "4"
    assert marks_of(made.path) == before
    assert list(made.path.parent.iterdir()) == [made.path]


async def test_values_given_undecoded_are_decoded(made: RealStore) -> None:
    async with StateDB(made.path) as db:
        for ours, theirs in zip(await db.list_admin_events(), made.answers["admin_events"], strict=True):
            assert isinstance(theirs["details"], str)
            assert ours == {**theirs, "details": decode_json(theirs["details"])}
        ours_transitions = await db.list_status_transitions()
        for ours, theirs in zip(ours_transitions, made.answers["transitions"], strict=True):
            refs, metadata = decode_json(theirs["evidence_refs"]), decode_json(theirs["metadata"])
            assert ours == {**theirs, "evidence_refs": refs, "metadata": metadata}


async def test_the_shape_is_the_schema_s(made: RealStore) -> None:
    async with StateDB(made.path) as db:
        facts = await db.facts()
        assert facts.lineage == "lionagi" and facts.missing_tables == () and facts.journal_mode == "wal"
        for table in TABLES:
            assert not await db.missing(table), table
        assert {shape.name for shape in await db.catalogue()} == set(TABLES)


@pytest.mark.adr("0055-D1-16", "0055-D1-20")
async def test_every_row_is_got_by_its_id(made: RealStore) -> None:
    async with StateDB(made.path) as db:
        for row in await db.list_messages():
            assert await db.get_message(row["id"]) == {**row}
        for method, get in (
            (db.list_artifacts, db.get_artifact),
            (db.list_session_signals, db.get_session_signal),
            (db.list_status_transitions, db.get_status_transition),
            (db.list_schedule_runs, db.get_schedule_run),
            (db.list_admin_events, db.get_admin_event),
        ):
            rows = await method()
            assert rows
            for row in rows:
                assert await get(row["id"]) == row


async def test_a_store_being_written_is_read_and_shows_new_rows(writer: Writer) -> None:
    path = writer.store.path
    before = marks_of(path)
    assert f"{path.name}-wal" in before
    async with StateDB(path) as db:
        assert all_agree(await db.list_sessions(), writer.store.answers["sessions"])
        assert marks_of(path) == before
        token = await db.token()
        assert len(await db.get_branch_messages("branch-0")) == 6
        writer.add()
        assert await db.token() != token
        written = marks_of(path)
        messages = await db.get_branch_messages("branch-0")
        assert [row["id"] for row in messages][-1] == "message-0-6"
        signals = await db.get_session_signals_after("session-0", 3)
        assert [row["kind"] for row in signals] == ["op.more"]
        assert marks_of(path) == written
        writer.leave()
        assert len(await db.get_branch_messages("branch-0")) == 7
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
