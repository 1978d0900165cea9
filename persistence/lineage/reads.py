"""The reads of ADR-0128 D7, in its order, none of which writes a byte of the store.

First the file alone, immutable: no lock is taken, no journal, log or index is read. Beside a journal that
begins with a header, its private copy is read; beside a log that is not empty, the log through its index,
or a private copy. Where the kernel allows it, the thread that opens the store's own files is held to reading.

A store that goes on moving under these reads is written busily. One of the rollback format is then read as
SQLite's own readers do, by a shared lock, which its writer waits for; others are read again for a while.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from persistence.basics import Progress
from persistence.engines import landlock, token
from persistence.engines.faults import error_name, fault
from persistence.errors import BusyError, StoreError, StoreMovedError
from persistence.files import os_refusal, resolve
from persistence.lineage.parts import Check, Parts, look
from persistence.lineage.report import ReadStep
from persistence.lineage.rows import Seen, read_rows
from persistence.lineage.rules import Damage
from persistence.location import sqlite_uri

__all__ = ["TRIES", "Reading", "read_store"]

TRIES = 14
"""How often the reads are begun again, at most, when the store moved under them."""
POLITE = 3
"""How many of these are made without any lock."""

_DEADLINE = 5.0  # seconds for one read
_PAUSE, _LONGEST_PAUSE = 0.004, 0.15  # seconds between two tries: each is half as long again as the last
_LOCK_WITHIN = 0.25  # seconds to wait for a shared lock
_STEPS = 1000  # of SQLite's virtual machine between two looks at the clock

T = TypeVar("T")
Report = Callable[[Progress], None]


class Reading(NamedTuple):
    """What the reads came to: the rows that decide (None: none could be read), and what the file alone shows.

    `error` says why the deciding read failed; `route` how it was made.
    """

    parts: Parts
    seen: Seen | None
    file_rows: Seen | None
    error: StoreError | None
    steps: tuple[ReadStep, ...]
    damage: tuple[Damage, ...]
    kernel_held: bool = False
    route: str | None = None


class _Moved(Exception):
    """The store moved under a read; the steps so far are kept for the trace."""


def read_store(
    path: bytes, display: str, *, check: Check | None = None, progress: Report | None = None
) -> Reading:
    """All the reads. Never raises for what it finds in the store; does for an interrupt."""
    path = resolve(path)
    steps: list[ReadStep] = []
    pause = _PAUSE
    for attempt in range(TRIES):
        reads = _Reads(path, display, check, progress, steps)
        try:
            return reads.run(by_lock=attempt >= POLITE)
        except _Moved as moved:
            steps[-1] = _with_moved(steps[-1], str(moved))
            time.sleep(pause)
            pause = min(_LONGEST_PAUSE, pause * 1.5)
    parts = look(path, display, check)
    moving = Damage("store-moving", f"the store changed under each of {TRIES} reads of it")
    return Reading(parts, None, None, None, tuple(steps), (*parts.damage, moving))


def _with_moved(step: ReadStep, moved: str) -> ReadStep:
    return ReadStep(step.what, step.way, step.answer, moved, False, step.kernel_held)


class _Reads:
    """One try: a look at the files, the first read, and the read that decides."""

    def __init__(
        self,
        path: bytes,
        display: str,
        check: Check | None,
        progress: Report | None,
        steps: list[ReadStep],
    ) -> None:
        self._path = path
        self._display = display
        self._check = check
        self._progress = progress
        self._steps = steps
        self._held = False

    def run(self, *, by_lock: bool) -> Reading:
        """What the reads came to. Raises _Moved. `by_lock`: a shared lock may be taken."""
        refused: StoreError | None = None
        before: token.Token | None = None
        try:
            before = token.settle(self._path)
        except OSError as error:
            refused = os_refusal(error, self._display)
        parts = look(self._path, self._display, self._check)
        self._steps += parts.steps
        if parts.error is not None or before is None:
            return self._end(parts, None, None, parts.error or refused)
        if parts.empty:
            return self._end(parts, Seen(), Seen(), None, route="empty")
        first, first_error = self._first(parts)
        if parts.settled and not parts.long:
            if self._now() != before:
                if by_lock and _by_locks(parts):
                    return self._under_lock(parts)
                raise _Moved("the store changed while it was read")
            self._decided(first)
            return self._end(parts, first, first, first_error, route=_route(parts))
        if parts.unread:
            return self._end(parts, None, first, None)
        if by_lock and parts.written and _by_locks(parts):
            return self._under_lock(parts)
        if not parts.hot and parts.has_index and parts.readable_log and not parts.contradicted:
            through = self._through_index(parts)
            if through is not None:
                self._decided(through)
                return self._end(parts, through, first, None, route="live log")
        return self._by_copy(parts, first)

    def _now(self) -> token.Token | None:
        try:
            return token.take(self._path)
        except OSError:
            return None

    # -- the ways ----------------------------------------------------------------------------------

    def _first(self, parts: Parts) -> tuple[Seen | None, StoreError | None]:
        """The file alone. What an interrupted transaction left half-written is skipped."""
        tolerant = not parts.settled
        if not parts.database or parts.long:
            why = "its path is too long for SQLite" if parts.long else "it does not begin as a database"
            self._steps.append(ReadStep(parts.name, "immutable", f"not read: {why}"))
            return None, None
        try:
            seen = self._read(parts.path, "mode=ro&immutable=1", tolerant=tolerant)
        except sqlite3.Error as error:
            self._steps.append(ReadStep(parts.name, "immutable", _words(error), kernel_held=self._held))
            return None, fault(error, self._display)
        self._steps.append(ReadStep(parts.name, "immutable", seen.words, kernel_held=self._held))
        return seen, None

    def _through_index(self, parts: Parts) -> Seen | None:
        """The file and its log through the index that is there; None when that read fails."""
        what = f"{parts.name} and its log"
        try:
            seen = self._gated(parts, "mode=ro&readonly_shm=1")
        except BusyError as error:
            self._steps.append(ReadStep(what, "readonly_shm", error.message))
            return None
        except sqlite3.Error as error:
            self._steps.append(ReadStep(what, "readonly_shm", _words(error), kernel_held=self._held))
            return None
        self._steps.append(ReadStep(what, "readonly_shm", seen.words, kernel_held=self._held))
        self._same_file(parts)
        return seen

    def _under_lock(self, parts: Parts) -> Reading:
        """The file by a shared lock: its writer waits for a moment, and nothing moves."""
        try:
            seen = self._gated(parts, "mode=ro", _LOCK_WITHIN)
        except (sqlite3.Error, BusyError) as error:
            words = error.message if isinstance(error, BusyError) else _words(error)
            self._steps.append(ReadStep(parts.name, "shared lock", words, kernel_held=self._held))
            raise _Moved("the store was being written") from error
        self._steps.append(ReadStep(parts.name, "shared lock", seen.words, kernel_held=self._held))
        self._same_file(parts)
        self._decided(seen)
        return self._end(parts, seen, seen, None, route="live")

    def _by_copy(self, parts: Parts, first: Seen | None) -> Reading:
        from persistence.engines import copies

        beside = [name for name, there in (("journal", parts.hot), ("log", parts.log)) if there]
        what = f"{parts.name} and its {' and '.join(beside)}" if beside else parts.name
        try:
            copy = copies.make(self._path, self._display, limit=None, progress=self._progress, tries=1)
        except StoreMovedError as error:
            self._steps.append(ReadStep(what, "private copy", error.message))
            raise _Moved("the store changed while it was copied") from error
        except StoreError as error:
            self._steps.append(ReadStep(what, "private copy", error.message))
            damage = Damage(error.code, f"no private copy could be read: {error.message}")
            return self._end(parts, None, first, error, damage)
        try:
            seen = _on(sqlite_uri(copy.path, "mode=ro&immutable=1"), read_rows)
        except sqlite3.Error as error:
            self._steps.append(ReadStep(what, "private copy", _words(error)))
            return self._end(parts, None, first, fault(error, self._display))
        finally:
            copy.remove()
        self._steps.append(ReadStep(what, "private copy", seen.words, decides=True))
        return self._end(parts, seen, first, None, route=_route(parts))

    # -- what they share --------------------------------------------------------------------------

    def _gated(self, parts: Parts, query: str, wait: float = 0.0) -> Seen:
        """A read through SQLite's locks, past this process's own gate. Raises BusyError and sqlite3.Error."""
        from persistence.engines.gate import gate_for  # what only some stores need is loaded when they do

        assert parts.identity is not None
        gate = gate_for(parts.identity)
        gate.enter(time.monotonic() + _DEADLINE)
        try:
            return self._read(parts.path, query, wait=wait)
        finally:
            gate.leave()

    def _same_file(self, parts: Parts) -> None:
        now = self._now()
        if now is None or now.identity != parts.identity:
            raise _Moved("another file took the store's name")

    def _read(self, path: bytes, query: str, *, tolerant: bool = False, wait: float = 0.0) -> Seen:
        def work(connection: sqlite3.Connection) -> Seen:
            return read_rows(connection, tolerant=tolerant)

        answer, self._held = _in_held_thread(lambda: _on(sqlite_uri(path, query), work, wait))
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _decided(self, seen: Seen | None) -> None:
        if seen is not None:
            last = self._steps[-1]
            self._steps[-1] = ReadStep(last.what, last.way, last.answer, None, True, last.kernel_held)

    def _end(
        self,
        parts: Parts,
        seen: Seen | None,
        first: Seen | None,
        error: StoreError | None,
        *damage: Damage,
        route: str | None = None,
    ) -> Reading:
        steps = tuple(self._steps)
        return Reading(parts, seen, first, error, steps, (*parts.damage, *damage), self._held, route)


def _by_locks(parts: Parts) -> bool:
    """Whether SQLite's shared lock keeps the store from moving: one of the rollback format, in order."""
    from persistence import filesystems

    trusted = parts.identity is not None and filesystems.untrusted(parts.path, parts.identity[0]) is None
    header = parts.header
    plain = header is not None and header.sqlite and header.size > 0 and not header.log_format
    return plain and trusted and not parts.log and not parts.contradicted and not parts.long


