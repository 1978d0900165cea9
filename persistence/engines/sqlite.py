"""Reading a SQLite store without a trace (first form: routes come with `persistence.engines.routes`)."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar, cast

import aiosqlite
from sqlalchemy import Executable, event
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from persistence.engines.reader import DEADLINE, Snapshot
from persistence.errors import StoreMissingError
from persistence.location import StoreLocation, sqlite_uri
from persistence.records import ReadInfo, Route

T = TypeVar("T")


class SqliteSnapshot:
    dialect = "sqlite"

    def __init__(self, connection: AsyncConnection, driver: aiosqlite.Connection, info: ReadInfo) -> None:
        self._connection = connection
        self._driver = driver
        self.info = info

    async def _interruptible(self, task: asyncio.Task[T]) -> T:
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await self._driver.interrupt()
            with suppress(Exception):
                await task
            raise

    async def rows(
        self, statement: Executable | str, parameters: Mapping[str, Any] | None = None
    ) -> list[Sequence[Any]]:
        async def run() -> list[Sequence[Any]]:
            if isinstance(statement, str):
                result = await self._connection.exec_driver_sql(statement, dict(parameters or {}))
            else:
                result = await self._connection.execute(statement, dict(parameters or {}))
            return cast("list[Sequence[Any]]", list(result.all()))

        return await self._interruptible(asyncio.ensure_future(run()))

    async def first(
        self, statement: Executable | str, parameters: Mapping[str, Any] | None = None
    ) -> Sequence[Any] | None:
        rows = await self.rows(statement, parameters)
        return rows[0] if rows else None

    async def scalar(self, statement: Executable | str, parameters: Mapping[str, Any] | None = None) -> Any:
        row = await self.first(statement, parameters)
        return None if row is None else row[0]

    async def on_driver(self, work: Callable[[sqlite3.Connection], T]) -> T:
        async def run() -> T:
            return cast(T, await self._driver._execute(work, self._driver._conn))

        return await self._interruptible(asyncio.ensure_future(run()))


class SqliteReader:
    dialect = "sqlite"

    def __init__(self, location: StoreLocation) -> None:
        self.location = location
        self.last: ReadInfo | None = None

    async def token(self) -> object:
        return await asyncio.to_thread(self._token)

    def _token(self) -> object:
        out = []
        for suffix in (b"", b"-wal", b"-journal"):
            try:
                stat = os.stat(cast(bytes, self.location.path) + suffix)
            except FileNotFoundError:
                out.append(None)
            else:
                out.append((stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns))
        return tuple(out)

    @asynccontextmanager
    async def snapshot(self, *, deadline: float | None = DEADLINE) -> AsyncIterator[Snapshot]:
        path = cast(bytes, self.location.path)
        if not os.path.exists(path):
            raise StoreMissingError("There is no such store.", where=self.location.display)
        log = os.path.exists(path + b"-wal") and os.path.getsize(path + b"-wal") > 0
        query = "mode=ro&readonly_shm=1" if log else "mode=ro&immutable=1"
        token = self._token()

        def connector() -> sqlite3.Connection:
            connection = sqlite3.connect(
                sqlite_uri(path, query), uri=True, isolation_level=None, check_same_thread=False
            )
            connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
            connection.execute("PRAGMA query_only=1")
            connection.execute("PRAGMA temp_store=2")
            return connection

        async def creator() -> aiosqlite.Connection:
            return await aiosqlite.Connection(connector, 64)

        engine = create_async_engine("sqlite+aiosqlite://", async_creator=creator, poolclass=NullPool)

        @event.listens_for(engine.sync_engine, "begin")
        def begin(connection: Any) -> None:
            connection.exec_driver_sql("BEGIN")

        try:
            async with engine.connect() as connection:
                raw = await connection.get_raw_connection()
                driver = cast(aiosqlite.Connection, raw.driver_connection)
                info = ReadInfo(Route.LIVE_LOG if log else Route.SETTLED, time.time(), token)
                self.last = info
                yield SqliteSnapshot(connection, driver, info)
        finally:
            await engine.dispose()

    async def close(self) -> None:
        return None
