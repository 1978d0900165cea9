"""What every read of an open store stands on: its location, its reader, and the shapes its tables have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from persistence.errors import StoreError
from persistence.records import ReadInfo, TableShape

if TYPE_CHECKING:
    from persistence.engines.reader import Reader, Snapshot
    from persistence.location import StoreLocation

__all__ = ["ReadingSurface", "StoreReading"]


class StoreReading:
    """An open store's reader, with the shapes of its tables remembered while its schema stays the same."""

    def __init__(self, location: StoreLocation, reader: Reader) -> None:
        self.location = location
        self.reader = reader
        self._fingerprint: object = None
        self._seen_in: ReadInfo | None = None
        self._shapes: tuple[TableShape, ...] = ()
        self._by_name: dict[str, TableShape] = {}
        self.plans: dict[Any, Any] = {}  # by table: what `query` keeps of the present shapes

    async def prove(self) -> None:
        """One real read; raises the typed error that says why there can be none."""
        async with self.reader.snapshot() as snapshot:
            if snapshot.dialect == "sqlite":
                await snapshot.first("SELECT name FROM sqlite_master LIMIT 1")
            else:
                await snapshot.first("SELECT 1")

    async def shapes(self, snapshot: Snapshot) -> tuple[TableShape, ...]:
        """Every table and view, as the snapshot sees them; read again only when the schema changed."""
        from persistence.reading.catalogue import fingerprint, read_shapes

        if self._seen_in is snapshot.info and self._seen_in is not None:
            return self._shapes  # within one snapshot no schema changes
        seen = await fingerprint(snapshot)
        if self._fingerprint is None or seen != self._fingerprint:
            self._shapes = await read_shapes(snapshot)
            self._by_name = {shape.name: shape for shape in self._shapes}
            self._fingerprint = seen
            self.plans = {}
        self._seen_in = snapshot.info
        return self._shapes

    async def tables(self, snapshot: Snapshot) -> Mapping[str, TableShape]:
        """`shapes` by name."""
        await self.shapes(snapshot)
        return self._by_name


class ReadingSurface:
    """What the groups of reading methods share: the open store they read."""

    _opened: StoreReading | None = None

    @property
    def _reading(self) -> StoreReading:
        if self._opened is None:
            raise StoreError(
                "The store is not open.",
                code="not-open",
                remedy="Use `async with StateDB(...) as db:`, or call open() first.",
            )
        return self._opened
