"""One gate per file in this process: readers and writers of the same store (DESIGN 3.1, "Locks").

A live-log reader opens the log's index read-only for the whole process, and a writer opened while it is
open then fails on every write. So a writer opens only when no read of this process is in progress on the
file, and reads wait for that moment. Everything here blocks the calling thread, never an event loop:
connections are opened on threads of their own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from persistence.errors import BusyError
from persistence.files import Identity

__all__ = ["Gate", "Handle", "gate_for"]

_STEP = 0.05  # seconds between two looks at whether a waiting reader was told to stop


@dataclass(frozen=True, slots=True)
class Handle:
    """An open handle of this process on a file: `kind` is `native` or `compatibility`, `label` names it."""

    kind: str
    label: str


class Gate:
    """The reads in progress on one file, the writer that waits for its moment, and the open handles."""

    def __init__(self, identity: Identity) -> None:
        self.identity = identity
        self._changed = threading.Condition()
        self._readers = 0
        self._waiting = 0
        self._opening = False
        self._handles: list[Handle] = []

    @property
    def readers(self) -> int:
        """How many reads of this process are in progress on the file."""
        with self._changed:
            return self._readers

    @property
    def handles(self) -> tuple[Handle, ...]:
        """The writable handles this process has open on the file."""
        with self._changed:
            return tuple(self._handles)

    def enter(self, until: float | None, stopped: Callable[[], bool] = lambda: False) -> None:
        """Begins a read; waits while a writer is being opened, until `until` (monotonic seconds).

        Raises BusyError past that. `stopped` is asked now and then; when it answers yes the read begins,
        and its first step ends it.
        """
        with self._changed:
            while (self._opening or self._waiting) and not stopped():
                left = _STEP if until is None else min(_STEP, until - time.monotonic())
                if left <= 0:
                    raise BusyError(
                        "This program was opening the store for writing, and a read could not begin in time.",
                        remedy="Try again.",
                    )
                self._changed.wait(left)
            self._readers += 1

    def leave(self) -> None:
        """Ends a read begun with `enter`."""
        with self._changed:
            self._readers -= 1
            self._changed.notify_all()

    @contextmanager
    def opening(self, until: float | None) -> Iterator[None]:
        """The moment in which a writer may be opened: no read is in progress, and none begins.

        Open the writer and prove it (an empty BEGIN IMMEDIATE) inside. Raises BusyError when the reads do
        not end before `until` (monotonic seconds; None: wait for as long as it takes).
        """
        with self._changed:
            self._waiting += 1
            try:
                while self._opening or self._readers:
                    left = None if until is None else until - time.monotonic()
                    if left is not None and left <= 0:
                        raise BusyError(
                            "This program is reading the store; it could not be opened for writing in time.",
                            observed=f"{self._readers} reads in progress",
                            remedy="Wait for the reads to end, or cancel them, and try again.",
                        )
                    self._changed.wait(left)
                self._opening = True
            finally:
                self._waiting -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._opening = False
                self._changed.notify_all()

    @contextmanager
    def handle(
        self, kind: str, label: str, *, beside: Callable[[tuple[Handle, ...]], None] | None = None
    ) -> Iterator[Handle]:
        """Registers a writable handle for as long as it is open.

        `beside` is shown the handles there are, in the same moment; what it raises keeps this one out.
        """
        handle = Handle(kind, label)
        with self._changed:
            if beside is not None:
                beside(tuple(self._handles))
            self._handles.append(handle)
        try:
            yield handle
        finally:
            with self._changed:
                self._handles.remove(handle)


_gates: dict[Identity, Gate] = {}
_lock = threading.Lock()


def gate_for(identity: Identity) -> Gate:
    """The one gate of this process for a file, by device and inode, however its path is spelled."""
    with _lock:
        return _gates.setdefault(identity, Gate(identity))
