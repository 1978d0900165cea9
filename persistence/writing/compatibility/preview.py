"""What an operation would run, statement by statement, without a store: shown before anything is written.

The operation's own steps are driven, over assumptions in the place of answers: its rows are this run's, its
ids are free, every statement changes the row it means. So a preview says nothing else than what is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from persistence.engines.statements import Call, Outcome
from persistence.profiles.records import Profile
from persistence.writing.compatibility.book import Book
from persistence.writing.compatibility.created import Created, Row
from persistence.writing.compatibility.declarations import Operation, Read, Spec
from persistence.writing.compatibility.lifecycle import STATUS_OF
from persistence.writing.compatibility.manifest import book_of
from persistence.writing.compatibility.refusals import not_named
from persistence.writing.compatibility.running import Running

__all__ = ["Later", "OperationPreview", "StatementPreview", "preview"]


@dataclass(frozen=True, slots=True)
class Later:
    """A value that is only known within the transaction; `why` says in a few words what it will be."""

    why: str

    def __str__(self) -> str:
        return f"({self.why})"


@dataclass(frozen=True, slots=True)
class StatementPreview:
    """One statement: its exact text, its parameters by name in the order of its `?` (one that stands twice is
    named once), and when it runs (None: always)."""

    text: str
    verb: str
    table: str
    parameters: Mapping[str, Any]
    when: str | None = None


@dataclass(frozen=True, slots=True)
class OperationPreview:
    """One operation: the rows it asks for, its statements, what it keeps, and what is committed."""

    operation: str
    does: str
    transaction: str
    requires: tuple[str, ...]
    statements: tuple[StatementPreview, ...]
    keeps: tuple[str, ...]
    commits: str


class _Assumed(Created):
    """Every row that is named is this run's, and no id is taken."""

    __slots__ = ()

    def owns(self, row: Row) -> bool:
        return True


def preview(
    profile: Profile, owner: str | None, operation: str, /, *arguments: Any, **named: Any
) -> OperationPreview:
    """The operation with these arguments, which are those of the `StateDB` method of its name.

    Raises what the method raises for its arguments, and StateCompatibilityRefused for an operation that the
    profile does not name. Opens nothing.
    """
    book = book_of(profile)
    declared = book.operations.get(operation)
    if declared is None:
        raise not_named(operation, profile)
    run = Running(book, declared, owner, _Assumed(), None)
    seen = _Seen(book, declared, owner, named)
    steps = declared.prepare(run, *arguments, **named)()
    try:
        call = next(steps)
        while True:
            call = steps.send(seen.answer(call))
    except StopIteration:
        pass
    return OperationPreview(
        declared.name,
        declared.does,
        declared.transaction,
        tuple(one.says for one in declared.requires),
        seen.statements(),
        declared.keeps,
        f"One transaction, named {declared.transaction!r}. When it refuses, what stays is {declared.leaves}.",
    )


class _Seen:
    """The statements a preview has met, and the answers it goes on with."""

    def __init__(self, book: Book, operation: Operation, owner: str | None, named: Mapping[str, Any]) -> None:
        self._owner = owner
        self._named = named
        self._book = book
        self._entries = {entry.text: (spec, entry) for spec, entry in book.entries(operation)}
        self._asked: set[Spec] = set()
        self._statements: list[StatementPreview] = []

    def answer(self, call: Call) -> Outcome:
        compiled = call.statement.compiled("sqlite")
        spec, entry = self._entries[compiled.sql]
        again = spec in self._asked
        self._asked.add(spec)
        values = {name: call.values.get(name, compiled.constants.get(name)) for name in entry.names}
        values |= self._later(spec, values)
        when = spec.when
        if again and isinstance(spec, Read) and spec.assumed is None:
            when = "only after the row it did not find was added"
        self._statements.append(StatementPreview(entry.text, entry.verb, entry.table, values, when))
        if isinstance(spec, Read):
            rows = self._rows(spec, again)
            return Outcome([] if rows is None else [rows], -1)
        return Outcome((), 1)

    def _later(self, spec: Spec, values: Mapping[str, Any]) -> dict[str, Later]:
        """The values that come from what was read before; a number that the caller gave does not."""
        if not any(isinstance(asked, Read) for asked in self._asked):
            return {}
        left_out = {name for name in values if values.get(f"g{name[1:]}") == 0}
        return {
            name: Later(spec.later[name]) for name in values if name in spec.later and name not in left_out
        }

    def _rows(self, spec: Read, again: bool) -> tuple[Any, ...] | None:
        if spec.assumed is None:
            return (0,) if again else None
        assumed = spec.assumed
        if spec is STATUS_OF:
            expected = self._named.get("expected_statuses")
            status = next(iter(expected), None) if expected else None
            assumed = (status, self._named.get("expected_updated_at"))
        first = (self._owner if self._book.shape.owner(spec.table) else 1,) if spec.owned else ()
        return (*first, *assumed)

    def statements(self) -> tuple[StatementPreview, ...]:
        """Those met, then those that run only in a case that is not assumed."""
        others = [
            StatementPreview(
                entry.text,
                entry.verb,
                entry.table,
                dict.fromkeys(entry.names, Later("what is found then")),
                spec.when,
            )
            for spec, entry in self._entries.values()
            if spec.when is not None and spec not in self._asked
        ]
        return (*self._statements, *others)
