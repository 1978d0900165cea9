"""Tables for the row source tests, and what a plain query says of them."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, TypeVar

from persistence import StateDB
from persistence.reading.source import RowSource
from persistence.records import Cell, Extent, Order, Preview, Row

T = TypeVar("T")


def make(path: Path, *script: str, rows: Sequence[tuple[str, Sequence[Any]]] = ()) -> Path:
    """A SQLite file made by statements, then by `(statement, values)` for each row."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        for statement in script:
            connection.execute(statement)
        for statement, values in rows:
            connection.execute(statement, values)
        connection.commit()
    return path


def ask(path: Path, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """What plain sqlite3 answers."""
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        return connection.execute(query, values).fetchall()


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """For tests that make their own loop (hypothesis)."""
    return asyncio.run(work())


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[StateDB]:
    async with StateDB(path) as db:
        yield db


async def measured(source: RowSource) -> Extent:
    """The extent after measuring; it must end complete."""
    extents = [extent async for extent in source.measure()]
    assert extents[-1].complete
    assert all(extent.rows <= extents[-1].rows for extent in extents)
    return extents[-1]


async def all_rows(source: RowSource, size: int) -> list[Row]:
    """All windows of `size` rows, one after another; each starts where it was asked to."""
    out: list[Row] = []
    while True:
        window = await source.window(len(out), size)
        assert window.first == len(out)
        assert len({row.key for row in window.rows}) == len(window.rows), "a row twice in one window"
        out += window.rows
        if len(window.rows) < size:
            return out


async def exported(source: RowSource, **asked: Any) -> list[Row]:
    return [row async for row in source.everything(**asked)]


def cells(rows: Sequence[Row]) -> list[tuple[Cell, ...]]:
    return [row.cells for row in rows]


def same_cells(shown: Sequence[Cell], stored: Sequence[Any]) -> bool:
    """Whether cells show what is stored: whole, or as the beginning of something longer."""
    return all(_same(one, other) for one, other in zip(shown, stored, strict=True))


def _same(cell: Cell, stored: Any) -> bool:
    if isinstance(cell, Preview):
        size = len(stored.encode("utf-8", "surrogateescape")) if isinstance(stored, str) else len(stored)
        return cell.size == size and stored.startswith(cell.head)
    return type(cell) is type(stored) and cell == stored


def ordered(column: str | None, *, descending: bool = False, key: str = "rowid") -> str:
    """The ORDER BY a source's order stands for: NULLs last, ties by key the same way."""
    way = "DESC" if descending else "ASC"
    first = f'"{column}" {way} NULLS LAST, ' if column is not None else ""
    return f"ORDER BY {first}{key} {way}"


def order(column: str | None, descending: bool) -> Order | None:
    return None if column is None else Order(column, descending)
