"""What columns become in statements of several operations (ADR-0128 A.2, A.3)."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import ColumnElement, TableClause, case, exists, func, literal_column, not_, or_, select

from persistence.schema.known import TERMINAL
from persistence.writing.compatibility.shape import given

__all__ = [
    "ENDED",
    "absent",
    "first",
    "last",
    "later",
    "longer",
    "not_ended",
    "running_or_none",
]

ENDED: Final = frozenset(TERMINAL["session"])
_ENDED_WORDS: Final[list[ColumnElement[str]]] = [literal_column(f"'{word}'") for word in sorted(ENDED)]


def later(name: str) -> Any:
    """A clock: the larger of what is stored and what is given."""

    def change(into: TableClause) -> ColumnElement[Any]:
        stored, new = into.c[name], given(name)
        return case((or_(stored.is_(None), stored < new), new), else_=stored)

    return change


def first(name: str) -> Any:
    """What is written once: the value that is there, else the one given."""

    def change(into: TableClause) -> ColumnElement[Any]:
        return func.coalesce(into.c[name], given(name))

    return change


def last(name: str) -> Any:
    """What is written again but not taken back: the value that is given, else the one that is there."""

    def change(into: TableClause) -> ColumnElement[Any]:
        return func.coalesce(given(name), into.c[name])

    return change


def not_ended(into: TableClause) -> ColumnElement[bool]:
    """The session has not ended."""
    return or_(into.c.status.is_(None), into.c.status.not_in(_ENDED_WORDS))


def running_or_none(into: TableClause) -> ColumnElement[bool]:
    """The branch has no status yet, or is running."""
    return or_(into.c.status.is_(None), into.c.status == literal_column("'running'"))


def longer(into: TableClause) -> ColumnElement[Any]:
    """The collection with the message id at its end."""
    return func.json_insert(into.c.collection, literal_column("'$[#]'"), given("message_id"))


def absent(into: TableClause) -> ColumnElement[bool]:
    """The message id is not in the collection.

    Where the text holds neither the id as JSON writes it nor any escape, no entry can be it, and finding that
    out takes no parsing; everything else is asked of json_each.
    """
    collection, id_ = into.c.collection, given("message_id")
    found = func.instr(collection, func.json_quote(id_)) + func.instr(collection, literal_column("'\\'"))
    entries = func.json_each(collection).table_valued("value", name="entries")
    there = exists(select(literal_column("1")).select_from(entries).where(entries.c.value == id_))
    return or_(found == literal_column("0"), not_(there))
