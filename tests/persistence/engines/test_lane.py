"""Calls of one driver's thread that share hops: each on its own, in order, cancelled on its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiosqlite
import pytest

from persistence.engines import lane as lanes
from persistence.engines.lane import Lane
from persistence.engines.native_sqlite import Stop
from persistence.errors import StoreError


class Interrupts:
    """In the place of a connection: how often it was interrupted."""

    count = 0

    def interrupt(self) -> None:
        self.count += 1


class Held:
    """A lane whose thread a first call holds until it is let go; what ran is in `ran`, in its order."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        self.lane = Lane(driver, "the store")
        self.ran: list[Any] = []
        self.interrupts = Interrupts()
        self.stops: dict[Any, Stop] = {}
        self.begun, self.go = threading.Event(), threading.Event()
        self.hops = 0

    def call(self, name: Any, work: Callable[[], Any] | None = None) -> asyncio.Task[Any]:
        stop = self.stops[name] = Stop(self.interrupts)  # type: ignore[arg-type]

        def run() -> Any:
            self.ran.append(name)
            return name if work is None else work()

        return asyncio.create_task(self.lane.call(run, stop))

    async def hold(self, name: Any = "first") -> asyncio.Task[Any]:
        def wait() -> Any:
            self.begun.set()
            assert self.go.wait(5)
            return name

        task = self.call(name, wait)
        while not self.begun.is_set():
            await asyncio.sleep(0.001)
        return task


@pytest.fixture
async def held(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Held]:
    monkeypatch.setattr(lanes, "_LONGEST", 5.0)
    async with aiosqlite.connect(":memory:") as driver:
        made = Held(driver)
        each = made.lane._each

        def counted(calls: Any) -> None:
            made.hops += 1
            each(calls)

        monkeypatch.setattr(made.lane, "_each", counted)
        yield made
        made.go.set()


async def test_one_call_answers(held: Held) -> None:
    assert await held.call("a") == "a"
    assert await held.call("b") == "b"
    assert held.hops == 2


async def test_calls_that_wait_share_the_next_hop_in_their_order(held: Held) -> None:
    first = await held.hold()
    others = [held.call(number) for number in range(10)]
    await asyncio.sleep(0)
    held.go.set()
    assert await asyncio.gather(first, *others) == ["first", *range(10)]
    assert held.ran == ["first", *range(10)]
    assert held.hops == 2


async def test_a_hop_takes_only_so_many(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "_TOGETHER", 3)
    first = await held.hold()
    others = [held.call(number) for number in range(7)]
    await asyncio.sleep(0)
    held.go.set()
    assert await asyncio.gather(first, *others) == ["first", *range(7)]
    assert held.ran == ["first", *range(7)]
    assert held.hops == 1 + 3


async def test_after_its_time_a_hop_begins_no_further_call(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "_LONGEST", -1.0)
    first = await held.hold()
    others = [held.call(number) for number in range(4)]
    await asyncio.sleep(0)
    held.go.set()
    assert await asyncio.gather(first, *others) == ["first", *range(4)]
    assert held.ran == ["first", *range(4)]
    assert held.hops == 5


async def test_an_error_is_its_own_callers(held: Held) -> None:
    def fails() -> None:
        raise ZeroDivisionError

    first = await held.hold()
    one, bad, two = held.call("one"), held.call("bad", fails), held.call("two")
    await asyncio.sleep(0)
    held.go.set()
    found = await asyncio.gather(first, one, bad, two, return_exceptions=True)
    assert [type(each) for each in found] == [str, str, ZeroDivisionError, str]
    assert await held.call("after") == "after"


async def test_a_cancelled_call_that_waits_never_runs(held: Held) -> None:
    first = await held.hold()
    one, two = held.call("one"), held.call("two")
    await asyncio.sleep(0)
    one.cancel()
    with pytest.raises(asyncio.CancelledError):
        await one  # at once: the thread is still held
    assert not first.done()
    held.go.set()
    assert await asyncio.gather(first, two) == ["first", "two"]
    assert held.ran == ["first", "two"]
    assert held.interrupts.count == 0


