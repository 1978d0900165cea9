"""The statements of a profile's operations, compiled once: what runs, and what the guard lets run (D4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from persistence.engines.statements import Statement
from persistence.guard.writeset import Allowed, WriteSet, allowed, write_set
from persistence.profiles.records import Profile
from persistence.writing.compatibility.declarations import Operation, Spec
from persistence.writing.compatibility.shape import OWNER, Shape

__all__ = ["Book"]


class Book:
    """Every statement that the operations a profile names may run; there are no others."""

    def __init__(self, profile: Profile, operations: Iterable[Operation]) -> None:
        self.shape = Shape(profile)
        self.operations: Mapping[str, Operation] = {one.name: one for one in operations}
        self._by_spec: dict[Spec, Statement] = {}
        self._of: dict[str, Mapping[Spec, Statement]] = {
            one.name: {spec: self._statement(spec) for spec in one.statements_beside(self.operations)}
            for one in self.operations.values()
        }

    def statements_of(self, operation: Operation) -> Mapping[Spec, Statement]:
        return self._of[operation.name]

    def entries(self, operation: Operation) -> Sequence[tuple[Spec, Allowed]]:
        """The operation's statements with their texts, in the order they are declared."""
        return [
            (spec, _entry(spec, statement, operation)) for spec, statement in self._of[operation.name].items()
        ]

    def write_set(self, owner: str | None) -> WriteSet:
        """What the guard is given: each text, and the parameters of it that must be the owner."""
        every = (entry for one in self.operations.values() for _, entry in self.entries(one))
        return write_set(self.shape.profile, owner, every)

    def _statement(self, spec: Spec) -> Statement:
        found = self._by_spec.get(spec)
        if found is None:
            shape = self.shape
            found = Statement(lambda _: spec.build(shape), rows=spec.verb == "select")
            self._by_spec[spec] = found
        return found


def _entry(spec: Spec, statement: Statement, operation: Operation) -> Allowed:
    names = statement.compiled("sqlite").names
    return allowed(
        statement,
        spec.verb,
        spec.table,
        operations=(operation.name,),
        owner=(OWNER,) if OWNER in names else (),
        changes=spec.changes,
    )
