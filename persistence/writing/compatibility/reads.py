"""What `transaction()` is in compatibility mode: a snapshot for reads (DECISIONS 15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from persistence.errors import StateCompatibilityRefused, StoreError
from persistence.profiles.records import Profile
from persistence.reading.generic import Parameters, SnapshotReading
from persistence.writing.compatibility.refusals import not_named

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot

__all__ = ["ReadTransaction"]


class ReadTransaction(SnapshotReading):
    """Several reads of one state. What does not read refuses, and the snapshot is then over: every read that
    comes later is StoreError (code `transaction-over`)."""

    def __init__(self, snapshot: Snapshot, profile: Profile, where: str) -> None:
        super().__init__(snapshot)
        self._profile = profile
        self._where = where
        self._refused: StateCompatibilityRefused | None = None

    async def fetch_all(self, sql: str, parameters: Parameters = None) -> list[dict[str, Any]]:
        """Every row as a mapping by column name; [] when there is none."""
        if self._refused is not None:
            raise StoreError(
                "The snapshot is over: something in it was refused.",
                code="transaction-over",
                where=self._where,
                observed=self._refused.message,
                remedy="Begin another one.",
            )
        return await super().fetch_all(sql, parameters)

    async def execute(self, sql: str, parameters: Parameters = None) -> None:
        """Runs a statement that reads, and gives nothing back."""
        try:
            await self.fetch_all(sql, parameters)
        except StateCompatibilityRefused as error:
            error.operation = "execute"
            raise

    def __getattr__(self, name: str) -> Callable[..., NoReturn]:
        if name.startswith("_"):
            raise AttributeError(name)

        def refuse(*_arguments: Any, **_named: Any) -> NoReturn:
            self._refused = not_named(name, self._profile, self._where)
            raise self._refused

        return refuse
