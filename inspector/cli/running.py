"""Running a command's asynchronous part over an open store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from persistence.statedb import StateDB

__all__ = ["with_store"]

T = TypeVar("T")


def with_store(store: str | None, work: Callable[[StateDB], Awaitable[T]]) -> T:
    """Opens the store read-only, does the work, and lets go of the store. Raises StoreError."""
    from persistence import StateDB, locate

    location = locate(store)

    async def run() -> T:
        async with StateDB(location) as db:
            return await work(db)

    return asyncio.run(run())
