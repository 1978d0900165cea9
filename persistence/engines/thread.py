"""A thread that runs blocking calls one after another for an event loop, and ends them when it must.

Interrupt first (a cancelled await alone leaves the query running, and the next call hanging behind it):
when the awaiting task is cancelled, what runs is interrupted, and waited for; it is then left behind only
if it does not end in `PATIENCE` seconds. The thread cleans up after itself, so nothing leaks even then.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

__all__ = ["PATIENCE", "Worker", "in_thread"]

T = TypeVar("T")

PATIENCE = 3.0
"""Seconds an interrupted call is waited for."""

_Call = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]
_numbers = itertools.count(1)


class Worker:
    """One thread. `ended` is called on it last, whatever happened; `idle`, when set, between two calls
    that are more than `lapse()` seconds apart (None: never)."""

    def __init__(
        self,
        *,
        begin: Callable[[], object],
        ended: Callable[[], object],
        lapse: Callable[[], float | None],
        idle: Callable[[], object],
    ) -> None:
        self._begin, self._ended, self._lapse, self._idle = begin, ended, lapse, idle
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._stuck = False

    async def call(self, work: Callable[[], T], interrupt: Callable[[], None]) -> T:
        """What `work` answers, on the thread. Cancelling calls `interrupt` first."""
        loop = asyncio.get_running_loop()
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._run, name=f"store-reader-{next(_numbers)}", daemon=True
            )
            self._thread.start()
        future: asyncio.Future[T] = loop.create_future()
        self._calls.put((loop, future, work))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            interrupt()
            self._stuck = not await _ended(future)
            raise

    def post(self, work: Callable[[], object]) -> None:
        """Has `work` run after the calls before it, on a thread that was called; nobody waits for it."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        future.add_done_callback(_retrieved)
        self._calls.put((loop, future, work))

    async def end(self) -> None:
        """Ends the thread, when the calls before are done; waits for that, but not for one left behind.
        Cancelling only stops waiting."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        if self._stuck:
            self._calls.put(None)
            return
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self._calls.put((loop, future, self._finish))
        self._calls.put(None)
        try:
            await asyncio.shield(future)
        except asyncio.CancelledError:
            await _ended(future)
            raise
        thread.join(1.0)  # it has nothing left to do

    def drop(self) -> None:
        """Ends the thread without waiting; from any thread, also without an event loop."""
        if self._thread is not None:
            self._calls.put(None)

    def _finish(self) -> None:
        ended, self._ended = self._ended, lambda: None
        ended()

    def _run(self) -> None:
        try:
            self._begin()
            while True:
                try:
                    call = self._calls.get(timeout=self._lapse())
                except Empty:
                    self._idle()
                    continue
                if call is None:
                    return
                _answer(*call)
                del call  # not kept alive while waiting for the next
        finally:
            self._finish()


def _answer(loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], work: Callable[[], Any]) -> None:
    def tell(result: Any, error: BaseException | None) -> None:
        if not future.done():
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

    result, failed = None, None
    try:
        result = work()
    except BaseException as error:
        failed = error
    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
        loop.call_soon_threadsafe(tell, result, failed)


async def _ended(future: asyncio.Future[Any]) -> bool:
    """Waits for a call to end, through further cancellations, up to `PATIENCE` seconds; whether it has."""
    loop = asyncio.get_running_loop()
    until = loop.time() + PATIENCE
    while not future.done() and loop.time() < until:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([future], timeout=until - loop.time())
    future.add_done_callback(_retrieved)
    return future.done()


def _retrieved(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()


async def in_thread(work: Callable[[], T], interrupt: Callable[[], None] = lambda: None) -> T:
    """What `work` answers, on a thread of its own that ends with it."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    thread = threading.Thread(
        target=_answer, args=(loop, future, work), name=f"store-work-{next(_numbers)}", daemon=True
    )
    thread.start()
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        interrupt()
        await _ended(future)
        raise
    finally:
        if future.done():
            thread.join(1.0)  # it has nothing left to do
