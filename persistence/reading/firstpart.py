"""The first rows of what has no key to page by: views, virtual tables, tables without a usable key.

Such rows are named by their position. `OFFSET` stays within the part: what lies behind it is not read.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, TableClause, column, func, literal_column, select

from persistence.reading.decoding import decoding
from persistence.reading.fences import Found
from persistence.reading.plans import Ask, Plan, Statement, run
from persistence.reading.previews import HEAD, Source, cell_part, heads, part_of, previewed
from persistence.records import Cell, CellPart, Extent

if TYPE_CHECKING:
    from persistence.engines.reader import Reader

__all__ = ["FIRST_PART", "FirstCells", "FirstPath"]

FIRST_PART = 10_000
"""Rows shown of what has no key to page by."""


class FirstPath:
    """The first rows of a view, a virtual table or a table without a usable key, by their position."""

    def __init__(
        self,
        table: TableClause,
        names: Sequence[str],
        *,
        why: str,
        by: str | None = None,
        descending: bool = False,
        conditions: Sequence[ColumnElement[bool]] = (),
        dialect: str = "sqlite",
    ) -> None:
        columns: list[ColumnElement[Any]] = [column(name) for name in names]
        shown = select(*columns).select_from(table).where(*conditions).limit(FIRST_PART)
        part = shown.subquery("part")
        self.rows: Select[Any] = select(literal_column("1").label("one")).select_from(part)
        if by is not None:
            term: ColumnElement[Any] = column(by)
            self.rows = self.rows.order_by((term.desc() if descending else term.asc()).nulls_last())
        beyond: Select[Any] = select(literal_column("1").label("one")).select_from(table)
        beyond = beyond.where(*conditions).limit(FIRST_PART + 1)
        counted = select(func.count()).select_from(beyond.subquery("part"))
        self._count = Statement(counted, dialect)
        self._why = why
        self._sorted = by is not None
        self._seen = 0
        self._total: int | None = None
        self._more = False
        self.estimate: int | None = None

    @property
    def extent(self) -> Extent:
        if self._total is None:
            return Extent(self._seen, False)
        said = None
        if self._more:
            said = (
                f"first part: the first {FIRST_PART:,} rows{', sorted' if self._sorted else ''} ({self._why})"
            )
        return Extent(self._total, True, part_of=said)

    async def reach(self, reader: Reader, first: int) -> None:
        if first < 0 and self._total is None:
            await self._measure(reader)

    def locate(self, first: int, count: int) -> Plan[Found]:
        yield from ()
        if first < 0:
            count = min(count, -first)
            first = max(0, (self._total or 0) + first)
        end = min(first + count, FIRST_PART if self._total is None else self._total)
        return Found(first, [(place,) for place in range(first, end)])

    def shown(self, end: int, ended: bool) -> None:
        """Notes that rows up to `end` are there, and whether they are the last."""
        self._seen = max(self._seen, end)
        if ended:
            self._total = end

    async def measure(self, reader: Reader) -> AsyncGenerator[Extent, None]:
        if self._total is None:
            await self._measure(reader)
        yield self.extent

    async def _measure(self, reader: Reader) -> None:
        async with reader.snapshot() as snapshot:
            total = (await run(snapshot, lambda: _answer(self._count)))[0][0]
        self._more = total > FIRST_PART
        self._total = min(total, FIRST_PART)

    async def position(self, reader: Reader, key: tuple[Any, ...]) -> int | None:
        place: int = key[0]
        return place if self._total is None or place < self._total else None

    def begin(self, key: tuple[Any, ...]) -> Plan[Any]:
        yield from ()
        return key[0] + 1

    def follow(self, place: Any, count: int) -> Plan[tuple[list[tuple[Any, ...]], Any]]:
        found = yield from self.locate(place or 0, count)
        return found.keys, found.first + len(found.keys)


def _answer(statement: Statement) -> Plan[Any]:
    rows = yield Ask(statement)
    return rows


class FirstCells:
    """Reads rows of a first part by their positions, a stretch at a time."""

    def __init__(self, path: FirstPath, sources: Sequence[Source], dialect: str) -> None:
        self._path = path
        self._sources = tuple(sources)
        self._dialect = dialect

    def read(self, keys: Sequence[tuple[Any, ...]], limit: int = HEAD) -> Plan[list[tuple[Cell, ...] | None]]:
        if not keys:
            return []
        first, count = keys[0][0], len(keys)
        query = self._path.rows.with_only_columns(*previewed(self._sources, self._dialect, limit))
        decode = yield from decoding(self._dialect)
        rows = yield Ask(Statement(query.limit(count).offset(first), self._dialect))
        out: list[tuple[Cell, ...] | None] = [heads(row, decode, limit) for row in rows]
        return out + [None] * (count - len(out))

    def part(self, key: tuple[Any, ...], name: str, offset: int, length: int) -> Plan[CellPart | None]:
        """Bytes of one cell as they lie there; None: no such row, or NULL."""
        kind = next((source.type for source in self._sources if source.stored == name), "")
        chosen = part_of(name, kind, self._dialect, offset, length)
        query = self._path.rows.with_only_columns(*chosen).limit(1).offset(key[0])
        rows = yield Ask(Statement(query, self._dialect))
        return cell_part(rows[0], offset) if rows else None
