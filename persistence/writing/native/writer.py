"""The native writer: every operation of the facade, over one engine (DESIGN 3.3)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from persistence.engines.native import NativeEngine, Runner
from persistence.engines.statements import Steps
from persistence.reading.values import readable
from persistence.writing.native.control import ControlWrites
from persistence.writing.native.conversation import ConversationWrites
from persistence.writing.native.definitions import DefinitionWrites
from persistence.writing.native.delivery import DeliveryWrites
from persistence.writing.native.evidence import EvidenceWrites
from persistence.writing.native.imports import ImportWrites
from persistence.writing.native.messages import MessageWrites
from persistence.writing.native.scheduling import SchedulingWrites
from persistence.writing.native.upkeep import SqlWrites, UpkeepWrites

__all__ = ["NativeTransaction", "NativeWriter"]

T = TypeVar("T")


class _Operations(
    ConversationWrites,
    MessageWrites,
    SchedulingWrites,
    DefinitionWrites,
    ControlWrites,
    EvidenceWrites,
    DeliveryWrites,
    SqlWrites,
):
    """Every operation that is a transaction, or a part of one."""

    def __init__(self, runner: Runner) -> None:
        super().__init__()
        self._runner = runner


class NativeTransaction(_Operations, ImportWrites):
    """An open transaction: each operation is a part of it, done whole or not at all.

    It is committed when its block ends, and undone when the block raises.
    """

    async def fetch_all(
        self, sql: str, params: Mapping[str, Any] | Sequence[Any] | None = None
    ) -> list[dict[str, Any]]:
        """Every row of a statement, as this transaction sees it; values come as they are stored."""
        outcome = await self._sql(sql, params, rows=True)
        return [
            {name: readable(value) for name, value in zip(outcome.names, row, strict=True)}
            for row in outcome.rows
        ]

    async def fetch_one(
        self, sql: str, params: Mapping[str, Any] | Sequence[Any] | None = None
    ) -> dict[str, Any] | None:
        """The first row, or None."""
        rows = await self.fetch_all(sql, params)
        return rows[0] if rows else None

    async def run(self, steps: Callable[[], Steps[T]]) -> T:
        """Steps of the caller's own, as one part."""
        return await self._runner.run(steps)


class NativeWriter(_Operations, UpkeepWrites):
    """Writes a store of this lineage. See each method; all of them are transactions of their own."""

    def __init__(self, engine: NativeEngine) -> None:
        super().__init__(engine)
        self._engine = engine

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[NativeTransaction]:
        """Several operations as one: `async with db.transaction() as transaction: ...`."""
        async with self._engine.transaction() as runner:
            yield NativeTransaction(runner)
