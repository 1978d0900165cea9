"""Carrying a plan out: its calls one after another, and what is to be said when one of them is not done.

A call is one transaction: it is committed, or it is not there. When the plan stops half-way the run is ended
as what it is, so that no reader takes it for one that goes on; nothing is ever taken back or gone on with.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from inspector.actions.journal import Event, Phase
from inspector.actions.plan import Call, Plan, Told
from persistence.errors import StoreError
from persistence.retrying import retried

if TYPE_CHECKING:
    from persistence.statedb import StateDB

__all__ = ["Outcome", "carry_out"]

ENDING = 15.0
"""Seconds that ending a run may take when the plan stopped half-way."""
WAITS = "another program holds the store, so this waits"
"""What is told while a busy store is asked again, before what it waits for."""
_NAMED = {"create_session": "session", "create_branch": "branch", "finalize_branch": "branch end"}
"""The transactions, as the manifest names them, that tell how far a run came."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an action ended. `committed` is what is in the store, by transaction; `stands` says in
    a sentence how the run was left (None: as its plan says). `error` is what stopped it."""

    event: Event
    run: str | None
    committed: tuple[Phase, ...]
    seconds: float
    error: BaseException | None = None
    stands: str | None = None
    at: str | None = None  # the call that was not done, in a few words

    @property
    def transactions(self) -> int:
        return sum(phase.count for phase in self.committed)


async def carry_out(plan: Plan, db: StateDB, told: Callable[[Told], None] | None = None) -> Outcome:
    """Makes the calls of a plan on a store that is open for them. Never raises: what stopped it is said.

    A cancelled task is an interruption: what was sent is waited for by the store, and the run is ended.
    """
    carrier = _Carrier(plan, db, told)
    try:
        await carrier.go()
    except asyncio.CancelledError as error:
        why = "interrupted by the person who started it"
        return await carrier.stopped("interrupted", "cancelled", why, error)
    except StoreError as error:
        error.after(str(phase) for phase in carrier.phases)
        return await carrier.stopped("refused", *_as_what(error), error)
    except Exception as error:
        return await carrier.stopped(
            "failed", "failed", f"a fault of the program: {type(error).__name__}", error
        )
    return carrier.outcome("done")


def _as_what(error: StoreError) -> tuple[str, str]:
    """What a run is ended as that was refused half-way: its input's fault aborts it, the store's fails it."""
    status = "aborted" if error.code == "record-input" else "failed"
    where = f" ({error.where})" if status == "aborted" and error.where else ""
    return status, f"{error.message}{where}"


class _Carrier:
    def __init__(self, plan: Plan, db: StateDB, told: Callable[[Told], None] | None) -> None:
        self._plan, self._db = plan, db
        self._told = told or (lambda _: None)
        self._begun = time.monotonic()
        self._at: str | None = None

    async def go(self) -> None:
        counts = self._plan.counts
        total = None if counts is None else sum(counts.values())
        done = 0
        async with aclosing(cast(Any, self._plan.calls())) as calls:
            async for call in calls:
                self._at = f"{call.operation}: {call.about}" if call.about else call.operation
                await self._one(call, Told(done, total, f"{WAITS}: {call.about or call.operation}"))
                self._at = None
                done += 1
                self._told(Told(done, total, call.about or call.operation))

    async def _one(self, call: Call, waits: Told) -> None:
        """The call, asked again while the store is busy; `waits` is told then."""
        tries = 0

        async def once() -> None:
            nonlocal tries
            tries += 1
            if tries > 1:
                self._told(waits)
            await call.run(self._db)

        await retried(once)

    async def stopped(self, event: Event, status: str, why: str, error: BaseException) -> Outcome:
        stands = await self._end(status, why)
        return self.outcome(event, error, stands)

    async def _end(self, status: str, why: str) -> str | None:
        """Ends the run as it is. A store that refuses this too leaves it running, and that is said."""
        made = self._db.committed
        if not made.get(_NAMED["create_session"]):
            return "No session was made, so no reader sees anything of it." if made else None
        branches = made.get(_NAMED["create_branch"], 0) - made.get(_NAMED["finalize_branch"], 0)
        calls = self._plan.ending(status, why[:200])
        wanted: Sequence[Call] = [*_only(calls, "finalize_branch")[:branches], *_only(calls, "update_status")]
        if not wanted:
            return None
        try:
            async with asyncio.timeout(ENDING):
                for call in wanted:
                    await retried(partial(call.run, self._db))
        except (Exception, asyncio.CancelledError) as error:
            said = error.message if isinstance(error, StoreError) else type(error).__name__
            return f"The run could not be ended and is still running in the store: {said}"
        return f"The run was ended as {status}."

    def outcome(self, event: Event, error: BaseException | None = None, stands: str | None = None) -> Outcome:
        seconds = time.monotonic() - self._begun
        return Outcome(event, self._plan.run, self.phases, seconds, error, stands, self._at)

    @property
    def phases(self) -> tuple[Phase, ...]:
        """What is committed so far."""
        return tuple(Phase(name, count) for name, count in self._db.committed.items())


def _only(calls: Sequence[Call], operation: str) -> list[Call]:
    return [call for call in calls if call.operation == operation]
