"""Item 5: two principals, or two runs where a profile has no owner rule (ADR-0128 D8)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from persistence.errors import StateCompatibilityRefused
from persistence.proof.bench import Bench
from persistence.proof.kept import kept_since
from persistence.proof.lifecycle import message, read_back, record
from persistence.proof.readback import Recorded
from persistence.proof.scorecard import Item
from persistence.statedb import StateDB

__all__ = ["ownership"]

Attempt = Callable[[], Awaitable[object]]


async def ownership(bench: Bench) -> Item:
    """Both record runs; what one made, the other can neither change, nor name as a parent, nor make again."""
    ruled = bench.profile.owner is not None
    if ruled and len(bench.owners) < 2:
        return Item(5, ("a second principal is needed: --owner2",), {"attempts": 0})
    first, second = (bench.owners[0], bench.owners[1]) if ruled else (None, None)
    path = await bench.fresh()
    async with bench.open(path, first) as db:
        theirs = await record(db, first, "completed", path)
    before = await bench.fresh()
    before.write_bytes(path.read_bytes())
    failures: list[str] = []
    names: list[str] = []
    async with bench.open(path, second) as db:
        for name, attempt in _attempts(db, theirs, await _rows_of(path, theirs)).items():
            names.append(name)
            try:
                await attempt()
                failures.append(f"{name}: it was not refused")
            except StateCompatibilityRefused:
                pass
            except Exception as error:
                failures.append(f"{name}: {type(error).__name__}, and no refusal: {error}")
        ours = await record(db, second, "completed", path)
    failures += await read_back(bench, path, theirs)
    failures += await read_back(bench, path, ours)
    failures += (await kept_since(bench, before, path)).failures
    notes = () if ruled else ("the profile has no owner rule: 'made by this run' is the only rule for rows",)
    return Item(5, tuple(failures), {"attempts": len(names), "names": names}, notes)


async def _rows_of(path: Any, run: Recorded) -> dict[str, str]:
    async with StateDB(path) as db:
        session = await db.get_session(run.session)
        branches = await db.list_branches(run.session)
        assert session is not None
        return {
            "progression": session["progression_id"],
            "branch": branches[0]["id"],
            "branch_progression": branches[0]["progression_id"],
        }


def _attempts(db: StateDB, run: Recorded, rows: dict[str, str]) -> dict[str, Attempt]:
    session, taken = run.session, run.messages[0]
    new = {"id": "proof-own", "progression_id": rows["progression"]}
    return {
        "a progression with a taken id": lambda: db.create_progression(rows["progression"]),
        "a session with a taken id": lambda: db.create_session({**new, "id": session}),
        "a session on another's progression": lambda: db.create_session(new),
        "a branch with a taken id": lambda: db.create_branch(
            {"id": rows["branch"], "session_id": session, "progression_id": rows["branch_progression"]}
        ),
        "a branch of another's session": lambda: db.create_branch(
            {"id": "proof-branch", "session_id": session, "progression_id": rows["branch_progression"]}
        ),
        "a message with a taken id": lambda: db.insert_message({**message(0, "x"), "id": taken}),
        "a live message into another's run": lambda: db.persist_live_message(
            message(0, "proof"),
            session_id=session,
            branch_progression_id=rows["branch_progression"],
            session_progression_id=rows["progression"],
        ),
        "an append to another's progression": lambda: db.append_to_progression(rows["progression"], taken),
        "a progression that lists another's message": lambda: db.create_progression("proof-own", [taken]),
        "a signal of another's session": lambda: db.insert_session_signal(
            session_id=session, kind="x", op_id="", ts=1.0, payload={}
        ),
        "columns of another's session": lambda: db.update_session(session, name="taken over"),
        "metadata of another's session": lambda: db.merge_session_node_metadata(session, {"x": 1}),
        "the status of another's session": lambda: db.update_status(
            "session", session, new_status="failed", reason_code="run.failed.exception"
        ),
        "the end of another's branch": lambda: db.finalize_branch(rows["branch"], status="failed"),
        "the verification of another's session": lambda: db.update_artifact_verification(session, {}),
    }
