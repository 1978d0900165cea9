"""Reads written once for both backends: a plan asks for rows, one after another, and ends in an answer.

A plan is a generator that yields `Ask` (a statement and its values) or `Drive` (work on SQLite's own
connection) and is sent what came back. On SQLite the whole plan runs in one hop on the connection's
thread, with statements compiled once (DESIGN 7); on PostgreSQL each step is awaited.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from sqlalchemy import BindParameter, ColumnElement, Select, Text, bindparam, cast
from sqlalchemy.dialects.sqlite.base import SQLiteDialect
from sqlalchemy.types import NullType

if TYPE_CHECKING:
    import sqlite3

    from persistence.engines.reader import Snapshot

__all__ = ["Ask", "Drive", "Plan", "Statement", "fits_text", "run", "slot", "value"]

T = TypeVar("T")

_DIALECT = SQLiteDialect(paramstyle="qmark")


class Statement:
    """A SELECT, compiled once for the backend that runs it."""

    __slots__ = ("_fixed", "_names", "query", "text")

    def __init__(self, query: Select[Any], dialect: str) -> None:
        self.query = query
        self.text = ""
        if dialect == "sqlite":
            compiled = query.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})
            self.text = str(compiled)
            self._names: list[str] = list(compiled.positiontup or ())
            self._fixed: dict[str, Any] = dict(compiled.params)

    def positional(self, values: Mapping[str, Any]) -> list[Any]:
        """The values in the order the compiled text takes them."""
        fixed = self._fixed
        return [values[name] if name in values else fixed[name] for name in self._names]


@dataclass(frozen=True, slots=True)
class Ask:
    """Rows of a statement."""

    statement: Statement
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drive:
    """Something only SQLite's connection can do (a cell's head without the cell, a registered function)."""

    work: Callable[[sqlite3.Connection], Any]


Step: TypeAlias = "Ask | Drive"
Plan: TypeAlias = Generator["Ask | Drive", Any, T]


async def run(snapshot: Snapshot, begin: Callable[[], Plan[T]]) -> T:
    """The answer of the plan that `begin` begins. An error of a step is raised where the plan asked for it.

    The plan is begun anew when the store moved under it, so it changes nothing outside itself.
    """
    if snapshot.dialect == "sqlite":
        return await snapshot.on_driver(lambda connection: _drive(connection, begin()))
    plan = begin()
    try:
        ask = next(plan)
        while True:
            if isinstance(ask, Drive):
                raise TypeError("a plan for a server asked for SQLite's connection")
            try:
                answer = await snapshot.rows(ask.statement.query, dict(ask.values))
            except Exception as error:
                ask = plan.throw(error)
            else:
                ask = plan.send(answer)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        plan.close()


def _drive(connection: sqlite3.Connection, plan: Plan[T]) -> T:
    execute = connection.execute
    try:
        ask = next(plan)
        while True:
            try:
                answer: Any
                if isinstance(ask, Ask):
                    answer = execute(ask.statement.text, ask.statement.positional(ask.values)).fetchall()
                else:
                    answer = ask.work(connection)
            except Exception as error:
                ask = plan.throw(error)
            else:
                ask = plan.send(answer)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    finally:
        plan.close()


def slot(name: str) -> BindParameter[Any]:
    """A place for a value, without a type: the column it is compared with decides what it is taken for."""
    return bindparam(name, required=False, type_=NullType())


def fits_text(value: Any) -> bool:
    """Whether a value can be handed to a driver as it is: text with surrogate escapes cannot."""
    if not isinstance(value, str) or value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def value(content: Any) -> ColumnElement[Any]:
    """A stored value to compare with; text that is not UTF-8 goes as its bytes."""
    if fits_text(content):
        return bindparam(None, content, type_=NullType(), unique=True)
    raw = content.encode("utf-8", "surrogateescape")
    return cast(bindparam(None, raw, type_=NullType(), unique=True), Text)
