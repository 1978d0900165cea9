"""Writing a native SQLite store: a connection on a thread of its own, a transaction in one hop (DESIGN 7)."""

from __future__ import annotations

import itertools
import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING, Literal, TypeVar

from persistence import files
from persistence.engines.native import Turns
from persistence.engines.statements import Call, Outcome, Steps
from persistence.engines.thread import Worker
from persistence.engines.write_faults import sqlite_write_fault
from persistence.errors import CancelledReadError, StoreError, StoreMovedError
from persistence.location import StoreLocation

if TYPE_CHECKING:
    from persistence.engines.reader import Reader

__all__ = ["CHECKPOINT_MODES", "NativeSqlite", "Stop", "drive"]

T = TypeVar("T")

CHECKPOINT_MODES = ("PASSIVE", "FULL", "RESTART", "TRUNCATE")
TEXT = methodcaller("decode", "utf-8", "surrogateescape")
_savepoints = itertools.count(1)


def transaction_over(where: str) -> StoreError:
    """What a statement is told that comes after the end of its transaction."""
    return StoreError(
        "The transaction is over: it was ended, or the store ended it when a statement failed.",
        code="transaction-over",
        where=where,
        remedy="Begin another one.",
    )


class Stop:
    """Ends what runs on the connection, from another thread: between two steps, and within one."""

    __slots__ = ("_connection", "asked")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.asked = False

    def ask(self) -> None:
        self.asked = True
        self._connection.interrupt()

    def check(self) -> None:
        if self.asked:
            raise CancelledReadError("The write was cancelled; nothing was written.")


def drive(connection: sqlite3.Connection, steps: Steps[T], stop: Stop | None = None) -> T:
    """Runs steps on an open transaction, on the calling thread, and returns what they return."""
    try:
        call = next(steps)
        while True:
            if stop is not None:
                stop.check()
            call = steps.send(_outcome(connection, call))
    except StopIteration as done:
        result: T = done.value
        return result
    finally:
        steps.close()


def _outcome(connection: sqlite3.Connection, call: Call) -> Outcome:
    statement, values, rows = call
    compiled = statement.compiled("sqlite")
    if rows is not None:
        return Outcome((), connection.executemany(compiled.sql, map(compiled.bound, rows)).rowcount)
    cursor = connection.execute(compiled.sql, compiled.bound(values))
    if not statement.rows:
        return Outcome((), cursor.rowcount)
    names = tuple(column[0] for column in cursor.description or ()) if statement.named else ()
    return Outcome(cursor.fetchall(), cursor.rowcount, names)


class NativeSqlite:
    """See `native.NativeEngine`. `connect` opens the writer on the thread that then keeps it; `check` is
    asked at the start of every transaction, under the lock."""

    dialect: Literal["sqlite"] = "sqlite"

    def __init__(
        self,
        location: StoreLocation,
        worker: Worker,
        connection: sqlite3.Connection,
        check: Callable[[sqlite3.Connection], None],
        reader: Reader,
    ) -> None:
        self.location = location
        self.reader = reader
        self._worker = worker
        self._connection = connection
        self._check = check
        self._turns = Turns()
        assert location.path is not None
        self._path = files.resolve(location.path)
        found = os.stat(self._path)
        self._identity = (found.st_dev, found.st_ino)

    async def run(self, steps: Callable[[], Steps[T]]) -> T:
        async with self._turns.mine():
            return await self._hop(partial(self._transact, steps))

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[OpenTransaction]:
        async with self._turns.mine():
            await self._hop(self._begin)
            opened = OpenTransaction(self)
            try:
                yield opened
            except BaseException:
                await self._hop(self._roll_back)
                raise
            finally:
                opened.over = True
            await self._hop(self._commit)

    async def checkpoint(self, mode: str) -> tuple[int, int, int]:
        word = mode.upper() if isinstance(mode, str) else ""
        if word not in CHECKPOINT_MODES:
            raise ValueError(f"a checkpoint is one of {', '.join(CHECKPOINT_MODES)}, not {mode!r:.40}")

        def fold(_stop: Stop) -> tuple[int, int, int]:
            busy, frames, folded = self._connection.execute(f"PRAGMA wal_checkpoint({word})").fetchone()
            return busy, frames, folded

        async with self._turns.mine():
            return await self._hop(fold)

    async def vacuum(self) -> None:
        def rebuild(_stop: Stop) -> None:
            self._same_file()
            self._check(self._connection)
            self._connection.execute("VACUUM")

        async with self._turns.mine():
            await self._hop(rebuild)

    async def close(self) -> None:
        await self.reader.close()
        await self._worker.end()

    # -- on the thread ------------------------------------------------------------------------------

    async def _hop(self, work: Callable[[Stop], T]) -> T:
        stop = Stop(self._connection)
        try:
            return await self._worker.call(partial(work, stop), stop.ask)
        except (sqlite3.Error, OverflowError) as error:
            raise sqlite_write_fault(error, self.location.display) from error

    def _transact(self, steps: Callable[[], Steps[T]], stop: Stop) -> T:
        connection = self._connection
        self._begin(stop)
        try:
            result = drive(connection, steps(), stop)
            connection.execute("COMMIT")
        except BaseException:
            self._roll_back(stop)
            raise
        return result

    def _begin(self, stop: Stop) -> None:
        stop.check()
        self._same_file()
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._check(self._connection)
        except BaseException:
            self._roll_back(stop)
            raise

    def _commit(self, stop: Stop) -> None:
        try:
            self._still_open()
            self._connection.execute("COMMIT")
        except BaseException:
            self._roll_back(stop)
            raise

    def _roll_back(self, _stop: Stop) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _nested(self, steps: Callable[[], Steps[T]], stop: Stop) -> T:
        """Steps within an open transaction: all of them or none, whatever its owner does then."""
        connection = self._connection
        self._still_open()
        name = f"run_{next(_savepoints)}"
        connection.execute(f"SAVEPOINT {name}")
        try:
            result = drive(connection, steps(), stop)
            self._still_open()
        except BaseException:
            if connection.in_transaction:
                connection.execute(f"ROLLBACK TO {name}")
                connection.execute(f"RELEASE {name}")
            raise
        connection.execute(f"RELEASE {name}")
        return result

    def _still_open(self) -> None:
        if not self._connection.in_transaction:
            raise transaction_over(self.location.display)

    def _same_file(self) -> None:
        """A file that took the store's name meanwhile would never see what is written to the old one."""
        found = files.status(self._path)
        if found is None or (found.st_dev, found.st_ino) != self._identity:
            raise StoreMovedError(
                "Another file has taken the store's name, or the name is gone. Nothing was written.",
                where=self.location.display,
                expected="the file that was opened",
                observed="no file" if found is None else "another file",
                remedy="Open the store again.",
            )


class OpenTransaction:
    """A transaction that is open on a native SQLite store."""

    dialect: Literal["sqlite"] = "sqlite"

    def __init__(self, engine: NativeSqlite) -> None:
        self._engine = engine
        self.over = False

    async def run(self, steps: Callable[[], Steps[T]]) -> T:
        engine = self._engine
        if self.over:
            raise transaction_over(engine.location.display)
        return await engine._hop(partial(engine._nested, steps))
