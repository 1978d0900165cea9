"""The compatibility writer: the operations a profile names, and a refusal for everything else (D3 to D6).

It has no method of an operation's own. What the facade asks for by name is looked up in the manifest under
the profile; what is not there is refused before an argument is looked at.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NoReturn, Protocol, TypeVar

from persistence.engines.statements import Steps, Transaction
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

    async def run_in_order(
        self, operation: str, transactions: Sequence[Transaction[Any]], *, transaction: str
    ) -> None: ...


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
            steps, kept = self._call(operation, *arguments, **named)
            answer = await self._engine.run(
                operation.name, steps, transaction=operation.transaction, kept=kept
            )
            if isinstance(answer, Rejected):
                raise answer.error
            return answer

        return carry_out

    def _call(self, operation: Operation, *arguments: Any, **named: Any) -> Transaction[Any]:
        """The operation with these arguments, which are valid: its steps, and what is told their result."""
        run = Running(self._book, operation, self._owner, self._created, self._where)
        prepared = operation.prepare(run, *arguments, **named)

        def steps() -> Steps[Any]:
            run.made.clear()
            return prepared()

        def kept(answer: object) -> None:
            if answer is not False:  # it found nothing to write
                rejected = isinstance(answer, Rejected)
                self._created.note("admin event" if rejected else operation.transaction, run.made)

        return steps, kept

    async def live_messages(
        self, messages: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]], done: Callable[[], object]
    ) -> None:
        """`persist_live_message` for each of the messages, with what it is given by name, in their order.

        Each is a transaction of its own, with its own checks. `done` is called for each that was committed;
        what the first raises that was not is raised, and none after it is written.
        """
        operation = self._book.operations.get("persist_live_message")
        if operation is None:
            raise not_named("persist_live_message", self._book.shape.profile, self._where)
        calls: list[Transaction[Any]] = []
        invalid: Exception | None = None
        for message, named in messages:
            try:
                calls.append(self._call(operation, message, **named))
            except Exception as error:
                invalid = error
                break
        committed: list[object] = []

        def told(kept: Callable[[Any], object]) -> Callable[[Any], object]:
            def both(answer: object) -> None:
                kept(answer)
                committed.append(answer)

            return both

        try:
            await self._engine.run_in_order(
                operation.name,
                [(steps, told(kept)) for steps, kept in calls],
                transaction=operation.transaction,
            )
        finally:
            for _ in committed:
                done()
        if invalid is not None:
            raise invalid

    async def execute(self, sql: str, params: Parameters = None) -> None:
        """Runs a statement that reads, and gives nothing back. Refuses every other (D3)."""
        async with self.transaction() as reads:
            await reads.execute(sql, params)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[ReadTransaction]:
        """A snapshot for reads (DECISIONS 15): whatever does not read refuses in it, and it is then over."""
        async with self._engine.reader.snapshot(generic=True) as snapshot:
            yield ReadTransaction(snapshot, self._book.shape.profile, self._where)
