"""What an operation of the manifest is declared with: its statements and the rows it asks for (ADR-0128 D4).

A declaration is data. It says which statements there are and which rows they may meet; the operation's own
steps decide when each runs, and can run no other. For people, a statement says `when` it runs, unless
it always does, and in `later` which of its values are only known in the transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Executable,
    TableClause,
    bindparam,
    case,
    func,
    literal_column,
    select,
)
from sqlalchemy import update as update_of
from sqlalchemy.dialects.sqlite import insert as insert_into

from persistence.writing.compatibility.shape import OWNER, Shape, given, key

if TYPE_CHECKING:
    from persistence.guard.writeset import Verb
    from persistence.writing.compatibility.running import Prepared

__all__ = ["Insert", "NewId", "Operation", "Own", "Predicate", "Read", "Rule", "Spec", "Update", "UpdateSome"]

Change = Callable[[TableClause], ColumnElement[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Insert:
    """INSERT of these columns and the owner's. `skips` is the key on which a row that is there is left as it
    is and the statement changes none, so that the operation can say so; without it a clash is an error."""

    table: str
    columns: tuple[str, ...]
    skips: str | None = "id"
    when: str | None = None
    later: Mapping[str, str] = field(default_factory=dict)
    verb: Verb = field(default="insert", init=False)

    @property
    def needs(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The columns a profile has to let it insert, and update."""
        return self.columns, ()

    @property
    def changes(self) -> tuple[int, int]:
        return (1, 1) if self.skips is None else (0, 1)

    def build(self, shape: Shape) -> Executable:
        into = shape.table(self.table, *self.columns)
        values: dict[str, BindParameter[Any]] = {name: given(name) for name in self.columns}
        owner = shape.owner(self.table)
        if owner is not None:
            values[owner] = bindparam(OWNER)
        statement = insert_into(into).values(values)
        if self.skips is None:
            return statement
        return statement.on_conflict_do_nothing(index_elements=[into.c[self.skips]])


