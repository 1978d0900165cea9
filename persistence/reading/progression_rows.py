"""Progressions as a windowed source: how long each is, who uses it, and what is wrong with it.

What costs more than a page (users, length, marks) comes from `complete`, for the rows in sight alone. Marks
look at no more than `EXAMINED` entries of a progression; a longer one is examined when it is opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, column, literal_column, select, table

from persistence.reading.idlist import read_list
from persistence.reading.listed import Field, Listed
from persistence.reading.listing import Listing
from persistence.reading.messages import Messages
from persistence.reading.plans import Ask, Plan, Statement, run, value
from persistence.reading.previews import Source
from persistence.reading.progressions import length_by_sql, lengths
from persistence.reading.rows import find_table
from persistence.reading.stored import stored
from persistence.records import Cell, Column, ColumnKind, Order, Preview, TableShape

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot
    from persistence.reading.source import RowSource
    from persistence.reading.store import StoreReading

__all__ = ["EXAMINED", "ProgressionUser", "progressions", "raw_collection", "users"]

EXAMINED = 1_000
"""Entries of one progression whose messages are looked for in a list."""
_MOST_BYTES = 64 * 1024
_MOST_USERS = 20
_SHOWN: tuple[tuple[str, str, ColumnKind], ...] = (
    ("id", "progression", "id"),
    ("length", "length", "number"),
    ("marks", "marks", "text"),
    ("used_by", "used by", "text"),
    ("created_at", "created", "time"),
    ("collection", "collection", "json"),
)
_WIDTHS = {"id": 18, "marks": 44}


@dataclass(frozen=True, slots=True)
class ProgressionUser:
    """A row that names a progression as its own: of `sessions` or `branches`, and the session it is of."""

    table: str
    id: str
    name: Cell
    session_id: str | None


def progressions(reading: StoreReading) -> RowSource:
    """Every progression, the last created first. A row's key is `(progression id,)`.

    From `complete`: `length` (Unreadable for what is no list), `used_by` (NULL: nobody) and `marks` (NULL:
    none; else words: `2 missing, 1 duplicate, 1 out of order, shared`).
    """

    async def make(snapshot: Snapshot) -> Listed:
        shape = await find_table(reading, snapshot, "progressions")
        tables = await reading.tables(snapshot)
        newest = Order("created_at", descending=True) if shape.column("created_at") is not None else None
        return Listed(
            shape,
            snapshot.dialect,
            tuple(_field(reading, shape, tables, snapshot.dialect, *shown) for shown in _SHOWN),
            own_order=newest,
            identity="id" if shape.column("id") is not None else None,
        )

    return Listing(
        reading,
        "progressions",
        make,
        columns=tuple(Column(name, label, kind) for name, label, kind in _SHOWN),
    )


def _field(
    reading: StoreReading,
    shape: TableShape,
    tables: Mapping[str, TableShape],
    dialect: str,
    name: str,
    label: str,
    kind: ColumnKind,
) -> Field:
    shown = Column(name, label, kind, width=_WIDTHS.get(name))
    if shape.column("id") is not None:
        if name == "length" and shape.column("collection") is not None:

            async def long(snapshot: Snapshot, keys: Sequence[tuple[Any, ...]]) -> Sequence[Cell]:
                known = await lengths(snapshot, [key[0] for key in keys])
                return [known.get(key[0]) for key in keys]

            return Field(shown, late=long, sort_by=length_by_sql(literal_column("progressions.id"), dialect))
        if name == "used_by":

            async def used(snapshot: Snapshot, keys: Sequence[tuple[Any, ...]]) -> Sequence[Cell]:
                found = await run(snapshot, lambda: _users(tables, [key[0] for key in keys], dialect))
                return [_used_words(found.get(key[0], ())) for key in keys]

            return Field(Column(name, label, kind, False, _WIDTHS.get(name)), late=used)
        if name == "marks" and shape.column("collection") is not None:

            async def marks(snapshot: Snapshot, keys: Sequence[tuple[Any, ...]]) -> Sequence[Cell]:
                return await _marks(reading, shape, tables, snapshot, [key[0] for key in keys])

            return Field(Column(name, label, kind, False, _WIDTHS.get(name)), late=marks)
    declared = shape.column(name)
    if declared is not None:
        return Field(shown, Source(declared.name, declared.type))
    return Field(Column(name, label, kind, sortable=False, missing=True))


async def users(reading: StoreReading, progression_id: str) -> tuple[ProgressionUser, ...]:
    """The sessions and branches that name a progression as theirs, up to a few dozen."""
    async with reading.reader.snapshot() as snapshot:
        tables = await reading.tables(snapshot)
        found = await run(snapshot, lambda: _users(tables, [progression_id], snapshot.dialect))
    return tuple(found.get(progression_id, ()))


def _users(
    tables: Mapping[str, TableShape], ids: Sequence[Any], dialect: str
) -> Plan[dict[Any, list[ProgressionUser]]]:
    out: dict[Any, list[ProgressionUser]] = {}
    for name in ("sessions", "branches"):
        shape = tables.get(name)
        if shape is None or shape.column("progression_id") is None or shape.column("id") is None:
            continue
        of = "id" if name == "sessions" else "session_id"
        wanted: list[ColumnElement[Any]] = [
            column(each) for each in ("id", "name", of) if shape.column(each) is not None
        ]
        query: Select[Any] = select(*wanted).select_from(table(name))
        for each in ids:
            same = query.where(column("progression_id") == value(each)).limit(_MOST_USERS)
            for row in (yield Ask(Statement(same, dialect))):
                told = dict(zip([each_.name for each_ in wanted], row, strict=True))
                session = told.get(of)
                out.setdefault(each, []).append(
                    ProgressionUser(
                        name, str(told["id"]), told.get("name"), session if isinstance(session, str) else None
                    )
                )
    return out


def _used_words(found: Sequence[ProgressionUser]) -> Cell:
    if not found:
        return None
    first = found[0]
    name = first.name if isinstance(first.name, str) and first.name.strip() else first.id
    kind = "run" if first.table == "sessions" else "branch"
    more = f", {len(found) - 1} more" if len(found) > 1 else ""
    return f"{kind} {name}{more}"


async def _marks(
    reading: StoreReading,
    shape: TableShape,
    tables: Mapping[str, TableShape],
    snapshot: Snapshot,
    ids: Sequence[Any],
) -> Sequence[Cell]:
    used = await run(snapshot, lambda: _users(tables, ids, snapshot.dialect))
    messages = await Messages.of(reading, snapshot)
    out: list[Cell] = []
    for each in ids:
        said = await _marked(shape, messages, snapshot, each)
        if len(used.get(each, ())) > 1:
            said.append("shared")
        out.append(", ".join(said) or None)
    return out


async def _marked(shape: TableShape, messages: Messages, snapshot: Snapshot, each: Any) -> list[str]:
    same = [column("id") == value(each)]
    rows = await run(snapshot, lambda: stored(shape, snapshot.dialect, same, cells=_MOST_BYTES))
    collection = rows[0].get("collection") if rows else None
    if isinstance(collection, Preview):
        return ["long: examined when it is opened"]
    state, entries, _ = read_list(collection)
    if state != "list":
        return [state]
    said = []
    count = min(len(entries), EXAMINED)
    named = entries.ids(0, count)
    found = await run(snapshot, lambda: messages.times(named))
    gone = sum(one not in found for one in named)
    late = 0
    latest: float | None = None
    for one in named:
        at = found.get(one, (None, None))[0]
        if at is not None and latest is not None and at < latest:
            late += 1
        latest = at if at is not None else latest
    for number, word in ((gone, "missing"), (len(entries.duplicates), "duplicate"), (late, "out of order")):
        if number:
            said.append(f"{number:,} {word}")
    if count < len(entries):
        said.append(f"of the first {count:,}")
    return said


async def raw_collection(reading: StoreReading, progression_id: str, most: int) -> Cell:
    """What the row holds as its list, as it lies there; a Preview past `most` bytes; None: no such row."""
    async with reading.reader.snapshot() as snapshot:
        shape = await find_table(reading, snapshot, "progressions")
        same = [column("id") == value(progression_id)]
        rows = await run(snapshot, lambda: stored(shape, snapshot.dialect, same, cells=most))
    return rows[0].get("collection") if rows else None
