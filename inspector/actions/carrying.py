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
from typing import TYPE_CHECKING, Any, cast

from inspector.actions.journal import Event, Phase, phases
from inspector.actions.plan import Call, Plan, Told
from persistence.errors import StoreError

if TYPE_CHECKING:
    from persistence.statedb import StateDB

__all__ = ["Outcome", "carry_out"]

ENDING = 15.0
"""Seconds that ending a run may take when the plan stopped half-way."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an action ended. `committed` is what is in the store, by operation in their order; `stands` says in
    a sentence how the run was left (None: as its plan says). `error` is what stopped it."""

    event: Event
    run: str | None
    committed: tuple[Phase, ...]
    seconds: float
    error: BaseException | None = None
    stands: str | None = None

    @property
    def transactions(self) -> int:
        return sum(phase.count for phase in self.committed)


async def carry_out(plan: Plan, db: StateDB, told: Callable[[Told], None] | None = None) -> Outcome:
    """Makes the calls of a plan on a store that is open for them. Never raises: what stopped it is said.

    A cancelled task is an interruption: the call that is being made is waited for, and the run is ended.
    """
    carrier = _Carrier(plan, db, told)
    try:
        await carrier.go()
    except asyncio.CancelledError as error:
        why = "interrupted by the person who started it"
        return await carrier.stopped("interrupted", "cancelled", why, error)
    except StoreError as error:
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
        self._done: list[str] = []
        self._begun = time.monotonic()

    async def go(self) -> None:
        counts = self._plan.counts
        total = None if counts is None else sum(counts.values())
        async with aclosing(cast(Any, self._plan.calls())) as calls:
            async for call in calls:
                await self._make(call)
                self._told(Told(len(self._done), total, call.about or call.operation))

    async def _make(self, call: Call) -> None:
        """One call, waited for when it is cancelled: whether it was committed is known afterwards."""
        task = asyncio.ensure_future(_patiently(call, self._db))
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait({task}, timeout=ENDING)
            if task.done() and not task.cancelled() and task.exception() is None:
                self._done.append(call.operation)
            elif not task.done():
                task.cancel()
            raise
        self._done.append(call.operation)

    async def stopped(self, event: Event, status: str, why: str, error: BaseException) -> Outcome:
        stands = await self._end(status, why)
        return self.outcome(event, error, stands)

    async def _end(self, status: str, why: str) -> str | None:
        """Ends the run as it is. A store that refuses this too leaves it running, and that is said."""
        if "create_session" not in self._done:
            return "No session was made, so no reader sees anything of it." if self._done else None
        branches = self._done.count("create_branch")
        calls = self._plan.ending(status, why[:200])
        wanted: Sequence[Call] = [*_only(calls, "finalize_branch")[:branches], *_only(calls, "update_status")]
        if not wanted:
            return None
        try:
            async with asyncio.timeout(ENDING):
                for call in wanted:
                    await _patiently(call, self._db)
                    self._done.append(call.operation)
        except (Exception, asyncio.CancelledError) as error:
            said = error.message if isinstance(error, StoreError) else type(error).__name__
            return f"The run could not be ended and is still running in the store: {said}"
        return f"The run was ended as {status}."

    def outcome(self, event: Event, error: BaseException | None = None, stands: str | None = None) -> Outcome:
        seconds = time.monotonic() - self._begun
        return Outcome(event, self._plan.run, phases(self._done), seconds, error, stands)


def _only(calls: Sequence[Call], operation: str) -> list[Call]:
    return [call for call in calls if call.operation == operation]


async def _patiently(call: Call, db: StateDB) -> Any:
    """The call; a store that is busy is asked again, a refusal never."""
    from persistence.runs import patiently

    return await patiently(lambda: call.run(db))
