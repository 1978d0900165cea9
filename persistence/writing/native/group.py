"""What the groups of write operations share: where their steps are run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from persistence.engines.native import Runner
from persistence.engines.statements import Steps
from persistence.writing.native.rows import row_of, table
from persistence.writing.values import encode

__all__ = ["Group"]

T = TypeVar("T")


class Group:
    """Operations over one runner: an engine (each is a transaction) or an open transaction."""

    _runner: Runner

    async def _run(self, steps: Callable[..., Steps[T]], /, *arguments: Any, **named: Any) -> T:
        return await self._runner.run(lambda: steps(*arguments, **named))

    def _row(self, name: str, /, **fields: Any) -> dict[str, Any]:
        return row_of(name, fields, self._runner.dialect)

    def _key(self, name: str, identity: Any, column: str = "id") -> Any:
        return encode(table(name), column, identity, self._runner.dialect)
