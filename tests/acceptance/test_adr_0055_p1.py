"""ADR-0055 P1: operational state is reached by queries, through the store's own indexes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from persistence import StateDB
from tests.acceptance.plans import scanned, statements_of
from tests.persistence.stores import make_filled, put, run_sql, session


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return make_filled(tmp_path / "state.db")


@pytest.fixture
async def db(path: Path) -> AsyncIterator[StateDB]:
    async with StateDB(path) as opened:
        yield opened


# (method, its arguments, table, the column that relates, the column's value in every row that comes)
RELATED: list[tuple[str, tuple[Any, ...], dict[str, Any], str, str, Any]] = [
    ("list_sessions_for_invocation", ("i0",), {}, "sessions", "invocation_id", "i0"),
    ("list_sessions", (), {"project": "harbour"}, "sessions", "project", "harbour"),
    ("get_sessions_for_run", ("r0",), {}, "sessions", "run_id", "r0"),
    ("list_branches", ("s000",), {}, "branches", "session_id", "s000"),
    ("list_messages", (), {"sender": "kim"}, "messages", "sender", "kim"),
    ("list_plays", ("h0",), {}, "plays", "show_id", "h0"),
    ("list_team_messages", ("t0",), {}, "team_messages", "team_id", "t0"),
    ("list_team_messages", (), {"session_id": "s000"}, "team_messages", "session_id", "s000"),
    ("list_schedule_runs", ("c0",), {}, "schedule_runs", "schedule_id", "c0"),
    ("list_definition_versions", ("agent", "clerk"), {}, "definitions", "name", "clerk"),
    ("list_session_signals", ("s000",), {}, "session_signals", "session_id", "s000"),
    ("get_session_signals_after", ("s000", 0), {}, "session_signals", "session_id", "s000"),
    ("list_pending_session_controls", ("s000",), {}, "session_controls", "session_id", "s000"),
    ("list_engine_runs", (), {"session_id": "s000"}, "engine_runs", "session_id", "s000"),
    ("list_engine_runs", (), {"invocation_id": "i0"}, "engine_runs", "invocation_id", "i0"),
    ("list_run_tags", ("s000",), {}, "run_tags", "session_id", "s000"),
    ("list_run_tags", (), {"tag": "keep"}, "run_tags", "tag", "keep"),
    ("list_approvals", (), {"session_id": "s000"}, "approvals", "session_id", "s000"),
    ("list_approval_evidence", ("a0",), {}, "approval_evidence", "approval_id", "a0"),
    ("list_artifacts_for_session", ("s000",), {}, "artifacts", "session_id", "s000"),
    ("list_artifacts_for_invocation", ("i0",), {}, "artifacts", "invocation_id", "i0"),
    ("list_status_transitions", ("session", "s000"), {}, "status_transitions", "entity_id", "s000"),
    ("list_admin_events", (), {"target_id": "s000"}, "admin_events", "target_id", "s000"),
    ("list_terminal_deliveries", (), {"transition_id": "st1"}, "terminal_deliveries", "transition_id", "st1"),
    ("list_attention_history", ("it0",), {}, "attention_disposition_history", "item_id", "it0"),
]
# The schema has no index over these parents (and a store that is only read is given none).
WITHOUT_INDEX: list[tuple[str, tuple[Any, ...], dict[str, Any], str, str, Any]] = [
    ("list_session_controls", ("s000",), {}, "session_controls", "session_id", "s000"),
    ("list_dispatches", (), {"session_id": "s000"}, "dispatch_outbox", "session_id", "s000"),
    ("list_dispatches", (), {"schedule_run_id": "cr0"}, "dispatch_outbox", "schedule_run_id", "cr0"),
]
BY_ID: list[tuple[str, tuple[Any, ...], str]] = [
    ("get_session", ("s000",), "sessions"),
    ("get_session_by_cc_id", ("cc1",), "sessions"),
    ("get_branch", ("b0",), "branches"),
    ("get_message", ("m0000",), "messages"),
    ("get_messages", (["m0000", "m0001"],), "messages"),
    ("get_progression", ("p000",), "progressions"),
    ("get_branch_messages", ("b0",), "messages"),
    ("get_invocation", ("i0",), "invocations"),
    ("get_show", ("h0",), "shows"),
    ("get_show_by_topic", ("topic 0",), "shows"),
    ("get_play", ("y0",), "plays"),
    ("get_team", ("t0",), "teams"),
    ("get_schedule", ("c0",), "schedules"),
    ("get_schedule_by_name", ("nightly 0",), "schedules"),
    ("get_schedule_run", ("cr0",), "schedule_runs"),
    ("get_schedule_run_by_invocation", ("i0",), "schedule_runs"),
    ("get_worker", ("w0",), "workers"),
    ("get_definition", ("agent", "clerk"), "definitions"),
    ("get_engine_def", ("e0",), "engine_defs"),
    ("get_workflow_def", ("w0",), "workflow_defs"),
    ("get_project", ("project 0",), "projects"),
    ("get_session_signal", ("g0",), "session_signals"),
    ("get_session_control", ("k0",), "session_controls"),
    ("get_engine_run", ("er0",), "engine_runs"),
    ("get_approval", ("a0",), "approvals"),
    ("get_artifact", ("000000000000",), "artifacts"),
    ("get_status_transition", ("st0",), "status_transitions"),
    ("get_admin_event", ("ev0",), "admin_events"),
    ("get_dispatch", ("do0",), "dispatch_outbox"),
    ("get_artifact_verification", ("s003",), "sessions"),
]


@pytest.mark.adr("0055-P1-01")
@pytest.mark.parametrize(("method", "given", "named", "table", "column", "value"), RELATED + WITHOUT_INDEX)
async def test_rows_are_reached_by_a_related_id(
    db: StateDB,
    method: str,
    given: tuple[Any, ...],
    named: dict[str, Any],
    table: str,
    column: str,
    value: Any,
) -> None:
    rows = await getattr(db, method)(*given, **named)
    assert rows
    assert {row[column] for row in rows} == {value}
    whole = await db.fetch_one(f"SELECT count(*) AS n FROM {table} WHERE {column} = ?", [value])
    if method != "list_pending_session_controls":
        assert whole == {"n": len(rows)}


@pytest.mark.adr("0055-P1-01")
async def test_progressions_lead_to_their_messages(db: StateDB) -> None:
    branch = await db.get_branch("b0")
    assert branch is not None
    order = await db.get_progression(branch["progression_id"])
    assert [row["id"] for row in await db.get_branch_messages("b0")] == [m for m in order if m != "gone"]


@pytest.mark.adr("0055-P1-02")
@pytest.mark.parametrize(("method", "given", "table"), BY_ID)
async def test_a_look_up_by_id_scans_nothing(
    db: StateDB, path: Path, method: str, given: tuple[Any, ...], table: str
) -> None:
    with statements_of(db) as seen:
        assert await getattr(db, method)(*given)
    assert any(table in sql for sql in seen)
    # The handful of message classes is read whole, once a page of messages.
    assert {name for sql in seen for name in scanned(path, sql)} <= {"message_types"}


@pytest.mark.adr("0055-P1-02")
@pytest.mark.parametrize(("method", "given", "named", "table", "column", "value"), RELATED)
async def test_a_look_up_by_parent_scans_nothing(
    db: StateDB,
    path: Path,
    method: str,
    given: tuple[Any, ...],
    named: dict[str, Any],
    table: str,
    column: str,
    value: Any,
) -> None:
    for paged in ({}, {"limit": 1}):
        if paged and method in ("get_sessions_for_run", "list_definition_versions"):
            continue
        if method == "list_pending_session_controls":
            paged = {}
        with statements_of(db) as seen:
            page = await getattr(db, method)(*given, **named, **paged)
            if paged and page.next and "after" not in method:
                await getattr(db, method)(*given, **named, **paged, after=page.next)
        assert any(f"FROM {table}" in sql for sql in seen)
        assert {name for sql in seen for name in scanned(path, sql)} <= {"message_types"}


@pytest.mark.adr("0055-P1-02")
async def test_what_is_left_out_has_no_index_to_be_used(db: StateDB) -> None:
    without = {
        (shape.name, column)
        for shape in await db.catalogue()
        for key in shape.foreign_keys
        for column in key.columns
        if not any(
            index.columns[0] == column and index.where in (None, f"{column} IS NOT NULL")
            for index in shape.indexes
        )
    }
    assert {(table, column) for _, _, _, table, column, _ in WITHOUT_INDEX} <= without
    # Of a session's controls, those that are pending have one.
    indexed = {(table, column) for _, _, _, table, column, _ in RELATED} - {
        ("session_controls", "session_id")
    }
    assert not indexed & without


def test_a_scan_is_seen(path: Path) -> None:
    assert scanned(path, "SELECT * FROM sessions WHERE name = 'x'") == {"sessions"}
    assert scanned(path, "SELECT * FROM sessions WHERE name = 'x' ORDER BY updated_at") == {"sessions"}
    assert scanned(path, "SELECT * FROM sessions WHERE id = 'x'") == set()


@pytest.mark.adr("0055-P1-35")
async def test_no_row_is_none_or_an_empty_list(db: StateDB) -> None:
    assert await db.fetch_one("SELECT * FROM sessions WHERE id = ?", ["none"]) is None
    assert await db.fetch_all("SELECT * FROM sessions WHERE id = ?", ["none"]) == []


@pytest.mark.adr("0055-P1-37")
async def test_both_absences_of_json_read_as_absent(path: Path, tmp_path: Path) -> None:
    put(path, "sessions", session(10, node_metadata=None), session(11, node_metadata="null"))
    run_sql(path, "UPDATE messages SET node_metadata = 'null' WHERE id = 'm0001'")
    async with StateDB(path) as db:
        for key in ("s010", "s011"):
            row = await db.get_session(key)
            assert row is not None and row["node_metadata"] is None
        assert {row["node_metadata"] for row in await db.list_sessions() if row["id"] > "s009"} == {None}
        first, second = await db.get_message("m0000"), await db.get_message("m0001")
        assert first is not None and second is not None
        assert first["node_metadata"] is None and second["node_metadata"] is None
