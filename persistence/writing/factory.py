"""What a store is opened with, by mode: how it is read, and its one writer (DESIGN 3.3).

The one place that asks for the mode. Modules are loaded for the mode that is asked for alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast

from persistence.errors import StoreError
from persistence.mode import Mode
from persistence.writing.refusing import RefusingWriter

if TYPE_CHECKING:
    from persistence.engines.native import NativeEngine
    from persistence.engines.reader import Reader
    from persistence.location import StoreLocation
    from persistence.records import SchemaApplied
    from persistence.writing.writer import Writer

__all__ = ["OpenStore", "UnopenedWriter", "open_store", "resting_writer"]


class OpenStore(NamedTuple):
    """An open store. `applied` says what a native open did to the schema; None where nothing ever does."""

    reader: Reader
    writer: Writer
    close: Callable[[], Awaitable[None]]
    applied: SchemaApplied | None = None


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


async def open_store(location: StoreLocation, mode: Mode) -> OpenStore:
    """Opens a store's reader and writer; what raises leaves nothing open."""
    if mode is Mode.NATIVE:
        return await _open_native(location)
    if mode is Mode.COMPATIBILITY:
        raise StoreError(
            f"A {mode} open is not part of this version; nothing was opened.",
            code="mode-not-built",
            where=location.display,
            expected=f"mode {Mode.READ_ONLY} or {Mode.NATIVE}",
            observed=f"mode {mode}",
            remedy="Open it read-only: every table, row and file of the store can be looked at that way.",
        )
    from persistence.engines.reader import open_reader

    reader = open_reader(location)
    return OpenStore(reader, RefusingWriter(location), reader.close)


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
