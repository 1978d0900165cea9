"""Trying again where a store was only busy: never where it refused (ADR-0128 D6)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from persistence.errors import BusyError

__all__ = ["PATIENCE", "retried", "to_its_end"]

T = TypeVar("T")

PATIENCE = 60.0
"""Seconds a busy store is asked again before that is an error."""

_FIRST, _LONGEST, _JITTER = 0.05, 2.0, 0.1  # seconds between two tries


async def retried(call: Callable[[], Awaitable[T]], *, patience: float = PATIENCE) -> T:
    """What `call` answers, asked again while it raises BusyError, at growing intervals.

    Every other error is raised at once, and BusyError when `patience` seconds are over.
    """
    import tenacity

    asking = tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception_type(BusyError),
        wait=tenacity.wait_exponential(multiplier=_FIRST, max=_LONGEST) + tenacity.wait_random(0, _JITTER),
        stop=tenacity.stop_after_delay(patience),
        sleep=asyncio.sleep,
        reraise=True,
    )

    async def once() -> T:
        return await call()

    return await asking(once)


async def to_its_end(work: Awaitable[T]) -> T:
    """What `work` answers. Cancelling does not cut it off: it goes on to its end, however often the caller is
    cancelled, and only then is CancelledError raised; what it raised itself is raised instead of that."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])  # which leaves it alone when it is cancelled itself
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None and not task.cancelled() and task.exception() is None:
        raise cancelled
    return task.result()
