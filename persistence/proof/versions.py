"""Item 8: the versions it ran on, and that a connection is guarded under them (ADR-0128 D8)."""

from __future__ import annotations

import platform
import sqlite3
from importlib.metadata import PackageNotFoundError, version

from persistence.engines.compatibility import open_compatibility
from persistence.errors import StoreError
from persistence.lineage.exposure import exposed_to_wal_reset
from persistence.location import locate
from persistence.proof.bench import Bench, off
from persistence.proof.scorecard import Item
from persistence.writing.compatibility.manifest import book_of

__all__ = ["versions"]

_PACKAGES = ("store-inspector", "sqlalchemy", "aiosqlite")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


async def versions(bench: Bench) -> Item:
    """Opens the writer, which proves its own guards, and says under what."""
    failures: list[str] = []
    path = await bench.fresh()
    book = await off(lambda: book_of(bench.profile))
    try:
        engine = await open_compatibility(
            locate(path),
            bench.profile,
            bench.owner,
            bench.profile.operations,
            lambda _p, one: book.write_set(one),
        )
        await engine.close()
    except StoreError as error:
        failures.append(f"the connection could not be guarded: {error.code}: {error.message}")
    figures = {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "wal_reset_exposed": exposed_to_wal_reset(sqlite3.sqlite_version_info),
        **{package: _version(package) for package in _PACKAGES},
    }
    notes = ("one set of versions: the suite's matrix job runs the lowest and the newest supported ones",)
    return Item(8, tuple(failures), figures, notes)
