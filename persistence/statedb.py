"""`StateDB`, the one facade over a state store (ADR-0055 D1, ADR-0128 D1, DESIGN 3)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from persistence.location import StoreLocation, locate
from persistence.mode import Mode
from persistence.reading.browse import BrowseSurface
from persistence.reading.control import ControlReading
from persistence.reading.conversation import ConversationReading
from persistence.reading.definitions import DefinitionReading
from persistence.reading.delivery import DeliveryReading
from persistence.reading.evidence import EvidenceReading
from persistence.reading.execution import ExecutionReading
from persistence.reading.generic import GenericReading
from persistence.reading.scheduling import SchedulingReading
from persistence.reading.store import StoreReading
from persistence.writing.factory import OpenStore, open_store, resting_writer
from persistence.writing.surface import RecordWrites, StoreWrites

if TYPE_CHECKING:
    from persistence.profiles.records import AdmissionReport, Profile
    from persistence.records import Missing, ReadInfo, SchemaApplied, StoreFacts, TableShape
    from persistence.writing.writer import Writer

__all__ = ["StateDB"]


class StateDB(
    BrowseSurface,
    ConversationReading,
    ExecutionReading,
    SchedulingReading,
    DefinitionReading,
    ControlReading,
    EvidenceReading,
    DeliveryReading,
    GenericReading,
    RecordWrites,
    StoreWrites,
):
    """One state store, opened in one mode: what its groups read, and what its one writer does or refuses.

    `store` is anything `locate` takes (None: the environment's store, else the default one). Reading is
    the default and applies nothing. Passing a `profile` (its name, its path, or the document as read) is the
    only way into compatibility mode (DECISIONS 6); together with `Mode.NATIVE` it is a ValueError (DECISIONS
    22). There `owner` is the principal whose rows are written. An async context manager.
    """

    def __init__(
        self,
        store: str | bytes | os.PathLike[str] | os.PathLike[bytes] | StoreLocation | None = None,
        *,
        mode: Mode = Mode.READ_ONLY,
        profile: str | os.PathLike[str] | Profile | None = None,
        owner: str | None = None,
    ) -> None:
        mode = Mode(mode)
        if profile is not None and mode is Mode.NATIVE:
            raise ValueError("A profile is for a compatibility open; a native open takes none.")
        if profile is None and mode is Mode.COMPATIBILITY:
            raise ValueError("A compatibility open needs a profile, passed by name.")
        if profile is None and owner is not None:
            raise ValueError("An owner belongs to a profile; none was passed.")
        self.location = store if isinstance(store, StoreLocation) else locate(store)
        self.mode = Mode.COMPATIBILITY if profile is not None else mode
        self.profile = profile
        self.owner = owner
        self._writer: Writer = resting_writer(self.location, self.mode)
        self._store: OpenStore | None = None

    @property
    def is_open(self) -> bool:
        return self._opened is not None

    async def open(self) -> Self:
        """Proves one real read, or raises the typed error that says why there is none.

        Reading creates nothing, neither the store nor its folder. A native open makes a new store and brings
        an older one to the schema (`applied` says what it did). A compatibility open admits the store first
        (`admission` says what was found), and a refused one has changed no byte. A failed open leaves the
        object unopened; one that is closed knows none of the rows it made.
        """
        if self._opened is not None:
            return self
        store = await open_store(self.location, self.mode, self.profile, self.owner)
        opened = StoreReading(self.location, store.reader)
        try:
            await opened.prove()
        except BaseException:
            await store.close()
            raise
        self._store, self._opened, self._writer = store, opened, store.writer
        return self

    async def close(self) -> None:
        """Lets go of the store: private copies are removed, a server's connections closed."""
        store, self._store, self._opened = self._store, None, None
        self._writer = resting_writer(self.location, self.mode)
        if store is not None:
            await store.close()

    @property
    def applied(self) -> SchemaApplied | None:
        """What opening did to the store's schema; None before a native open, and in every other mode."""
        return None if self._store is None else self._store.applied

    @property
    def admission(self) -> AdmissionReport | None:
        """What admission found; None before a compatibility open, and in every other mode."""
        return None if self._store is None else self._store.admission

    @property
    def committed(self) -> Mapping[str, int]:
        """In compatibility mode, the transactions this open handle has committed, by their names in the
        manifest in the order first met, with their number. Also right after a cancelled write."""
        return {} if self._store is None else self._store.committed()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def last_read(self) -> ReadInfo | None:
        """How and when the latest answer was read; None before the first."""
        return None if self._opened is None else self._opened.reader.last

    async def token(self) -> object:
        """The change token (DESIGN 3.1): equal tokens mean nothing was committed between. Runs no query."""
        return await self._reading.reader.token()

    async def facts(self) -> StoreFacts:
        """What the store is: files, journal mode, lineage and version rows, what reads it."""
        from persistence.reading.facts import read_facts

        return await read_facts(self._reading)

    async def catalogue(self) -> tuple[TableShape, ...]:
        """Every table and view of the store, whoever made it, with its live shape."""
        reading = self._reading
        return await reading.reader.load(reading.shapes)

    async def missing(self, table: str) -> Missing:
        """What this store lacks of a table of the operational schema: the table itself, or columns."""
        from persistence.reading.query import missing_of

        reading = self._reading
        tables = await reading.reader.load(reading.tables)
        return missing_of(table, tables.get(table))

    def __repr__(self) -> str:
        state = "open" if self.is_open else "closed"
        return f"<StateDB {self.location.display!r} {self.mode} {state}>"
