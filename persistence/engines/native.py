"""What a native store is written through: one writer at a time, transactions as steps, both databases.

The two engines are `native_sqlite` and `native_postgres`; what is written is theirs to run and nobody
else's to know.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from persistence.engines.statements import Steps
from persistence.errors import StoreError

if TYPE_CHECKING:
    from persistence.engines.reader import Reader
    from persistence.location import StoreLocation

__all__ = ["NativeEngine", "Runner", "Turns"]

T = TypeVar("T")


class Runner(Protocol):
    """What runs steps: an engine, each in a transaction of its own, or a transaction that is open."""

    @property
    def dialect(self) -> Literal["sqlite", "postgresql"]: ...

    async def run(self, steps: Callable[[], Steps[T]]) -> T:
        """The steps as one: all of them, or, when it raises, none."""


class NativeEngine(Runner, Protocol):
    """One open native store. Every transaction asks again, before its first step, whose store it is."""

    location: StoreLocation
    reader: Reader

    def transaction(self) -> AbstractAsyncContextManager[Runner]:
        """A transaction over several runs; what raises out of it undoes all of them."""

    async def checkpoint(self, mode: str) -> tuple[int, int, int] | None:
        """SQLite: (busy, frames in the log, frames folded in); None on a server."""

    async def vacuum(self) -> None: ...

    async def close(self) -> None: ...


class Turns:
    """One writer at a time: tasks take turns in the order they came."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._holder: asyncio.Task[Any] | None = None

    @asynccontextmanager
    async def mine(self) -> AsyncIterator[None]:
        """Waits for this task's turn. A task that has it and asks again would wait for itself for ever:
        StoreError (code `in-transaction`)."""
        task = asyncio.current_task()
        if task is not None and self._holder is task:
            raise StoreError(
                "A transaction of this task is open here: what belongs to it is written through it.",
                code="in-transaction",
                expected="async with db.transaction() as transaction: await transaction.insert_message(...)",
                observed="a write through the store itself",
            )
        async with self._lock:
            self._holder = task
            try:
                yield
            finally:
                self._holder = None


Parameters = Mapping[str, Any] | Sequence[Any] | None
