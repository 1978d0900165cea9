"""Progressions that name messages which do not exist."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import table

from persistence.reading.cells import Cells
from persistence.reading.checks.result import Check, Tally
from persistence.reading.idlist import read_list
from persistence.reading.keys import Key, choose_key, terms
from persistence.reading.messages import Messages
from persistence.reading.plans import run
from persistence.reading.previews import LONGEST, Source
from persistence.reading.scans import Bookmark, Scan
from persistence.reading.stretches import stretches
from persistence.records import Progress, TableShape

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot
    from persistence.reading.store import StoreReading

__all__ = ["DANGLING"]

_AT_ONCE = 50

# The list is opened in SQL only where it is one: a broken one would end the statement for all others.
_SQL = """
SELECT p.{rowid}, count(*), sum(NOT EXISTS (SELECT 1 FROM messages AS m WHERE m.id = j.value))
FROM progressions AS p, json_each(
    CASE WHEN json_valid(p.collection) THEN
        CASE json_type(p.collection) WHEN 'array' THEN p.collection ELSE '[]' END
    ELSE '[]' END) AS j
WHERE p.{rowid} > ? AND p.{rowid} <= ?
GROUP BY p.{rowid}
"""


async def _gather(reading: StoreReading, tally: Tally, _now: float) -> AsyncGenerator[None, None]:
    async with reading.reader.snapshot() as snapshot:
        tables = await reading.tables(snapshot)
        tally.seen(snapshot.info)
    shape = tables.get("progressions")
    key = None if shape is None else choose_key(shape, reading.reader.dialect)
    if shape is None or key is None or shape.column("collection") is None:
        return
    named = tables.get("messages")
    if named is None or named.column("id") is None:
        return
    if not key.rowid:
        async with aclosing(_by_key(reading, tally, shape, key)) as steps:
            async for _ in steps:
                yield
        return
    sql = _SQL.format(rowid=key.names[0])

    async def look(snapshot: Snapshot, low: int, high: int) -> list[Any]:
        return await snapshot.on_driver(partial(_missing, sql, (low, high)))

    async with aclosing(stretches(reading, shape, key, look)) as parts:
        async for stretch in parts:
            tally.seen(stretch.read)
            for rowid, entries, missing in stretch.found:
                tally.examined += entries
                if missing:
                    tally.add("progressions", (rowid,), missing)
            tally.progress = stretch.progress
            yield


def _missing(sql: str, bounds: tuple[int, int], connection: sqlite3.Connection) -> list[Any]:
    return connection.execute(sql, bounds).fetchall()


async def _by_key(
    reading: StoreReading, tally: Tally, shape: TableShape, key: Key
) -> AsyncGenerator[None, None]:
    """The same without row ids: lists are taken in here, and their messages asked for."""
    dialect = reading.reader.dialect
    own = table(shape.name)
    scan = Scan(own, key, terms(shape, key, None), dialect=dialect)
    declared = shape.column("collection")
    cells = Cells(own, key, [Source("collection", declared.type if declared else "")], dialect)
    place: Bookmark | None = None
    done = 0
    while True:
        async with reading.reader.snapshot() as snapshot:
            rows = await run(snapshot, partial(scan.walk, place, _AT_ONCE))
            keys = [scan.key_of(row) for row in rows]
            lists = await run(snapshot, partial(cells.read, keys, LONGEST))
            messages = await Messages.of(reading, snapshot)
            for each, row in zip(keys, lists, strict=True):
                _, entries, _ = read_list(None if row is None else row[0])
                ids = entries.ids(0, len(entries))
                known: dict[str, Any] = await run(snapshot, partial(messages.times, ids))
                tally.examined += len(ids)
                missing = sum(one not in known for one in ids)
                if missing:
                    tally.add(shape.name, each, missing)
            tally.seen(snapshot.info)
        done += len(rows)
        tally.progress = Progress(done)
        yield
        if len(rows) < _AT_ONCE:
            return
        place = scan.mark(rows[-1])


def _say(tally: Tally) -> str:
    if not tally.count:
        return f"every message named by a progression exists ({tally.examined:,} entries)"
    if tally.count == 1:
        return "1 progression entry names a message that does not exist"
    return f"{tally.count:,} progression entries name messages that do not exist"


DANGLING = Check("dangling-messages", "bad", _gather, _say)
