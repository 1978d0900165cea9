"""An open store as the application holds it: the facade, and what the shell's first line says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from persistence.lineage import LineageReport
    from persistence.records import ReadInfo, StoreFacts
    from persistence.statedb import StateDB

__all__ = ["OpenedStore", "open_store"]


@dataclass(slots=True)
class OpenedStore:
    """`facts` arrive after the opening, the `report` of whose it is after them; None until then."""

    db: StateDB
    facts: StoreFacts | None = None
    report: LineageReport | None = None

    @property
    def read(self) -> ReadInfo | None:
        return self.db.last_read

    @property
    def application(self) -> str | None:
        """The application the store's own row names."""
        named = self.report.application if self.report is not None else self.lineage
        return named if isinstance(named, str) else None

    @property
    def lineage(self) -> str | None:
        """`lionagi · 4`: whose store, and its version; None when not known yet.

        A store whose schema_meta names nobody may still be of the operational schema (older releases
        recorded no lineage): that is said as it is.
        """
        facts = self.facts
        if facts is None:
            return None
        version = f" · {facts.version}" if facts.version is not None else ""
        if facts.lineage is not None:
            return f"{facts.lineage}{version}"
        if facts.known_tables:
            return f"no lineage recorded{version}"
        return "not a state store"


async def open_store(store: object, *, mode: str = "read-only") -> OpenedStore:
    """Opens a store and proves it with one real read. Raises StoreError.

    SQLAlchemy is imported here, on a thread: it costs as much as the rest of the start, and the shell
    is painted by then.
    """
    import asyncio

    statedb = await asyncio.to_thread(_import)
    db = statedb.StateDB(store, mode=mode)
    await db.open()
    return OpenedStore(db)


def _import():  # type: ignore[no-untyped-def]
    import importlib

    for name in ("persistence.engines.sqlite", "sqlalchemy.ext.asyncio"):
        importlib.import_module(name)
    return importlib.import_module("persistence.statedb")
