"""Sessions as a windowed source: newest first through an index, any column sortable, narrowed by a filter."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Text,
    and_,
    case,
    cast,
    column,
    false,
    func,
    literal_column,
    or_,
    select,
    table,
)

from persistence.reading.keys import choose_key
from persistence.reading.listed import Field, Listed
from persistence.reading.listing import Listing
from persistence.reading.plans import Ask, Plan, Statement, run, value
from persistence.reading.previews import Source
from persistence.reading.progressions import length_by_sql, lengths
from persistence.reading.rows import find_table
from persistence.reading.stretches import stretches
from persistence.records import (
    Cell,
    Column,
    ColumnKind,
    Order,
    RunChoices,
    RunFilter,
    TableShape,
)

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot
    from persistence.reading.source import RowSource
    from persistence.reading.store import StoreReading

__all__ = ["COLUMNS", "length_in_seconds", "run_choices", "runs", "runs_where"]

_SHOWN: tuple[tuple[str, str, ColumnKind], ...] = (
    ("status", "status", "status"),
    ("name", "name", "text"),
    ("started_at", "started", "time"),
    ("length", "length", "duration"),
    ("messages", "messages", "number"),
    ("agent_name", "agent", "text"),
    ("model", "model", "text"),
    ("project", "project", "text"),
    ("total_cost_usd", "cost", "money"),
    ("updated_at", "updated", "time"),
    ("invocation_kind", "kind", "text"),
    ("user_label", "label", "text"),
    ("last_message_at", "last message", "time"),
    ("ended_at", "ended", "time"),
    ("num_turns", "turns", "number"),
    ("input_tokens", "tokens in", "number"),
    ("output_tokens", "tokens out", "number"),
    ("provider", "provider", "text"),
    ("status_reason_code", "reason", "text"),
    ("run_id", "run id", "id"),
    ("id", "id", "id"),
)
_LINKS = {"project": ("projects", "name")}
_SEARCHED = (
    "name",
    "user_label",
    "id",
    "run_id",
    "cc_session_id",
    "agent_name",
    "model",
    "project",
    "playbook_name",
    "show_topic",
    "show_play_name",
    "invocation_kind",
)
_CHOICES = 500
_COUNTED = 50_000
_LONGEST_CHOICE = 300

COLUMNS: tuple[Column, ...] = tuple(
    Column(name, label, kind, links_to=_LINKS.get(name)) for name, label, kind in _SHOWN
)
"""The columns of the list of runs. `length` is in seconds; `messages` comes from `complete`."""


def runs(reading: StoreReading, narrowed: RunFilter | None = None, order: Order | None = None) -> RowSource:
    """The runs a filter leaves, the last updated first unless another order is asked for.

    A row's key is `(session id,)`. A column the store lacks is marked missing, and its cells are ABSENT;
    a filter on one leaves no run. The first read raises MissingTableError where there are no sessions.
    """
    wanted = narrowed or RunFilter()
    return _listing(reading, lambda shape: _conditions(wanted, shape), order)


def runs_where(
    reading: StoreReading, where: Callable[[TableShape], Sequence[ColumnElement[bool]]]
) -> RowSource:
    """The runs that meet some conditions over `sessions`, as `runs` lists them."""
    return _listing(reading, lambda shape: (tuple(where(shape)), frozenset(), True), None)


_Asked = tuple[tuple[ColumnElement[bool], ...], frozenset[str], bool]


def _listing(reading: StoreReading, asked: Callable[[TableShape], _Asked], order: Order | None) -> RowSource:
    async def make(snapshot: Snapshot) -> Listed:
        shape = await find_table(reading, snapshot, "sessions")
        tables = await reading.tables(snapshot)
        counted = "progressions" in tables and shape.column("progression_id") is not None
        conditions, equal, narrowed = asked(shape)
        return Listed(
            shape,
            snapshot.dialect,
            _fields(shape, snapshot.dialect, counted, tables),
            conditions=conditions,
            equal=equal,
            narrowed=narrowed,
            own_order=_newest_first(shape),
            identity="id" if shape.column("id") is not None else None,
        )

    return Listing(reading, "runs", make, order, columns=COLUMNS)


def _newest_first(shape: TableShape) -> Order | None:
    name = next((name for name in ("updated_at", "created_at") if shape.column(name) is not None), None)
    return None if name is None else Order(name, descending=True)


def _fields(
    shape: TableShape, dialect: str, counted: bool, tables: Mapping[str, TableShape]
) -> tuple[Field, ...]:
    out = []
    for shown in COLUMNS:
        if shown.links_to is not None and shown.links_to[0] not in tables:
            shown = replace(shown, links_to=None)
        declared = shape.column(shown.name)
        length = length_in_seconds(shape, dialect) if shown.name == "length" else None
        if length is not None:
            out.append(Field(shown, Source(computed=length), sort_by=length))
        elif shown.name == "messages" and counted:
            by = length_by_sql(literal_column("sessions.progression_id"), dialect)
            out.append(Field(shown, late=_messages, sort_by=by))
        elif declared is not None:
            out.append(Field(shown, Source(declared.name, declared.type)))
        else:
            out.append(Field(replace(shown, missing=True, sortable=False)))
    return tuple(out)


def length_in_seconds(shape: TableShape, dialect: str) -> ColumnElement[Any] | None:
    """How long a session took, as an expression: from its start to its end, else the duration it recorded."""
    ways = []
    for needed, length in (
        (("started_at", "ended_at"), column("ended_at") - column("started_at")),
        (("duration_ms",), column("duration_ms") / 1000.0),
    ):
        if all(shape.column(name) is not None for name in needed):
            if dialect == "sqlite":  # where a time may be text: no length then, rather than a wrong one
                numbers = and_(*[func.typeof(column(name)).in_(("real", "integer")) for name in needed])
                length = case((numbers, length))
            ways.append(length)
    return func.coalesce(*ways) if len(ways) > 1 else ways[0] if ways else None


async def _messages(snapshot: Snapshot, keys: Sequence[tuple[Any, ...]]) -> Sequence[Cell]:
    """The lengths of the runs' own progressions."""
    ids = await run(snapshot, lambda: _progression_ids([key[0] for key in keys], snapshot.dialect))
    known = await lengths(snapshot, ids.values())
    return [known.get(ids.get(key[0])) for key in keys]