async def test_a_cancelled_call_on_the_thread_that_was_not_begun_never_runs(held: Held) -> None:
    opener = await held.hold("opener")
    begun, go = threading.Event(), threading.Event()

    def wait() -> str:
        begun.set()
        assert go.wait(5)
        return "leader"

    leader, one, two = held.call("leader", wait), held.call("one"), held.call("two")
    await asyncio.sleep(0)
    held.go.set()
    while not begun.is_set():
        await asyncio.sleep(0.001)
    one.cancel()
    with pytest.raises(asyncio.CancelledError):
        await one
    assert not leader.done()
    go.set()
    assert await asyncio.gather(opener, leader, two) == ["opener", "leader", "two"]
    assert held.ran == ["opener", "leader", "two"]
    assert held.interrupts.count == 0
    assert not held.stops["leader"].asked


@pytest.mark.parametrize("position", ["leads", "follows"])
async def test_a_cancelled_call_that_runs_is_interrupted_and_waited_for(held: Held, position: str) -> None:
    opener = await held.hold("opener")
    begun, go = threading.Event(), threading.Event()

    def wait() -> str:
        begun.set()
        assert go.wait(5)
        return "done"

    before = [] if position == "leads" else [held.call("before")]
    one, two = held.call("one", wait), held.call("two")
    await asyncio.sleep(0)
    held.go.set()
    while not begun.is_set():
        await asyncio.sleep(0.001)
    for _ in range(2):
        one.cancel()
        await asyncio.sleep(0.01)
        assert not one.done()
    assert held.stops["one"].asked
    assert not held.stops["two"].asked
    assert held.interrupts.count >= 1
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await one
    assert await asyncio.gather(opener, *before, two) == ["opener", *["before" for _ in before], "two"]
    assert await held.call("after") == "after"


async def test_one_that_is_cancelled_as_it_is_to_lead_leaves_the_lane_to_the_next(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await held.hold()
    one, two, three = held.call("one"), held.call("two"), held.call("three")
    await asyncio.sleep(0)

    left = held.lane._next

    def cancels() -> None:
        left()
        one.cancel()  # it leads from now on, and has not gone on yet

    monkeypatch.setattr(held.lane, "_next", cancels)
    held.go.set()
    assert await first == "first"
    assert await asyncio.gather(two, three) == ["two", "three"]
    with pytest.raises(asyncio.CancelledError):
        await one
    assert held.ran == ["first", "two", "three"]


async def test_every_call_is_told_that_the_connection_was_closed(held: Held) -> None:
    first = await held.hold()
    others = [held.call(number) for number in range(3)]
    await asyncio.sleep(0)
    stopped = held.driver.stop()  # behind what is held; from now on it takes no call
    held.go.set()
    found = await asyncio.gather(first, *others, return_exceptions=True)
    assert found[0] == "first"
    assert [getattr(error, "code", None) for error in found[1:]] == ["not-open"] * 3
    with pytest.raises(StoreError):
        await held.call("after")
    assert held.ran == ["first"]
    await stopped  # the connection's own close would wait for a thread that has gone


async def test_cancelled_at_any_moment_each_call_ran_or_did_not(held: Held) -> None:
    """Many tasks, some cancelled at some step: who is told an answer has it, and nobody waits for ever."""
    held.go.set()

    async def one(number: int) -> int:
        answer: int = await held.call(number)
        return answer

    async with asyncio.timeout(20):
        for round_ in range(60):
            held.ran.clear()
            tasks = [asyncio.create_task(one(number)) for number in range(8)]
            for _ in range(round_ % 6):
                await asyncio.sleep(0)
            for number in range(round_ % 3, 8, 3):
                tasks[number].cancel()
            found = await asyncio.gather(*tasks, return_exceptions=True)
            for number, answer in enumerate(found):
                assert answer == number or isinstance(answer, asyncio.CancelledError)
                assert held.ran.count(number) == 1 or (isinstance(answer, asyncio.CancelledError))
            assert await held.call("after") == "after"