@dataclass(frozen=True, slots=True, eq=False)
class Update:
    """UPDATE of one row, found by id and owner. `sets` says what a column becomes (None: what is given),
    `where` what else has to hold of the row."""

    table: str
    sets: Mapping[str, Change | None]
    where: Callable[[TableClause], ColumnElement[bool]] | None = None
    reads: tuple[str, ...] = ()
    changes: tuple[int, int] = (0, 1)
    when: str | None = None
    later: Mapping[str, str] = field(default_factory=dict)
    verb: Verb = field(default="update", init=False)

    @property
    def needs(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return (), tuple(self.sets)

    def build(self, shape: Shape) -> Executable:
        into = shape.table(self.table, *self.sets, *self.reads)
        changes = {name: given(name) if how is None else how(into) for name, how in self.sets.items()}
        found = [into.c.id == key(), *shape.mine(self.table, into)]
        if self.where is not None:
            found.append(self.where(into))
        return update_of(into).where(*found).values(changes)


@dataclass(frozen=True, slots=True, eq=False)
class UpdateSome:
    """UPDATE of whichever of these columns are given; the others keep their values.

    One text whatever is given, so that the set of statements stays closed: `g_` and a column's name is 1 when
    it is given, 2 when it only fills what is NULL, else 0. `sets` as in `Update`; `always` are written in any
    case. A column that the profile does not let be updated is not in it; `needed` have to be.
    """

    table: str
    columns: tuple[str, ...]
    sets: Mapping[str, Change] = field(default_factory=dict)
    always: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    when: str | None = None
    later: Mapping[str, str] = field(default_factory=dict)
    changes: tuple[int, int] = (0, 1)
    verb: Verb = field(default="update", init=False)

    @property
    def needs(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return (), self.needed

    def updates(self, shape: Shape) -> tuple[str, ...]:
        """The columns it is about, under a profile."""
        may = shape.updates(self.table)
        return tuple(name for name in self.columns if name in may)

    def build(self, shape: Shape) -> Executable:
        names = self.updates(shape)
        into = shape.table(self.table, *names)
        changes: dict[str, ColumnElement[Any]] = {}
        for name in names:
            new = self.sets[name](into) if name in self.sets else given(name)
            if name not in self.always:
                stored = into.c[name]
                new = case(
                    (literal_column("1"), new),
                    (literal_column("2"), func.coalesce(stored, new)),
                    value=bindparam(f"g_{name}"),
                    else_=stored,
                )
            changes[name] = new
        found = [into.c.id == key(), *shape.mine(self.table, into)]
        return update_of(into).where(*found).values(changes)

    def values(self, shape: Shape, values: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters for the columns given, by name."""
        out: dict[str, Any] = {}
        for name in self.updates(shape):
            out[f"v_{name}"] = values.get(f"v_{name}")
            if name not in self.always:
                out[f"g_{name}"] = int(f"v_{name}" in values)
        return out


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """SELECT of columns of the row found by `by`, or of what `query` makes. `owned` adds the owner's column
    in front (1 where the table has none). A preview goes on with `assumed` (None: no row at first)."""

    table: str
    columns: tuple[str, ...] = ()
    by: str = "id"
    owned: bool = False
    query: Callable[[TableClause], Executable] | None = None
    assumed: tuple[Any, ...] | None = ()
    when: str | None = None
    later: Mapping[str, str] = field(default_factory=dict, init=False)
    verb: Verb = field(default="select", init=False)
    changes: tuple[int, int] = field(default=(0, 0), init=False)

    @property
    def needs(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return (), ()

    def build(self, shape: Shape) -> Executable:
        of = shape.table(self.table, *self.columns, self.by)
        if self.query is not None:
            return self.query(of)
        owner = shape.owner(self.table)
        first: list[Any] = []
        if self.owned:
            first.append(literal_column("1") if owner is None else of.c[owner])
        return select(*first, *(of.c[name] for name in self.columns)).where(of.c[self.by] == key(self.by))


Spec = Insert | Update | UpdateSome | Read


# -- rows ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NewId:
    """The id is free: a row that has it, whoever's it is, refuses and stays as it was."""

    table: str
    argument: str

    @property
    def says(self) -> str:
        return f"{self.argument}: an id that no row of {self.table} has"


@dataclass(frozen=True, slots=True)
class Own:
    """The rows named are of this run and of its owner. Before any statement it is asked whether this run made
    them; within the transaction whether they are still there and still its owner's: by a read, or where
    `held_by_update` says so by the predicate of the statement that changes the row."""

    table: str
    argument: str
    optional: bool = False
    held_by_update: bool = False

    @property
    def says(self) -> str:
        none = ", or none" if self.optional else ""
        return f"{self.argument}: rows of {self.table} that this run made{none}; of the same owner"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for rows of a table this run did not make: what an operation may do to one, and to which."""

    table: str
    says: str


Predicate = NewId | Own | Rule


_A4 = "tests/acceptance/test_adr_0128_a4.py"
TESTS = (
    f"{_A4}::test_the_statements_it_runs_are_those_it_declares",
    f"{_A4}::test_an_existing_id_or_a_foreign_row_refuses",
    f"{_A4}::test_it_is_rolled_back_when_a_later_statement_is_denied",
)
"""What proves each operation; pytest's parameter is the operation's name."""


# -- the operation ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """One entry of the manifest (D4): all of one write method of the facade.

    `reached_from` are its entry points, `statements` every SQL effect (`borrows`: those it has only beside
    another operation, by its name), `without` the effects a native store has and this has not, `requires` the
    row predicates, `transaction` the one transaction it is, as `committed` names it; `leaves` what stays
    committed when it refuses, `keeps` the reader invariants (words of A.3). `prepare` is given the run and
    the method's arguments; it refuses or returns the steps, before any statement. `optional`: not in every
    profile of a fresh run.
    """

    name: str
    does: str
    transaction: str
    reached_from: tuple[str, ...]
    requires: tuple[Predicate, ...]
    writes: tuple[Spec, ...]
    keeps: tuple[str, ...]
    prepare: Callable[..., Prepared]
    leaves: str = "nothing: it is one transaction"
    optional: bool = False
    borrows: Mapping[str, tuple[Spec, ...]] = field(default_factory=dict)
    without: tuple[str, ...] = ()

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests that prove it (A.4), as pytest names them."""
        return tuple(f"{test}[{self.name}]" for test in TESTS)

    def owner_reads(self) -> tuple[Read, ...]:
        """The reads its predicates make within the transaction."""
        tables = [one.table for one in self.requires if isinstance(one, Own) and not one.held_by_update]
        return tuple(OWNER_OF[table] for table in dict.fromkeys(tables))

    @property
    def statements(self) -> tuple[Spec, ...]:
        """Every statement it may run."""
        return tuple(dict.fromkeys((*self.owner_reads(), *self.writes)))

    def statements_beside(self, operations: Container[str]) -> tuple[Spec, ...]:
        """Every statement it may run under a profile that names these operations."""
        borrowed = (spec for name, specs in self.borrows.items() if name in operations for spec in specs)
        return tuple(dict.fromkeys((*self.statements, *borrowed)))


OWNER_OF: Mapping[str, Read] = {
    name: Read(name, owned=True)
    for name in ("progressions", "messages", "sessions", "branches", "invocations")
}
"""Whose a row is, by table; no row: it is gone."""
