"""Reading a store that this handle writes in compatibility mode: connections that can only read.

What is not a read is refused in the mode's own words (ADR-0128 D3 and D6).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from persistence.engines.native_reader import NativeReader, NativeSnapshot
from persistence.errors import ReadOnlyStoreError, StateCompatibilityRefused, StoreError
from persistence.location import StoreLocation

__all__ = ["CompatibilityReader", "not_a_read"]

T = TypeVar("T")


def not_a_read(where: str | None, observed: str | None, profile: str) -> StateCompatibilityRefused:
    """The refusal for a statement that does more than read."""
    return StateCompatibilityRefused(
        "The statement is not a read. Nothing of it ran.",
        code="not-a-read",
        operation="read",
        profile=profile,
        where=where,
        rule="guard",
        expected="a statement that reads",
        observed=observed,
        remedy="Write through the operations the profile names; nothing else is written by this handle.",
    )


class _Snapshot(NativeSnapshot):
    """A snapshot that refuses in the mode's own words. After a refusal it is over (DECISIONS 15)."""

    _reader: CompatibilityReader
    _refused: StateCompatibilityRefused | None = None

    async def _call(self, work: Callable[[Any], T]) -> T:
        if self._refused is not None:
            raise StoreError(
                "The snapshot is over: a statement in it was refused.",
                code="transaction-over",
                where=self._reader.location.display,
                observed=self._refused.message,
                remedy="Begin another one.",
            )
        try:
            return await super()._call(work)
        except ReadOnlyStoreError as error:
            self._refused = not_a_read(error.where, error.observed, self._reader.profile)
            raise self._refused from error

    def not_reading(self, sql: str) -> None:
        self._refused = not_a_read(self._reader.location.display, sql[:200], self._reader.profile)
        raise self._refused


class CompatibilityReader(NativeReader):
    """See `reader.Reader`. `profile` is the identity that refusals name."""

    snapshot_type = _Snapshot

    def __init__(self, location: StoreLocation, profile: str) -> None:
        super().__init__(location)
        self.profile = profile
