"""The reader of a store: one snapshot a load, opened for it and closed after it (DESIGN 3.1).

`open_reader` makes the reader for a location; everything that reads goes through its `snapshot`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from persistence.location import StoreLocation
from persistence.records import ReadInfo

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy import Executable

__all__ = ["DEADLINE", "Reader", "Snapshot", "open_reader"]

DEADLINE = 10.0
"""Seconds a read may take unless its caller says otherwise; a query past it is interrupted."""

T = TypeVar("T")


class Snapshot(Protocol):
    """One read transaction. Leave it soon: on live routes it holds the writer's log back."""

    @property
    def info(self) -> ReadInfo: ...

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgresql`."""

    async def rows(
        self, statement: Executable | str, parameters: Mapping[str, Any] | None = None
    ) -> list[Sequence[Any]]:
        """All rows of a SQLAlchemy statement, or of driver SQL given as text. Cancelling the task
        interrupts the query first; the connection is closed then."""

    async def first(
        self, statement: Executable | str, parameters: Mapping[str, Any] | None = None
    ) -> Sequence[Any] | None: ...

    async def scalar(
        self, statement: Executable | str, parameters: Mapping[str, Any] | None = None
    ) -> Any: ...

    async def on_driver(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `work` on the driver connection's own thread, in one hop (SQLite only). It must only read;
        the deadline and cancelling hold for it too."""


class Reader(Protocol):
    """How one store is read. Holds no connection between snapshots."""

    @property
    def location(self) -> StoreLocation: ...

    @property
    def dialect(self) -> str: ...

    @property
    def last(self) -> ReadInfo | None:
        """How the last snapshot was read."""

    def snapshot(self, *, deadline: float | None = DEADLINE) -> AbstractAsyncContextManager[Snapshot]:
        """A snapshot over the store as it is now; `deadline` seconds for each statement (None: none)."""

    async def token(self) -> object:
        """The change token (DESIGN 3.1): equal tokens mean nothing was committed between. No query runs."""

    async def close(self) -> None:
        """Removes private copies and, for a server, closes the pool."""


def open_reader(location: StoreLocation) -> Reader:
    """The reader for a location. Nothing is opened until the first snapshot."""
    if location.backend == "sqlite":
        from persistence.engines.sqlite import SqliteReader

        return SqliteReader(location)
    from persistence.engines.postgres import PostgresReader

    return PostgresReader(location)
