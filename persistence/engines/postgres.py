"""Reading a PostgreSQL store: one read-only transaction over one snapshot a load, nothing applied.

Connections go to a small pool, which is emptied when nobody has read for a while. Nothing is prepared by
name for longer than its statement, so that a pooler (pgbouncer) between may mix connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, NoReturn, TypeVar, cast
from uuid import uuid4

from sqlalchemy import Executable, text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from persistence.engines.reader import DEADLINE, Asking
from persistence.engines.server import address, driver_url
from persistence.engines.server_faults import server_fault, sqlstate
from persistence.engines.shelf import COPY_LIMIT
from persistence.errors import ReadOnlyStoreError, StoreMovedError
from persistence.location import StoreLocation
from persistence.records import Progress, ReadInfo, Route

__all__ = ["PostgresReader", "PostgresSnapshot", "ServerToken"]

T = TypeVar("T")

PATIENCE = 2.0
"""Seconds a server is given to end a cancelled query; the connection is cut then."""

IDLE = 30.0
"""Seconds after the last read at which no connection is kept any more."""

_CONNECT = 10.0  # seconds
_GRACE = 2.0  # seconds beyond a deadline in which the server is to say itself that it has passed
_LOADS = 5
_READS = frozenset(("select", "with", "values", "table", "show", "explain"))


@dataclass(frozen=True, slots=True)
class ServerToken:
    """Equal ones see the same rows: the server's counter of transactions that wrote, in any of its databases.

    One table written to in another database moves it too: it says *moved* too often, never too rarely.
    """

    database: str
    started: str
    transactions: str


_TOKEN = (
    "SELECT current_database()::text, pg_postmaster_start_time()::text, txid_current_snapshot()::text, "
    "current_setting('server_version')"
)


class PostgresSnapshot(Asking):
    """See `reader.Snapshot`. One REPEATABLE READ, READ ONLY transaction."""

    dialect: Literal["postgresql"] = "postgresql"

    def __init__(self, reader: PostgresReader, deadline: float | None, generic: bool) -> None:
        self._reader = reader
        self._deadline = deadline
        self._generic = generic
        self._connection: AsyncConnection | None = None
        self._driver: Any = None
        self._info: ReadInfo | None = None
        self._failed = False
        self._cut = False

    @property
    def info(self) -> ReadInfo:
        assert self._info is not None
        return self._info

    async def rows(
        self, statement: Executable | str, parameters: Mapping[str, Any] | None = None
    ) -> list[Sequence[Any]]:
        if self._generic:
            self._refuse_writes(statement)

        async def run() -> list[Sequence[Any]]:
            assert self._connection is not None
            if self._failed:  # a server's transaction is over after an error
                await self._driver.execute("ROLLBACK")
                await self._begin()
            if isinstance(statement, str) and not parameters:
                result = await self._connection.exec_driver_sql(statement)
            else:
                prepared = text(statement) if isinstance(statement, str) else statement
                result = await self._connection.execute(prepared, dict(parameters or {}))
            return cast("list[Sequence[Any]]", list(result.all()) if result.returns_rows else [])

        rows: list[Sequence[Any]] = await self._bounded(run())
        self._reader.last = self.info
        return rows

    async def on_driver(self, work: Callable[[Any], T]) -> NoReturn:
        raise NotImplementedError("Only a SQLite store has a driver connection to work on.")

    def _refuse_writes(self, statement: Executable | str) -> None:
        # The transaction is read-only, and only its own end would let a write through.
        if isinstance(statement, str) and _first_word(statement) not in _READS:
            raise ReadOnlyStoreError(
                "The store is open for reading only; this statement does more than read.",
                where=self._reader.location.display,
                observed=_first_word(statement) or "nothing",
                expected=", ".join(sorted(word.upper() for word in _READS)),
                remedy="Ask with a SELECT.",
            )

    async def begin(self) -> None:
        try:
            await self._bounded(self._connect(), connecting=True)
        except BaseException:
            await self.end()
            raise

    async def _connect(self) -> None:
        self._connection = await self._reader.connection()
        raw = await self._connection.get_raw_connection()
        self._driver = raw.driver_connection
        await self._begin()

    async def _begin(self) -> None:
        limit = 0 if self._deadline is None else max(1, int(self._deadline * 1000))
        await self._driver.execute(
            "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; "
            # Waiting for somebody's lock is told as busy, before it would be told as slow.
            f"SET LOCAL statement_timeout = {limit}; SET LOCAL lock_timeout = {limit * 9 // 10}; "
            "SET LOCAL idle_in_transaction_session_timeout = 60000"
        )
        database, started, transactions, version = await self._driver.fetchrow(_TOKEN)
        now, before = ServerToken(database, started, transactions), self._info
        self._failed = False
        self._info = ReadInfo(
            Route.SERVER,
            time.time(),
            now,
            notices=self._reader.notices,
            snapshots=before.snapshots + (before.token != now) if before is not None else 1,
        )
        self._reader.server_version = version

    async def _bounded(self, running: Any, *, connecting: bool = False) -> Any:
        """The result of a coroutine, however the server behaves: cancelled or late, it ends soon."""
        task = asyncio.ensure_future(running)
        limit = _CONNECT if connecting else None
        if self._deadline is not None:
            limit = self._deadline + _GRACE if limit is None else min(limit, self._deadline + _GRACE)
        try:
            done, _ = await asyncio.wait([task], timeout=limit)
        except asyncio.CancelledError:
            await self._abandon(task)
            raise
        if not done:
            await self._abandon(task)
            late: BaseException = TimeoutError("no answer")
        else:
            try:
                return task.result()
            except Exception as error:
                late = error
        self._failed = True
        state = sqlstate(late)
        self._cut = self._cut or (state[:2] in ("", "08", "57") and state != "57014")
        fault = server_fault(late, self._reader.location.display, seconds=self._deadline)
        if fault is None:
            raise late
        raise fault from late

    async def _abandon(self, task: asyncio.Task[Any]) -> None:
        """Ends a call that is not waited for any more: the server is asked, then the connection is cut."""
        self._cut = True
        for ask in (task.cancel, self._terminate):
            ask()
            await _wait_for(task)
        task.add_done_callback(_retrieved)

    def _terminate(self) -> None:
        if self._driver is not None:
            with contextlib.suppress(Exception):
                self._driver.terminate()

    async def end(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        ending = asyncio.ensure_future(self._end(connection))
        try:
            await asyncio.wait([ending], timeout=PATIENCE)
        except asyncio.CancelledError:
            await _wait_for(ending)
            raise
        finally:
            if not ending.done():
                self._terminate()
            ending.add_done_callback(_retrieved)
            self._reader.ended()

    async def _end(self, connection: AsyncConnection) -> None:
        if not self._cut:
            try:
                await self._driver.execute("ROLLBACK")
            except Exception:
                self._cut = True
        if self._cut:
            self._terminate()
            with contextlib.suppress(Exception):
                await connection.invalidate()
        with contextlib.suppress(Exception):
            await connection.close()


class _Loading:
    """The context of one snapshot."""

    __slots__ = ("_snapshot",)

    def __init__(self, snapshot: PostgresSnapshot) -> None:
        self._snapshot = snapshot

    async def __aenter__(self) -> PostgresSnapshot:
        await self._snapshot.begin()
        return self._snapshot

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._snapshot.end()


class PostgresReader:
    """See `reader.Reader`. Keeps up to four connections between reads, and none `IDLE` seconds after them."""

    dialect: Literal["postgresql"] = "postgresql"

    def __init__(self, location: StoreLocation) -> None:
        assert location.url is not None
        self.location = location
        self.last: ReadInfo | None = None
        self.server_version: str | None = None
        self.notices = driver_url(location.url)[2]
        self._used = 0
        self._idle: asyncio.TimerHandle | None = None
        self._engine = create_async_engine(
            "postgresql+asyncpg://",
            connect_args={
                "async_creator_fn": self._connect,
                "prepared_statement_cache_size": 0,
                "prepared_statement_name_func": _unique_name,
            },
            isolation_level="AUTOCOMMIT",  # the snapshot begins and ends its transaction itself
            pool_size=4,
            max_overflow=8,
            pool_pre_ping=True,
        )

    def snapshot(
        self, *, deadline: float | None = DEADLINE, generic: bool = False, auto: bool = False
    ) -> _Loading:
        return _Loading(PostgresSnapshot(self, deadline, generic))

    async def load(
        self,
        work: Callable[[PostgresSnapshot], Awaitable[T]],
        *,
        deadline: float | None = DEADLINE,
        auto: bool = False,
    ) -> T:
        for attempt in range(_LOADS):
            try:
                async with self.snapshot(deadline=deadline) as snapshot:
                    return await work(snapshot)
            except StoreMovedError:  # a standby in conflict with its primary
                if attempt == _LOADS - 1:
                    raise
        raise AssertionError  # the loop returns or raises

    async def token(self) -> ServerToken:
        async with self.snapshot() as snapshot:
            return cast(ServerToken, snapshot.info.token)

    def copying(
        self, *, limit: int | None = COPY_LIMIT, progress: Callable[[Progress], None] | None = None
    ) -> None:
        """Nothing: a server's database is not copied."""

    async def close(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self._engine.dispose()

    async def connection(self) -> AsyncConnection:
        """A pooled connection; `ended` when it was given back."""
        if self._idle is not None:
            self._idle.cancel()
        self._used += 1
        try:
            return await self._engine.connect()
        except BaseException:
            self.ended()
            raise

    def ended(self) -> None:
        self._used -= 1
        if self._used == 0:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(IDLE, lambda: loop.create_task(self._engine.dispose()))

    async def _connect(self, **_given: Any) -> Any:
        import asyncpg

        return await asyncpg.connect(
            **address(self.location).arguments(),
            timeout=_CONNECT,
            statement_cache_size=0,
            server_settings={"application_name": "store-inspector"},
        )


async def _wait_for(task: asyncio.Task[Any]) -> None:
    """Waits for a task to end, through further cancellations, for `PATIENCE` seconds at most."""
    until = time.monotonic() + PATIENCE
    while not task.done() and time.monotonic() < until:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([task], timeout=until - time.monotonic())


def _retrieved(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()


def _first_word(statement: str) -> str:
    """The first word of a statement, past comments and parentheses, in lower case."""
    at, depth = 0, 0
    while at < len(statement):
        two = statement[at : at + 2]
        if two == "/*" or (depth and two == "*/"):
            depth += 1 if two == "/*" else -1
            at += 2
        elif depth:
            at += 1
        elif two == "--":
            end = statement.find("\n", at)
            at = len(statement) if end < 0 else end + 1
        elif statement[at].isspace() or statement[at] in "(;":
            at += 1
        else:
            break
    end = at
    while end < len(statement) and (statement[end].isalnum() or statement[end] == "_"):
        end += 1
    return statement[at:end].lower()


def _unique_name() -> str:
    """A name no other connection behind a pooler has."""
    return f"__store_inspector_{uuid4()}__"
