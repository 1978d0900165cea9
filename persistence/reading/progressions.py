"""How long progressions are, counted where they lie: a hundred thousand ids are not fetched to be counted.

Missing, not JSON and not a list are three different words; an empty one has length 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Integer, and_, case, column, func, literal, select, table

from persistence.reading.plans import Ask, Plan, Statement, run, slot
from persistence.records import Unreadable

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot

__all__ = ["MISSING", "NOT_A_LIST", "NOT_JSON", "length_by_sql", "lengths"]

MISSING = Unreadable("the progression does not exist")
NOT_JSON = Unreadable("the progression is not JSON")
NOT_A_LIST = Unreadable("the progression is not a list")

_NOT_JSON, _NOT_A_LIST = -2, -1


async def lengths(
    snapshot: Snapshot, ids: Iterable[str | None]
) -> Mapping[str | None, int | Unreadable | None]:
    """The length of each progression named; None is named by none, and has None."""
    wanted = dict.fromkeys(each for each in ids if each is not None)
    return {None: None, **(await run(snapshot, lambda: _lengths(list(wanted), snapshot.dialect)))}


def _lengths(ids: list[str], dialect: str) -> Plan[dict[str | None, int | Unreadable | None]]:
    collection: ColumnElement[Any] = column("collection")
    shown = _counted(collection) if dialect == "sqlite" else collection
    query = select(shown).select_from(table("progressions")).where(column("id") == slot("id"))
    statement = Statement(query, dialect)
    out: dict[str | None, int | Unreadable | None] = {}
    for each in ids:
        rows = yield Ask(statement, {"id": each})
        out[each] = _told(rows[0][0], dialect) if rows else MISSING
    return out


def _told(found: Any, dialect: str) -> int | Unreadable:
    if dialect != "sqlite":
        try:
            found = json.loads(found) if isinstance(found, str) else found
        except (ValueError, RecursionError):
            return NOT_JSON
        return len(found) if isinstance(found, list) else NOT_A_LIST
    if found is None or found == _NOT_JSON:
        return NOT_JSON
    return NOT_A_LIST if found == _NOT_A_LIST else int(found)


def _counted(collection: ColumnElement[Any]) -> ColumnElement[Any]:
    length = case(
        (func.json_type(collection) == "array", func.json_array_length(collection)),
        else_=literal(_NOT_A_LIST, Integer),
    )
    return case((func.json_valid(collection) == 1, length), else_=literal(_NOT_JSON, Integer))


def length_by_sql(progression_id: ColumnElement[Any], dialect: str) -> ColumnElement[Any]:
    """The length as an expression to sort by; NULL where there is none.

    PostgreSQL has the collection as text it cannot be trusted to parse, so there the quotes of what looks
    like a list are counted: exact for a list of plain ids, which is what a progression is.
    """
    own = table("progressions", column("id"), column("collection")).alias("p")
    collection: ColumnElement[Any] = own.c.collection
    told: ColumnElement[Any]
    if dialect == "sqlite":
        counted = func.json_array_length(collection)
        told = case((and_(func.json_valid(collection) == 1, func.json_type(collection) == "array"), counted))
    else:
        quotes = func.length(collection) - func.length(func.replace(collection, '"', ""))
        told = case((func.btrim(collection, " \n\r\t").like("[%]"), quotes / 2))
    return select(told).where(own.c.id == progression_id).scalar_subquery()
