"""Cells of JSON columns that are not JSON."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Text,
    and_,
    cast,
    column,
    func,
    literal_column,
    or_,
    select,
    table,
)

from persistence.reading.cells import Cells
from persistence.reading.checks.result import Check, Tally
from persistence.reading.keys import Key, choose_key, terms
from persistence.reading.plans import run, value
from persistence.reading.previews import LONGEST, Source
from persistence.reading.scans import Bookmark, Scan
from persistence.reading.stretches import stretches
from persistence.reading.values import decode_json
from persistence.records import Progress, TableShape, Unreadable
from persistence.schema.known import JSON_COLUMNS

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot
    from persistence.reading.store import StoreReading

__all__ = ["JSON_CELLS", "json_columns"]

_AT_ONCE = 100


def json_columns(shape: TableShape) -> list[str]:
    """The columns of a table that hold JSON: their type says so, or the operational schema does."""
    known = JSON_COLUMNS.get(shape.name, frozenset()) if shape.group is not None else frozenset()
    return [each.name for each in shape.columns if "JSON" in each.type.upper() or each.name in known]


async def _gather(reading: StoreReading, tally: Tally, _now: float) -> AsyncGenerator[None, None]:
    dialect = reading.reader.dialect
    async with reading.reader.snapshot() as snapshot:
        tables: Mapping[str, TableShape] = await reading.tables(snapshot)
        tally.seen(snapshot.info)
    for shape in tables.values():
        names = json_columns(shape) if shape.kind == "table" else []
        key = choose_key(shape, dialect)
        if dialect != "sqlite":  # its json columns hold nothing else
            names = [name for name in names if _kept_as_text(shape, name)]
        if not names or key is None:
            continue
        ways = _by_rowid if key.rowid else _by_key
        async with aclosing(ways(reading, tally, shape, key, names)) as steps:
            async for _ in steps:
                yield


def _kept_as_text(shape: TableShape, name: str) -> bool:
    declared = shape.column(name)
    return declared is not None and "json" not in declared.type.lower()


async def _by_rowid(
    reading: StoreReading, tally: Tally, shape: TableShape, key: Key, names: list[str]
) -> AsyncGenerator[None, None]:
    rowid: ColumnElement[Any] = column(key.names[0])
    broken = or_(*[_is_broken(column(name)) for name in names])
    query: Select[Any] = select(rowid).select_from(table(shape.name)).where(broken)

    async def look(snapshot: Snapshot, low: int, high: int) -> list[Sequence[Any]]:
        return await snapshot.rows(query.where(rowid > value(low), rowid <= value(high)))

    async with aclosing(stretches(reading, shape, key, look)) as parts:
        async for stretch in parts:
            for row in stretch.found:
                tally.add(shape.name, tuple(row))
            tally.seen(stretch.read)
            tally.examined += stretch.rows
            done = stretch.progress
            tally.progress = Progress(done.done, done.total, f"rows of {shape.name}")
            yield


def _is_broken(cell: ColumnElement[Any]) -> ColumnElement[bool]:
    # A number in a JSON column is JSON that the column's affinity made a number of.
    kind = func.typeof(cell)
    text = kind == literal_column("'text'")
    blob = kind == literal_column("'blob'")
    return or_(
        and_(text, func.json_valid(cell) == literal_column("0")),
        and_(blob, func.json_valid(cast(cell, Text)) == literal_column("0")),
    )


async def _by_key(
    reading: StoreReading, tally: Tally, shape: TableShape, key: Key, names: list[str]
) -> AsyncGenerator[None, None]:
    """Where there are no row ids, or a server that does not tell: the cells are read here."""
    dialect = reading.reader.dialect
    own = table(shape.name)
    scan = Scan(own, key, terms(shape, key, None), dialect=dialect)
    declared = {each.name: each.type for each in shape.columns}
    cells = Cells(own, key, [Source(name, declared[name]) for name in names], dialect)
    place: Bookmark | None = None
    while True:
        async with reading.reader.snapshot() as snapshot:
            rows = await run(snapshot, partial(scan.walk, place, _AT_ONCE))
            keys = [scan.key_of(row) for row in rows]
            found = await run(snapshot, partial(cells.read, keys, LONGEST))
            tally.seen(snapshot.info)
        for each, row in zip(keys, found, strict=True):
            if any(isinstance(decode_json(cell), Unreadable) for cell in row or ()):
                tally.add(shape.name, each)
        tally.examined += len(rows)
        tally.progress = Progress(tally.examined, None, f"rows of {shape.name}")
        yield
        if len(rows) < _AT_ONCE:
            return
        place = scan.mark(rows[-1])


def _say(tally: Tally) -> str:
    if not tally.count:
        return f"no broken JSON in {tally.examined:,} rows"
    if tally.count == 1:
        return "1 row has JSON that cannot be read"
    return f"{tally.count:,} rows have JSON that cannot be read"


JSON_CELLS = Check("broken-json", "bad", _gather, _say)
