"""The private copy a reader keeps while the store it was taken of does not move (DESIGN 3.1)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from persistence.basics import Progress
from persistence.engines.token import Token
from persistence.errors import CancelledReadError

if TYPE_CHECKING:
    from persistence.engines.copies import PrivateCopy

__all__ = ["COPY_LIMIT", "Shelf"]

COPY_LIMIT = 256 * 1024 * 1024
"""Bytes above which a copy is made only when somebody said so (`limit=None`)."""


class Shelf:
    """Holds at most one current copy; an older one is removed when the last read of it ends.

    `limit` is the size in bytes above which a copy is not made (None: any size), `progress` is told of a
    copy being made, on the thread that makes it.
    """

    def __init__(self) -> None:
        self.limit: int | None = COPY_LIMIT
        self.progress: Callable[[Progress], None] | None = None
        self._making = threading.Lock()
        self._lock = threading.Lock()
        self._current: PrivateCopy | None = None
        self._users: dict[PrivateCopy, int] = {}

    def borrow(self, now: Token) -> PrivateCopy | None:
        """The current copy, when the store is as it was then; `give_back` ends the loan."""
        with self._lock:
            copy = self._current
            return self._lend(copy) if copy is not None and copy.token == now else None

    def give_back(self, copy: PrivateCopy) -> None:
        """Ends a loan."""
        with self._lock:
            self._users[copy] -= 1
            if self._users[copy] == 0:
                del self._users[copy]
                if copy is not self._current:
                    copy.remove()

    def make(self, path: bytes, display: str, stopped: Callable[[], bool]) -> PrivateCopy:
        """A copy of the store as it is now, lent; made one at a time.

        Blocking, on a thread that nothing holds. Raises what `copies.make` does.
        """
        before = self._current
        while not self._making.acquire(timeout=0.05):
            if stopped():
                raise CancelledReadError("The read was cancelled.", where=display)
        try:
            with self._lock:
                if self._current is not None and self._current is not before:
                    return self._lend(self._current)  # another read made it while this one waited
            from persistence.engines import copies  # most stores need none

            copy = copies.make(path, display, limit=self.limit, progress=self.progress, stopped=stopped)
            with self._lock:
                self._retire()
                self._current = copy
                return self._lend(copy)
        finally:
            self._making.release()

    def clear(self) -> None:
        """Removes the copy, as soon as no read is open on it."""
        with self._lock:
            self._retire()

    def _lend(self, copy: PrivateCopy) -> PrivateCopy:
        self._users[copy] = self._users.get(copy, 0) + 1
        return copy

    def _retire(self) -> None:
        copy, self._current = self._current, None
        if copy is not None and copy not in self._users:
            copy.remove()
