"""A store opened for reading on one thread: opened by the table of `routes`, read, verified, let go.

Synchronous and of the standard library alone: the asynchronous reader runs it on a thread of its own,
and what needs no event loop (`lineage`, `doctor`) uses `direct`. Nothing here makes a private copy, which
a thread the kernel holds could not: it raises `CopyNeeded`, and is called again with one.
"""

from __future__ import annotations

import contextlib
import math
import os
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from operator import methodcaller
from typing import TYPE_CHECKING, Any, TypeVar

from persistence import files
from persistence.basics import Notice, ReadInfo, Route
from persistence.engines import guard, landlock, routes, token
from persistence.engines.faults import error_name, fault, quoting_error
from persistence.engines.gate import Gate, gate_for
from persistence.engines.routes import Answer
from persistence.engines.shelf import Shelf
from persistence.errors import CancelledReadError, DeadlineError, StoreError, StoreMovedError
from persistence.location import sqlite_uri

if TYPE_CHECKING:
    from persistence.engines.copies import PrivateCopy

__all__ = ["CopyNeeded", "Session", "Stop"]

T = TypeVar("T")

TRIES = 20
"""How often a read is begun again, at most, when the store moved under it."""

_RESTLESS = 4
"""Settled states that moved under a read, with the log there each time, after which a store in use is read
as live. One whose log comes and goes belongs to a writer that opens, commits and closes: see `_YOUNG`."""

_AGAIN = 4  # how often a state is asked again before the store is read by copy
_LONGEST_WAIT = 10.0  # seconds for a store that is busy, when there is no deadline
_YOUNG = 0.05
"""Seconds in which a log that has just come may go again. A reader that is in while the last writer closes
keeps it from taking its log away, so beside a writer that opens, commits and closes a read waits that long
for the store to rest."""

_STEPS = 1000  # of SQLite's virtual machine between two looks at the deadline: some 20 µs
_TEXT = methodcaller("decode", "utf-8", "surrogateescape")
_MALFORMED = "malformed database schema"


class CopyNeeded(Exception):
    """The store can only be read by a private copy, and there is none of its present state."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _Again(BaseException):
    """The store moved under a statement inside a longer piece of work: all of it is begun again.

    No Exception, so that the work does not take it for an error of its own.
    """


class Stop:
    """Ends what a session does, from any thread: at a deadline, or because somebody asked."""

    __slots__ = ("_connection", "asked", "seconds", "until")

    def __init__(self) -> None:
        self.asked = False
        self.until = math.inf
        self.seconds: float | None = None
        self._connection: sqlite3.Connection | None = None

    def ask(self) -> None:
        """Interrupts what runs now, and everything after it."""
        self.asked = True
        connection = self._connection
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):  # closed just now
                connection.interrupt()

    def arm(self, seconds: float | None) -> None:
        """Begins a deadline of so many seconds from now."""
        self.seconds = seconds
        self.until = math.inf if seconds is None else time.monotonic() + seconds

    def tick(self) -> bool:
        """SQLite's progress handler: whether to interrupt."""
        return self.asked or time.monotonic() > self.until

    def check(self, where: str) -> None:
        """Raises CancelledReadError or DeadlineError when it is time to end."""
        if self.asked:
            raise CancelledReadError("The read was cancelled.", where=where)
        if time.monotonic() > self.until:
            raise DeadlineError(
                f"The read took longer than {self.seconds:g} s and was ended. The store is as it was.",
                where=where,
                expected=f"within {self.seconds:g} s",
                remedy="Ask for less, or allow more time.",
            )


class _Connection(sqlite3.Connection):
    """A driver connection that begins no statement after its time: short ones never reach the handler."""

    stop: Stop
    where: str

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        self.stop.check(self.where)
        try:
            return super().execute(*arguments)
        except UnicodeDecodeError as error:
            raise quoting_error(error) from error

    def cursor(self, *arguments: Any, **named: Any) -> Any:
        self.stop.check(self.where)
        return super().cursor(*arguments, **named)

    def commit(self) -> None:
        """Nothing: the one transaction ends with the connection."""

    rollback = commit


