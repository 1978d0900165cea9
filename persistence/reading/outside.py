"""What is now at paths that rows name: looked at and read on a thread of its own, never through the store."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from persistence.outside import OutsideFile, look_outside, read_outside

if TYPE_CHECKING:
    from persistence.reading.store import StoreReading

__all__ = ["file_at", "files_at"]


async def file_at(reading: StoreReading, path: object) -> OutsideFile:
    """The file at a path, with its text."""
    return await asyncio.to_thread(read_outside, path, reading.location)


async def files_at(reading: StoreReading, paths: Sequence[object]) -> tuple[OutsideFile, ...]:
    """Whether there is something at each path; nothing is opened."""
    return await asyncio.to_thread(lambda: tuple(look_outside(path, reading.location) for path in paths))
