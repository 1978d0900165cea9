"""The calls of one driver's thread: each on its own, in the order they came; those that wait share a hop.

Going to the thread and coming back takes about as long as the guards of a transaction. So a task whose call
is run takes with it what waits behind it, and tells the others what came of theirs (DESIGN 7).
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from persistence.engines.driver_thread import on_thread
from persistence.engines.native_sqlite import Stop

__all__ = ["Lane"]

T = TypeVar("T")

_TOGETHER = 32
"""Calls that share a hop at most."""

_LONGEST = 0.02
"""Seconds after which a hop begins no further call: the callers of those that are over are told first."""


class _Call:
    """One call. `begun` and `dropped` exclude each other, and change under the lane's lock."""

    __slots__ = ("answer", "begun", "dropped", "error", "leads", "over", "stop", "turn", "work")

    def __init__(self, work: Callable[[], Any], stop: Stop) -> None:
        self.work = work
        self.stop = stop
        self.turn: asyncio.Future[None] | None = None  # what its task waits for; the rest says why
        self.begun = self.dropped = self.over = self.leads = False
        self.answer: Any = None
        self.error: BaseException | None = None

    def told(self) -> Any:
        error, self.error = self.error, None
        if error is not None:
            raise error
        return self.answer

    def wake(self) -> None:
        if self.turn is not None and not self.turn.done():
            self.turn.set_result(None)


class Lane:
    """See the module. One for each connection of an `aiosqlite` driver."""

    def __init__(self, driver: Any, where: str) -> None:
        self._driver = driver
        self._where = where
        self._waiting: deque[_Call] = deque()
        self._taken = False
        self._lock = threading.Lock()
        self._runs: _Call | None = None

    async def call(self, work: Callable[[], T], stop: Stop) -> T:
        """What `work` answers, called on the thread.

        Cancelling asks `stop`, which ends this call and no other, then waits for it to end, however often it
        is cancelled, and raises only then. A call that was not begun never is.
        """
        call = _Call(work, stop)
        if self._taken:
            self._waiting.append(call)
            await self._turn(call)
        if not call.over:
            self._taken = True
            await self._hop(call)
        answer: T = call.told()
        return answer

    async def _turn(self, call: _Call) -> None:
        """Waits until another task had the call run, or leaves the lane to this one."""
        loop = asyncio.get_running_loop()
        cancelled: asyncio.CancelledError | None = None
        while not (call.over or call.leads):
            call.turn = loop.create_future()
            try:
                await call.turn
            except asyncio.CancelledError as error:
                if self._drop(call):
                    raise
                cancelled = error
        if cancelled is not None:
            if call.leads:
                self._next()
            raise cancelled

    async def _hop(self, first: _Call) -> None:
        calls = [first]
        while self._waiting and len(calls) < _TOGETHER:
            calls.append(self._waiting.popleft())
        try:
            await on_thread(
                self._driver, lambda: self._each(calls), lambda: self._ask(first), where=self._where
            )
        finally:
            self._waiting.extendleft(call for call in calls[:0:-1] if not (call.over or call.dropped))
            self._next()  # the next hop begins first, and the thread has work while tasks take their answers
            for call in calls[1:]:
                if call.over:
                    call.wake()

    def _next(self) -> None:
        """The lane is the next one's that waits."""
        if self._waiting:
            call = self._waiting.popleft()
            call.leads = True
            call.wake()
        else:
            self._taken = False

    # -- of one call -----------------------------------------------------------------------------------

    def _drop(self, call: _Call) -> bool:
        """Whether a cancelled call is not run at all; one that was begun is asked to stop."""
        if call.over or call.leads:
            return False
        with self._lock:
            call.dropped = not call.begun
        if call.begun:
            self._ask(call)
            return False
        if call in self._waiting:
            self._waiting.remove(call)
        return True

    def _ask(self, call: _Call) -> None:
        with self._lock:
            if self._runs is call:
                call.stop.ask()
            else:
                call.stop.asked = True

    # -- on the thread ---------------------------------------------------------------------------------

    def _each(self, calls: Sequence[_Call]) -> None:
        until = time.monotonic() + _LONGEST
        for call in calls:
            with self._lock:
                if call.dropped:
                    continue
                call.begun = True
                self._runs = call
            try:
                call.answer = call.work()
            except BaseException as error:
                call.error = error
            with self._lock:
                self._runs = None
            call.over = True
            if time.monotonic() > until:
                return
