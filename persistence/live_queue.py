"""The messages of a run on their way into a store: in their order, waiting while it is busy (ADR-0128 D6)."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from persistence.errors import BusyError, ValueRefusedError
from persistence.retrying import retried, to_its_end

__all__ = ["WAITING", "LiveMessage", "LiveQueue"]

WAITING = 256
"""Messages that may wait for a busy store; beyond that a run waits for it too."""


class LiveMessage(NamedTuple):
    """A message, when it came (seconds since 1970), and whether its branch begins with it."""

    row: Mapping[str, Any]
    at: float
    system: bool


class LiveQueue:
    """Keeps messages by `keep`, one after another. `failed` is what kept one from being kept: nothing is kept
    after that. `first` and `last` are the ids of those that were.

    A message is taken off when it is committed; one that is written again after a cut is rewritten in place.
    """

    def __init__(self, keep: Callable[[LiveMessage], Awaitable[None]], patience: float) -> None:
        self._keep = keep
        self._patience = patience
        self._waiting: deque[LiveMessage] = deque()
        self._one_at_a_time = asyncio.Lock()
        self._later: asyncio.Task[None] | None = None
        self.failed: Exception | None = None
        self.first: str | None = None
        self.last: str | None = None

    async def add(self, row: Mapping[str, Any], *, system: bool = False) -> None:
        """Keeps a message now, or, while the store is busy, as soon as it is free; past `WAITING` of them
        this waits too. Raises what refused this message."""
        message = LiveMessage(row, time.time(), system)
        self._waiting.append(message)
        if self._later is None:
            try:
                await self._keep_all(message)
            except BusyError:
                self._later = asyncio.create_task(self._keep_later())
        if len(self._waiting) > WAITING and self._later is not None:
            await asyncio.shield(asyncio.wait([self._later]))

    async def flush(self) -> None:
        """Keeps all that waits. BusyError when the store stays busy; nothing after a failure."""
        if self._later is not None:
            await asyncio.wait([self._later])
        if self.failed is None:
            await retried(self._keep_all, patience=self._patience)

    def drop(self) -> None:
        """What waits is not kept."""
        self._waiting.clear()

    def kept(self, identity: str) -> None:
        """A message of the run is in the store."""
        self.first = self.first or identity
        self.last = identity

    async def _keep_all(self, now: LiveMessage | None = None) -> None:
        """`now` is the message whose caller waits: a value no store can keep is that caller's to mend."""
        async with self._one_at_a_time:
            while self._waiting:
                message = self._waiting[0]
                try:
                    await to_its_end(self._keep_one(message))
                except BusyError:
                    raise
                except Exception as error:
                    if self._waiting:
                        self._waiting.popleft()
                    if not (message is now and isinstance(error, ValueRefusedError)):
                        self.failed = self.failed or error
                        self.drop()
                    raise

    async def _keep_one(self, message: LiveMessage) -> None:
        await self._keep(message)
        if self._waiting:  # it may have been dropped meanwhile
            self._waiting.popleft()
        self.kept(message.row["id"])

    async def _keep_later(self) -> None:
        """What goes wrong here is told by the next call."""
        try:
            await retried(self._keep_all, patience=self._patience)
        except Exception as error:
            self.failed = self.failed or error
        finally:
            self._later = None
