"""Whole lives of runs in a managed store, with everything that can go wrong in them on the way."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from persistence import StateDB, TransitionRejectedError
from persistence.artifacts import resolve_artifact_contract
from persistence.errors import StateCompatibilityRefused, StoreError
from persistence.runs import RunRecorder, record_run
from tests.managed import live, make_run, manager, message

__all__ = ["held", "live_through", "refusals"]


async def live_through(db: StateDB, desk: Path, folder: Path) -> None:
    """Completed, failed, cancelled, retried, refused: the recorder's lives, then what it does not reach."""
    contract = resolve_artifact_contract(
        agent_defaults={"expected": [{"id": "board", "path": "board.md", "required": False}]},
        playbook_artifacts=None,
    )
    async with record_run(
        db,
        contract=contract,
        artifacts_root=str(folder),
        system=message("life-sys", role="system"),
        invocation_id="kim-inv",
        model="mo",
    ) as run:
        await run.message(message("life-1"))
        await run.message(message("life-2", lion_class_str="acme.messages.Other"))
        await run.message(message("life-2", "again", lion_class_str="acme.messages.Other"))
        await run.signal("op.progress", {"n": 1})
        await run.provider_error({"said": "overloaded"})
    with contextlib.suppress(KeyError):
        async with record_run(db) as run:
            await run.message(message("life-3"))
            raise KeyError("failed")
    await cancelled(db)
    await retried(db, desk)
    await refusals(db, desk)


async def cancelled(db: StateDB) -> None:
    begun = asyncio.Event()

    async def life() -> None:
        async with record_run(db) as run:
            await run.message(message("life-4"))
            begun.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(life())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def retried(db: StateDB, desk: Path) -> None:
    recorder = RunRecorder(db)
    await recorder.begin()
    async with held(desk):
        await recorder.message(message("life-5"))  # waits for the store, behind this call
    await recorder.end("completed", "run.completed.ok", usage={"input_tokens": 3}, metadata={"k": 1})


@asynccontextmanager
async def held(desk: Path) -> AsyncIterator[None]:
    """The manager holds the store's write lock."""
    with closing(sqlite3.connect(desk, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def refusals(db: StateDB, desk: Path) -> None:
    """What the recorder does not do, each operation's refusals among it."""
    await make_run(db, "-r")
    await db.insert_message(message("r-1"))
    await db.insert_message(message("r-1", "again"))
    await no(db.insert_message(message("lee-msg")))
    await db.insert_message(message("r-2", lion_class_str="acme.messages.Third"))
    await db.create_progression("r-p", ["r-1"])
    await no(db.create_progression("lee-prog"))
    await db.append_to_progression("r-p", "r-2")
    await db.append_to_progression("r-p", "r-2")
    await db.insert_messages(
        [message("r-3"), message("r-4", lion_class_str="acme.messages.Fourth"), message("r-3")],
        progression_ids=["r-p"],
        session_id="s-r",
    )
    await db.insert_messages([message("r-3")], progression_ids=["r-p"])
    await no(db.insert_messages([message("lee-msg")]))
    await db.create_progression("r-o")
    await no(db.create_session({"id": "lee-sess", "progression_id": "r-o"}))
    await no(db.create_session({"id": "r-s", "progression_id": "r-o", "invocation_id": "lee-inv"}))
    await db.create_session(
        {"id": "r-s", "progression_id": "r-o", "first_msg_id": "r-1", "last_msg_id": "r-2"}
    )
    await no(db.create_branch({"id": "lee-branch", "session_id": "r-s", "progression_id": "r-o"}))
    await db.create_branch(
        {"id": "r-b", "session_id": "r-s", "progression_id": "r-o", "system_msg_id": "r-1"}
    )
    await live(db, "r-sys", "-r", system_branch_id="b-r")
    await no(live(db, "lee-msg", "-r"))
    await db.update_session("r-s", first_msg_id="r-2", last_msg_id="r-2", node_metadata={"a": 1})
    await db.update_session("r-s", name="n", invocation_id="kim-inv", set_if_null=("name",))
    await db.update_session("r-s", status="running", reason_code="run.started.ok")
    await db.update_session("r-s", status="failed", reason_code="run.failed.exception")
    for change in (
        db.update_session("r-s", status="running", reason_code="run.started.ok"),
        db.update_status("session", "r-s", new_status="running", reason_code="run.started.ok"),
    ):
        with pytest.raises(TransitionRejectedError):
            await change
    await db.update_status("session", "s-r", new_status="running", reason_code="run.started.ok")
    await db.set_session_user_label("s-r", "mine")
    await db.update_branch("r-b", name="trunk", system_msg_id="r-1", node_metadata={"a": 1})
    await db.finalize_branch("r-b", status="completed")
    await db.finalize_branch("r-b", status="failed")
    await db.update_status("session", "s-r", new_status="aborted", reason_code="run.aborted.user")
    await no(live(db, "r-late", "-r"))
    await no(db.insert_messages([message("r-late")], session_id="s-r"))
    await taken(db, desk)


async def taken(db: StateDB, desk: Path) -> None:
    """The manager gives rows of the run to another owner, and the run writes them."""
    await make_run(db, "-t")
    manager(desk, "UPDATE branches SET owner_id = 'lee' WHERE id = 'b-t'")
    await no(live(db, "t-sys", "-t", system_branch_id="b-t"))
    manager(desk, "UPDATE sessions SET owner_id = 'lee' WHERE id = 's-t'")
    await no(db.update_session("s-t", name="n"))
    await no(db.update_session("s-t", status="failed", reason_code="run.failed.exception"))
    await no(db.update_artifact_verification("s-t", {}))
    await no(db.set_session_user_label("s-t", "mine"))
    await no(db.merge_session_node_metadata("s-t", {"a": 1}))
    manager(desk, "UPDATE messages SET owner_id = 'lee' WHERE id = 'm-t'")
    await no(live(db, "m-t", "-t"))


async def no(call: Awaitable[Any]) -> StoreError:
    with pytest.raises(StateCompatibilityRefused) as caught:
        await call
    return caught.value
