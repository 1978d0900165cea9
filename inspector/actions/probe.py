"""`probe`: the smallest complete fresh run, marked as one, to see that a store takes a profile today."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.actions.plan import Call, Obstacle, Plan, ended_as
from inspector.version import __version__

if TYPE_CHECKING:
    from persistence.profiles.records import Profile
    from persistence.statedb import StateDB

__all__ = ["Probe", "ProbePlan"]

NAME = "store-inspector probe"
"""The name of the run: a probe is found by it, and by the key `probe` of its metadata."""


class ProbePlan:
    """A session, a branch, one message, and their end."""

    obstacles: Sequence[Obstacle] = ()
    notes: Sequence[str] = (
        f"The run is called {NAME!r}, and its metadata says that it is a probe. It stays in the store.",
    )

    def __init__(self, profile: Profile) -> None:
        self.run: str | None = str(uuid.uuid4())
        self._branch, self._message = str(uuid.uuid4()), str(uuid.uuid4())
        self._orders = str(uuid.uuid4()), str(uuid.uuid4())
        self._signal = "insert_session_signal" in profile.operations
        self._profile = profile.identity
        self.counts: Mapping[str, int] | None = dict(Counter(call.operation for call in self._calls()))

    async def calls(self, most: int | None = None) -> AsyncIterator[Call]:
        for call in self._calls():
            yield call

    def ending(self, status: str, why: str) -> Sequence[Call]:
        reason = "run.cancelled.sigint" if status == "cancelled" else None
        return ended_as(self.run or "", (self._branch,), status, why, reason)

    def _calls(self) -> tuple[Call, ...]:
        assert self.run is not None
        mark = {"probe": {"tool": f"store-inspector {__version__}", "profile": self._profile}}
        session = {
            "id": self.run,
            "progression_id": self._orders[0],
            "name": NAME,
            "status": "running",
            "started_at": _now(),
            "node_metadata": mark,
        }
        branch = {
            "id": self._branch,
            "session_id": self.run,
            "progression_id": self._orders[1],
            "name": "probe",
        }
        message = {
            "id": self._message,
            "role": "user",
            "content": {"text": "A probe: does this store take a run?"},
            "sender": NAME,
            "node_metadata": mark,
        }
        live = {
            "session_id": self.run,
            "branch_progression_id": self._orders[1],
            "session_progression_id": self._orders[0],
        }
        signal = {"session_id": self.run, "kind": "probe", "ts": _now(), "payload": mark}
        end = ended_as(self.run, (self._branch,), "completed", "a probe: every operation was taken")
        return (
            Call("create_progression", (self._orders[0],), about="the order of the run's messages"),
            Call("create_session", (session,), about="the run"),
            Call("create_progression", (self._orders[1],), about="the order of its branch's messages"),
            Call("create_branch", (branch,), about="its branch"),
            Call("persist_live_message", (message,), live, "its message"),
            *((Call("insert_session_signal", (), signal, "its signal"),) if self._signal else ()),
            *end,
        )


def _now() -> float:
    import time

    return time.time()


@dataclass(frozen=True)
class Probe:
    """The action."""

    name: str = "probe"
    source: str | None = None
    operations: tuple[str, ...] = (
        "create_progression",
        "create_session",
        "create_branch",
        "persist_live_message",
        "finalize_branch",
        "update_status",
    )

    async def plan(self, target: StateDB, profile: Profile) -> Plan:
        return ProbePlan(profile)
