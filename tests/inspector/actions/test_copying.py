"""`copy-run`: a run as it was, in another store; what stands in the way is named, and never guessed."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from inspector.actions.carrying import Outcome
from inspector.actions.copying import CopyRun
from inspector.actions.gate import Gate
from inspector.actions.journal import Phase
from inspector.actions.plan import Told
from inspector.actions.source_run import merged_order
from persistence import StateDB
from persistence.errors import ConstraintError, StateCompatibilityRefused, StoreError
from tests.inspector.actions.managed import (
    all_hold,
    desk,
    entries,
    marks,
    read_back,
    ready,
    rows,
    source,
    transition,
)
from tests.persistence.stores import put, run_sql


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return desk(tmp_path / "desk" / "managed.db")


@pytest.fixture
def taken_from(tmp_path: Path) -> Path:
    (tmp_path / "from").mkdir()
    return source(tmp_path / "from" / "state.db")


async def copied(
    taken_from: Path, store: Path, *, leave_out: Collection[str] = (), run: str = "s001", **given: Any
) -> tuple[Gate, Outcome]:
    """Copies the run; the gate as it was before, and the outcome."""
    async with StateDB(taken_from) as db:
        gate = await ready(CopyRun(db, run, leave_out), store, store.parent.parent / "state", **given)
        preview = gate.preview
        outcome = await gate.run()
        gate.preview = preview
        return gate, outcome


async def test_a_run_is_in_the_managed_store_as_it_was(store: Path, taken_from: Path) -> None:
    before = marks(taken_from)
    _, outcome = await copied(taken_from, store)
    assert outcome.error is None and outcome.event == "done" and outcome.run == "s001"
    assert marks(taken_from) == before and all_hold(store)
    async with StateDB(taken_from) as one, StateDB(store) as other:
        was, now = await one.get_session("s001"), await other.get_session("s001")
        assert was is not None and now is not None
        moved = {"updated_at", "status_reason_summary", "status_evidence_refs", "artifact_verification_json"}
        assert {name: now[name] for name in was if name not in moved} == {
            name: value for name, value in was.items() if name not in moved
        }
        assert now["updated_at"] > was["updated_at"] and now["status_reason_summary"] == "because 1"
        for name in ("p001", "pb1", "pb2"):
            assert await one.get_progression(name) == await other.get_progression(name)
        ids = await one.get_progression("p001")
        first, second = await one.get_messages(ids), await other.get_messages(ids)
        for each in ids:
            # A class has its number in each store; its name is what it is.
            assert {**first[each], "lion_class": 0} == {
                name: value
                for name, value in {**second[each], "lion_class": 0}.items()
                if name in first[each]
            }
        branches = {each["id"]: each for each in await other.list_branches("s001")}
        assert [(each["name"], each["status"], each["ended_at"]) for each in branches.values()] == [
            ("branch 1", "completed", 1850.0), ("branch 2", "failed", 1850.0),
        ]  # fmt: skip
        signals = await other.list_session_signals("s001")
        assert [(each["seq"], each["op_id"], each["ts"], each["payload"]) for each in signals] == [
            (1, "o1", 6.0, {"n": 1}), (2, "o2", 7.0, {"n": 2}), (3, "o4", 9.0, {"n": 4}),
        ]  # fmt: skip
        history = await other.list_status_transitions("session", "s001")
        assert [(each["previous_status"], each["status"], each["reason_code"]) for each in history] == [
            (None, "running", "run.started.ok"), ("running", "completed", "run.completed.ok"),
        ]  # fmt: skip
        assert history[1]["metadata"] == {"k": 1, "copied": True, "recorded_at": 1001.0}
        assert (history[1]["actor"], history[1]["evidence_refs"]) == ("pilot", [{"at": 1}])
    owners = {row[0] for row in rows(store, "SELECT owner_id FROM messages WHERE id LIKE 'm0%'")}
    assert owners == {"kim"}
    assert read_back(store, "s001")["problems"] == []


async def test_nothing_of_a_run_is_seen_before_all_of_it_is_there(store: Path, taken_from: Path) -> None:
    async with StateDB(taken_from) as db:
        gate = await ready(CopyRun(db, "s001"), store, store.parent.parent / "state")
        assert gate.plan is not None
        order = [call.operation async for call in gate.plan.calls()]
    at = order.index("create_session")
    assert set(order[:at]) == {"insert_message", "create_progression"} and order[at + 1] == "create_branch"
    assert (
        dict(gate.preview.counts or {}) == {name: order.count(name) for name in order}
        if gate.preview
        else False
    )


async def test_every_call_is_in_the_preview_with_its_statements(store: Path, taken_from: Path) -> None:
    async with StateDB(taken_from) as db:
        gate = await ready(CopyRun(db, "s001"), store, store.parent.parent / "state")
        few = gate.preview
        every = await gate.prepare(detailed=None)
    assert few is not None and every is not None
    assert few.more == {"insert_message": 3} and every.more == {}
    assert sum((every.counts or {}).values()) == len(every.calls) == every.transactions
    assert few.statements == every.statements == sum(e.times for c in every.calls for e in c.statements)
    inserted = [call for call in every.calls if call.operation == "insert_message"]
    given = [dict(each.parameters) for call in inserted for each in call.statements if each.verb == "insert"]
    assert {each.get("v_id") for each in given} >= {f"m{number:04}" for number in range(6)}
    for call in every.calls:
        assert call.transaction and call.commits and call.requires
        for each in call.statements:
            assert each.text.startswith(("INSERT INTO", "UPDATE ", "SELECT ")) and each.parameters


# -- ids -------------------------------------------------------------------------------------------------


async def test_a_second_copy_is_refused_since_its_ids_are_taken(store: Path, taken_from: Path) -> None:
    await copied(taken_from, store)
    before = marks(store)
    gate, outcome = await copied(taken_from, store)
    assert isinstance(outcome.error, StoreError) and outcome.error.code == "id-taken"
    assert marks(store) == before and gate.preview is not None
    (taken,) = gate.preview.stops
    assert taken.count == 1 + 2 + 3 + 6 and "session s001" in taken.named and taken.leave_out is None


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("messages", {"id": "m0003", "created_at": 1.0, "content": {}, "role": "user", "lion_class": 0}),
        ("progressions", {"id": "pb2", "created_at": 1.0}),
    ],
)
async def test_an_id_that_somebody_has_is_named(
    store: Path, taken_from: Path, table: str, row: dict[str, Any]
) -> None:
    put(store, table, {**row, "owner_id": "lee"})
    gate, outcome = await copied(taken_from, store)
    assert isinstance(outcome.error, StoreError) and outcome.error.code == "id-taken"
    assert gate.preview is not None and row["id"] in gate.preview.stops[0].named[0]
    assert rows(store, f"SELECT owner_id FROM {table} WHERE id = ?", row["id"]) == [("lee",)]


async def test_an_id_taken_after_the_preview_is_refused_half_way(store: Path, taken_from: Path) -> None:
    async with StateDB(taken_from) as db:
        gate = await ready(CopyRun(db, "s001"), store, store.parent.parent / "state")
        theirs = {"id": "m0002", "created_at": 1.0, "content": {}, "role": "user", "lion_class": 0}
        put(store, "messages", {**theirs, "owner_id": "lee"})
        outcome = await gate.run()
    assert isinstance(outcome.error, StateCompatibilityRefused) and outcome.error.code == "id-taken"
    assert outcome.committed == (Phase("message", 2),)
    assert outcome.stands == "No session was made, so no reader sees anything of it."
    # Two messages are there: it says nothing of nothing written but of its own operation.
    assert outcome.error.committed == ("message x2",)
    assert "Nothing of this operation was written" in outcome.error.message
    begun, refused = entries(store.parent.parent / "state")
    assert refused.committed == outcome.committed and refused.id == begun.id
    assert refused.refusal is not None and refused.refusal["committed"] == ["message x2"]
    assert rows(store, "SELECT count(*) FROM messages WHERE id LIKE 'm0%'") == [(3,)] and all_hold(store)


async def test_everything_in_the_way_is_named(store: Path, taken_from: Path) -> None:
    """A few of it where there is little room, all of it in the data and with --whole."""
    from inspector.reports.actions import preview_lines, preview_object

    gone = [f"gone-{number:02}" for number in range(40)]
    run_sql(
        taken_from, f"UPDATE progressions SET collection = '{json.dumps(['m0000', *gone])}' WHERE id = 'pb1'"
    )
    async with StateDB(taken_from) as db:
        gate = await ready(CopyRun(db, "s001"), store, store.parent.parent / "state")
    assert gate.preview is not None
    (dangling,) = gate.preview.stops
    assert dangling.count == 40 and all(any(each in name for name in dangling.named) for each in gone)
    short, whole = ("\n".join(preview_lines(gate.preview, whole=whole)) for whole in (False, True))
    assert gone[4] in short and gone[5] not in short and "and 35 more (--whole names them)" in short
    assert all(each in whole for each in gone) and "more" not in whole.partition("dangling")[2]
    assert len(preview_object(gate.preview)["obstacles"][0]["examples"]) == 40
    error = gate.steps[4].refusal
    assert error is not None and error.observed is not None and error.observed.endswith("and 35 more")


# -- half-way --------------------------------------------------------------------------------------------


async def test_what_the_manager_refuses_half_way_says_what_is_there(store: Path, taken_from: Path) -> None:
    """acme-desk knows no runs that were imported from elsewhere: its check refuses the session."""
    run_sql(taken_from, "UPDATE sessions SET source_kind = 'imported_codex'")
    _, outcome = await copied(taken_from, store)
    assert outcome.event == "refused" and isinstance(outcome.error, ConstraintError)
    assert outcome.committed == (Phase("message", 6), Phase("progression", 3))
    assert outcome.stands == "No session was made, so no reader sees anything of it."
    assert rows(store, "SELECT count(*) FROM sessions WHERE id = 's001'") == [(0,)] and all_hold(store)


async def test_a_run_refused_after_it_began_is_ended_as_failed(
    store: Path, taken_from: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = StateDB.insert_session_signal

    async def signal(self: StateDB, **given: Any) -> int:
        if given["op_id"] == "o2":
            raise StateCompatibilityRefused(
                "no more signals", code="row-gone", operation="insert_session_signal"
            )
        return await real(self, **given)

    monkeypatch.setattr(StateDB, "insert_session_signal", signal)
    _, outcome = await copied(taken_from, store)
    assert outcome.event == "refused" and outcome.stands == "The run was ended as failed."
    assert Phase("signal", 1) in outcome.committed and Phase("branch end", 2) in outcome.committed
    found = rows(
        store, "SELECT status, status_reason_code, status_reason_summary FROM sessions WHERE id = 's001'"
    )
    assert found == [("failed", "run.failed.exception", "no more signals")] and all_hold(store)


async def test_an_interruption_ends_the_run_as_cancelled_and_says_what_is_there(
    store: Path, taken_from: Path
) -> None:
    async with StateDB(taken_from) as db:
        gate = await ready(CopyRun(db, "s001"), store, store.parent.parent / "state")
        task: asyncio.Task[Any]

        def interrupt(told: Told) -> None:
            if told.what == "a signal":
                task.cancel()

        task = asyncio.ensure_future(gate.run(interrupt))
        with pytest.raises(asyncio.CancelledError):
            await task
    _, ended = entries(store.parent.parent / "state")
    assert ended.event == "interrupted" and ended.note == "The run was ended as cancelled."
    assert Phase("session") in ended.committed and ended.refusal is not None
    assert ended.refusal["code"] == "interrupted"
    found = rows(store, "SELECT status, status_reason_code FROM sessions WHERE id = 's001'")
    assert found == [("cancelled", "run.cancelled.sigint")] and all_hold(store)


async def test_a_run_that_changes_while_it_is_copied_is_not_mixed(store: Path, taken_from: Path) -> None:
    async with StateDB(taken_from) as db:
        gate = await ready(CopyRun(db, "s001"), store, store.parent.parent / "state")
        run_sql(taken_from, "UPDATE sessions SET name = 'another'")
        outcome = await gate.run()
    assert isinstance(outcome.error, StoreError) and outcome.error.code == "store-moving"
    assert rows(store, "SELECT count(*) FROM sessions WHERE id = 's001'") == [(0,)]


# -- what is in the way ----------------------------------------------------------------------------------

SPOILED = [
    (
        "source-duplicates",
        "duplicates",
        ['UPDATE progressions SET collection = \'["m0000","m0001","m0001"]\''],
    ),
    ("source-dangling", "dangling", ['UPDATE progressions SET collection = \'["m0000","gone",7,null]\'']),
    ("source-dangling", "dangling", ["UPDATE branches SET progression_id = 'nowhere' WHERE id = 'b2'"]),
    ("source-dangling", "dangling", ["UPDATE branches SET system_msg_id = 'nobody' WHERE id = 'b2'"]),
    ("source-dangling", "dangling", ["DELETE FROM messages WHERE id = 'm0005'"]),
    ("source-unreadable", "unreadable", ["UPDATE messages SET content = '{broken' WHERE id = 'm0001'"]),
    ("source-unreadable", "unreadable", ["UPDATE messages SET content = '{\"a\":NaN}' WHERE id = 'm0001'"]),
    (
        "source-unreadable",
        "unreadable",
        ["UPDATE messages SET sender = CAST(x'ff' AS TEXT) WHERE id = 'm0001'"],
    ),
    ("source-unreadable", "unreadable", ["UPDATE sessions SET name = x'00ff'"]),
    ("source-unreadable", "unreadable", ["UPDATE sessions SET started_at = 'yesterday'"]),
    ("source-unreadable", "unreadable", ["UPDATE sessions SET node_metadata = '[1,'"]),
    ("source-unreadable", "unreadable", ["UPDATE session_signals SET payload = '[1]' WHERE seq = 2"]),
    (
        "source-order",
        "order",
        ['UPDATE progressions SET collection = \'["m0004","m0002","m0000"]\' WHERE id = \'pb1\''],
    ),
    (
        "source-history",
        "history",
        ["UPDATE status_transitions SET reason_code = 'made.up.here' WHERE id = 't1'"],
    ),
    (
        "source-history",
        "history",
        ["UPDATE status_transitions SET previous_status = 'failed' WHERE id = 't1'"],
    ),
    ("source-history", "history", ["UPDATE sessions SET status = 'failed'"]),
    ("source-history", "history", ["UPDATE status_transitions SET source = 'nobody' WHERE id = 't1'"]),
]


@pytest.mark.parametrize(
    ("code", "word", "statements"), SPOILED, ids=[f"{n}-{s[0]}" for n, s in enumerate(SPOILED)]
)
async def test_what_is_in_the_way_is_named_and_left_out_only_when_it_is_said(
    store: Path, taken_from: Path, code: str, word: str, statements: list[str]
) -> None:
    run_sql(taken_from, "PRAGMA foreign_keys = OFF", *statements)
    before = marks(store)
    gate, outcome = await copied(taken_from, store)
    assert isinstance(outcome.error, StoreError) and outcome.error.code == code
    assert f"--leave-out {word}" in (outcome.error.remedy or "") and marks(store) == before
    assert gate.preview is not None and gate.preview.stops[0].named
    also = ["dangling"] if word == "unreadable" else []  # first_msg_id may name what was left out
    gate, outcome = await copied(taken_from, store, leave_out=[word, *also])
    assert outcome.error is None and outcome.event == "done", outcome.error
    assert gate.preview is not None and any(each.left_out for each in gate.preview.obstacles)
    assert any(note.startswith("Left out") for note in gate.preview.notes)
    assert all_hold(store) and read_back(store, "s001")["problems"] == []


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("UPDATE sessions SET status = 'running'", "source-running"),
        ("UPDATE sessions SET status = 'dreaming'", "source-status"),
        ("UPDATE progressions SET collection = '{\"a\":1}' WHERE id = 'pb1'", "source-no-order"),
        ("UPDATE progressions SET collection = '[\"m0000\"' WHERE id = 'p001'", "source-no-order"),
    ],
)
async def test_what_nothing_can_be_done_about_is_refused(
    store: Path, taken_from: Path, statement: str, code: str
) -> None:
    run_sql(taken_from, statement)
    before = marks(store)
    everything = ["duplicates", "dangling", "unreadable", "order", "history"]
    _, outcome = await copied(taken_from, store, leave_out=everything)
    assert isinstance(outcome.error, StoreError) and outcome.error.code == code
    assert "leave-out" not in (outcome.error.remedy or "") and marks(store) == before


async def test_a_run_that_is_not_there_is_said_to_be_none(store: Path, taken_from: Path) -> None:
    _, outcome = await copied(taken_from, store, run="s999")
    assert isinstance(outcome.error, StoreError) and outcome.error.code == "no-such-run"


async def test_a_left_out_word_there_is_none_of_is_a_mistake_of_the_caller(taken_from: Path) -> None:
    async with StateDB(taken_from) as db:
        with pytest.raises(ValueError, match="dangling"):
            CopyRun(db, "s001", ["dangeling"])


# -- other shapes ----------------------------------------------------------------------------------------


async def test_a_run_without_a_history_keeps_its_status_and_reason(store: Path, taken_from: Path) -> None:
    run_sql(taken_from, "DELETE FROM status_transitions")
    _, outcome = await copied(taken_from, store)
    assert outcome.error is None
    found = rows(store, "SELECT status, status_reason_code, ended_at FROM sessions WHERE id = 's001'")
    assert found == [("completed", "run.completed.ok", 1900.0)]


async def test_a_longer_history_is_made_again_step_by_step(store: Path, taken_from: Path) -> None:
    put(
        taken_from,
        "status_transitions",
        transition(2, "completed", "completed", reason_code="run.completed.ok"),
    )
    _, outcome = await copied(taken_from, store)
    assert outcome.error is None and Phase("status", 2) in outcome.committed
    asked = "SELECT previous_status, status FROM status_transitions WHERE entity_id = 's001' ORDER BY rowid"
    assert rows(store, asked) == [(None, "running"), ("running", "completed"), ("completed", "completed")]


async def test_an_empty_run_without_a_status_is_copied(store: Path, tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    taken_from = source(
        tmp_path / "from" / "state.db", 0, status=None, status_reason_code=None, ended_at=None
    )
    run_sql(
        taken_from, "DELETE FROM status_transitions", "DELETE FROM branches", "DELETE FROM session_signals"
    )
    _, outcome = await copied(taken_from, store)
    assert outcome.error is None
    assert Phase("session") in outcome.committed and Phase("status") not in outcome.committed
    assert rows(store, "SELECT status, ended_at FROM sessions WHERE id = 's001'") == [(None, None)]


async def test_the_invocation_of_a_run_stays_behind_and_that_is_said(store: Path, taken_from: Path) -> None:
    run_sql(taken_from, "PRAGMA foreign_keys = OFF", "UPDATE sessions SET invocation_id = 'i1'")
    gate, outcome = await copied(taken_from, store)
    assert outcome.error is None and gate.preview is not None
    assert any("invocation" in note for note in gate.preview.notes)
    assert rows(store, "SELECT invocation_id FROM sessions WHERE id = 's001'") == [(None,)]


async def test_branches_that_share_an_order_are_copied_with_it(store: Path, taken_from: Path) -> None:
    run_sql(taken_from, "UPDATE branches SET progression_id = 'p001'")
    _, outcome = await copied(taken_from, store)
    assert outcome.error is None and Phase("progression") in outcome.committed
    assert rows(store, "SELECT DISTINCT progression_id FROM branches WHERE session_id = 's001'") == [
        ("p001",)
    ]


@pytest.mark.parametrize("release", ["0.26.0", "0.28.0", "0.32.0"])
async def test_runs_of_older_releases_are_copied(store: Path, tmp_path: Path, release: str) -> None:
    from tests.persistence.stores import make_store, message, session

    (tmp_path / "from").mkdir()
    path = make_store(tmp_path / "from" / "state.db", release)
    put(path, "messages", message(1))
    put(path, "progressions", {"id": "p001", "created_at": 1.0, "collection": ["m0001"]})
    put(path, "sessions", session(1, status="completed"))
    _, outcome = await copied(path, store)
    assert outcome.error is None and rows(store, "SELECT collection FROM progressions WHERE id = 'p001'") == [
        ('["m0001"]',)
    ]
    assert all_hold(store)


async def test_every_finished_run_of_a_real_store_is_copied(
    store: Path, tmp_path: Path, shared_stores: Path
) -> None:
    path = Path(shutil.copy(shared_stores / "lionagi-0.36.0.db", tmp_path))
    async with StateDB(path) as db:
        runs = [row["id"] for row in await db.list_sessions() if row["status"] != "running"]
    assert runs
    for run in runs:
        _, outcome = await copied(path, store, run=run, leave_out=["dangling", "duplicates", "order"])
        assert outcome.event == "done", (run, outcome.error)
    assert all_hold(store)


async def test_a_profile_without_owners_says_that_and_takes_a_copy(
    taken_from: Path, tmp_path: Path, shared_stores: Path
) -> None:
    """The run tables of 0.36.0 under another lineage: that this run made a row is all that is asked of it."""
    (tmp_path / "other").mkdir()
    store = Path(shutil.copy(shared_stores / "lionagi-0.36.0.db", tmp_path / "other" / "state.db"))
    lineage = "harbour-master"
    run_sql(store, f"UPDATE schema_meta SET value = '{lineage}' WHERE key = 'lineage'")
    connection = sqlite3.connect(store, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.close()
    profile = "lionagi-shape-fresh-run"
    gate, outcome = await copied(taken_from, store, profile=profile, owner=None, lineage=lineage)
    assert outcome.event == "done", outcome.error
    assert gate.preview is not None and any("no owner rule" in said for said in gate.preview.warnings)
    assert gate.preview.owner is None


def test_orders_are_merged_into_one_that_agrees_with_all() -> None:
    assert merged_order([["a", "b", "c"], ["x", "b", "y"], []]) == (["a", "x", "b", "c", "y"], True)
    assert merged_order([["b", "c"], ["a", "b"]]) == (["a", "b", "c"], True)
    assert merged_order([["a", "b"], ["b", "a"]]) == (["a", "b"], False)
    many = [str(number) for number in range(20_000)]
    assert merged_order([many, many[::2], many[5::7]]) == (many, True)
    assert json.dumps(merged_order([])) == "[[], true]"
