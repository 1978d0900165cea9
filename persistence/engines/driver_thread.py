"""The one place that reaches the thread of an aiosqlite connection (DECISIONS 21).

aiosqlite runs every call of a connection on a thread of its own, one after another, through its `_execute`.
A whole transaction goes there as one call: an `await` a statement costs more than the statements (DESIGN 7).
Tested over the dependency matrix.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

from persistence.errors import StoreError

__all__ = ["on_thread", "wait_for_end"]

T = TypeVar("T")


async def on_thread(
    driver: Any, work: Callable[[], T], interrupt: Callable[[], object] | None = None, *, where: str = ""
) -> T:
    """What `work` answers, called on the thread of `driver`, an `aiosqlite.Connection`.

    Cancelling calls `interrupt`, then waits for the call to end, however often it is cancelled, and raises
    only then: whatever it did is done, and nothing goes on behind the caller's back. StoreError (`not-open`)
    when the connection is closed.
    """
    over = False

    def run() -> T:
        nonlocal over
        try:
            return work()
        finally:
            over = True

    try:
        return cast("T", await driver._execute(run))
    except asyncio.CancelledError:
        if interrupt is not None:
            interrupt()
        while not over and driver._running:
            # Calls are run in their order: when this one is, the one before is over.
            with contextlib.suppress(asyncio.CancelledError, ValueError):
                await driver._execute(int)
        raise
    except ValueError as error:
        if over:
            raise
        raise StoreError(  # aiosqlite's own: the call was never made
            "The writer's connection is closed. Nothing was written.",
            code="not-open",
            where=where,
            observed=str(error),
            remedy="Open the store again.",
        ) from error


def wait_for_end(driver: Any) -> None:
    """After its connection was closed the thread has nothing left to do; this waits until it has gone."""
    thread = getattr(driver, "_thread", None)
    if thread is not None and thread.is_alive():
        thread.join(1.0)
