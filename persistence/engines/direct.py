"""Reading a SQLite store without an event loop: the same table, the same guards, the standard library alone.

For what must start quickly (`lineage`, `doctor`): no asyncio, no SQLAlchemy.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from typing import TypeVar

from persistence.basics import Progress, ReadInfo
from persistence.engines import landlock
from persistence.engines.session import CopyNeeded, Session
from persistence.engines.shelf import COPY_LIMIT, Shelf
from persistence.errors import LocationError, StoreMovedError
from persistence.location import StoreLocation

__all__ = ["read"]

T = TypeVar("T")

_COPIES = 3


def read(
    location: StoreLocation,
    work: Callable[[sqlite3.Connection], T],
    *,
    deadline: float | None = 10.0,
    limit: int | None = COPY_LIMIT,
    progress: Callable[[Progress], None] | None = None,
    generic: bool = False,
) -> tuple[T, ReadInfo]:
    """What `work` answers over one state of the store, and how it was read. Blocking.

    `work` runs on a thread the kernel holds to reading where it can, with an open connection in one
    transaction; it is called again when the store moved under it. `limit` is what a private copy may be,
    in bytes (None: any size); the copy is removed before this returns. Raises the typed errors.
    """
    if location.path is None:
        raise LocationError("A server database is not read from a file.", where=location.display)
    shelf = Shelf()
    shelf.limit, shelf.progress = limit, progress
    session = Session(location.path, location.display, shelf=shelf, generic=generic, strict=True)
    try:
        for _ in range(_COPIES):
            try:
                return _on_thread(session, work, deadline)
            except CopyNeeded:
                session.offered = shelf.make(location.path, location.display, lambda: session.stop.asked)
        raise StoreMovedError("The store changed under every copy of it.", where=location.display)
    finally:
        if session.offered is not None:
            shelf.give_back(session.offered)
        shelf.clear()


def _on_thread(
    session: Session, work: Callable[[sqlite3.Connection], T], deadline: float | None
) -> tuple[T, ReadInfo]:
    results: list[tuple[T, ReadInfo]] = []
    failures: list[BaseException] = []

    def run() -> None:
        landlock.restrict()
        try:
            result = session.run(work, deadline)
            assert session.info is not None
            results.append((result, session.info))
        except BaseException as error:
            failures.append(error)
        finally:
            session.close()

    thread = threading.Thread(target=run, name="store-reader", daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:  # Ctrl-C
        session.stop.ask()
        thread.join(3.0)
        raise
    if failures:
        raise failures[0]
    return results[0]
