"""One run: its session and what stands around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, column, func, or_, select, table

from persistence.errors import StoreError
from persistence.reading.plans import Plan, value
from persistence.reading.plans import run as run_plan
from persistence.reading.progressions import lengths
from persistence.reading.rows import find_table
from persistence.reading.stored import counted, stored
from persistence.reading.values import decode_json
from persistence.records import (
    ABSENT,
    BranchInfo,
    Cell,
    Mark,
    Preview,
    RunDetail,
    TableShape,
    Unreadable,
)
from persistence.schema.known import RELEASES, columns_of

if TYPE_CHECKING:
    from persistence.reading.store import StoreReading

__all__ = ["find_run", "of_run", "run"]

MOST_BRANCHES = 1_000
_CANDIDATES = 10
_AROUND = (
    "branches",
    "progressions",
    "messages",
    "invocations",
    "shows",
    "plays",
    "session_signals",
    "status_transitions",
    "artifacts",
    "session_controls",
    "engine_runs",
    "run_tags",
)


async def run(reading: StoreReading, session_id: str) -> RunDetail | None:
    """The session with this id and what stands around it, from one snapshot; None when there is none.

    Raises MissingTableError where there are no sessions at all.
    """
    async with reading.reader.snapshot() as snapshot:
        shape = await find_table(reading, snapshot, "sessions")
        tables = await reading.tables(snapshot)
        found = await run_plan(snapshot, lambda: _around(session_id, shape, tables, snapshot.dialect))
        if found is None:
            return None
        row, branches, parts, plays, counts = found
        named = [_text(row.get("progression_id")), *(_text(each.get("progression_id")) for each in branches)]
        known = await lengths(snapshot, named) if "progressions" in tables else {}
        info = snapshot.info
    return RunDetail(
        id=session_id,
        row=row,
        name=row.get("name", ABSENT),
        status=row.get("status", ABSENT),
        length=_length(row),
        progression_id=named[0],
        messages=known.get(named[0]),
        branches=tuple(
            BranchInfo(
                str(each.get("id")),
                each.get("name", ABSENT),
                _text(each.get("progression_id")),
                known.get(_text(each.get("progression_id"))),
                each,
            )
            for each in branches
        ),
        invocation=parts.get("invocations"),
        show=parts.get("shows"),
        plays=plays,
        contract=_json(row, "artifact_contract_json"),
        verification=_json(row, "artifact_verification_json"),
        metadata=_json(row, "node_metadata"),
        evidence=_json(row, "status_evidence_refs"),
        counts=counts,
        missing_columns=tuple(
            name for name in sorted(columns_of("sessions", RELEASES[-1])) if shape.column(name) is None
        ),
        missing_tables=tuple(name for name in _AROUND if name not in tables),
        read=info,
    )


_Found = tuple[
    dict[str, Cell],
    list[dict[str, Cell]],
    dict[str, Mapping[str, Cell]],
    tuple[Mapping[str, Cell], ...],
    dict[str, int | Mark],
]


def _around(
    session_id: str, shape: TableShape, tables: Mapping[str, TableShape], dialect: str
) -> Plan[_Found | None]:
    own = yield from stored(shape, dialect, [_is("id", session_id)])
    if not own:
        return None
    row = own[0]
    invocation = row.get("invocation_id")

    def has(name: str, *columns: str) -> bool:
        return name in tables and all(tables[name].column(each) is not None for each in columns)

    branches: list[dict[str, Cell]] = []
    mine = [_is("session_id", session_id)]
    if has("branches", "session_id"):
        branches = yield from stored(
            tables["branches"], dialect, mine, order="created_at", limit=MOST_BRANCHES
        )
    parts: dict[str, Mapping[str, Cell]] = {}
    for name, by, named in (("invocations", "id", "invocation_id"), ("shows", "topic", "show_topic")):
        wanted = row.get(named)
        if has(name, by) and isinstance(wanted, str):
            there = yield from stored(tables[name], dialect, [_is(by, wanted)])
            if there:
                parts[name] = there[0]
    plays: list[dict[str, Cell]] = []
    if has("plays", "session_id"):
        plays = yield from stored(tables["plays"], dialect, mine, order="created_at", limit=100)
    counts: dict[str, int | Mark] = {}
    entity = [_is("entity_type", "session"), _is("entity_id", session_id)]
    for label, name, needed, conditions in (
        ("signals", "session_signals", ("session_id",), mine),
        ("transitions", "status_transitions", ("entity_type", "entity_id"), entity),
        ("artifacts", "artifacts", ("session_id", "invocation_id"), [of_run(session_id, invocation)]),
        ("controls", "session_controls", ("session_id",), mine),
        ("engine_runs", "engine_runs", ("session_id",), mine),
        ("tags", "run_tags", ("session_id",), mine),
    ):
        counts[label] = ABSENT
        if has(name, *needed):
            counts[label] = yield from counted(tables[name], dialect, conditions)
    return row, branches, parts, tuple(plays), counts


def of_run(session_id: str, invocation: Cell) -> ColumnElement[bool]:
    """An artifact is a run's when it names the session, or the invocation the session is part of."""
    if not isinstance(invocation, str):
        return _is("session_id", session_id)
    return or_(_is("session_id", session_id), _is("invocation_id", invocation))


