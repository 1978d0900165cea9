"""Branches of a run (ADR-0128 A.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from persistence.engines.statements import Steps
from persistence.errors import TransitionRejectedError
from persistence.schema.known import TERMINAL
from persistence.writing.compatibility.columns import first, last, running_or_none
from persistence.writing.compatibility.declarations import (
    OWNER_OF,
    Insert,
    NewId,
    Operation,
    Own,
    Read,
    Update,
    UpdateSome,
)
from persistence.writing.compatibility.given import (
    identity,
    merged_keys,
    moment,
    only_columns,
    stored_mapping,
)
from persistence.writing.compatibility.running import Prepared, Running
from persistence.writing.native.lifecycle import check_status
from persistence.writing.native.rows import given, now, table
from persistence.writing.values import refuse, row_values

__all__ = ["CREATE_BRANCH", "FINALIZE_BRANCH", "UPDATE_BRANCH"]

# fmt: off
_COLUMNS: Final = (
    "id", "created_at", "node_metadata", "user", "name", "session_id", "progression_id", "system_msg_id",
    "model", "provider", "agent_name",
)
_CHANGED: Final = (
    "name", "user", "node_metadata", "system_msg_id", "model", "provider", "agent_name", "status",
    "started_at", "ended_at",
)
# fmt: on

NEW_BRANCH = Insert("branches", _COLUMNS)
CHANGED = UpdateSome(
    "branches",
    _CHANGED,
    {"started_at": first("started_at"), "ended_at": last("ended_at")},
    needed=("name", *_CHANGED[2:7]),
    later={"v_node_metadata": "what is there, with the keys given"},
)
ENDED = Update("branches", {"status": None, "ended_at": None}, where=running_or_none)
STATUS_OF = Read("branches", ("status", "node_metadata"), owned=True, assumed=(None, None))


def _create_branch(run: Running, branch: Mapping[str, Any]) -> Prepared:
    row = given("branches", branch, ("id", "session_id", "progression_id"))
    only_columns(run, "branches", row, _COLUMNS)
    row = {**dict.fromkeys(_COLUMNS), **row}
    row["created_at"] = now() if row["created_at"] is None else row["created_at"]
    values = row_values(table("branches"), row, "sqlite")
    run.check(row)

    def steps() -> Steps[None]:
        yield from run.held(row)
        yield from run.insert(NEW_BRANCH, values)

    return steps


def _update_branch(run: Running, branch_id: str, **fields: Any) -> Prepared:
    row = dict(fields)
    only_columns(run, "branches", row, CHANGED.updates(run.book.shape))
    if "status" in row:
        check_status("session", row["status"])
    patch = merged_keys(run, "branches", row.pop("node_metadata")) if "node_metadata" in row else None
    rows = {"branch_id": identity("branches", branch_id), **row}
    run.check(rows)
    parameters = CHANGED.values(run.book.shape, row_values(table("branches"), row, "sqlite"))

    def steps() -> Steps[None]:
        yield from run.held(rows)
        status, metadata = (yield run.call(STATUS_OF, k_id=branch_id)).rows[0][1:]
        if "status" in row and status in TERMINAL["session"] and row["status"] != status:
            raise TransitionRejectedError(
                f"The branch has ended as {status}. Nothing was written.",
                where=f"branches {branch_id}",
                expected=str(status),
                observed=str(row["status"]),
            )
        if patch is not None:
            whole = {**stored_mapping(run, "branches", branch_id, metadata), **patch}
            parameters.update(
                row_values(table("branches"), {"node_metadata": whole}, "sqlite"), g_node_metadata=1
            )
        if (row or patch is not None) and not (yield run.call(CHANGED, k_id=branch_id, **parameters)).changed:
            yield from run.still_own("branches", branch_id)

    return steps


def _finalize_branch(run: Running, branch_id: str, *, status: str, ended_at: float | None = None) -> Prepared:
    if status not in TERMINAL["session"]:
        refuse(
            "branches.status",
            f"This is no status to end with: {status!r:.40}.",
            ", ".join(sorted(TERMINAL["session"])),
            f"{status!r:.40}",
        )
    rows = {"branch_id": identity("branches", branch_id)}
    run.check(rows)
    at = moment("branches", "ended_at", ended_at)

    def steps() -> Steps[bool]:
        if (yield run.call(ENDED, k_id=branch_id, v_status=status, v_ended_at=at)).changed:
            return True
        yield from run.still_own("branches", branch_id)
        return False

    return steps


CREATE_BRANCH = Operation(
    name="create_branch",
    does="Adds a branch of this run's session.",
    transaction="branch",
    reached_from=(
        "recorder: set-up",
        "record: a branch line",
        "copy-run: a branch",
        "probe: set-up",
    ),
    requires=(
        NewId("branches", "id"),
        Own("sessions", "session_id"),
        Own("progressions", "progression_id"),
        Own("messages", "system_msg_id", optional=True),
    ),
    writes=(NEW_BRANCH, OWNER_OF["branches"]),
    keeps=("one-owner",),
    prepare=_create_branch,
)

UPDATE_BRANCH = Operation(
    name="update_branch",
    does="Changes columns of this run's branch; a branch that has ended keeps its status.",
    transaction="branch update",
    reached_from=("recorder: a branch-create event without a handle",),
    requires=(Own("branches", "branch_id"), Own("messages", "system_msg_id", optional=True)),
    writes=(STATUS_OF, CHANGED),
    keeps=("one-owner",),
    prepare=_update_branch,
    optional=True,
)

FINALIZE_BRANCH = Operation(
    name="finalize_branch",
    does="Ends this run's branch, while it has no status or is running.",
    transaction="branch end",
    reached_from=(
        "recorder: teardown, a branch-end event",
        "record: the end line",
        "copy-run: the end",
        "probe: the end",
    ),
    requires=(Own("branches", "branch_id", held_by_update=True),),
    writes=(ENDED, OWNER_OF["branches"]),
    keeps=("one-owner",),
    prepare=_finalize_branch,
)
