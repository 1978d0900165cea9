"""The reader of a store: one snapshot a load, opened for it and closed after it (DESIGN 3.1).

`open_reader` makes the reader for a location; everything that reads goes through its `snapshot`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from persistence.location import StoreLocation
from persistence.records import Progress, ReadInfo

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy import Executable

__all__ = ["DEADLINE", "Asking", "Reader", "Snapshot", "open_reader"]

DEADLINE = 10.0
"""Seconds a read may take unless its caller says otherwise; a query past it is interrupted."""

T = TypeVar("T")


class Snapshot(Protocol):
    """One read transaction. Leave it soon: on live routes it holds the writer's log back."""

    @property
    def info(self) -> ReadInfo:
        """How the last statement was read; before the first, what is to be expected."""

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""

    async def rows(
        self, statement: Executable | str, parameters: Mapping[str, Any] | None = None
    ) -> list[Sequence[Any]]:
        """All rows of a SQLAlchemy statement, or of SQL given as text with `:name` parameters.

        Cancelling the task interrupts the query first, and ends the snapshot. When a store read
        without locks moved meanwhile, the statement has been run again; `info.snapshots` counts the
        states this snapshot has seen.
        """

    async def first(
        self, statement: Executable | str, parameters: Mapping[str, Any] | None = None
    ) -> Sequence[Any] | None: ...

    async def scalar(
        self, statement: Executable | str, parameters: Mapping[str, Any] | None = None
    ) -> Any: ...

    async def on_driver(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `work` on the driver connection's own thread, in one hop (SQLite only).

        It must only read, must not keep the connection, and must start from nothing each time: it is
        called again when the store moved under it. The deadline (for the whole of it) and cancelling
        hold for it too: its next `execute` raises, or what it executes is interrupted.
        """

    def not_reading(self, sql: str) -> None:
        """Told of a statement that does not read, before the database is; see `Asking`."""


class Asking(ABC):
    """What every snapshot makes of its `rows`."""

    @abstractmethod
    async def rows(
        self, statement: Executable | str, parameters: Mapping[str, Any] | None = None
    ) -> list[Sequence[Any]]: ...

    async def first(
        self, statement: Executable | str, parameters: Mapping[str, Any] | None = None
    ) -> Sequence[Any] | None:
        rows = await self.rows(statement, parameters)
        return rows[0] if rows else None

    async def scalar(self, statement: Executable | str, parameters: Mapping[str, Any] | None = None) -> Any:
        row = await self.first(statement, parameters)
        return None if row is None else row[0]

    def not_reading(self, sql: str) -> None:
        """Told of a statement that does not read, before the database is. A mode may refuse it in its words;
        otherwise the connection does."""
        return


class Reader(Protocol):
    """How one store is read. Holds no connection between snapshots."""

    @property
    def location(self) -> StoreLocation: ...

    @property
    def dialect(self) -> str: ...

    @property
    def last(self) -> ReadInfo | None:
        """How the last snapshot was read."""

    def snapshot(
        self, *, deadline: float | None = DEADLINE, generic: bool = False, auto: bool = False
    ) -> AbstractAsyncContextManager[Snapshot]:
        """A snapshot over the store as it is now; `deadline` seconds for each statement (None: none).

        Entering raises the typed refusals for what is no store; the first statement opens it. `generic`
        denies, by SQLite's authorizer or the server's read-only transaction, whatever is not a read: for
        statements somebody typed. `auto` says that nobody is waiting (a timer refreshes): a private copy
        is then not made (CopyRefusedError, `copy-not-asked`).
        """

    async def load(
        self,
        work: Callable[[Snapshot], Awaitable[T]],
        *,
        deadline: float | None = DEADLINE,
        auto: bool = False,
    ) -> T:
        """What `work` answers over one state of the store: for loads of several statements that must
        agree. Begun again when the store moves between them, a bounded number of times, then
        StoreMovedError; `work` must start from nothing each time."""

    async def token(self) -> object:
        """The change token (DESIGN 3.1): equal tokens mean nothing was committed between. No query runs
        on SQLite; a server is asked for its transaction counter, no table."""

    def copying(self, *, limit: int | None = ..., progress: Callable[[Progress], None] | None = None) -> None:
        """What a private copy may be: up to `limit` bytes (None: any size; 256 MB unless said). Making
        one tells `progress`, on another thread."""

    async def close(self) -> None:
        """Removes the private copy and, for a server, closes the pool."""


def open_reader(location: StoreLocation) -> Reader:
    """The reader for a location. Nothing is opened until the first snapshot."""
    if location.backend == "sqlite":
        from persistence.engines.sqlite import SqliteReader

        return SqliteReader(location)
    from persistence.engines.postgres import PostgresReader

    return PostgresReader(location)
