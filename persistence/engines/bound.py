"""A session and the thread it lives on, with SQLAlchemy's connection over it; what a snapshot stands on."""

from __future__ import annotations

import contextvars
import sqlite3
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypeVar, cast

from sqlalchemy import Connection, Executable
from sqlalchemy.exc import StatementError

from persistence.engines import landlock
from persistence.engines.reader import Asking
from persistence.engines.session import CopyNeeded, Session
from persistence.engines.thread import Worker, in_thread
from persistence.errors import CopyRefusedError, StoreMovedError
from persistence.records import ReadInfo

__all__ = ["LAPSE", "Bound", "Inline", "Waits"]

T = TypeVar("T")

LAPSE = 1.0
"""Seconds after which a snapshot on a live route is let go between two statements: a held one keeps the
writer's log from being folded in. The next statement opens another, and `info.snapshots` says so."""

_COPIES = 3


class Bound:
    """One session on one thread. Must not refer to the snapshot, which would keep that alive."""

    def __init__(self, session: Session, connect: Callable[[sqlite3.Connection], Connection]) -> None:
        self.session = session
        self._connect = connect
        self._alchemy: Connection | None = None
        session.opened, session.closing = self._opened, self._closing
        self.worker = Worker(
            begin=landlock.restrict, ended=session.close, lapse=self._lapse, idle=session.close
        )

    async def call(self, work: Callable[[], T], *, auto: bool) -> T:
        """What `work`, which runs the session, answers on the thread; makes the copies it asks for."""
        for _ in range(_COPIES):
            try:
                return await self.worker.call(work, self.session.stop.ask)
            except CopyNeeded as needed:
                await self._copy(needed, auto)
        raise StoreMovedError("The store changed under every copy of it.", where=self.session.display)

    async def at_once(
        self, work: Callable[[Inline], Awaitable[T]], deadline: float | None, *, auto: bool
    ) -> T:
        """Runs a load to its end in one hop, and lets the store go before that ends. Raises Waits when
        the load awaits anything but its snapshot."""
        context = contextvars.copy_context()

        def drive(_driver: sqlite3.Connection) -> T:
            return context.run(_driven, work, Inline(self, deadline))

        def hop() -> T:
            try:
                return self.session.run(drive, deadline)
            finally:
                self.session.close()

        return await self.call(hop, auto=auto)

    def rows(
        self,
        statement: Executable | str,
        parameters: Mapping[str, Any] | None,
        driver: sqlite3.Connection,
    ) -> list[Sequence[Any]]:
        """All rows of a statement; on the thread."""
        connection, given = self._alchemy, dict(parameters or {})
        assert connection is not None
        try:
            if isinstance(statement, str):
                result = connection.exec_driver_sql(statement, given)
            else:
                result = connection.execute(statement, given)
            return cast("list[Sequence[Any]]", result.all() if result.returns_rows else [])
        except StatementError as error:
            raise error.orig or error from None

    def _opened(self, driver: sqlite3.Connection) -> None:
        self._alchemy = self._connect(driver)

    def _closing(self) -> None:
        connection, self._alchemy = self._alchemy, None
        if connection is not None:
            connection.close()

    def _lapse(self) -> float | None:
        if not self.session.holding:
            return None
        return max(0.0, self.session.held_since + LAPSE - time.monotonic())

    async def _copy(self, needed: CopyNeeded, auto: bool) -> None:
        session, shelf = self.session, self.session.shelf
        stop = session.stop
        if auto:
            raise CopyRefusedError(
                "The store has changed, and it can only be read from a private copy, which nobody asked for.",
                code="copy-not-asked",
                where=session.display,
                observed=needed.reason,
                remedy="Refresh to read it as it is now.",
            )

        def make() -> None:
            copy = shelf.make(session.path, session.display, lambda: stop.asked)
            if stop.asked:  # nobody waits any more
                shelf.give_back(copy)
            else:
                session.offered = copy

        await in_thread(make, stop.ask)


class Waits(Exception):
    """A load waits for something other than its snapshot, and cannot be run in one hop."""


class Inline(Asking):
    """See `reader.Snapshot`: one that is read on the session's own thread, so that nothing is waited for."""

    dialect: Literal["sqlite"] = "sqlite"

    def __init__(self, bound: Bound, deadline: float | None) -> None:
        self._bound = bound
        self._deadline = deadline

    @property
    def info(self) -> ReadInfo:
        info = self._bound.session.info
        assert info is not None
        return info

    async def rows(
        self, statement: Executable | str, parameters: Mapping[str, Any] | None = None
    ) -> list[Sequence[Any]]:
        return await self.on_driver(partial(self._bound.rows, statement, parameters))

    async def on_driver(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return self._bound.session.within(work, self._deadline)


def _driven(work: Callable[[Inline], Awaitable[T]], snapshot: Inline) -> T:
    running = work(snapshot).__await__()
    try:
        next(running)
    except StopIteration as done:
        result: T = done.value
        return result
    except RuntimeError as error:
        if "event loop" in str(error):  # it asked for the running one
            raise Waits from None
        raise
    close: Callable[[], None] | None = getattr(running, "close", None)
    if close is not None:
        close()
    raise Waits
