"""`record` into a store: what is written of a run told in lines, and how it is left when they stop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from inspector.actions.carrying import Outcome
from inspector.actions.journal import Phase
from inspector.actions.plan import Told
from inspector.actions.record import Record
from inspector.actions.record_lines import RecordInputError
from inspector.reports.actions import outcome_lines
from persistence import StateDB
from persistence.errors import BusyError, StateCompatibilityRefused, StoreError
from tests.inspector.actions.managed import all_hold, desk, entries, marks, read_back, ready, rows
from tests.inspector.actions.test_record_lines import (
    BRANCH,
    END,
    MESSAGE,
    SESSION,
    SIGNAL,
    STATUS,
    WHOLE,
    pieces,
    written,
)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return desk(tmp_path / "desk" / "managed.db")


async def recorded(
    store: Path, *lines: object, again: bool = True, end: bytes = b"", **given: Any
) -> Outcome:
    action = Record("run.jsonl", pieces(written(*lines) + end, 512), again=again)
    gate = await ready(action, store, store.parent.parent / "state", **given)
    return await gate.run()


@pytest.mark.parametrize("again", [True, False], ids=["a file", "a stream"])
async def test_a_whole_run_is_in_the_store(store: Path, again: bool) -> None:
    second = MESSAGE | {"id": "m2", "role": "assistant", "content": "at noon", "class": "a.b.Answer"}
    system = {"role": "system", "content": "be brief", "id": "sys"}
    end = END | {"input_tokens": 12, "total_cost_usd": 0.5, "reason_summary": "asked and answered"}
    lines = [SESSION | {"started_at": 5.0}, BRANCH | {"system": system}, MESSAGE, second, SIGNAL, STATUS, end]
    outcome = await recorded(store, *lines, again=again)
    assert outcome.error is None and outcome.event == "done" and outcome.run == "s"
    async with StateDB(store) as db:
        run = await db.get_session("s")
        assert run is not None and (run["status"], run["started_at"], run["input_tokens"]) == (
            "completed",
            5.0,
            12,
        )
        assert run["status_reason_summary"] == "asked and answered" and run["ended_at"] is not None
        messages = await db.get_branch_messages("b")
        assert [each["id"] for each in messages] == ["sys", "m", "m2"]
        assert messages[2]["lion_class_str"] == "a.b.Answer" and messages[2]["content"] == "at noon"
        assert await db.get_progression(run["progression_id"]) == ["sys", "m", "m2"]
        branch = await db.get_branch("b")
        assert branch is not None and (branch["status"], branch["system_msg_id"]) == ("completed", "sys")
        assert [each["kind"] for each in await db.list_session_signals("s")] == ["tool.started"]
        history = await db.list_status_transitions("session", "s")
        assert [each["reason_code"] for each in history] == [
            "run.started.ok", "run.paused.operator", "run.completed.ok",
        ]  # fmt: skip
    assert all_hold(store) and read_back(store, "s")["problems"] == []


@pytest.mark.parametrize("again", [True, False], ids=["a file", "a stream"])
async def test_input_without_an_end_is_recorded_as_aborted_with_that_reason(store: Path, again: bool) -> None:
    outcome = await recorded(store, SESSION, BRANCH, MESSAGE, again=again)
    assert outcome.event == "done" and outcome.error is None
    found = rows(
        store, "SELECT status, status_reason_code, status_reason_summary FROM sessions WHERE id = 's'"
    )
    assert found == [("aborted", "run.aborted.user", "the input ended after line 3 without an end")]
    assert rows(store, "SELECT status FROM branches WHERE id = 'b'") == [("aborted",)] and all_hold(store)


async def test_a_bad_line_of_a_file_is_refused_before_anything_is_written(store: Path) -> None:
    before = marks(store)
    outcome = await recorded(store, SESSION, BRANCH, MESSAGE | {"rol": 1}, END)
    assert isinstance(outcome.error, RecordInputError) and outcome.error.where == "run.jsonl, line 3"
    assert outcome.committed == () and marks(store) == before


@pytest.mark.parametrize(
    ("bad", "line"), [(b"nonsense\n", 4), (written(MESSAGE | {"branch": "x"}), 4), (b'{"kind":"end"', 4)]
)
async def test_a_bad_line_of_a_stream_ends_the_run_as_aborted(store: Path, bad: bytes, line: int) -> None:
    outcome = await recorded(store, SESSION, BRANCH, MESSAGE, again=False, end=bad)
    assert isinstance(outcome.error, RecordInputError) and outcome.error.where == f"run.jsonl, line {line}"
    assert outcome.event == "refused" and outcome.stands == "The run was ended as aborted."
    assert Phase("live message") in outcome.committed
    ((status, why),) = rows(store, "SELECT status, status_reason_summary FROM sessions WHERE id = 's'")
    assert status == "aborted" and f"line {line}" in why and all_hold(store)
    assert [each.event for each in entries(store.parent.parent / "state")] == ["begun", "refused"]


async def test_a_line_after_the_end_is_refused_and_the_run_stays_ended(store: Path) -> None:
    outcome = await recorded(store, *WHOLE, MESSAGE, again=False)
    assert isinstance(outcome.error, RecordInputError) and outcome.stands is None
    assert rows(store, "SELECT status FROM sessions WHERE id = 's'") == [("completed",)] and all_hold(store)


async def test_an_empty_stream_writes_nothing(store: Path) -> None:
    outcome = await recorded(store, again=False, end=b"\n\n")
    assert isinstance(outcome.error, RecordInputError) and outcome.committed == ()


async def test_ids_that_are_taken_are_refused(store: Path) -> None:
    outcome = await recorded(store, SESSION | {"id": "lee-sess"}, END, again=False)
    assert isinstance(outcome.error, StateCompatibilityRefused) and outcome.error.code == "id-taken"
    assert outcome.committed == (Phase("progression"),)
    assert rows(store, "SELECT owner_id, status FROM sessions WHERE id = 'lee-sess'") == [("lee", "running")]
    outcome = await recorded(store, SESSION, BRANCH, MESSAGE | {"id": "lee-msg"}, END, again=False)
    assert isinstance(outcome.error, StateCompatibilityRefused) and outcome.error.code == "id-taken"
    assert outcome.stands == "The run was ended as failed." and all_hold(store)
    assert rows(store, "SELECT status FROM sessions WHERE id = 's'") == [("failed",)]
    assert rows(store, "SELECT content FROM messages WHERE id = 'lee-msg'") == [
        ('{"text":"lee wrote this"}',)
    ]


async def test_ids_that_a_file_says_are_looked_up_before_anything_is_written(store: Path) -> None:
    before = marks(store)
    lines = (SESSION | {"id": "lee-sess"}, BRANCH, MESSAGE | {"id": "lee-msg"}, END)
    outcome = await recorded(store, *lines)
    assert isinstance(outcome.error, StoreError) and outcome.error.code == "id-taken"
    assert outcome.error.observed == "session lee-sess, message lee-msg"
    assert outcome.committed == () and marks(store) == before


async def test_what_is_refused_half_way_says_at_which_line(store: Path) -> None:
    lines = (SESSION, BRANCH, MESSAGE | {"id": "lee-msg"}, END)
    outcome = await recorded(store, *lines, again=False)
    assert outcome.at == "persist_live_message: a message, line 3"
    assert "  stopped at persist_live_message: a message, line 3" in outcome_lines(outcome)


async def test_an_invocation_of_somebody_else_is_refused(store: Path) -> None:
    outcome = await recorded(store, SESSION | {"invocation_id": "lee-inv"}, END, again=False)
    assert isinstance(outcome.error, StateCompatibilityRefused)
    assert rows(store, "SELECT session_count FROM invocations WHERE id = 'lee-inv'") == [(0,)]
    outcome = await recorded(store, SESSION | {"invocation_id": "kim-inv"}, END, again=False)
    assert outcome.error is None
    assert rows(store, "SELECT session_count FROM invocations WHERE id = 'kim-inv'") == [(1,)]


async def test_the_expected_files_are_looked_at_when_it_ends(store: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.md").write_text("tide")
    expected = [{"id": "r", "path": "report.md"}, {"id": "d", "path": "data.csv"}]
    session = SESSION | {"artifacts_path": str(tmp_path / "out"), "artifact_contract": {"expected": expected}}
    outcome = await recorded(store, session, BRANCH, END)
    assert outcome.error is None, outcome.error
    async with StateDB(store) as db:
        seen = await db.get_artifact_verification("s")
    assert seen["status"] == "failed" and [each["id"] for each in seen["missing_required"]] == ["d"]


async def test_a_silent_stream_can_be_interrupted(store: Path) -> None:
    waiting = asyncio.Event()

    async def silent() -> AsyncIterator[bytes]:
        yield written(SESSION, BRANCH, MESSAGE)
        waiting.set()
        await asyncio.Event().wait()

    gate = await ready(Record("a pipe", silent, again=False), store, store.parent.parent / "state")
    task = asyncio.ensure_future(gate.run())
    await asyncio.wait_for(waiting.wait(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    outcome: Outcome = caught.value.args[0]
    assert outcome.event == "interrupted" and outcome.stands == "The run was ended as cancelled."
    assert rows(store, "SELECT status FROM sessions WHERE id = 's'") == [("cancelled",)] and all_hold(store)


async def test_each_message_is_there_as_soon_as_it_was_told(store: Path) -> None:
    """What another program tells is in the store before its next line: nothing is gathered up."""
    seen: list[int] = []

    async def one_by_one() -> AsyncIterator[bytes]:
        yield written(SESSION, BRANCH)
        for number in range(3):
            yield written(MESSAGE | {"id": f"m{number}"})
            # Asked for again only when the calls of the line before are made.
            seen.append(rows(store, "SELECT count(*) FROM messages WHERE id LIKE 'm_'")[0][0])
        yield written(END)

    gate = await ready(Record("a pipe", one_by_one, again=False), store, store.parent.parent / "state")
    assert (await gate.run()).error is None
    assert seen == [1, 2, 3]


async def test_a_busy_store_is_asked_again_and_a_refusal_never(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = StateDB.persist_live_message
    asked: list[str] = []

    async def busy(self: StateDB, msg: Any, **given: Any) -> None:
        asked.append(msg["id"])
        if len(asked) < 3:
            raise BusyError("another program is writing")
        await real(self, msg, **given)

    monkeypatch.setattr(StateDB, "persist_live_message", busy)
    told: list[Told] = []
    action = Record("run.jsonl", pieces(written(*WHOLE), 512), again=True)
    outcome = await (await ready(action, store, store.parent.parent / "state")).run(told.append)
    assert outcome.error is None and asked == ["m", "m", "m"]
    # Whoever looks on is told why it does not go on.
    waiting = [each for each in told if "another program holds the store" in each.what]
    assert len(waiting) == 2 and {each.done for each in waiting} == {4}
    assert waiting[0].what.endswith("a message, line 3")

    async def refusing(self: StateDB, msg: Any, **given: Any) -> None:
        asked.append("refused")
        raise StateCompatibilityRefused("no", code="row-gone")

    monkeypatch.setattr(StateDB, "persist_live_message", refusing)
    outcome = await recorded(
        store, *(line | {"id": f"x{line.get('id')}"} if "id" in line else line for line in WHOLE)
    )
    assert isinstance(outcome.error, StoreError) and asked.count("refused") == 1


async def test_a_fault_of_ours_is_told_and_ends_the_run(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(self: StateDB, **given: Any) -> int:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(StateDB, "insert_session_signal", broken)
    outcome = await recorded(store, *WHOLE)
    assert outcome.event == "failed" and isinstance(outcome.error, ZeroDivisionError)
    assert outcome.stands == "The run was ended as failed."
    told = entries(store.parent.parent / "state")[-1]
    assert told.event == "failed" and told.refusal is not None and told.refusal["code"] == "our-fault"


async def test_the_progress_of_a_stream_has_no_total(store: Path) -> None:
    seen: list[Told] = []
    gate = await ready(
        Record("x", pieces(written(*WHOLE)), again=False), store, store.parent.parent / "state"
    )
    assert gate.preview is not None and gate.preview.counts is None and gate.preview.transactions is None
    assert gate.preview.calls == () and gate.preview.notes
    await gate.run(seen.append)
    assert {told.total for told in seen} == {None} and seen[-1].done == 9
