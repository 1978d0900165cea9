"""A run in a managed store, cancelled at every await there is: not only around its writes."""

from __future__ import annotations

import asyncio
import sqlite3
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inspector.demo.acme_desk import invariants
from persistence import StateDB
from persistence.runs import RunRecorder, record_run
from persistence.schema.known import TERMINAL
from tests.managed import dump, manager, message

MOST = 400
"""Awaits of a life at most; it has far fewer."""


@types.coroutine
def cancelled_at(work: Coroutine[Any, Any, None], at: int) -> Generator[Any, Any, int]:
    """Runs `work` and cancels its task when it waits for the `at`-th time. How often it waited till then."""
    task = asyncio.current_task()
    assert task is not None
    waited, answer, thrown = 0, None, None
    while True:
        try:
            waits_for = work.send(answer) if thrown is None else work.throw(thrown)
        except StopIteration:
            return waited
        waited += 1
        if waited == at:
            task.cancel()
        try:
            answer, thrown = (yield waits_for), None
        except BaseException as error:
            answer, thrown = None, error


async def by_block(db: StateDB, name: str) -> None:
    async with record_run(db, system=message(f"{name}-sys", role="system"), name=name) as run:
        await run.message(message(f"{name}-1"))
        await run.signal("k", {})
        await run.message(message(f"{name}-2"))


async def by_hand(db: StateDB, name: str) -> None:
    run = RunRecorder(db)
    await run.begin(name=name)
    try:
        await run.message(message(f"{name}-1"))
        await run.provider_error({"said": "no"})
    except asyncio.CancelledError:
        await run.end("cancelled", "run.cancelled.system")
        raise
    await run.end("completed", "run.completed.ok", usage={"input_tokens": 1}, metadata={"k": 1})


@pytest.mark.adr("0128-D8-06", "0128-D6-24")
@pytest.mark.parametrize("life", [by_block, by_hand])
async def test_a_run_is_cancelled_at_each_await_and_none_is_left_running(
    kim: StateDB, desk: Path, life: Callable[[StateDB, str], Awaitable[None]]
) -> None:
    """What was committed the handle knows, a run whose session is there has an end, and the desk's own
    invariants hold; then the handle goes on with the next run."""
    before = dump(desk)
    made = kim._writer._created
    ended: list[bool] = []
    for at in range(1, MOST):
        task = asyncio.create_task(_as_task(life(kim, f"run-{at}"), at))
        await asyncio.wait([task])
        if not task.cancelled():
            assert task.result() < at, "it took a cancel for an answer"
            break
        found = manager(desk, f"SELECT status FROM sessions WHERE name = 'run-{at}'")
        ended += [status in TERMINAL["session"] for (status,) in found]
    else:
        pytest.fail("it never came to its end")
    assert all(ended) and 5 < len(ended) < at - 1
    after = dump(desk)
    for table in ("progressions", "messages", "sessions", "branches"):
        known = [made.made((table, row[0])) for row in after[table] if row not in before[table]]
        assert known and all(known), table
    with closing(sqlite3.connect(desk)) as connection:
        assert list(invariants.problems(connection)) == []


async def _as_task(work: Any, at: int) -> int:
    return await cancelled_at(work, at)
