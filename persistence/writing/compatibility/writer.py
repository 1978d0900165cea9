"""The compatibility writer: the operations a profile names, and a refusal for everything else (D3 to D6).

It has no method of an operation's own. What the facade asks for by name is looked up in the manifest under
the profile; what is not there is refused before an argument is looked at.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NoReturn, Protocol, TypeVar

from persistence.engines.statements import Steps
from persistence.reading.generic import Parameters
from persistence.writing.compatibility.book import Book
from persistence.writing.compatibility.created import Created
from persistence.writing.compatibility.declarations import Operation
from persistence.writing.compatibility.reads import ReadTransaction
from persistence.writing.compatibility.refusals import not_named
from persistence.writing.compatibility.running import Running
from persistence.writing.native.lifecycle import Rejected

__all__ = ["CompatibilityWriter", "Runner"]

T = TypeVar("T")


class Runner(Protocol):
    """What runs the steps of an operation as one transaction; see `CompatibilityEngine.run`."""

    @property
    def reader(self) -> Any: ...

    async def run(
        self,
        operation: str,
        steps: Callable[[], Steps[T]],
        *,
        transaction: str,
        kept: Callable[[T], object] | None = None,
    ) -> T: ...


class CompatibilityWriter:
    """Writes fresh runs into one open store, for one owner. Closed, it knows none of the rows it made."""

    def __init__(self, engine: Runner, book: Book, owner: str | None, where: str) -> None:
        self._engine = engine
        self._book = book
        self._owner = owner
        self._where = where
        self._created = Created()

    @property
    def committed(self) -> Mapping[str, int]:
        """The transactions this handle committed, by name in the order first met, with their number."""
        return self._created.phases

    def forget(self) -> None:
        """The handle is being closed."""
        self._created.forget()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        operation = self._book.operations.get(name)
        if operation is None:
            return self._refusing(name)
        carry_out = self.__dict__[name] = self._carrying_out(operation)
        return carry_out

    def _refusing(self, name: str) -> Callable[..., NoReturn]:
        def refuse(*_arguments: Any, **_named: Any) -> NoReturn:
            raise not_named(name, self._book.shape.profile, self._where)

        return refuse

    def _carrying_out(self, operation: Operation) -> Callable[..., Any]:
        async def carry_out(*arguments: Any, **named: Any) -> Any:
            run = Running(self._book, operation, self._owner, self._created, self._where)
            prepared = operation.prepare(run, *arguments, **named)

            def steps() -> Steps[Any]:
                run.made.clear()
                return (yield from prepared())

            def kept(answer: object) -> None:
                if answer is not False:  # it found nothing to write
                    rejected = isinstance(answer, Rejected)
                    self._created.note("admin event" if rejected else operation.transaction, run.made)

            answer = await self._engine.run(
                operation.name, steps, transaction=operation.transaction, kept=kept
            )
            if isinstance(answer, Rejected):
                raise answer.error
            return answer

        return carry_out

    async def execute(self, sql: str, params: Parameters = None) -> None:
        """Runs a statement that reads, and gives nothing back. Refuses every other (D3)."""
        async with self.transaction() as reads:
            await reads.execute(sql, params)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[ReadTransaction]:
        """A snapshot for reads (DECISIONS 15): whatever does not read refuses in it, and it is then over."""
        async with self._engine.reader.snapshot(generic=True) as snapshot:
            yield ReadTransaction(snapshot, self._book.shape.profile, self._where)
