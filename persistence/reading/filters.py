"""Conditions of a domain read, the same on SQLite and PostgreSQL, over columns a store may lack."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Self

from sqlalchemy import BigInteger, ColumnElement, Float, LargeBinary, Text, bindparam, cast, false, func, or_
from sqlalchemy.sql import column as sql_column

from persistence.records import TableShape

__all__ = ["Filters", "Unmatchable", "bind", "compared"]

_TEXT_TYPES = ("text", "character varying", "character", "varchar", "name", '"char"')


class Unmatchable(Exception):
    """No row of this store can hold the value: a NUL in PostgreSQL's text, a number past 64 bits."""


def bind(value: Any, dialect: str) -> ColumnElement[Any]:
    """The value as a bound parameter. Text that was not UTF-8 (surrogate escapes) is bound by its bytes."""
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            if dialect != "sqlite":
                raise Unmatchable from None
            try:
                raw = value.encode("utf-8", "surrogateescape")
            except UnicodeEncodeError:
                raise Unmatchable from None
            return cast(bindparam(None, raw, LargeBinary(), unique=True), Text())
        if dialect != "sqlite" and "\0" in value:
            raise Unmatchable
        return bindparam(None, value, Text(), unique=True)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise Unmatchable
        return bindparam(None, value, BigInteger(), unique=True)
    if isinstance(value, float):
        return bindparam(None, value, Float(), unique=True)
    if isinstance(value, bytes):
        return bindparam(None, value, LargeBinary(), unique=True)
    raise TypeError(f"a {type(value).__name__} cannot be looked for in a store")


def compared(shape: TableShape, name: str, value: Any, dialect: str) -> ColumnElement[Any]:
    """The column as it is compared with the value: as text where a server's type would not take text."""
    column: ColumnElement[Any] = sql_column(name)
    declared = shape.column(name)
    if dialect != "sqlite" and isinstance(value, str) and declared is not None:
        base = declared.type.partition("(")[0].strip().lower()
        if base not in _TEXT_TYPES:
            return cast(column, Text())
    return column


_Clause = Callable[[TableShape, str], ColumnElement[bool]]


class Filters:
    """Conditions that all hold. One on None is left out, so that optional arguments pass straight through.

    `Filters(name=value)`: the column is that value, or any of several; None among several stands for NULL.
    """

    def __init__(self, **wanted: Any) -> None:
        self._parts: list[tuple[tuple[str, ...], _Clause]] = []
        for name, value in wanted.items():
            if isinstance(value, Collection) and not isinstance(value, str | bytes):
                self._among(name, list(value))
            elif value is not None:
                self._equal(name, value)

    def _add(self, columns: tuple[str, ...], clause: _Clause) -> Self:
        self._parts.append((columns, clause))
        return self

    def _equal(self, name: str, value: Any) -> None:
        def clause(shape: TableShape, dialect: str) -> ColumnElement[bool]:
            return compared(shape, name, value, dialect) == bind(value, dialect)

        self._add((name,), clause)

    def _among(self, name: str, wanted: list[Any]) -> None:
        def clause(shape: TableShape, dialect: str) -> ColumnElement[bool]:
            parts: list[ColumnElement[bool]] = []
            for value in wanted:
                if value is None:
                    parts.append(sql_column(name).is_(None))
                else:
                    parts.append(compared(shape, name, value, dialect) == bind(value, dialect))
            return or_(false(), *parts)

        self._add((name,), clause)

    def null(self, name: str, wanted: bool | None) -> Self:
        """True: only where the column is NULL; False: only where it is not."""
        if wanted is None:
            return self
        column: ColumnElement[Any] = sql_column(name)
        condition = column.is_(None) if wanted else column.is_not(None)
        return self._add((name,), lambda _shape, _dialect: condition)

    def since(self, name: str, moment: float | None) -> Self:
        """At this value or above it."""
        if moment is None:
            return self
        return self._add((name,), lambda _shape, dialect: sql_column(name) >= bind(moment, dialect))

    def above(self, name: str, value: float | None) -> Self:
        if value is None:
            return self
        return self._add((name,), lambda _shape, dialect: sql_column(name) > bind(value, dialect))

    def before(self, name: str, moment: float | None) -> Self:
        """Below this value."""
        if moment is None:
            return self
        return self._add((name,), lambda _shape, dialect: sql_column(name) < bind(moment, dialect))

    def containing(self, names: tuple[str, ...], text: str | None) -> Self:
        """The text somewhere in one of the columns, ASCII letters in either case."""
        if not text:
            return self

        def clause(shape: TableShape, dialect: str) -> ColumnElement[bool]:
            find = func.instr if dialect == "sqlite" else func.strpos
            wanted = func.lower(bind(text, dialect))
            there = [name for name in names if shape.column(name) is not None]
            return or_(false(), *(find(func.lower(sql_column(name)), wanted) > 0 for name in there))

        return self._add((), clause)

    def clauses(self, shape: TableShape, dialect: str) -> list[ColumnElement[bool]] | None:
        """The conditions over the columns the table has; None when no row can meet them all."""
        out = []
        for columns, clause in self._parts:
            if any(shape.column(name) is None for name in columns):
                return None
            try:
                out.append(clause(shape, dialect))
            except Unmatchable:
                return None
        return out
