"""What a store is opened with, by mode: how it is read, and its one writer (DESIGN 3.3).

The one place that asks for the mode. Modules are loaded for the mode that is asked for alone.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

from persistence.errors import StoreError
from persistence.mode import Mode
from persistence.writing.refusing import RefusingWriter

if TYPE_CHECKING:
    from persistence.engines.native import NativeEngine
    from persistence.engines.reader import Reader
    from persistence.guard.writeset import WriteSet
    from persistence.location import StoreLocation
    from persistence.profiles.records import AdmissionReport, Profile
    from persistence.records import SchemaApplied
    from persistence.writing.writer import Writer

__all__ = ["OpenStore", "UnopenedWriter", "open_store", "resting_writer"]


class OpenStore(NamedTuple):
    """An open store. `applied` says what a native open did to the schema, `admission` what a compatibility
    open found; None where there is no such thing. `committed` tells what a compatibility writer committed."""

    reader: Reader
    writer: Writer
    close: Callable[[], Awaitable[None]]
    applied: SchemaApplied | None = None
    admission: AdmissionReport | None = None
    committed: Callable[[], Mapping[str, int]] = dict


class UnopenedWriter:
    """The writer of a store that is not open for writing now: it says so."""

    def __init__(self, location: StoreLocation) -> None:
        self._location = location

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        if operation.startswith("__"):
            raise AttributeError(operation)

        def refuse(*_arguments: Any, **_named: Any) -> NoReturn:
            raise StoreError(
                f"{operation}: the store is not open. Nothing was written.",
                code="not-open",
                where=self._location.display,
                remedy="Use `async with StateDB(...) as db:`, or call open() first.",
            )

        return refuse


def resting_writer(location: StoreLocation, mode: Mode) -> Writer:
    """The writer before a store is opened and after it is closed."""
    return RefusingWriter(location) if mode is Mode.READ_ONLY else UnopenedWriter(location)


async def open_store(
    location: StoreLocation,
    mode: Mode,
    profile: str | os.PathLike[str] | Profile | None = None,
    owner: str | None = None,
) -> OpenStore:
    """Opens a store's reader and writer; what raises leaves nothing open. `profile` and `owner` are for a
    compatibility open."""
    if mode is Mode.NATIVE:
        return await _open_native(location)
    if mode is Mode.COMPATIBILITY:
        assert profile is not None
        return await _open_compatibility(location, profile, owner)
    from persistence.engines.reader import open_reader

    reader = open_reader(location)
    return OpenStore(reader, RefusingWriter(location), reader.close)


async def _open_compatibility(
    location: StoreLocation, named: str | os.PathLike[str] | Profile, owner: str | None
) -> OpenStore:
    from persistence.engines.compatibility import open_compatibility
    from persistence.engines.patience import busy_timeout
    from persistence.engines.thread import in_thread
    from persistence.profiles.catalogue import load_profile
    from persistence.profiles.records import Profile
    from persistence.writing.compatibility.manifest import OPERATIONS, book_of
    from persistence.writing.compatibility.refusals import unknown_operations
    from persistence.writing.compatibility.writer import CompatibilityWriter

    profile = named if isinstance(named, Profile) else await in_thread(lambda: load_profile(named))
    unknown = unknown_operations(profile, OPERATIONS)
    if unknown is not None:
        raise unknown
    book = await in_thread(lambda: book_of(profile))

    def write_set(_profile: Profile, asked: str | None) -> WriteSet:
        return book.write_set(asked)

    engine = await open_compatibility(
        location, profile, owner, profile.operations, write_set, busy_timeout=busy_timeout()
    )
    writer = CompatibilityWriter(engine, book, owner, location.display)

    async def close() -> None:
        writer.forget()
        await engine.close()

    return OpenStore(
        engine.reader,
        cast("Writer", writer),
        close,
        admission=engine.report,
        committed=lambda: writer.committed,
    )


async def _open_native(location: StoreLocation) -> OpenStore:
    from persistence.writing.native.writer import NativeWriter

    engine: NativeEngine
    if location.backend == "sqlite":
        from persistence.writing.native.opening import open_sqlite

        engine, applied = await open_sqlite(location)
    else:
        from persistence.writing.native.server import open_server

        engine, applied = await open_server(location)
    return OpenStore(engine.reader, cast("Writer", NativeWriter(engine)), engine.close, applied)
