"""The lists that belong to a run or another entity: signals, status history, controls, artifacts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from persistence.reading.listed import Listed
from persistence.reading.listing import Listing
from persistence.reading.rows import find_table, listed_table
from persistence.reading.run import of_run
from persistence.records import Cell, Order

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot
    from persistence.reading.source import RowSource
    from persistence.reading.store import StoreReading

__all__ = ["artifacts_of", "controls", "engine_runs", "signals", "transitions"]


def _of_table(
    reading: StoreReading, name: str, equal: Mapping[str, Cell], own: Order, source: str
) -> RowSource:
    async def make(snapshot: Snapshot) -> Listed:
        shape = await find_table(reading, snapshot, name)
        listed = listed_table(shape, snapshot.dialect, equal)
        return _ordered(listed, own)

    return Listing(reading, source, make)


def _ordered(listed: Listed, own: Order) -> Listed:
    return replace(listed, own_order=own) if listed.shape.column(own.column) is not None else listed


def signals(reading: StoreReading, session_id: str) -> RowSource:
    """A session's signals, by their number."""
    return _of_table(reading, "session_signals", {"session_id": session_id}, Order("seq"), "signals")


def transitions(reading: StoreReading, entity_type: str, entity_id: str) -> RowSource:
    """An entity's status history, the oldest first; `entity_type` as stored: session, invocation, play."""
    equal: dict[str, Cell] = {"entity_type": entity_type, "entity_id": entity_id}
    return _of_table(reading, "status_transitions", equal, Order("created_at"), "transitions")


def controls(reading: StoreReading, session_id: str) -> RowSource:
    """What somebody asked of a session while it ran, the oldest first."""
    equal: dict[str, Cell] = {"session_id": session_id}
    return _of_table(reading, "session_controls", equal, Order("created_at"), "controls")


def engine_runs(reading: StoreReading, session_id: str) -> RowSource:
    """The engine runs that name a session as theirs, the oldest first."""
    equal: dict[str, Cell] = {"session_id": session_id}
    return _of_table(reading, "engine_runs", equal, Order("started_at"), "engine_runs")


def artifacts_of(
    reading: StoreReading, session_id: str | None = None, invocation_id: str | None = None
) -> RowSource:
    """The artifacts that name a session or an invocation (either, when both are given), the oldest first."""

    async def make(snapshot: Snapshot) -> Listed:
        shape = await find_table(reading, snapshot, "artifacts")
        if session_id is None or invocation_id is None:
            equal: dict[str, Cell] = {"session_id": session_id}
            if invocation_id is not None:
                equal = {"invocation_id": invocation_id}
            return _ordered(listed_table(shape, snapshot.dialect, equal), Order("created_at"))
        listed = listed_table(shape, snapshot.dialect, {})
        either = of_run(session_id, invocation_id)
        return _ordered(replace(listed, conditions=(either,), narrowed=True), Order("created_at"))

    return Listing(reading, "artifacts", make)
