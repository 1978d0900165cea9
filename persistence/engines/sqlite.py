"""Reading a SQLite store without a trace: one snapshot a load, on a thread of its own (DESIGN 3.1).

Statements are SQLAlchemy Core's, compiled once a reader; each runs in one hop on the snapshot's thread,
which the kernel holds to reading where it can.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Literal, TypeVar, cast

from sqlalchemy import Connection, Executable, create_engine
from sqlalchemy.exc import StatementError
from sqlalchemy.pool import NullPool

from persistence.engines import landlock, token
from persistence.engines.reader import DEADLINE
from persistence.engines.session import CopyNeeded, Session
from persistence.engines.shelf import COPY_LIMIT, Shelf
from persistence.engines.thread import Worker, in_thread
from persistence.errors import CopyRefusedError, StoreMovedError
from persistence.files import os_refusal, resolve
from persistence.location import StoreLocation
from persistence.records import Progress, ReadInfo

__all__ = ["SqliteReader", "SqliteSnapshot"]

T = TypeVar("T")

LAPSE = 1.0
"""Seconds after which a snapshot on a live route is let go between two statements: a held one keeps the
writer's log from being folded in. The next statement opens another, and `info.snapshots` says so."""

_LOADS = 5  # how often a load is begun again when the store moved under it
_COPIES = 3


class _Bound:
    """What belongs to a snapshot's thread, and must not keep the snapshot itself alive."""

    def __init__(self, session: Session, connect: Callable[[sqlite3.Connection], Connection]) -> None:
        self.session = session
        self._connect = connect
        self._alchemy: Connection | None = None
        session.closing = self._let_go
        self.worker = Worker(
            begin=landlock.restrict, ended=session.close, lapse=self._lapse, idle=session.close
        )

    def connected(self, driver: sqlite3.Connection) -> Connection:
        """SQLAlchemy's connection over the session's present one."""
        if self._alchemy is None:
            self._alchemy = self._connect(driver)
        return self._alchemy

    def _let_go(self) -> None:
        connection, self._alchemy = self._alchemy, None
        if connection is not None:
            connection.close()

    def _lapse(self) -> float | None:
        if not self.session.holding:
            return None
        return max(0.0, self.session.held_since + LAPSE - time.monotonic())


class SqliteSnapshot:
    """See `reader.Snapshot`. Opened by its first statement, in the same hop."""

    dialect: Literal["sqlite"] = "sqlite"

    def __init__(self, reader: SqliteReader, session: Session, deadline: float | None, auto: bool) -> None:
        self._reader = reader
        self._session = session
        self._deadline = deadline
        self._auto = auto
        self._expected: ReadInfo | None = None
        self._bound = _Bound(session, reader.connect)
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
        given, bound = dict(parameters or {}), self._bound

        def work(driver: sqlite3.Connection) -> list[Sequence[Any]]:
            connection = bound.connected(driver)
            try:
                if isinstance(statement, str):
                    result = connection.exec_driver_sql(statement, given)
                else:
                    result = connection.execute(statement, given)
                return cast("list[Sequence[Any]]", result.all() if result.returns_rows else [])
            except StatementError as error:
                raise error.orig or error from None

        return await self.on_driver(work)

    async def first(
        self, statement: Executable | str, parameters: Mapping[str, Any] | None = None
    ) -> Sequence[Any] | None:
        rows = await self.rows(statement, parameters)
        return rows[0] if rows else None

    async def scalar(self, statement: Executable | str, parameters: Mapping[str, Any] | None = None) -> Any:
        row = await self.first(statement, parameters)
        return None if row is None else row[0]

    async def on_driver(self, work: Callable[[sqlite3.Connection], T]) -> T:
        run = partial(self._session.run, work, self._deadline)
        for _ in range(_COPIES):
            try:
                result = await self._bound.worker.call(run, self._session.stop.ask)
            except CopyNeeded as needed:
                await self._copy(needed)
            else:
                self._reader.last = self.info
                return result
        raise StoreMovedError(
            "The store changed under every copy of it.", where=self._reader.location.display
        )

    async def _copy(self, needed: CopyNeeded) -> None:
        where = self._reader.location.display
        if self._auto:
            raise CopyRefusedError(
                "The store has changed, and it can only be read from a private copy, which nobody asked for.",
                code="copy-not-asked",
                where=where,
                observed=needed.reason,
                remedy="Refresh to read it as it is now.",
            )
        session, shelf = self._session, self._reader.shelf
        stop = session.stop

        def make() -> None:
            copy = shelf.make(session.path, where, lambda: stop.asked)
            if stop.asked:  # nobody waits any more
                shelf.give_back(copy)
            else:
                session.offered = copy

        await in_thread(make, stop.ask)

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
        work: Callable[[SqliteSnapshot], Awaitable[T]],
        *,
        deadline: float | None = DEADLINE,
        auto: bool = False,
    ) -> T:
        for attempt in range(_LOADS):
            try:
                async with self._loading(deadline, False, auto, strict=True) as snapshot:
                    return await work(snapshot)
            except StoreMovedError:
                if attempt == _LOADS - 1:
                    raise
                await asyncio.sleep(0.01 * attempt)
        raise AssertionError  # the loop returns or raises

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

    def _loading(self, deadline: float | None, generic: bool, auto: bool, *, strict: bool) -> _Loading:
        session = Session(self._path, self.location.display, shelf=self.shelf, generic=generic, strict=strict)
        return _Loading(SqliteSnapshot(self, session, deadline, auto))
