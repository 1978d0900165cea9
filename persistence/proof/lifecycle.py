"""Items 1 and 2: runs of every ending in every shape of the store, read back (ADR-0128 D8)."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from persistence.errors import StoreError
from persistence.proof.bench import Bench, off
from persistence.proof.readback import Recorded
from persistence.proof.scorecard import Item
from persistence.runs import RunRecorder, record_run
from persistence.statedb import StateDB

__all__ = ["ENDINGS", "lifecycle", "message", "read_back", "record", "shapes", "shown"]

ENDINGS = ("completed", "failed", "cancelled", "retried")
_HELD = 0.25
"""Seconds another writer holds the store while a message is recorded, so that it has to wait."""


def message(number: int, run: str) -> Mapping[str, Any]:
    """A message of a proof's run."""
    return {
        "id": f"{run}-m{number}",
        "created_at": time.time(),
        "role": ("user", "assistant")[number % 2],
        "sender": "prove",
        "content": {"text": f"message {number} of a proof's run"},
    }


class _ProviderFailure(Exception):
    """What a run of a proof is told to fail of."""


async def record(db: StateDB, owner: str | None, ending: str, path: Path, *, messages: int = 6) -> Recorded:
    """Records a run that ends so, and says what every reading path has to show of it."""
    kept: list[str] = []
    made: list[RunRecorder] = []
    begun = asyncio.Event()

    async def run() -> None:
        async with record_run(db, agent_name="prove", name=f"proof: {ending}") as recorder:
            made.append(recorder)
            for number in range(messages):
                said = message(number, recorder.session_id)
                if ending == "retried" and number == 1:
                    await _beside_another_writer(path, recorder, said)
                else:
                    await recorder.message(said)
                kept.append(said["id"])
            await recorder.signal("progress", {"share": 1.0})
            if ending == "failed":
                await recorder.provider_error({"kind": "made for a proof"})
                raise _ProviderFailure
            if ending == "cancelled":
                begun.set()
                await asyncio.Event().wait()

    task = asyncio.create_task(run())
    if ending == "cancelled":
        waits = asyncio.create_task(begun.wait())
        await asyncio.wait((task, waits), return_when=asyncio.FIRST_COMPLETED)
        waits.cancel()
        task.cancel()
    try:
        await task
    except (_ProviderFailure, asyncio.CancelledError):
        if ending not in ("failed", "cancelled"):
            raise
    status = "completed" if ending == "retried" else ending
    return Recorded(made[0].session_id, status, tuple(kept), owner, 1)


async def _beside_another_writer(path: Path, recorder: RunRecorder, said: Mapping[str, Any]) -> None:
    locked = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hold() -> None:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            loop.call_soon_threadsafe(locked.set)
            time.sleep(_HELD)
            connection.execute("ROLLBACK")

    holder = asyncio.create_task(asyncio.to_thread(hold))
    await locked.wait()
    await recorder.message(said)
    await holder


async def shown(path: Path, run: Recorded) -> list[str]:
    """What this library's own list, detail and conversation show of a run otherwise than it was recorded."""
    wrong: list[str] = []
    async with StateDB(path) as db:
        session = await db.get_session(run.session)
        if session is None:
            return [f"run {run.session}: it is not there"]
        if session["status"] != run.status:
            wrong.append(f"status is {session['status']!r}, and {run.status!r} was recorded")
        order = await db.get_progression(session["progression_id"])
        if tuple(order) != run.messages:
            wrong.append(
                f"{len(order)} messages are in its order, {len(run.messages)} recorded, or another order"
            )
        history = await db.list_status_transitions("session", run.session)
        if not history or history[-1]["status"] != run.status:
            wrong.append("its newest transition is not its status")
        missing = [identity for identity in run.messages if await db.get_message(identity) is None]
        if missing:
            wrong.append(f"{len(missing)} of its messages are not there")
    return [f"run {run.session}: {text}" for text in wrong]


async def read_back(bench: Bench, path: Path, run: Recorded) -> list[str]:
    """What reading paths show otherwise: this library's, and the managing application's own command."""
    wrong = await shown(path, run)
    if bench.readback is not None:
        readback = bench.readback
        wrong += await off(lambda: readback.failures(path, run))
    return wrong


async def shapes(bench: Bench) -> Item:
    """Every store given is admitted, and takes a whole run."""
    failures: list[str] = []
    seen: list[dict[str, Any]] = []
    for pristine in bench.pristines:
        path = await bench.fresh(pristine)
        shape = {"store": pristine.location.display, "shape": pristine.shape}
        try:
            async with bench.open(path, bench.owner) as db:
                run = await record(db, bench.owner, "completed", path)
            wrong = await read_back(bench, path, run)
        except StoreError as error:
            wrong = [f"{type(error).__name__} {error.code}: {error.message}"]
        seen.append({**shape, "held": not wrong})
        failures += [f"{pristine.location.display}: {text}" for text in wrong]
    notes = []
    if len({one["shape"] for one in seen}) < 2:
        notes.append("one shape was given; --store again with a migrated store shows the other")
    return Item(1, tuple(failures), {"stores": seen}, tuple(notes))


async def lifecycle(bench: Bench) -> Item:
    """A run of every ending in one store, each read back after its handle was closed."""
    path = await bench.fresh()
    failures: list[str] = []
    runs: list[Recorded] = []
    for ending in ENDINGS:
        bench.tell(f"a run that is {ending}")
        async with bench.open(path, bench.owner) as db:
            runs.append(await record(db, bench.owner, ending, path))
    for run in runs:
        failures += await read_back(bench, path, run)
    figures = {
        "runs": len(runs),
        "endings": list(ENDINGS),
        "messages": sum(len(run.messages) for run in runs),
        "read_back_by": "its own command" if bench.readback is not None else "this library's reading paths",
    }
    notes = () if bench.readback is not None else ("read back by generic paths: no --readback was given",)
    return Item(2, tuple(failures), figures, notes)
