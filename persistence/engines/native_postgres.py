"""Writing a native PostgreSQL store: transactions step by step, rows locked as the steps ask."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from persistence.engines.native_sqlite import CHECKPOINT_MODES, transaction_over
from persistence.engines.server import connect
from persistence.engines.statements import Call, Outcome, Steps
from persistence.engines.write_faults import server_write_fault
from persistence.errors import StoreError
from persistence.lineage.rows import Seen
from persistence.lineage.rules import LATER, Case, ask

if TYPE_CHECKING:
    import asyncpg

    from persistence.engines.reader import Reader
    from persistence.location import StoreLocation

__all__ = ["NativePostgres", "drive"]

T = TypeVar("T")

LANES = 5
"""Transactions one handle has in progress at once; more wait for one of them."""

_PATIENCE = 3.0  # seconds a commit is waited for when its writer was cancelled
_LINEAGE = "SELECT value FROM schema_meta WHERE key = 'lineage' AND value IS NOT NULL"


async def drive(connection: asyncpg.Connection, steps: Steps[T]) -> T:
    """Runs steps on an open transaction and returns what they return."""
    try:
        call = next(steps)
        while True:
            call = steps.send(await _outcome(connection, call))
    except StopIteration as done:
        result: T = done.value
        return result
    finally:
        steps.close()


async def _outcome(connection: asyncpg.Connection, call: Call) -> Outcome:
    statement, values, rows = call
    compiled = statement.compiled("postgresql")
    if rows is not None:
        await connection.executemany(compiled.sql, [compiled.bound(row) for row in rows])
        return Outcome((), -1)
    bound = compiled.bound(values)
    if not statement.rows:
        return Outcome((), _changed(await connection.execute(compiled.sql, *bound)))
    found = await connection.fetch(compiled.sql, *bound)
    names = tuple(found[0].keys()) if statement.named and found else ()
    return Outcome([tuple(row.values()) for row in found], len(found), names)


def _changed(status: str) -> int:
    """The row count at the end of a command's status, such as `UPDATE 1`; -1 where it has none."""
    last = status.rpartition(" ")[2]
    return int(last) if last.isdigit() else -1


async def _committed(commit: asyncio.Future[None]) -> None:
    """Waits for a commit, through a cancellation too: what was sent is not taken back."""
    try:
        await asyncio.shield(commit)
    except asyncio.CancelledError:
        await asyncio.wait([commit], timeout=_PATIENCE)
        raise


class NativePostgres:
    """See `native.NativeEngine`."""

    dialect: Literal["postgresql"] = "postgresql"

    def __init__(self, location: StoreLocation, reader: Reader, patience: int) -> None:
        """`patience` is how long a row's lock is waited for, in milliseconds."""
        self.location = location
        self.reader = reader
        self._settings = {"lock_timeout": f"{patience}ms"}
        self._idle: list[asyncpg.Connection] = []
        self._lanes = asyncio.Semaphore(LANES)
        self._inside: set[asyncio.Task[Any]] = set()

    async def run(self, steps: Callable[[], Steps[T]]) -> T:
        self._not_inside()
        async with self._transaction() as connection:
            return await drive(connection, steps())

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[OpenTransaction]:
        self._not_inside()
        task = asyncio.current_task()
        assert task is not None
        async with self._transaction() as connection:
            opened = OpenTransaction(self.location, connection)
            self._inside.add(task)
            try:
                yield opened
            finally:
                opened.over = True
                self._inside.discard(task)

    async def checkpoint(self, mode: str) -> None:
        word = mode.upper() if isinstance(mode, str) else ""
        if word not in CHECKPOINT_MODES:
            raise ValueError(f"a checkpoint is one of {', '.join(CHECKPOINT_MODES)}, not {mode!r:.40}")

    async def vacuum(self) -> None:
        async with self._lane() as connection:
            await self._check(connection)
            await connection.execute("VACUUM")

    async def close(self) -> None:
        await self.reader.close()
        idle, self._idle = self._idle, []
        for connection in idle:
            with contextlib.suppress(Exception):
                await connection.close(timeout=2)

    # -- lanes --------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[asyncpg.Connection]:
        async with self._lane() as connection:
            transaction = connection.transaction()
            await transaction.start()
            try:
                await self._check(connection)
                yield connection
            except asyncio.CancelledError:
                raise  # the connection is cut, and the server undoes what was begun
            except BaseException:
                with contextlib.suppress(Exception):  # the connection is gone: so is the transaction
                    await transaction.rollback()
                raise
            await _committed(asyncio.ensure_future(transaction.commit()))

    @asynccontextmanager
    async def _lane(self) -> AsyncIterator[asyncpg.Connection]:
        async with self._lanes:
            connection = await self._connection()
            try:
                yield connection
            except asyncio.CancelledError:
                connection.terminate()  # at once: asking the server to cancel can hang
                raise
            except Exception as error:
                raise server_write_fault(error, self.location.display) from error
            finally:
                if not connection.is_closed():
                    self._idle.append(connection)

    async def _connection(self) -> asyncpg.Connection:
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_closed():
                return connection
        return await connect(self.location, settings=self._settings)

    async def _check(self, connection: asyncpg.Connection) -> None:
        """Whether the store has become another's, first in every transaction."""
        rows = await connection.fetch(_LINEAGE)
        asked = ask(Case(self.location.display, Seen(lineage=tuple(row[0] for row in rows))), LATER)
        refusal = asked[-1].answer.refusal if asked else None
        if refusal is not None:
            raise refusal

    def _not_inside(self) -> None:
        if asyncio.current_task() in self._inside:
            raise StoreError(
                "A transaction of this task is open here: what belongs to it is written through it.",
                code="in-transaction",
                expected="async with db.transaction() as transaction: await transaction.insert_message(...)",
                observed="a write through the store itself",
            )


class OpenTransaction:
    """A transaction that is open on a native PostgreSQL store."""

    dialect: Literal["postgresql"] = "postgresql"

    def __init__(self, location: StoreLocation, connection: asyncpg.Connection) -> None:
        self._location = location
        self._connection = connection
        self.over = False

    async def run(self, steps: Callable[[], Steps[T]]) -> T:
        if self.over or self._connection.is_closed():
            raise transaction_over(self._location.display)
        try:
            async with self._connection.transaction():  # a savepoint: this part whole, or none of it
                return await drive(self._connection, steps())
        except Exception as error:
            raise server_write_fault(error, self._location.display) from error
