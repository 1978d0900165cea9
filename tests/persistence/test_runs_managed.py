"""The recorder in a managed store: cancelled anywhere, kept waiting, refused."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inspector.demo.acme_desk import invariants
from persistence import BusyError, StateCompatibilityRefused, StateDB, ValueRefusedError, live_queue
from persistence.engines.compatibility import CompatibilityEngine
from persistence.retrying import retried, to_its_end
from persistence.runs import RunRecorder, record_run
from persistence.schema.known import TERMINAL
from tests.managed import dump, manager, message, profile_of, shipped
from tests.persistence.compatibility.lifecycle import held


async def a_life(db: StateDB, session_id: str) -> None:
    recorder = RunRecorder(db, session_id=session_id)
    await recorder.begin(system=message("sys", role="system"))
    try:
        await recorder.message(message("m1"))
        await recorder.message(message("m2"))
        await recorder.signal("k", {})
        await recorder.provider_error({"said": "no"})
    except asyncio.CancelledError:
        await recorder.end("cancelled", "run.cancelled.system")
        raise
    await recorder.end("completed", "run.completed.ok", usage={"input_tokens": 1})


WRITES = 13  # of `a_life`
MOMENTS = ("before", "committed", "after")


class Cancelling:
    """Cancels the task of a life at one moment of its n-th write."""

    def __init__(self, at: int, moment: str) -> None:
        self.at, self.moment = at, moment
        self.count = 0
        self.task: asyncio.Task[None] | None = None

    def wrapped(self, run: Callable[..., Any]) -> Callable[..., Any]:
        async def cancelling(engine: Any, operation: str, steps: Any, *, transaction: str, kept: Any) -> Any:
            self.count += 1
            now = self.count == self.at
            loop = asyncio.get_running_loop()
            assert self.task is not None
            if now and self.moment == "before":
                self.task.cancel()

            def keeping(answer: Any) -> None:
                if now and self.moment == "committed":  # on the driver's thread, right after COMMIT
                    assert self.task is not None
                    loop.call_soon_threadsafe(self.task.cancel)
                kept(answer)

            answer = await run(engine, operation, steps, transaction=transaction, kept=keeping)
            if now and self.moment == "after":
                self.task.cancel()
            return answer

        return cancelling


@pytest.mark.adr("0128-D8-06", "0128-D6-24")
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("at", range(1, WRITES + 1))
async def test_a_run_is_cancelled_at_each_write_and_ends_either_way(
    kim: StateDB, desk: Path, monkeypatch: pytest.MonkeyPatch, at: int, moment: str
) -> None:
    before = dump(desk)
    cancelling = Cancelling(at, moment)
    monkeypatch.setattr(CompatibilityEngine, "run", cancelling.wrapped(CompatibilityEngine.run))
    task = cancelling.task = asyncio.create_task(a_life(kim, "s-life"))
    await asyncio.wait([task])
    assert cancelling.count >= at
    # The last writes are the end itself: they are done whole, and the cancelling is told after them.
    assert task.cancelled()
    after = dump(desk)
    rows = [row for row in after["sessions"] if row not in before["sessions"]]
    statuses = manager(desk, "SELECT status FROM sessions WHERE id = 's-life'")
    assert len(rows) == len(statuses) <= 1
    assert all(status in TERMINAL["session"] for (status,) in statuses)
    created = kim._writer._created
    for table in ("progressions", "messages", "sessions", "branches"):
        for row in after[table]:
            if row not in before[table]:
                assert created.made((table, row[0])), "a committed row the handle does not know"
    with closing(sqlite3.connect(desk)) as connection:
        problems = list(invariants.problems(connection))
    assert problems == []


@pytest.mark.adr("0128-D6-22")
async def test_messages_wait_for_a_busy_store_in_their_order(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONAGI_SQLITE_BUSY_TIMEOUT_MS", "10")
    async with StateDB(desk, profile=shipped(), owner="kim") as db, record_run(db) as run:
        async with held(desk):
            for number in range(5):
                await run.message(message(f"m{number}"))
            assert manager(desk, "SELECT count(*) FROM messages WHERE id LIKE 'm_'") == [(0,)]
        await run.message(message("m5"))
    session = manager(desk, f"SELECT progression_id, status FROM sessions WHERE id = '{run.session_id}'")
    ((progression, status),) = session
    assert status == "completed"
    async with StateDB(desk) as db:
        assert await db.get_progression(progression) == [f"m{number}" for number in range(6)]


async def test_what_waits_is_bounded_and_then_the_run_waits_too(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONAGI_SQLITE_BUSY_TIMEOUT_MS", "10")
    monkeypatch.setattr(live_queue, "WAITING", 2)
    async with StateDB(desk, profile=shipped(), owner="kim") as db, record_run(db) as run:
        async with held(desk):
            for number in range(2):
                await run.message(message(f"m{number}"))
            third = asyncio.create_task(run.message(message("m2")))
            await asyncio.sleep(0.1)
            assert not third.done()
        await third
        assert manager(desk, "SELECT count(*) FROM messages WHERE id LIKE 'm_'") == [(3,)]


async def test_a_store_that_stays_busy_is_an_error_not_a_success(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONAGI_SQLITE_BUSY_TIMEOUT_MS", "10")
    async with StateDB(desk, profile=shipped(), owner="kim") as db:
        recorder = RunRecorder(db, patience=0.05)
        await recorder.begin()
        async with held(desk):
            await recorder.message(message("m1"))
            with pytest.raises(BusyError):
                await recorder.end("completed", "run.completed.ok")
    (found,) = manager(desk, f"SELECT status FROM sessions WHERE id = '{recorder.session_id}'")
    assert found != ("completed",)


@pytest.mark.adr("0128-D6-22", "0128-D6-24", "0128-D6-18")
async def test_a_refusal_is_never_tried_again_and_stays(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_SQLITE_BUSY_TIMEOUT_MS", "10")
    tried: list[str] = []
    run_it = CompatibilityEngine.run

    async def counted(engine: Any, operation: str, *arguments: Any, **named: Any) -> Any:
        tried.append(operation)
        return await run_it(engine, operation, *arguments, **named)

    monkeypatch.setattr(CompatibilityEngine, "run", counted)
    async with StateDB(desk, profile=shipped(), owner="kim") as db:
        recorder = RunRecorder(db)
        await recorder.begin()
        tried.clear()
        with pytest.raises(StateCompatibilityRefused) as caught:
            await recorder.message(message("lee-msg"))
        assert tried == ["persist_live_message"]
        assert caught.value.code == "id-taken"
        assert caught.value.committed == ("progression", "session", "branch")
        # Whoever swallowed it hears it again, and the run does not end as one that succeeded.
        with pytest.raises(StateCompatibilityRefused):
            await recorder.message(message("m1"))
        with pytest.raises(StateCompatibilityRefused):
            await recorder.end("completed", "run.completed.ok")
    assert manager(desk, f"SELECT status FROM sessions WHERE id = '{recorder.session_id}'") == [("failed",)]
    assert manager(desk, "SELECT count(*) FROM messages WHERE id = 'm1'") == [(0,)]


@pytest.mark.adr("0128-D6-22")
async def test_a_refusal_behind_a_wait_is_told_by_the_next_call(
    desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONAGI_SQLITE_BUSY_TIMEOUT_MS", "10")
    async with StateDB(desk, profile=shipped(), owner="kim") as db:
        recorder = RunRecorder(db)
        await recorder.begin()
        async with held(desk):
            await recorder.message(message("lee-msg"))
        with pytest.raises(StateCompatibilityRefused):
            await recorder.end("completed", "run.completed.ok")
    assert manager(desk, f"SELECT status FROM sessions WHERE id = '{recorder.session_id}'") == [("failed",)]


@pytest.mark.adr("0128-D6-23")
@pytest.mark.parametrize(
    "operation", ["create_progression", "create_session", "create_branch", "insert_message"]
)
async def test_a_refusal_at_set_up_is_raised(desk: Path, operation: str) -> None:
    without = profile_of(*(name for name in shipped().operations if name != operation))
    async with StateDB(desk, profile=without, owner="kim") as db:
        with pytest.raises(StateCompatibilityRefused) as caught:
            async with record_run(db, system=message("sys")):
                pytest.fail("the run began")
        assert caught.value.operation == operation
    running = manager(desk, "SELECT count(*) FROM sessions WHERE status = 'running' AND owner_id = 'kim'")
    assert running == [(0,)]


async def test_a_value_no_store_can_keep_is_its_caller_s_to_mend(kim: StateDB, desk: Path) -> None:
    async with record_run(kim) as run:
        with pytest.raises(ValueRefusedError):
            await run.message(message("m1", created_at="never"))
        await run.message(message("m1"))
    assert manager(desk, f"SELECT status FROM sessions WHERE id = '{run.session_id}'") == [("completed",)]


async def test_work_goes_to_its_end_however_often_it_is_cancelled() -> None:
    done: list[str] = []
    going = asyncio.Event()

    async def work() -> None:
        for _ in range(3):
            await going.wait()
        done.append("done")

    task = asyncio.create_task(to_its_end(work()))
    for _ in range(3):
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    going.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert done == ["done"]

    async def fail() -> None:
        raise KeyError("told")

    with pytest.raises(KeyError):
        await to_its_end(fail())


async def test_only_a_busy_store_is_asked_again() -> None:
    asked: list[int] = []

    async def busy_twice() -> str:
        asked.append(1)
        if len(asked) < 3:
            raise BusyError("busy")
        return "done"

    assert await retried(busy_twice, patience=30) == "done" and len(asked) == 3

    async def refuse() -> None:
        asked.append(1)
        raise StateCompatibilityRefused("no")

    asked.clear()
    with pytest.raises(StateCompatibilityRefused):
        await retried(refuse)
    assert len(asked) == 1
