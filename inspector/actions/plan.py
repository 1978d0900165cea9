"""What an action is going to do, as data: calls of the manifest's operations, in their order.

The same calls are previewed and carried out, so that a preview cannot say anything else than what is done.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from persistence.errors import StoreError

if TYPE_CHECKING:
    from persistence.profiles.records import Profile
    from persistence.statedb import StateDB

__all__ = [
    "END_REASONS",
    "NAMED",
    "SHOWN",
    "Action",
    "Call",
    "Obstacle",
    "Plan",
    "Told",
    "ended_as",
    "missing_operations",
]

END_REASONS: Mapping[str, str] = {
    "completed": "run.completed.ok",
    "completed_empty": "run.completed_empty.no_evidence",
    "failed": "run.failed.exception",
    "timed_out": "run.timed_out.deadline",
    "aborted": "run.aborted.user",
    "cancelled": "run.cancelled.system",
}
"""The statuses a run ends with, and the reason code each has unless another is named."""


NAMED = 1_000
"""What is in the way that is named at most; all of it is counted."""
SHOWN = 5
"""What of it is named where there is little room."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a `StateDB` method, which is one operation of the manifest and one transaction."""

    operation: str
    arguments: tuple[Any, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)
    about: str = ""  # in a few words, which one this is

    async def run(self, db: StateDB) -> Any:
        return await getattr(db, self.operation)(*self.arguments, **self.named)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Something of a plan that the store would refuse. `leave_out` is the word of `--leave-out` that goes on
    without it (None: nothing does), `left_out` whether it was given. `named`: the first `NAMED` of all."""

    code: str
    says: str
    count: int = 1
    named: tuple[str, ...] = ()
    expected: str | None = None
    leave_out: str | None = None
    left_out: bool = False

    @property
    def stops(self) -> bool:
        return not self.left_out

    def error(self, where: str) -> StoreError:
        """The refusal of an action whose plan has this in it."""
        remedy = "Nothing was written."
        if self.leave_out is not None:
            remedy += f" To go on without it: --leave-out {self.leave_out}."
        return StoreError(
            self.says,
            code=self.code,
            where=where,
            expected=self.expected,
            observed=", ".join(self.named[:SHOWN])
            + (f" and {more} more" if (more := self.beyond(SHOWN)) else "")
            or None,
            remedy=remedy,
        )

    def beyond(self, shown: int | None) -> int:
        """How many there are beyond the first `shown` (None: beyond all that are named)."""
        return max(0, self.count - len(self.named[:shown])) if self.named else 0


@dataclass(frozen=True, slots=True)
class Told:
    """How far an action is: `done` of `total` (None: not known) calls, and what the last one was about."""

    done: int
    total: int | None
    what: str


class Plan(Protocol):
    """A run's writes. `run` is the session's id; `counts` how many calls each operation has (None: not known
    before its input has ended); `notes` what a person should know of it, in sentences."""

    @property
    def run(self) -> str | None: ...

    @property
    def counts(self) -> Mapping[str, int] | None: ...

    @property
    def notes(self) -> Sequence[str]: ...

    @property
    def obstacles(self) -> Sequence[Obstacle]: ...

    def calls(self, most: int | None = None) -> AsyncIterator[Call]:
        """The calls in order, made as they are asked for; each iteration begins anew where its source can.
        `most`: no more than so many of one operation, for a preview."""

    def ending(self, status: str, why: str) -> Sequence[Call]:
        """The calls that end the run when what `calls` gave so far is all there will be."""


class Action(Protocol):
    """One of the gated actions: its name, the operations it needs, where its rows come from, and its plan."""

    @property
    def name(self) -> str: ...

    @property
    def operations(self) -> tuple[str, ...]: ...

    @property
    def source(self) -> str | None: ...

    async def plan(self, target: StateDB, profile: Profile) -> Plan:
        """The plan, with `target` open read-only to ask which ids are free. Raises StoreError."""


def missing_operations(named: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """The operations an action needs that a profile does not name."""
    return tuple(operation for operation in wanted if operation not in named)


def ended_as(
    session: str, branches: Sequence[str], status: str, why: str, reason: str | None = None
) -> tuple[Call, ...]:
    """The calls that end a run: each branch, then the session with the reason for it."""
    code = reason or END_REASONS[status]
    ends = [Call("finalize_branch", (branch,), {"status": status}, "a branch ends") for branch in branches]
    last = Call(
        "update_status",
        ("session", session),
        {"new_status": status, "reason_code": code, "reason_summary": why},
        f"the run ends as {status}",
    )
    return (*ends, last)
