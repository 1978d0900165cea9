"""Following a store that is being written: its change token is looked at now and then, by `stat` alone.

Once a second while it moves, more and more rarely down to every five seconds while it rests. No timer
ever runs a query (DESIGN 3.1): only when the token has moved is anything read, and never while a load
is still under way, so that a busy store is read once for many commits.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from inspector.messages import StoreMoved
from persistence.errors import StoreError

if TYPE_CHECKING:
    from textual.timer import Timer

    from inspector.app import InspectorApp
    from persistence.statedb import StateDB

__all__ = ["Follower"]


class Follower:
    """Looks whether the open store has moved. `moved`: it has, and what is shown is from before."""

    SHORTEST = 1.0
    LONGEST = 5.0
    SLOWER = 1.25

    def __init__(self, app: InspectorApp, *, on: bool = True) -> None:
        self.on = on
        self.moved = False
        self._app = app
        self._db: StateDB | None = None
        self._seen: object = None
        self._delay = self.SHORTEST
        self._timer: Timer | None = None

    def start(self, db: StateDB) -> None:
        """Follows this store from how it was read last."""
        self.stop()
        self._db = db
        self._seen = db.last_read.token if db.last_read is not None else None
        self.moved = False
        self._delay = self.SHORTEST
        self._wait()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = None
        self._db = None

    def caught_up(self) -> None:
        """What is shown is about to be read again."""
        self.moved = False
        if self._db is not None and self._db.last_read is not None and self._seen is None:
            self._seen = self._db.last_read.token

    def _wait(self) -> None:
        self._timer = self._app.set_timer(self._delay, self._tick, name="follow")

    def _tick(self) -> None:
        self._app.run_worker(self._look(), name="follow", group="follow", exclusive=True)

    async def _look(self) -> None:
        db = self._db
        if db is None:
            return
        token: object = None
        with suppress(StoreError, OSError):
            token = await db.token()
        if db is not self._db:
            return
        if token is not None and token != self._seen and not self._app.busy:
            known, self._seen = self._seen, token
            self._delay = self.SHORTEST
            if known is not None:
                self.moved = True
                self._app.post_message(StoreMoved(token))
        elif token == self._seen:
            self._delay = min(self.LONGEST, self._delay * self.SLOWER)
        self._wait()
