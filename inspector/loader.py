"""Loading for a screen or widget: a worker loads, its answer comes back as a typed message.

One load per `what` at a time: a new one cancels the one before (the engine interrupts its query
first), and an answer that was already on its way is told apart by its ticket. Nothing here touches a
widget.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from inspector.messages import Loaded, LoadFailed, LoadProgressed, StoreRead
from persistence.errors import CancelledReadError, StoreError
from persistence.records import Progress

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.worker import Worker

    from inspector.messages import _Load

__all__ = ["Loader", "Report"]

Report = Callable[[Progress], None]
"""What a long load calls now and then to say how far it is."""


class Loader:
    """The loads of one node. The node handles `Loaded`, `LoadFailed` and `LoadProgressed`."""

    def __init__(self, owner: DOMNode) -> None:
        self._owner = owner
        self._ticket = 0
        self._running: dict[str, tuple[int, Worker[None]]] = {}

    def start(self, what: str, work: Callable[[], Awaitable[Any]]) -> None:
        """Loads `what`, in place of a load of it that is under way."""
        self.start_reporting(what, lambda _report: work())

    def start_reporting(self, what: str, work: Callable[[Report], Awaitable[Any]]) -> None:
        """As `start`, for work that takes a function to report its progress with."""
        self._ticket += 1
        ticket = self._ticket
        self.cancel(what)
        # A function, so that no coroutine is left over of a load that never starts.
        worker: Worker[None] = self._owner.run_worker(
            partial(self._load, what, ticket, work),
            name=f"load {what}",
            group=f"load {what}",
            exit_on_error=True,
        )
        self._running[what] = (ticket, worker)

    def cancel(self, what: str) -> bool:
        """Stops the load of `what`; whether there was one."""
        running = self._running.pop(what, None)
        if running is None:
            return False
        running[1].cancel()
        return True

    def cancel_all(self) -> None:
        for what in list(self._running):
            self.cancel(what)

    def running(self, what: str | None = None) -> bool:
        """Whether a load of `what` (of anything) is under way."""
        return bool(self._running) if what is None else what in self._running

    def takes(self, message: _Load) -> bool:
        """Whether a message answers the load now waited for; call it first in each handler.

        False for one that was cancelled or replaced meanwhile: drop it. An answer or a failure ends
        the load.
        """
        running = self._running.get(message.what)
        if running is None or running[0] != message.ticket:
            return False
        if not isinstance(message, LoadProgressed):
            del self._running[message.what]
        return True

    async def _load(self, what: str, ticket: int, work: Callable[[Report], Awaitable[Any]]) -> None:
        owner = self._owner

        def report(progress: Progress) -> None:
            owner.post_message(LoadProgressed(what, ticket, progress))

        try:
            value = await work(report)
        except CancelledReadError as error:
            # Interrupted under this very task: that is our own cancelling, unless nobody asked for it.
            if (task := asyncio.current_task()) is not None and task.cancelling():
                return
            owner.post_message(LoadFailed(what, ticket, error))
        except StoreError as error:
            owner.post_message(LoadFailed(what, ticket, error))
        else:
            owner.post_message(Loaded(what, ticket, value))
        owner.app.post_message(StoreRead())