_logs_seen: OrderedDict[bytes, float] = OrderedDict()  # by their salts: when each was first seen


def _young(now: token.Token, sight: routes.Sight) -> bool:
    """Whether the log has come, and was last written, a moment ago."""
    if now.log is None or sight.log_salts is None or time.time() - now.log[3] / 1e9 > _YOUNG:
        return False
    first = _logs_seen.setdefault(sight.log_salts, time.monotonic())
    while len(_logs_seen) > 256:
        with contextlib.suppress(KeyError):  # another thread was first
            _logs_seen.popitem(last=False)
    return time.monotonic() - first < _YOUNG


def _locks_work(sight: routes.Sight) -> bool:
    with files.held(sight.path) as file:
        return files.locks_work(file)


def _somebody_has(sight: routes.Sight) -> bool:
    with files.held(sight.path) as file:
        return files.someone_holds(file) is not False


class Session:
    """One store on one thread. Not for sharing: every method but `stop.ask` runs on the same thread."""

    def __init__(
        self,
        path: bytes,
        display: str,
        *,
        shelf: Shelf,
        generic: bool = False,
        strict: bool = False,
    ) -> None:
        """`generic` denies every statement that is not a read; `strict` raises StoreMovedError rather
        than go on over a second state of the store."""
        self.path = path
        self.display = display
        self.shelf = shelf
        self.generic = generic
        self.strict = strict
        self.stop = Stop()
        self.info: ReadInfo | None = None
        self.opened: Callable[[sqlite3.Connection], None] | None = None  # called before it reads
        self.closing: Callable[[], None] | None = None  # called before the connection is closed
        self.offered: PrivateCopy | None = None  # made because this session asked for one
        self.held_since = 0.0
        self._connection: _Connection | None = None
        self._copy: PrivateCopy | None = None
        self._gate: Gate | None = None
        self._answers = 0
        self._unsettled = 0

    # -- reading ------------------------------------------------------------------------------------

    def look(self) -> ReadInfo:
        """What is known before anything is read: the route the state of the files asks for."""
        now, plan, _ = self._state()
        return ReadInfo(plan.route, time.time(), now, landlock.restrict(), plan.notices)

    def run(self, work: Callable[[sqlite3.Connection], T], seconds: float | None) -> T:
        """What `work` answers, of one state of the store; within `seconds`.

        Called again when the store moved under it, up to a bound: `work` must start from nothing each
        time. Raises CopyNeeded, and the typed errors.
        """
        self.stop.arm(seconds)
        for attempt in range(TRIES):
            self.stop.check(self.display)
            connection = self._connection or self._open()
            try:
                result = work(connection)
            except _Again:
                pass
            except sqlite3.Error as error:
                self._after(error)
            except (CancelledReadError, DeadlineError):
                raise
            except Exception:
                if self._unmoved():
                    raise
                self.close()  # what it stumbled over may be pages of two states
            else:
                if self._unmoved():
                    self._answers += 1
                    return result
                self.close()
            self._unsettled += self._route is Route.SETTLED
            time.sleep(min(0.001 * attempt, 0.02))
        raise self._moving()

    def within(self, work: Callable[[sqlite3.Connection], T], seconds: float | None) -> T:
        """One statement of a longer piece of work that `run` runs, with a deadline of its own. Raises the
        typed errors, or begins the whole piece again."""
        self.stop.arm(seconds)
        assert self._connection is not None
        try:
            return work(self._connection)
        except sqlite3.Error as error:
            self._after(error)
            raise _Again from None

    @property
    def holding(self) -> bool:
        """Whether it holds something a writer may wait for."""
        return self._connection is not None and self._route in (Route.LIVE, Route.LIVE_LOG)

    def close(self) -> None:
        """Lets the store go. `run` opens it again."""
        self._disconnect()
        for copy in (self._copy, self.offered):
            if copy is not None:
                self.shelf.give_back(copy)
        gate, self._gate = self._gate, None
        self._copy = self.offered = None
        if gate is not None:
            gate.leave()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        self.stop._connection = None
        if connection is not None:
            if self.closing is not None:
                with contextlib.suppress(Exception):
                    self.closing()
            connection.close()

    # -- opening ------------------------------------------------------------------------------------

    @property
    def _route(self) -> Route:
        assert self.info is not None
        return self.info.route

    def _check(self, _done: int, _total: int) -> None:
        self.stop.check(self.display)

    def _open(self) -> sqlite3.Connection:
        again, pause = 0, 0.001
        busy: sqlite3.Error | None = None
        patience, settling = time.monotonic() + _LONGEST_WAIT, time.monotonic() + 2 * _YOUNG
        try:
            for _ in range(100 * TRIES):
                self.stop.check(self.display)
                if busy is not None and time.monotonic() > patience:
                    raise fault(busy, self.display) from busy
                now, plan, sight = self._state()
                if now.log is None:
                    self._unsettled = 0
                elif self._unsettled >= _RESTLESS and _somebody_has(sight):
                    plan = routes.restless(sight, plan)
                if time.monotonic() < settling and (
                    _young(now, sight)
                    if plan.route is Route.LIVE_LOG
                    else plan.passing and not self.offered and _somebody_has(sight)
                ):
                    time.sleep(pause)
                    continue
                if plan.route is Route.COPY or again > _AGAIN:
                    return self._open_copy(plan.reason or "its state would not hold still", now)
                fresh = now.fresh(time.time()) if plan.route in (Route.SETTLED, Route.EMPTY) else 0.0
                if fresh:  # changed a moment ago: another change might not show in the token yet
                    time.sleep(fresh)
                    continue
                try:
                    return self._connect(sight, plan, now)
                except sqlite3.Error as error:
                    self.close()
                    self._interrupted(error)
                    what = routes.answer(plan.route, error_name(error), moved=self._moved(now))
                    if what is Answer.RAISE:
                        raise fault(error, self.display) from error
                    if what is Answer.COPY:
                        return self._open_copy("a writer that ended left its transaction half done", now)
                    if what is Answer.WAIT and not _locks_work(sight):
                        return self._open_copy("its file system does not lock", now)
                    again += what is Answer.AGAIN
                    busy = error if what is Answer.WAIT else None
                time.sleep(pause)
                pause = min(pause * 2, 0.02)
        except DeadlineError as late:
            self.close()
            if busy is not None:
                raise fault(busy, self.display) from late
            raise
        except BaseException:
            self.close()
            raise
        raise self._moving()

    def _state(self) -> tuple[token.Token, routes.Opening, routes.Sight]:
        """The change token, and then what the files look like: a change after it shows in a later token."""
        try:
            now = token.take(files.resolve(self.path))
            sight = routes.look(self.path, self.display, self._check)
        except OSError as error:
            raise files.os_refusal(error, self.display) from error
        return now, routes.opening(sight), sight

    def _connect(self, sight: routes.Sight, plan: routes.Opening, now: token.Token) -> sqlite3.Connection:
        gate = gate_for(sight.identity)
        gate.enter(self._limit(), lambda: self.stop.asked)
        self._gate = gate
        uri = "file::memory:" if plan.query is None else sqlite_uri(sight.path, plan.query)
        self._begun(now, ReadInfo(plan.route, time.time(), now, landlock.restrict(), plan.notices))
        return self._begin(uri)

    def _open_copy(self, reason: str, now: token.Token) -> sqlite3.Connection:
        copy, self.offered = self.offered or self.shelf.borrow(now), None
        if copy is None:
            raise CopyNeeded(reason)
        self._copy = copy
        try:
            self._begun(
                copy.token, ReadInfo(Route.COPY, copy.taken, copy.token, landlock.restrict(), copy.notices)
            )
            return self._begin(copy.uri)
        except sqlite3.Error as error:
            self.close()
            self._interrupted(error)
            raise fault(error, self.display) from error
        except BaseException:
            self.close()
            raise

    def _begun(self, now: object, info: ReadInfo) -> None:
        """Takes note of what is about to be read, and whether it is another state than before."""
        before = self.info
        if before is not None and self._answers:
            moved = before.token != now
            if moved and self.strict:
                raise self._moving()
            info = replace(info, snapshots=before.snapshots + moved)
        self.info = info

    def _begin(self, uri: str) -> sqlite3.Connection:
        """Opens the connection, and proves it by a read of the schema, in a transaction that stays open."""
        try:
            return self._prepared(uri)
        except sqlite3.DatabaseError as error:
            if not str(error).startswith(_MALFORMED):
                raise
            # A schema with one broken entry is read without that entry, where SQLite is told to be lenient.
            self._disconnect()
            connection = self._prepared(uri, lenient=True)
            assert self.info is not None
            notice = Notice("schema-damaged", f"A part of the schema could not be read: {error}.")
            self.info = replace(self.info, notices=(*self.info.notices, notice))
            return connection

    def _prepared(self, uri: str, *, lenient: bool = False) -> sqlite3.Connection:
        connection = sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None, factory=_Connection)
        connection.stop, connection.where = self.stop, self.display
        self._connection = self.stop._connection = connection
        connection.text_factory = _TEXT
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_progress_handler(self.stop.tick, _STEPS)
        for setting in ("temp_store=MEMORY", "query_only=1", "trusted_schema=0", "mmap_size=0"):
            connection.execute(f"PRAGMA {setting}")
        if lenient:
            connection.execute("PRAGMA writable_schema=1")
        if self.opened is not None:
            self.opened(connection)
        # From here to the close a writer may have to wait: as little as can be is done in between.
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        self.held_since = time.monotonic()
        if self.generic:
            guard.deny_writes(connection)
        return connection

    # -- what became of it --------------------------------------------------------------------------

    def _moved(self, before: object) -> bool:
        try:
            return token.take(files.resolve(self.path)) != before
        except OSError:
            return True

    def _unmoved(self) -> bool:
        """Whether what was just read is one state of the store that was asked for."""
        assert self.info is not None
        if self._route in (Route.SETTLED, Route.EMPTY):
            return not self._moved(self.info.token)
        if self._route is Route.COPY:
            return True
        try:  # a transaction saw one state; of this file, unless another took its name
            found = os.stat(files.resolve(self.path))
        except OSError:
            return False
        now = self.info.token
        return isinstance(now, token.Token) and (found.st_dev, found.st_ino) == now.identity

    def _after(self, error: sqlite3.Error) -> None:
        """Lets go after an error when the read is to be begun again; else raises what it means."""
        assert self.info is not None
        route, before = self._route, self.info.token
        self._interrupted(error)
        what = routes.answer(route, error_name(error), moved=self._moved(before))
        if what is Answer.RAISE:
            raise fault(error, self.display) from error
        self.close()

    def _interrupted(self, error: sqlite3.Error) -> None:
        if error_name(error) == "SQLITE_INTERRUPT":
            self.stop.check(self.display)
            raise CancelledReadError("The read was interrupted.", where=self.display) from error

    def _limit(self) -> float | None:
        return None if math.isinf(self.stop.until) else self.stop.until

    def _moving(self) -> StoreError:
        return StoreMovedError(
            "The store changed under every try to read it.",
            where=self.display,
            observed=f"{TRIES} tries",
            remedy="Try again when the program that writes it is less busy.",
        )
