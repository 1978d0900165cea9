"""Sessions still `running` with no message for a day."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, column, func, select, table

from persistence.reading.checks.result import Check, Tally
from persistence.reading.plans import value
from persistence.records import TableShape

if TYPE_CHECKING:
    from persistence.reading.store import StoreReading

__all__ = ["SILENT_RUNS", "silent"]

SILENCE = 86_400.0
"""Seconds without a message after which a running session is worth a look."""


def silent(shape: TableShape, now: float) -> tuple[ColumnElement[bool], ...] | None:
    """The conditions of such a session: its last message (or else its start) is a day ago. None when the
    store cannot tell. A release without `last_message_at` touches `updated_at` with every message."""
    names = [name for name in ("last_message_at", "started_at", "created_at") if shape.column(name)]
    if shape.column("last_message_at") is None:
        names = [name for name in ("updated_at", "created_at") if shape.column(name)]
    if shape.column("status") is None or not names:
        return None
    moments: list[ColumnElement[float]] = [column(name) for name in names]
    moment = func.coalesce(*moments) if len(moments) > 1 else moments[0]
    status: ColumnElement[str] = column("status")
    return status == value("running"), moment < value(now - SILENCE)


async def _gather(reading: StoreReading, tally: Tally, now: float) -> AsyncGenerator[None, None]:
    async with reading.reader.snapshot() as snapshot:
        shape = (await reading.tables(snapshot)).get("sessions")
        conditions = None if shape is None else silent(shape, now)
        if conditions is not None:
            query = select(func.count().label("n")).select_from(table("sessions"))
            running: ColumnElement[bool] = column("status") == value("running")
            tally.examined = int(await snapshot.scalar(query.where(running)))
            tally.count = int(await snapshot.scalar(query.where(*conditions)))
        tally.seen(snapshot.info)
    if tally.count:
        tally.rows["sessions"] = tally.count
    yield


def _say(tally: Tally) -> str:
    if not tally.examined:
        return "no run is running"
    if not tally.count:
        return "no run has been running without a message for a day"
    runs = "1 run has" if tally.count == 1 else f"{tally.count:,} runs have"
    return f"{runs} been running with no message for a day"


SILENT_RUNS = Check("running-silent", "notice", _gather, _say, cached=False)