def _is(name: str, wanted: str) -> ColumnElement[bool]:
    named: ColumnElement[Any] = column(name)
    return named == value(wanted)


def _text(cell: Cell) -> str | None:
    return cell if isinstance(cell, str) else None


def _length(row: Mapping[str, Cell]) -> float | None:
    start, end, took = row.get("started_at"), row.get("ended_at"), row.get("duration_ms")
    if isinstance(start, int | float) and isinstance(end, int | float):
        return float(end - start)
    return took / 1000.0 if isinstance(took, int | float) else None


def _json(row: Mapping[str, Cell], name: str) -> Any:
    cell = row.get(name)
    if isinstance(cell, Preview):
        return Unreadable(f"{cell.size} bytes, too long to be read here", cell.head)
    return decode_json(cell)


async def find_run(reading: StoreReading, text: str) -> str | None:
    """The id of the run that `text` names: its id, its run id, or the beginning of one that no other has.

    None when there is no such run. StoreError `ambiguous-run` lists the candidates when there are several.
    """
    async with reading.reader.snapshot() as snapshot:
        shape = await find_table(reading, snapshot, "sessions")
        names = [name for name in ("id", "run_id") if shape.column(name) is not None]
        if "id" not in names or not text:
            return None
        query: Select[Any] = select(column("id")).select_from(table("sessions")).limit(_CANDIDATES + 1)
        for name in names:
            found = await snapshot.rows(query.where(column(name) == value(text)))
            if len(found) == 1:
                return str(found[0][0])
        begins = or_(*[_begins(name, text) for name in names])
        rows = await snapshot.rows(query.where(begins).order_by(column("id")))
    ids = [str(row[0]) for row in rows]
    if len(ids) <= 1:
        return ids[0] if ids else None
    more = " and more" if len(ids) > _CANDIDATES else ""
    raise StoreError(
        f"Several runs begin with {text!r}.",
        code="ambiguous-run",
        where=reading.location.display,
        expected="the beginning of one run's id",
        observed=", ".join(ids[:_CANDIDATES]) + more,
        remedy="Give more of the id.",
    )


def _begins(name: str, text: str) -> ColumnElement[bool]:
    named: ColumnElement[Any] = column(name)
    last = ord(text[-1])
    if last >= 0xD7FF:  # what comes after it may be nothing that can be handed over
        return func.substr(named, 1, len(text)) == value(text)
    return (named >= value(text)) & (named < value(text[:-1] + chr(last + 1)))
