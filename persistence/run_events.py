"""What a run tells of itself while it is recorded, and the handlers that keep it (ADR-0128 A.2).

A run puts its own open handle on each event, and the handler writes through that one. Only an event without a
handle has its handler look for the process's shared handle of the store: that one is held to what it was
opened with, and refuses rows it did not make.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from persistence.errors import NoSuchRowError
from persistence.mode import Mode
from persistence.schema.known import TERMINAL

if TYPE_CHECKING:
    from persistence.location import StoreLocation
    from persistence.profiles.records import Profile
    from persistence.statedb import StateDB

__all__ = ["HANDLERS", "Handlers", "RunEvent", "RunEventKind", "emit"]

USAGE: Final = ("input_tokens", "output_tokens", "total_cost_usd", "num_turns")
_PROVENANCE: Final = (
    "model",
    "provider",
    "effort",
    "agent_name",
    "agent_hash",
    "project",
    "project_source",
    "invocation_id",
)
_OF_BRANCH: Final = ("model", "provider", "agent_name")


class RunEventKind(StrEnum):
    SESSION_START = "session-start"
    BRANCH_CREATE = "branch-create"
    BRANCH_END = "branch-end"
    SESSION_END = "session-end"


@dataclass(frozen=True, slots=True)
class RunEvent:
    """Something a run tells. `db` is the run's own handle; without it `store`, `profile` and `owner` say
    which shared handle is looked for. `details` are columns, and of an end its `status` and `reason_code`."""

    kind: RunEventKind
    session_id: str
    branch_id: str | None = None
    db: StateDB | None = None
    store: str | os.PathLike[str] | StoreLocation | None = None
    profile: str | os.PathLike[str] | Profile | None = None
    owner: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


Handlers = Mapping[RunEventKind, Callable[[RunEvent], Awaitable[None]]]


async def emit(event: RunEvent, handlers: Handlers | None = None) -> None:
    """Has the event handled; what its handler raises, a refusal above all, is the caller's to know."""
    handler = (HANDLERS if handlers is None else handlers).get(event.kind)
    if handler is not None:
        await handler(event)


@asynccontextmanager
async def _handle(event: RunEvent) -> AsyncIterator[StateDB]:
    if event.db is not None:
        yield event.db
        return
    from persistence.handles import shared_handle

    mode = Mode.NATIVE if event.profile is None else Mode.READ_ONLY  # a profile says the mode
    async with shared_handle(event.store, mode=mode, profile=event.profile, owner=event.owner) as db:
        yield db


async def _session_started(event: RunEvent) -> None:
    if event.db is not None:
        return  # set-up has written all of it
    async with _handle(event) as db:
        session = await _session(db, event)
        if session["status"] != "running":
            await db.update_status(
                "session", event.session_id, new_status="running", reason_code="run.started.ok"
            )
        columns = {name: event.details[name] for name in _PROVENANCE if name in event.details}
        columns["started_at"] = event.details.get("started_at", time.time())
        await db.update_session(event.session_id, set_if_null=("started_at",), **columns)


async def _branch_created(event: RunEvent) -> None:
    if event.db is not None:
        return  # set-up has written all of it
    async with _handle(event) as db:
        columns = {name: event.details.get(name) for name in _OF_BRANCH}
        await db.update_branch(_branch(event), **columns)


async def _branch_ended(event: RunEvent) -> None:
    async with _handle(event) as db:
        details = event.details
        await db.finalize_branch(_branch(event), status=details["status"], ended_at=details.get("ended_at"))


async def _session_ended(event: RunEvent) -> None:
    details = event.details
    async with _handle(event) as db:
        if event.db is None:
            session = await _session(db, event)
            if session["status"] not in TERMINAL["session"]:
                await db.update_session(event.session_id, **_ending(session, details))
        usage = {name: details[name] for name in USAGE if details.get(name) is not None}
        if usage:
            await db.update_session(event.session_id, **usage)


def _ending(session: Mapping[str, Any], details: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of an end: the status with its reason, and what is written with it."""
    ended_at = details.get("ended_at", time.time())
    columns = {
        "status": details["status"],
        "reason_code": details["reason_code"],
        "ended_at": ended_at,
    }
    started_at = session.get("started_at")
    if isinstance(started_at, int | float):
        columns["duration_ms"] = max(0.0, (ended_at - started_at) * 1000)
    if details.get("error") is not None:
        columns["node_metadata"] = {"error": details["error"]}
    return columns


async def _session(db: StateDB, event: RunEvent) -> Mapping[str, Any]:
    found = await db.get_session(event.session_id)
    if found is None:
        raise NoSuchRowError(
            "There is no such session. Nothing was written.", where=f"sessions {event.session_id}"
        )
    return found


def _branch(event: RunEvent) -> str:
    if event.branch_id is None:
        raise ValueError(f"a {event.kind} event names its branch")
    return event.branch_id


HANDLERS: Final[Handlers] = {
    RunEventKind.SESSION_START: _session_started,
    RunEventKind.BRANCH_CREATE: _branch_created,
    RunEventKind.BRANCH_END: _branch_ended,
    RunEventKind.SESSION_END: _session_ended,
}
"""What keeps a run unless its recorder is given others."""
