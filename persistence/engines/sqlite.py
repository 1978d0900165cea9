"""Reading a SQLite store without a trace: one snapshot a load, on a thread of its own (DESIGN 3.1).

Statements are SQLAlchemy Core's, compiled once a reader; each runs in one hop on the snapshot's thread,
which the kernel holds to reading where it can.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Literal, TypeVar

from sqlalchemy import Connection, Executable, create_engine
from sqlalchemy.pool import NullPool

from persistence.engines import token
from persistence.engines.bound import Bound, Waits
from persistence.engines.reader import DEADLINE, Asking, Snapshot
from persistence.engines.session import Session
from persistence.engines.shelf import COPY_LIMIT, Shelf
from persistence.engines.thread import in_thread
from persistence.errors import StoreMovedError
from persistence.files import os_refusal, resolve
from persistence.location import StoreLocation
from persistence.records import Progress, ReadInfo

__all__ = ["SqliteReader", "SqliteSnapshot"]

T = TypeVar("T")

_LOADS = 5  # how often a load is begun again when the store moved under it


class SqliteSnapshot(Asking):
    """See `reader.Snapshot`. Opened by its first statement, in the same hop."""

    dialect: Literal["sqlite"] = "sqlite"

    def __init__(self, reader: SqliteReader, session: Session, deadline: float | None, auto: bool) -> None:
        self._reader = reader
        self._session = session
        self._deadline = deadline
        self._auto = auto
        self._expected: ReadInfo | None = None
        self._bound = Bound(session, reader.connect)
        weakref.finalize(self, self._bound.worker.drop)  # when it is forgotten

    @property
    def info(self) -> ReadInfo:
        """How the last statement was read; before the first, what the state of the files asks for."""
        info = self._session.info or self._expected
        assert info is not None
        return info

    async def rows(
        self, statement: Executable | str, parameters: Mapping[str, Any] | None = None
    ) -> list[Sequence[Any]]:
        return await self.on_driver(partial(self._bound.rows, statement, parameters))

    async def on_driver(self, work: Callable[[sqlite3.Connection], T]) -> T:
        result = await self._bound.call(partial(self._session.run, work, self._deadline), auto=self._auto)
        self._reader.last = self.info
        return result

    async def begin(self) -> None:
        try:
            self._expected = await self._bound.worker.call(self._session.look, self._session.stop.ask)
        except BaseException:
            await self.end()
            raise

    async def end(self) -> None:
        await self._bound.worker.end()


class _Loading:
    """The context of one snapshot."""

    __slots__ = ("_snapshot",)

    def __init__(self, snapshot: SqliteSnapshot) -> None:
        self._snapshot = snapshot

    async def __aenter__(self) -> SqliteSnapshot:
        await self._snapshot.begin()
        return self._snapshot

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._snapshot.end()


class SqliteReader:
    """See `reader.Reader`. Holds no connection between snapshots; `shelf` holds its private copy."""

    dialect: Literal["sqlite"] = "sqlite"

    def __init__(self, location: StoreLocation) -> None:
        assert location.path is not None
        self.location = location
        self.last: ReadInfo | None = None
        self.shelf = Shelf()
        self._path = location.path
        self._opened = threading.local()
        # One for the life of the reader: it keeps what was compiled. The transaction is the session's.
        self._engine = create_engine(
            "sqlite://",
            creator=lambda: self._opened.driver,
            poolclass=NullPool,
            pool_reset_on_return=None,
        )

    def snapshot(
        self, *, deadline: float | None = DEADLINE, generic: bool = False, auto: bool = False
    ) -> _Loading:
        return self._loading(deadline, generic, auto, strict=False)

    async def load(
        self,
        work: Callable[[Snapshot], Awaitable[T]],
        *,
        deadline: float | None = DEADLINE,
        auto: bool = False,
    ) -> T:
        with contextlib.suppress(Waits):
            return await self._at_once(work, deadline, auto)
        for attempt in range(_LOADS):
            try:
                async with self._loading(deadline, False, auto, strict=True) as snapshot:
                    return await work(snapshot)
            except StoreMovedError:
                if attempt == _LOADS - 1:
                    raise
                await asyncio.sleep(0.01 * attempt)
        raise AssertionError  # the loop returns or raises

    async def _at_once(
        self, work: Callable[[Snapshot], Awaitable[T]], deadline: float | None, auto: bool
    ) -> T:
        bound = Bound(self._session(generic=False, strict=True), self.connect)
        try:
            result = await bound.at_once(work, deadline, auto=auto)
            self.last = bound.session.info
            return result
        finally:
            await bound.worker.end()

    async def token(self) -> token.Token:
        def take() -> token.Token:
            try:
                return token.take(resolve(self._path))
            except OSError as error:
                raise os_refusal(error, self.location.display) from error

        return await in_thread(take)

    async def close(self) -> None:
        await in_thread(self.shelf.clear)
        self._engine.dispose()

    def copying(
        self, *, limit: int | None = COPY_LIMIT, progress: Callable[[Progress], None] | None = None
    ) -> None:
        self.shelf.limit, self.shelf.progress = limit, progress

    def connect(self, driver: sqlite3.Connection) -> Connection:
        """SQLAlchemy's connection over an open driver connection, on the calling thread."""
        self._opened.driver = driver
        try:
            return self._engine.connect()
        finally:
            del self._opened.driver

    def _session(self, *, generic: bool, strict: bool) -> Session:
        return Session(self._path, self.location.display, shelf=self.shelf, generic=generic, strict=strict)

    def _loading(self, deadline: float | None, generic: bool, auto: bool, *, strict: bool) -> _Loading:
        return _Loading(SqliteSnapshot(self, self._session(generic=generic, strict=strict), deadline, auto))
