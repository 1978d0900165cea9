"""Statements compiled once a dialect, and transactions written once for both (DESIGN 7).

A transaction is a generator: it yields the calls it wants made and is sent what came back. On SQLite it is
driven on the connection's own thread, all of it in one hop; on PostgreSQL each call is awaited. So the
rules of a write stand in one place, and no driver is named in them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

from sqlalchemy import Dialect, Executable, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.dialects.postgresql import asyncpg
from sqlalchemy.sql.compiler import SQLCompiler

__all__ = ["Call", "Compiled", "Outcome", "Statement", "Steps", "Target", "Transaction", "dialect_of"]

T = TypeVar("T")


class Target(NamedTuple):
    """The dialect a statement is built for: its name, and its `insert`, which knows ON CONFLICT."""

    name: str
    insert: Callable[[Table], Any]

    @property
    def sqlite(self) -> bool:
        return self.name == "sqlite"


class Compiled(NamedTuple):
    """SQL of one dialect, and the names of its positional parameters in order. `bound` makes them of values
    by name; KeyError for a value nobody gave."""

    sql: str
    names: tuple[str, ...]
    constants: Mapping[str, Any]
    bound: Callable[[Mapping[str, Any]], tuple[Any, ...]]


class Statement:
    """A SQLAlchemy Core statement, built and compiled for each dialect when it is first run there.

    `rows` says that it answers with rows, `named` that their columns' names are wanted. Its values are
    given already encoded (`persistence.writing.values`): nothing happens to them before the driver.
    """

    __slots__ = ("_build", "_compiled", "named", "rows")

    def __init__(
        self, build: Callable[[Target], Executable], *, rows: bool = False, named: bool = False
    ) -> None:
        self._build = build
        self._compiled: dict[str, Compiled] = {}
        self.rows = rows
        self.named = named

    def __call__(self, **values: Any) -> Call:
        """This statement with these values, to be yielded."""
        return Call(self, values)

    def each(self, rows: Sequence[Mapping[str, Any]]) -> Call:
        """This statement once for each of the values, in order: one call, which answers with no rows."""
        return Call(self, {}, rows)

    def built(self, dialect: str) -> Executable:
        """The statement as SQLAlchemy has it, for a connection of its own."""
        return self._build(_target(dialect))

    def compiled(self, dialect: str) -> Compiled:
        found = self._compiled.get(dialect)
        if found is None:
            found = self._compiled[dialect] = _compile(self._build(_target(dialect)), dialect)
        return found


class Call(NamedTuple):
    """A statement to be run with these values, or once for each row of values."""

    statement: Statement
    values: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]] | None = None


class Outcome(NamedTuple):
    """What came back: rows, when the statement has them, and how many rows it changed."""

    rows: Sequence[Sequence[Any]]
    changed: int
    names: tuple[str, ...] = ()

    @property
    def first(self) -> Sequence[Any] | None:
        return self.rows[0] if self.rows else None


Steps: TypeAlias = Generator[Call, Outcome, T]
"""A transaction: yields calls, is sent outcomes, returns its result."""

Transaction: TypeAlias = tuple[Callable[[], Steps[T]], Callable[[T], object]]
"""The steps of a transaction, begun anew by each call, and what is told of their result after the commit."""


@cache
def dialect_of(name: str) -> Dialect:
    """The dialect statements are compiled with: positional parameters, as each driver takes them."""
    if name == "sqlite":
        return sqlite.dialect(paramstyle="qmark")
    dialect: Dialect = asyncpg.dialect()  # type: ignore[no-untyped-call]
    return dialect


@cache
def _target(name: str) -> Target:
    return Target(name, sqlite.insert if name == "sqlite" else postgresql.insert)


def _compile(statement: Executable, dialect: str) -> Compiled:
    # IN lists are constants here: they are written out while compiling, each with a parameter of its own.
    compiled = statement.compile(  # type: ignore[attr-defined]
        dialect=dialect_of(dialect), compile_kwargs={"render_postcompile": True}
    )
    assert isinstance(compiled, SQLCompiler)
    constants = {name: value for name, value in compiled.params.items() if value is not None}
    # A bound NULL of the statement itself cannot be told from one that is to be given: both come by name.
    names = tuple(compiled.positiontup or ())
    return Compiled(compiled.string, names, constants, _binding(names, constants))


def _binding(
    names: tuple[str, ...], constants: Mapping[str, Any]
) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """What puts values in their places; the statement's own constants where nothing is given for them."""
    if len(names) < 2:  # an itemgetter of one name answers with no tuple
        return lambda values: tuple([values[name] if name in values else constants[name] for name in names])
    take: Callable[[Mapping[str, Any]], tuple[Any, ...]] = itemgetter(*names)
    return (lambda values: take({**constants, **values})) if constants else take