def _progression_ids(sessions: Sequence[Any], dialect: str) -> Plan[dict[Any, Any]]:
    out = {}
    query: Select[Any] = select(column("progression_id")).select_from(table("sessions"))
    for each in sessions:
        rows = yield Ask(Statement(query.where(column("id") == value(each)), dialect))
        out[each] = rows[0][0] if rows else None
    return out


def _conditions(wanted: RunFilter, shape: TableShape) -> _Asked:
    """What a filter asks of a row, the columns it holds to one value, and whether it asks more than that."""
    conditions: list[ColumnElement[bool]] = []
    equal: set[str] = set()
    more = False

    def there(name: str) -> bool:
        return shape.column(name) is not None

    if wanted.statuses:
        if not there("status"):
            conditions.append(false())
        elif len(set(wanted.statuses)) == 1:
            conditions.append(_is("status", wanted.statuses[0]))
            equal.add("status")
        else:
            conditions.append(or_(*[_is("status", each) for each in dict.fromkeys(wanted.statuses)]))
            more = True
    for name, each in (("project", wanted.project), ("agent_name", wanted.agent), ("model", wanted.model)):
        if each is None:
            continue
        if not there(name):
            conditions.append(false())
        elif "*" in each:
            conditions.append(_like(name, each))
            more = True
        else:
            conditions.append(_is(name, each))
            equal.add(name)
    moment = next((name for name in ("updated_at", "created_at") if there(name)), None)
    if wanted.since is not None:
        conditions.append(false() if moment is None else column(moment) >= value(wanted.since))
        more = True
    if wanted.until is not None:
        conditions.append(false() if moment is None else column(moment) < value(wanted.until))
        more = True
    for word in (wanted.text or "").split():
        found = [_like(name, f"*{word.replace('*', '')}*") for name in _SEARCHED if there(name)]
        conditions.append(or_(false(), *found))
        more = True
    return tuple(conditions), frozenset(equal), more


def _is(name: str, wanted: str | None) -> ColumnElement[bool]:
    named: ColumnElement[Any] = column(name)
    return named.is_(None) if wanted is None else named == value(wanted)


def _like(name: str, pattern: str) -> ColumnElement[bool]:
    """Whether a text matches a pattern in which `*` stands for anything, in either case."""
    escaped = "".join("%" if each == "*" else f"\\{each}" if each in "%_\\" else each for each in pattern)
    escaped = escaped.encode("utf-8", "replace").decode()
    return cast(column(name), Text).ilike(escaped, escape="\\")


async def run_choices(reading: StoreReading) -> RunChoices:
    """The distinct statuses, projects, agents and models of the runs, with how many have each.

    One pass over the sessions, in stretches; what a column has past some tens of thousands is not counted.
    """
    async with reading.reader.snapshot() as snapshot:
        shape = (await reading.tables(snapshot)).get("sessions")
    if shape is None:
        return RunChoices()
    names = [name for name in ("status", "project", "agent_name", "model") if shape.column(name) is not None]
    found: dict[str, Counter[str | None]] = {name: Counter() for name in names}
    if names:
        async with aclosing(_groups(reading, shape, names)) as groups:
            async for *values, count in groups:
                for name, choice in zip(names, values, strict=True):
                    if choice in found[name] or len(found[name]) < _COUNTED:
                        found[name][choice] += count

    def choices(name: str) -> tuple[tuple[str | None, int], ...]:
        counted = found.get(name, Counter()).items()
        ranked = sorted(counted, key=lambda each: (-each[1], each[0] is None, each[0] or ""))
        return tuple(ranked[:_CHOICES])

    return RunChoices(
        choices("status"),
        choices("project"),
        choices("agent_name"),
        choices("model"),
        capped=any(len(each) > _CHOICES for each in found.values()),
    )


async def _groups(
    reading: StoreReading, shape: TableShape, names: Sequence[str]
) -> AsyncGenerator[Sequence[Any], None]:
    """How many sessions have the same values of some columns together, stretch by stretch."""
    dialect = reading.reader.dialect
    chosen: list[ColumnElement[Any]] = [
        func.substr(cast(column(name), Text), 1, _LONGEST_CHOICE).label(f"c{place}")
        for place, name in enumerate(names)
    ]
    query: Select[Any] = select(*chosen, func.count().label("runs")).select_from(table("sessions"))
    query = query.group_by(*chosen)
    key = choose_key(shape, dialect)
    if key is None or not key.rowid:
        async with reading.reader.snapshot() as snapshot:
            rows = await snapshot.rows(query)
        for row in rows:
            yield row
        return
    rowid: ColumnElement[Any] = column(key.names[0])

    async def look(snapshot: Snapshot, low: int, high: int) -> list[Sequence[Any]]:
        return await snapshot.rows(query.where(rowid > value(low), rowid <= value(high)))

    async with aclosing(stretches(reading, shape, key, look)) as parts:
        async for part in parts:
            for row in part.found:
                yield row
