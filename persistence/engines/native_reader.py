"""Reading a native SQLite store while this handle has it open for writing.

The writer's log and index are there for as long as the handle is open, so readers keep their connections: a
read is one hop to a thread that has one ready. Each snapshot is one read transaction on a connection of its
own; there are as many as there are snapshots at once, and a few are kept for the next.
"""

from __future__ import annotations

import contextlib
import math
import sqlite3
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from operator import methodcaller
from types import TracebackType
from typing import Any, Literal, TypeVar, cast

from sqlalchemy import Connection, Engine, Executable, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from persistence import files
from persistence.engines import guard, token
from persistence.engines.faults import error_name, fault
from persistence.engines.reader import DEADLINE, Asking
from persistence.engines.thread import Worker
from persistence.errors import CancelledReadError, DeadlineError, StoreError
from persistence.location import StoreLocation, sqlite_uri
from persistence.records import ReadInfo, Route

__all__ = ["NativeReader"]

T = TypeVar("T")

_KEPT = 4
"""Connections that are kept while nobody reads."""

_STEPS = 1000
_TEXT = methodcaller("decode", "utf-8", "surrogateescape")


class _Driver(sqlite3.Connection):
    """The snapshot's transaction is its own: what SQLAlchemy would end stays open."""

    def commit(self) -> None:
        """Nothing."""

    rollback = commit


