"""The messages of a run on their way into a store: in their order, waiting while it is busy (ADR-0128 D6)."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from persistence.errors import BusyError, ValueRefusedError
from persistence.retrying import retried, to_its_end

__all__ = ["WAITING", "LiveMessage", "LiveQueue"]

WAITING = 256
"""Messages that may wait for a busy store; beyond that a run waits for it too."""


TOGETHER = 32
"""Messages that are given to the store at once, at most; each is a transaction of its own all the same."""


@dataclass(slots=True, eq=False)
class LiveMessage:
    """A message, when it came (seconds since 1970), and whether its branch begins with it.

    `awaited` says that its caller waits for it, `over` that it needs no more keeping; `refused` is what
    was wrong with its values, for that caller to know.
    """

    row: Mapping[str, Any]
    at: float
    system: bool
    awaited: bool
    over: bool = False
    refused: ValueRefusedError | None = None


Keep = Callable[[Sequence[LiveMessage], Callable[[LiveMessage], None]], Awaitable[None]]
"""Keeps messages in their order, each on its own, and calls back for each that was; raises for the first
that was not, and keeps none after it."""


class LiveQueue:
    """Keeps messages by `keep`, in their order. `failed` is what kept one from being kept: nothing is kept
    after that. `first` and `last` are the ids of those that were.

    A message is taken off when it is committed; one that is written again after a cut is rewritten in place.
    """

    def __init__(self, keep: Keep, patience: float) -> None:
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
        this waits too. Raises what refused this message.

        Messages of callers that wait at the same time are kept together.
        """
        message = LiveMessage(row, time.time(), system, awaited=self._later is None)
        self._waiting.append(message)
        if message.awaited:
            try:
                await self._keep_all(message)
            except BusyError:
                if self._later is None:
                    self._later = asyncio.create_task(self._keep_later())
            finally:
                message.awaited = False
            if message.refused is not None:
                raise message.refused
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

    async def _keep_all(self, mine: LiveMessage | None = None) -> None:
        """Keeps what waits; for `mine`, until that is over, or another task is at it."""
        async with self._one_at_a_time:
            while self._waiting and not (mine is not None and (mine.over or self._later is not None)):
                together = list(islice(self._waiting, TOGETHER))
                try:
                    await to_its_end(self._keep(together, self._was_kept))
                except BusyError:
                    raise
                except Exception as error:
                    self._was_not(next(one for one in together if not one.over), error)

    def _was_kept(self, message: LiveMessage) -> None:
        self._over(message)
        self.kept(message.row["id"])

    def _was_not(self, message: LiveMessage, error: Exception) -> None:
        """A value no store can keep is its caller's to mend; whatever else it is ends the keeping."""
        self._over(message)
        if message.awaited and isinstance(error, ValueRefusedError):
            message.refused = error
            return
        self.failed = self.failed or error
        self.drop()
        raise error

    def _over(self, message: LiveMessage) -> None:
        message.over = True
        if self._waiting and self._waiting[0] is message:  # it may have been dropped meanwhile
            self._waiting.popleft()

    async def _keep_later(self) -> None:
        """What goes wrong here is told by the next call."""
        try:
            await retried(self._keep_all, patience=self._patience)
        except Exception as error:
            self.failed = self.failed or error
        finally:
            self._later = None
