"""Scratch copies: a proof runs on nothing else, and never on a store somebody uses (ADR-0128 D8)."""

from __future__ import annotations

import os
import shutil
import sqlite3
import weakref
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

from persistence.basics import Progress
from persistence.engines import copies, leases
from persistence.errors import StoreError
from persistence.location import StoreLocation

__all__ = ["Pristine", "Scratch", "shape_of"]

_PREFIX = "store-inspector-proof-"


class Pristine:
    """One private, recovered copy of a store, at rest; scratch copies are made of it."""

    def __init__(self, location: StoreLocation, path: Path, shape: str) -> None:
        self.location = location
        self.path = path
        self.shape = shape


class Scratch:
    """A directory only this user can read, with every copy of a proof; removed at the end. What a killed
    proof left is removed at the next: a living one holds the lock of its directory."""

    def __init__(self) -> None:
        leases.sweep(_PREFIX, _remove)
        root, lock = leases.take(_PREFIX, "the proof", "A proof is made on private copies")
        self.root = Path(os.fsdecode(root))
        # Also when it is forgotten, and at exit.
        self._finalizer = weakref.finalize(self, _discard, root, lock, os.getpid())
        self._number = 0

    def take(
        self,
        location: StoreLocation,
        *,
        progress: Callable[[Progress], None] | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Pristine:
        """Copies a store through held descriptors, recovered as SQLite would; the store is not touched.

        Blocking. Raises the refusals of `copies.make`, and StoreError `not-sqlite-here` for a server.
        """
        if location.path is None:
            raise StoreError(
                "A proof is of a SQLite store; compatibility mode is for no other.",
                code="not-sqlite-here",
                where=location.display,
            )
        copy = copies.make(location.path, location.display, limit=None, progress=progress, stopped=stopped)
        try:
            target = self._next("pristine")
            shutil.copyfile(os.fsdecode(copy.path), target)
        finally:
            copy.remove()
        return Pristine(location, target, shape_of(target))

    def fresh(self, pristine: Pristine) -> Path:
        """A new copy to write into, at rest."""
        target = self._next("scratch")
        shutil.copyfile(pristine.path, target)
        return target

    def directory(self) -> Path:
        """A new empty directory, for what is not a store."""
        self._number += 1
        made = self.root / f"other-{self._number}"
        made.mkdir()
        return made

    def _next(self, word: str) -> Path:
        self._number += 1
        directory = self.root / f"{word}-{self._number}"
        directory.mkdir()
        return directory / "store.db"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._finalizer()


def _remove(root: bytes) -> None:
    shutil.rmtree(root, ignore_errors=True)


def _discard(root: bytes, lock: int, process: int) -> None:
    if os.getpid() == process:  # not in a child that was forked with it
        _remove(root)
        os.close(lock)


def shape_of(path: Path) -> str:
    """A store's version row and a digest of its schema's text: two shapes that differ say so."""
    from hashlib import blake2b

    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        connection.text_factory = bytes
        digest = blake2b(digest_size=4)
        for row in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2"):
            digest.update(repr(row).encode())
        try:
            found = connection.execute("SELECT value FROM schema_meta WHERE key = 'version'").fetchone()
        except sqlite3.Error:
            found = None
    version = found[0] if found is not None else None
    shown = version.decode("utf-8", "backslashreplace") if isinstance(version, bytes) else str(version)
    return f"version {shown}, schema {digest.hexdigest()}"