class _Slot:
    """One connection and its thread, used by one snapshot at a time."""

    def __init__(self, path: bytes, where: str) -> None:
        self._path = path
        self._where = where
        self._until = math.inf
        self._seconds: float | None = None
        self.driver: _Driver | None = None
        self._engine: Engine | None = None
        self._alchemy: Connection | None = None
        self.stopped = False
        self.worker = Worker(begin=int, ended=self._close, lapse=lambda: None, idle=int)

    def run(self, work: Callable[[_Slot], T], seconds: float | None) -> T:
        """What `work` answers, in the open transaction; begins one when there is none."""
        self._seconds = seconds
        self._until = math.inf if seconds is None else time.monotonic() + seconds
        try:
            driver = self.driver or self._open()
            if not driver.in_transaction:
                driver.execute("BEGIN")
            return work(self)
        except DBAPIError as error:
            raise self._told(error.orig) from error
        except sqlite3.Error as error:
            raise self._told(error) from error

    def ask(self) -> None:
        self.stopped = True
        if self.driver is not None:
            with contextlib.suppress(sqlite3.Error):
                self.driver.interrupt()

    def finish(self) -> None:
        """Ends the transaction; the connection stays."""
        self.stopped = False
        self._until = math.inf
        if self.driver is not None:
            self.driver.set_authorizer(None)  # it denies ending the transaction, too
            if self.driver.in_transaction:
                self.driver.execute("ROLLBACK")

    def rows(self, statement: Executable | str, parameters: Mapping[str, Any] | None) -> list[Sequence[Any]]:
        try:
            return self._rows(statement, parameters)
        except DBAPIError as error:
            if self.driver is None or "Could not decode to UTF-8" not in str(error.orig):
                raise
            self.driver.text_factory = _TEXT  # from now on: such a store may have more of them
            return self._rows(statement, parameters)

    def on_driver(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` answers: it may meet any bytes, and is not run twice for them."""
        assert self.driver is not None
        before = self.driver.text_factory
        self.driver.text_factory = _TEXT
        try:
            return work(self.driver)
        finally:
            self.driver.text_factory = before

    def _rows(self, statement: Executable | str, parameters: Mapping[str, Any] | None) -> list[Sequence[Any]]:
        given = dict(parameters or {})
        connection = self._connected()
        if isinstance(statement, str):
            result = connection.exec_driver_sql(statement, given)
        else:
            result = connection.execute(statement, given)
        return cast("list[Sequence[Any]]", result.all() if result.returns_rows else [])

    def _connected(self) -> Connection:
        if self._alchemy is None:
            driver = self.driver
            self._engine = create_engine(
                "sqlite://", creator=lambda: driver, poolclass=NullPool, pool_reset_on_return=None
            )
            self._alchemy = self._engine.connect()
        return self._alchemy

    def _open(self) -> _Driver:
        driver = sqlite3.connect(
            sqlite_uri(self._path, "mode=ro"),
            uri=True,
            timeout=5,
            isolation_level=None,
            check_same_thread=False,
            factory=_Driver,
        )
        driver.text_factory = str  # quicker than ours, which is for what is no UTF-8
        driver.set_progress_handler(self._late, _STEPS)
        for setting in ("query_only=1", "temp_store=MEMORY", "cache_size=-16000"):
            driver.execute(f"PRAGMA {setting}")
        self.driver = driver
        return driver

    def _late(self) -> bool:
        return self.stopped or time.monotonic() > self._until

    def _told(self, error: BaseException | None) -> StoreError:
        if not isinstance(error, sqlite3.Error):
            return StoreError("The read failed.", where=self._where, observed=str(error))
        if error_name(error) != "SQLITE_INTERRUPT":
            return fault(error, self._where)
        if self.stopped:
            return CancelledReadError("The read was cancelled.", where=self._where)
        return DeadlineError(
            f"The read took longer than {self._seconds:g} s and was ended.",
            where=self._where,
            expected=f"within {self._seconds:g} s",
            remedy="Ask for less, or allow more time.",
        )

    def _close(self) -> None:
        if self._alchemy is not None:
            self._alchemy.close()
        if self._engine is not None:
            self._engine.dispose()
        if self.driver is not None:
            self.driver.close()


class NativeSnapshot(Asking):
    """See `reader.Snapshot`."""

    dialect: Literal["sqlite"] = "sqlite"

    def __init__(self, reader: NativeReader, slot: _Slot, deadline: float | None, generic: bool) -> None:
        self._reader = reader
        self._slot = slot
        self._deadline = deadline
        self._generic = generic
        self.info = reader.note()

    async def rows(
        self, statement: Executable | str, parameters: Mapping[str, Any] | None = None
    ) -> list[Sequence[Any]]:
        return await self._call(lambda slot: slot.rows(statement, parameters))

    async def on_driver(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._call(lambda slot: slot.on_driver(work))

    async def _call(self, work: Callable[[_Slot], T]) -> T:
        slot = self._slot
        if self._generic:
            work = partial(_guarded, work)
        return await slot.worker.call(partial(slot.run, work, self._deadline), slot.ask)


def _guarded(work: Callable[[_Slot], T], slot: _Slot) -> T:
    assert slot.driver is not None
    guard.deny_writes(slot.driver)
    return work(slot)


class _Inline(Asking):
    """See `reader.Snapshot`: one that is read on the reader's own thread, so that nothing is waited for."""

    dialect: Literal["sqlite"] = "sqlite"

    def __init__(self, slot: _Slot, info: ReadInfo) -> None:
        self._slot = slot
        self.info = info

    async def rows(
        self, statement: Executable | str, parameters: Mapping[str, Any] | None = None
    ) -> list[Sequence[Any]]:
        return self._slot.rows(statement, parameters)

    async def on_driver(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return self._slot.on_driver(work)


class _Waits(Exception):
    """A load waits for something other than its snapshot."""


def _at_once(work: Callable[[_Inline], Awaitable[T]], info: ReadInfo, slot: _Slot) -> T:
    """Runs a load to its end on the calling thread. A load awaits nothing but its snapshot, which answers
    at once there; what waits for anything else raises _Waits."""
    running = work(_Inline(slot, info)).__await__()
    try:
        next(running)
    except StopIteration as done:
        result: T = done.value
        return result
    except RuntimeError as error:
        if "no running event loop" in str(error):
            raise _Waits from None
        raise
    running.close()
    raise _Waits


class _Loading:
    """The context of one snapshot."""

    __slots__ = ("_deadline", "_generic", "_reader", "_slot")

    def __init__(self, reader: NativeReader, deadline: float | None, generic: bool) -> None:
        self._reader = reader
        self._deadline = deadline
        self._generic = generic
        self._slot: _Slot | None = None

    async def __aenter__(self) -> NativeSnapshot:
        self._slot = self._reader.take()
        return self._reader.snapshot_type(self._reader, self._slot, self._deadline, self._generic)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._slot is not None
        await self._reader.give_back(self._slot)


class NativeReader:
    """See `reader.Reader`. Keeps a few connections open, which the handle's writer makes harmless."""

    dialect: Literal["sqlite"] = "sqlite"
    snapshot_type = NativeSnapshot

    def __init__(self, location: StoreLocation) -> None:
        assert location.path is not None
        self.location = location
        self.last: ReadInfo | None = None
        self._path = files.resolve(location.path)
        self._idle: list[_Slot] = []
        self._closed = False

    def snapshot(
        self, *, deadline: float | None = DEADLINE, generic: bool = False, auto: bool = False
    ) -> _Loading:
        return _Loading(self, deadline, generic)

    async def load(
        self,
        work: Callable[[Any], Awaitable[T]],
        *,
        deadline: float | None = DEADLINE,
        auto: bool = False,
    ) -> T:
        """What `work` makes of one snapshot: in one hop, however many statements it runs."""
        slot = self.take()
        try:
            run = partial(slot.run, partial(_at_once, work, self.note()), deadline)
            return await slot.worker.call(run, slot.ask)
        except _Waits:
            pass
        finally:
            await self.give_back(slot)
        async with self.snapshot(deadline=deadline) as snapshot:
            return await work(snapshot)

    def note(self) -> ReadInfo:
        """How a snapshot that begins now is read."""
        try:
            moment = token.take(self._path)
        except OSError as error:
            raise files.os_refusal(error, self.location.display) from error
        self.last = ReadInfo(Route.LIVE_LOG, time.time(), moment)
        return self.last

    async def token(self) -> object:
        return self.note().token

    def take(self) -> _Slot:
        if self._closed:
            raise StoreError("The store is not open.", code="not-open", where=self.location.display)
        return self._idle.pop() if self._idle else _Slot(self._path, self.location.display)

    async def give_back(self, slot: _Slot) -> None:
        # Ended without being waited for: the next call on this thread comes after it.
        if self._closed or len(self._idle) >= _KEPT:
            await slot.worker.end()
            return
        slot.worker.post(slot.finish)
        self._idle.append(slot)

    def copying(self, *, limit: int | None = None, progress: object = None) -> None:
        """Nothing: the handle's own writer keeps the log's index, so no copy is ever made."""

    async def close(self) -> None:
        self._closed = True
        idle, self._idle = self._idle, []
        for slot in idle:
            await slot.worker.end()