def _route(parts: Parts) -> str:
    """How a read-only open reads a store that could be read: see `persistence.engines.routes`."""
    from persistence import filesystems

    assert parts.identity is not None
    if parts.long or filesystems.untrusted(parts.path, parts.identity[0]) is not None:
        return "copy"
    if parts.header is not None and parts.header.log_format and parts.settled:
        return "settled" if not parts.contradicted else "copy"
    plain = not parts.log and not parts.contradicted and parts.database
    # A writer that is at work undoes or finishes by itself; SQLite reads around it, by its locks.
    return "live" if plain and (parts.written or not parts.hot) else "copy"


def _words(error: sqlite3.Error) -> str:
    name = error_name(error)
    return f"failed: {error}{f' ({name})' if name else ''}"


def _on(uri: str, work: Callable[[sqlite3.Connection], T], wait: float = 0.0) -> T:
    """What `work` answers in one transaction of a connection that only reads. Raises sqlite3.Error.

    `wait`: seconds to wait for another program's lock.
    """
    until = time.monotonic() + _DEADLINE
    connection = sqlite3.connect(uri, uri=True, timeout=wait, isolation_level=None)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
        # Nothing of the store's schema may run code, nothing is mapped that may be cut off meanwhile.
        for setting in ("temp_store=MEMORY", "query_only=1", "trusted_schema=0", "mmap_size=0"):
            connection.execute(f"PRAGMA {setting}")
        connection.execute("BEGIN")
        return work(connection)
    finally:
        connection.close()


def _in_held_thread(work: Callable[[], T]) -> tuple[T | BaseException, bool]:
    """What `work` answers or raises on a thread the kernel holds to reading, and whether it does hold it."""
    answers: list[T | BaseException] = []
    held = False

    def run() -> None:
        nonlocal held
        held = landlock.restrict()
        try:
            answers.append(work())
        except BaseException as error:
            answers.append(error)

    thread = threading.Thread(target=run, name="lineage-reader", daemon=True)
    thread.start()
    thread.join()
    return answers[0], held
