"""The change token (DESIGN 3.1): equal tokens mean that nothing was committed to a store between them.

It costs three `stat` calls and one read of four bytes through the held descriptor; no query runs and
no lock is taken. It guards settled reads, drives the following of a live store and keys cached figures.
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from persistence import files, filesystems

__all__ = ["Token", "settle", "take"]

_COARSE = 0.02
"""Seconds within which two writes may get the same file time, where times are coarse (a timer tick)."""

Mark = tuple[int, int, int, int, int]  # device, inode, size, mtime and ctime in nanoseconds


class Token(NamedTuple):
    """What the store was like: its file, its log, its journal (None: not there), its change counter."""

    store: Mark | None
    log: Mark | None
    journal: Mark | None
    counter: bytes = b""
    fine: bool = False  # whether every change gets a time of its own here

    @property
    def identity(self) -> files.Identity | None:
        return None if self.store is None else self.store[:2]

    def fresh(self, now: float) -> float:
        """Seconds to wait until a change after this token is sure to show in another; 0: it is now.

        A file changed a moment ago may be changed again without its times moving, where they are coarse.
        """
        if self.fine:
            return 0.0
        latest = max((mark[4] for mark in (self.store, self.log, self.journal) if mark), default=0)
        age = now - latest / 1e9
        return max(0.0, _COARSE - age) if age > -_COARSE else 0.0


def take(path: bytes) -> Token:
    """The token of the store at a resolved path, now. Raises OSError when it may not be looked at."""
    store = _mark(path)
    counter = b""
    if store is not None and os.path.isfile(path):
        try:
            with files.held(path) as file:
                counter = file.read(4, 24) + file.read(4, 92)
        except FileNotFoundError:
            store = None
    fine = store is not None and filesystems.fine_times(path, store[0])
    return Token(store, _mark(path + b"-wal"), _mark(path + b"-journal"), counter, fine)


def settle(path: bytes) -> Token:
    """A token that a later change is sure to differ from, where the store rests; waits up to 20 ms for that.

    A store that is written all the time does not rest: its token is then the last of a few.
    """
    for _ in range(8):
        token = take(path)
        wait = token.fresh(time.time())
        if not wait:
            break
        time.sleep(wait)
    return token


def _mark(path: bytes) -> Mark | None:
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
