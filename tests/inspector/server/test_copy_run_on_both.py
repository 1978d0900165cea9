"""A run copied into a managed store from a file and from a server comes out as the same run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector.actions.copying import CopyRun
from persistence import StateDB, locate
from tests.inspector.actions.managed import all_hold, desk, ready
from tests.inspector.server.conftest import Twins

LEAVE_OUT = ("duplicates", "dangling", "unreadable", "order", "history")
NEW = {"updated_at", "created_at"}
"""Moments that are the copy's own."""


async def copied(source: str, folder: Path) -> tuple[list[str], list[Any]]:
    """Some runs that have ended, copied; the outcomes, and what then lies in the managed store."""
    store = desk(folder / "managed.db")
    outcomes = []
    async with StateDB(locate(source)) as db:
        runs = [row["id"] for row in await db.list_sessions(status=["completed", "failed"], limit=6)]
        for run in sorted(runs):
            gate = await ready(CopyRun(db, run, LEAVE_OUT), store, folder / "state")
            outcome = await gate.run()
            outcomes.append(f"{run} {outcome.event} {outcome.error}")
    assert all_hold(store)
    async with StateDB(store) as managed:
        found: list[Any] = []
        for run in sorted(runs):
            session = await managed.get_session(run)
            assert session is not None
            found.append({name: value for name, value in session.items() if name not in NEW})
            order = await managed.get_progression(session["progression_id"])
            messages = await managed.get_messages(order)
            found += [order, [{**messages[each], "lion_class": 0} for each in order]]
            found.append([(row["kind"], row["payload"]) for row in await managed.list_session_signals(run)])
    return outcomes, found


async def test_a_run_comes_out_the_same_from_a_file_and_from_a_server(twins: Twins, tmp_path: Path) -> None:
    of_file, from_file = await copied(twins.file, tmp_path / "file")
    of_server, from_server = await copied(twins.url, tmp_path / "server")
    assert of_file and all(" done " in said for said in of_file) and of_file == of_server
    assert from_file == from_server
    journal = (tmp_path / "server" / "state" / "journal.jsonl").read_text("ascii")
    assert twins.secret not in journal and "postgresql" in journal
