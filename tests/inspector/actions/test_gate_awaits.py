"""An action cancelled at every await there is: it ends, the journal says so, and no run is left running."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from inspector.actions.probe import Probe
from tests.inspector.actions.managed import all_hold, desk, entries, ready, rows
from tests.persistence.test_runs_awaits import cancelled_at

MOST = 300
"""Awaits of an action at most; it has far fewer."""


async def test_an_action_is_cancelled_at_each_await(tmp_path: Path) -> None:
    store, folder = desk(tmp_path / "desk" / "managed.db"), tmp_path / "state"
    stages: set[tuple[str, int]] = set()
    for at in range(1, MOST):
        before = len(entries(folder))
        gate = await ready(Probe(), store, folder)
        waited: list[int] = []

        async def going(gate: Any = gate, at: int = at, waited: list[int] = waited) -> None:
            waited.append(await cancelled_at(gate.run(), at))

        task = asyncio.create_task(going())
        await asyncio.wait([task])
        told = entries(folder)[before:]
        assert not gate.is_open and gate.outcome is not None
        assert rows(store, "SELECT id FROM sessions WHERE status = 'running' AND owner_id = 'kim'") == []
        (begun, ended) = told
        assert begun.event == "begun" and ended.event in ("interrupted", "done") and ended.id == begun.id
        assert (ended.event, ended.committed) == (gate.outcome.event, gate.outcome.committed)
        stages.add((ended.event, sum(phase.count for phase in ended.committed)))
        if task.cancelled():
            with pytest.raises(asyncio.CancelledError) as caught:
                task.result()
            assert caught.value.args == (gate.outcome,)
        else:
            assert ended.event == "done"  # all was committed: it is done, whoever was cancelled
            if waited[0] < at:
                break
    else:
        pytest.fail("it never came to its end")
    # Before anything, in the middle, and when all was done already.
    assert {count for _, count in stages} >= {0, 8} and len(stages) > 5
    assert all_hold(store)
