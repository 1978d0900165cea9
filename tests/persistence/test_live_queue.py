"""A run's messages on their way: those of callers that wait together are kept together, in their order."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from persistence import BusyError, StateCompatibilityRefused, StateDB, ValueRefusedError
from persistence.engines.lane import Lane
from persistence.live_queue import TOGETHER, LiveMessage, LiveQueue
from persistence.runs import record_run
from tests.managed import manager, message, shipped


class Store:
    """Keeps ids, with one that it refuses; `given` are the messages it was given at once."""

    def __init__(self, refused: str = "", error: Exception | None = None) -> None:
        self.refused, self.error = refused, error
        self.kept: list[str] = []
        self.given: list[int] = []
        self.free = asyncio.Event()
        self.free.set()

    async def keep(self, messages: Sequence[LiveMessage], kept: Callable[[LiveMessage], None]) -> None:
        self.given.append(len(messages))
        await self.free.wait()
        for one in messages:
            if one.row["id"] == self.refused and self.error is not None:
                raise self.error
            self.kept.append(one.row["id"])
            kept(one)


def ids(count: int) -> list[str]:
    return [f"m{number}" for number in range(count)]


async def all_of(queue: LiveQueue, names: Sequence[str]) -> list[Any]:
    return await asyncio.gather(*(queue.add({"id": name}) for name in names), return_exceptions=True)


async def test_callers_that_wait_at_the_same_time_are_kept_together() -> None:
    store = Store()
    queue = LiveQueue(store.keep, 1.0)
    store.free.clear()
    first = asyncio.create_task(queue.add({"id": "first"}))
    await asyncio.sleep(0)
    others = asyncio.create_task(all_of(queue, ids(5)))
    await asyncio.sleep(0)
    store.free.set()
    assert await others == [None] * 5
    await first
    assert store.kept == ["first", *ids(5)]
    assert store.given == [1, 5]
    assert (queue.first, queue.last, queue.failed) == ("first", "m4", None)


async def test_only_so_many_are_given_at_once() -> None:
    store = Store()
    queue = LiveQueue(store.keep, 1.0)
    assert await all_of(queue, ids(TOGETHER + 3)) == [None] * (TOGETHER + 3)
    assert store.kept == ids(TOGETHER + 3)
    assert store.given == [1, TOGETHER, 2]  # the first was alone when it came


async def test_a_value_no_store_can_keep_is_its_own_callers_and_the_others_are_kept() -> None:
    wrong = ValueRefusedError("no")
    store = Store("m2", wrong)
    queue = LiveQueue(store.keep, 1.0)
    assert await all_of(queue, ids(5)) == [None, None, wrong, None, None]
    assert store.kept == ["m0", "m1", "m3", "m4"]
    assert queue.failed is None
    assert await all_of(queue, ["after"]) == [None]


async def test_a_value_nobody_waits_for_ends_the_keeping() -> None:
    wrong = ValueRefusedError("no")
    store = Store("m1", wrong)
    queue = LiveQueue(store.keep, 1.0)
    store.free.clear()
    tasks = [asyncio.create_task(queue.add({"id": name})) for name in ids(3)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.sleep(0)
    store.free.set()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(found[1], asyncio.CancelledError)
    assert queue.failed is wrong
    assert store.kept == ["m0"]


async def test_a_refusal_keeps_nothing_that_came_after_it() -> None:
    refusal = StateCompatibilityRefused("no", code="guard-row", operation="x", profile="p")
    store = Store("m1", refusal)
    queue = LiveQueue(store.keep, 1.0)
    found = await all_of(queue, ids(4))
    assert refusal in found
    assert queue.failed is refusal
    assert store.kept == ["m0"]
    await queue.flush()
    assert store.kept == ["m0"]


async def test_callers_of_a_busy_store_have_one_task_that_keeps_theirs_later() -> None:
    store = Store("m1", BusyError("busy"))
    queue = LiveQueue(store.keep, 5.0)
    assert await all_of(queue, ids(4)) == [None] * 4
    assert store.kept == ["m0"]
    later = queue._later
    assert later is not None
    await queue.add({"id": "m4"})
    assert queue._later is later
    store.error = None
    await queue.flush()
    assert store.kept == ids(5)
    assert queue._later is None


# -- in a managed store -------------------------------------------------------------------------------------


@pytest.fixture
async def db(desk: Path) -> AsyncIterator[StateDB]:
    async with StateDB(desk, profile=shipped(), owner="kim") as opened:
        yield opened


def orders(desk: Path, session: str) -> list[str]:
    with closing(sqlite3.connect(desk)) as connection:
        return [
            name
            for (name,) in connection.execute(
                "SELECT value FROM sessions, progressions p, json_each(p.collection) "
                "WHERE sessions.id = ? AND p.id = progression_id",
                (session,),
            )
        ]


async def test_messages_of_many_tasks_share_hops_and_keep_their_order(
    desk: Path, db: StateDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    each, hops = Lane._each, []

    def counted(lane: Lane, calls: Any) -> None:
        hops.append(len(calls))
        each(lane, calls)

    async with record_run(db) as run:
        before = db.committed.get("live message", 0)
        monkeypatch.setattr(Lane, "_each", counted)
        await asyncio.gather(*(run.message(message(name)) for name in ids(24)))
        # Each is a transaction of its own; after the first, which was alone, eight share a hop.
        assert db.committed["live message"] - before == 24
        assert len(hops) == 4
    assert orders(desk, run.session_id) == ids(24)
    assert manager(desk, f"SELECT status FROM sessions WHERE id = '{run.session_id}'") == [("completed",)]


async def test_a_refused_message_of_many_ends_the_run_with_those_before_it(desk: Path, db: StateDB) -> None:
    taken = "m5"
    manager(
        desk,
        "INSERT INTO messages (id, created_at, content, role, lion_class, owner_id) "
        f"VALUES ('{taken}', 1.0, '{{}}', 'user', 0, 'lee')",
    )
    with pytest.raises(StateCompatibilityRefused) as met:
        async with record_run(db) as run:
            await asyncio.gather(*(run.message(message(name)) for name in ids(12)), return_exceptions=True)
    assert met.value.code == "id-taken"
    assert met.value.committed[-1] == "live message"
    assert orders(desk, run.session_id) == ids(5)
    assert manager(desk, f"SELECT status FROM sessions WHERE id = '{run.session_id}'") == [("failed",)]
    assert manager(desk, "SELECT owner_id FROM messages WHERE id = 'm5'") == [("lee",)]


async def test_a_value_of_one_of_many_is_told_to_its_caller(desk: Path, db: StateDB) -> None:
    async with record_run(db) as run:
        wrong = {**message("m3"), "content": {"text": float("nan")}}
        found = await asyncio.gather(
            *(run.message(wrong if name == "m3" else message(name)) for name in ids(8)),
            return_exceptions=True,
        )
    assert [type(one) for one in found] == [*[type(None)] * 3, ValueRefusedError, *[type(None)] * 4]
    assert orders(desk, run.session_id) == [name for name in ids(8) if name != "m3"]


async def test_a_store_that_is_changed_between_two_of_a_hop_refuses_the_second(
    desk: Path, db: StateDB
) -> None:
    """Every transaction asks on its own whose store it is, also within a hop."""
    from persistence.guard.same_store import SameStore

    check, asked = SameStore.check, []

    def moved(self: SameStore) -> None:
        asked.append(1)
        if len(asked) == 3:
            self._identity = (0, 0)
        check(self)

    with pytest.raises(StateCompatibilityRefused) as met:
        async with record_run(db) as run:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(SameStore, "check", moved)
                await asyncio.gather(*(run.message(message(name)) for name in ids(5)), return_exceptions=True)
    assert met.value.code == "store-replaced"
    assert manager(desk, "SELECT count(*) FROM messages WHERE id LIKE 'm_'") == [(2,)]
