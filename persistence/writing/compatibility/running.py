"""What the steps of one operation are given: its statements, its owner, and the rows it may meet.

The owner is bound here and nowhere else, so no statement leaves without it (ADR-0128 D5); and a statement the
operation does not declare is not to be had (D4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeAlias

from persistence.engines.statements import Call, Steps
from persistence.errors import StateCompatibilityRefused
from persistence.writing.compatibility.book import Book
from persistence.writing.compatibility.created import Created, Row
from persistence.writing.compatibility.declarations import OWNER_OF, Insert, NewId, Operation, Own, Spec
from persistence.writing.compatibility.shape import OWNER

__all__ = ["Prepared", "Running"]

Prepared: TypeAlias = Callable[[], Steps[Any]]
"""The steps of an operation whose arguments are valid; each call starts from nothing."""

_KEEP = "The store is as it was. Compatibility mode writes only rows that this run made."


class Running:
    """One call of one operation."""

    __slots__ = ("_statements", "book", "created", "made", "operation", "owner", "where")

    def __init__(
        self, book: Book, operation: Operation, owner: str | None, created: Created, where: str | None
    ) -> None:
        self.book = book
        self.operation = operation
        self.owner = owner
        self.created = created
        self.where = where
        self.made: list[Row] = []
        self._statements = book.statements_of(operation)

    # -- statements ----------------------------------------------------------------------------------

    def call(self, spec: Spec, **values: Any) -> Call:
        """The statement with these values and the owner. KeyError for one the operation does not declare."""
        values[OWNER] = self.owner
        return Call(self._statements[spec], values)

    def insert(self, spec: Insert, values: dict[str, Any]) -> Steps[None]:
        """Adds a row of this run; refuses when its id is taken."""
        table, identity = spec.table, values["v_id"]
        if not (yield self.call(spec, **values)).changed:
            yield from self.taken(table, identity)
        self.made.append((table, identity))

    def taken(self, table: str, identity: str) -> Steps[None]:
        """Refuses an id that a row has already, and says whose it is."""
        there = None
        if OWNER_OF[table] in self._statements:
            there = (yield self.call(OWNER_OF[table], k_id=identity)).first
        foreign = there is not None and self.book.shape.owner(table) is not None and there[0] != self.owner
        self.refuse(
            f"a row of {table} has this id already, "
            + ("and another owner's" if foreign else "and this run did not make it"),
            code="id-taken",
            row=(table, identity),
            expected="an id that is free",
            observed=f"owner {there[0]!r}" if foreign and there is not None else "a row with this id",
        )

    # -- rows ----------------------------------------------------------------------------------------

    def check(self, given: Mapping[str, Any]) -> None:
        """Refuses, before any statement, arguments that name rows this run did not make."""
        for one in self.operation.requires:
            if isinstance(one, Own):
                for identity in _each(given.get(one.argument)):
                    if not self.created.owns((one.table, identity)):
                        self.not_own(one.table, identity)
            elif isinstance(one, NewId):
                identity = given[one.argument]
                if self.created.made((one.table, identity)):
                    self.refuse(
                        f"this run has made a row of {one.table} with this id already",
                        code="id-taken",
                        row=(one.table, identity),
                        expected="an id that is free",
                        observed="a row of this run",
                    )

    def held(self, given: Mapping[str, Any]) -> Steps[None]:
        """Within the transaction: the rows named are there, and still this owner's."""
        for one in self.operation.requires:
            if isinstance(one, Own) and not one.held_by_update:
                for identity in _each(given.get(one.argument)):
                    yield from self.still_own(one.table, identity)

    def still_own(self, table: str, identity: str) -> Steps[None]:
        """One row: refuses when it is gone, or another's by now."""
        found = (yield self.call(OWNER_OF[table], k_id=identity)).first
        owned = self.book.shape.owner(table) is not None
        if found is None or (owned and found[0] != self.owner):
            self.gone(table, identity, "no row" if found is None else f"owner {found[0]!r}")

    # -- refusals ------------------------------------------------------------------------------------

    def not_own(self, table: str, identity: str) -> NoReturn:
        self.refuse(
            f"this run did not make the row of {table} it names",
            code="not-own",
            row=(table, identity),
            expected="a row that was made through this handle",
            observed="a row of somebody else, of an earlier run, or none",
        )

    def gone(self, table: str, identity: str, observed: str) -> NoReturn:
        self.refuse(
            f"the row of {table} this run made is gone, or has another owner now",
            code="row-gone",
            row=(table, identity),
            expected="the row as this run made it"
            if self.owner is None
            else f"a row of owner {self.owner!r}",
            observed=observed,
        )

    def refuse(
        self,
        reason: str,
        *,
        code: str,
        row: Row | None = None,
        expected: str | None = None,
        observed: str | None = None,
        remedy: str = _KEEP,
    ) -> NoReturn:
        """StateCompatibilityRefused; what the transaction did so far is rolled back."""
        place = " ".join(part for part in (self.where, *(row or ())) if part)
        raise StateCompatibilityRefused(
            f"{self.operation.name}: {reason}. Nothing was written.",
            code=code,
            operation=self.operation.name,
            profile=self.book.shape.profile.identity,
            where=place or None,
            expected=expected,
            observed=observed,
            remedy=remedy,
        )


def _each(given: Any) -> Iterable[str]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else given
