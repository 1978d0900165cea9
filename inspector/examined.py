"""Whose store it is, asked from a screen: on a thread, its progress told, and given up when nobody waits."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from persistence.errors import CancelledReadError
from persistence.records import Progress

if TYPE_CHECKING:
    from inspector.loader import Report
    from persistence.lineage import LineageReport
    from persistence.location import StoreLocation

__all__ = ["examined"]


async def examined(location: StoreLocation, report: Report | None = None) -> LineageReport:
    """The examination of a store, whatever state it is in. `report` is told of long checks and copies.

    Raises CancelledReadError once the task is cancelled in the middle of one.
    """
    from persistence import lineage

    if location.path is None:
        return await lineage.examine_server(location)
    left = threading.Event()

    def tell(progress: Progress) -> None:
        if left.is_set():
            raise CancelledReadError("The examination was given up.")
        if report is not None:
            report(progress)

    def check(done: int, total: int) -> None:
        tell(Progress(done, total, "frames of the log"))

    try:
        return await asyncio.to_thread(lineage.examine, location, check=check, progress=tell)
    finally:
        left.set()
