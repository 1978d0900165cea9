"""Cells by key, without loading what is long (DESIGN 3.1.1).

A text or blob is never fetched by the row's SELECT: on SQLite its length and head come from `blobopen`,
read-only, which touches no page of the rest (a `substr` on a 50 MB cell costs 48 MB). Where there is no
row id to open it by, and on PostgreSQL, `substr` has to do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    TableClause,
    and_,
    case,
    column,
    func,
    literal_column,
    null,
    or_,
    select,
)

from persistence.reading.decoding import decoder, decoding
from persistence.reading.keys import Key
from persistence.reading.plans import Ask, Drive, Plan, Statement, fits_text, value
from persistence.reading.previews import (
    HEAD,
    HEAD_CHARACTERS,
    Source,
    cell_part,
    heads,
    part_of,
    previewed,
)
from persistence.reading.salvage import corrupt
from persistence.reading.scans import key_is, key_values
from persistence.records import Cell, CellPart, Preview, Unreadable

__all__ = ["Cells"]

_BATCH = 100  # keys one statement to a server names
_TEXT, _BLOB = b"", b"\x01"  # what the SELECT gives in place of a text and of a blob


class Cells:
    """Reads rows of one table by their keys."""

    def __init__(
        self,
        table: TableClause,
        key: Key,
        sources: Sequence[Source],
        dialect: str,
        *,
        blobs: bool = True,
    ) -> None:
        self.table = table
        self.key = key
        self.sources = tuple(sources)
        self.dialect = dialect
        # Blobs are opened by row id, and not at all in a table with generated columns.
        self._by_blob = dialect == "sqlite" and key.rowid and blobs
        self._compiled: dict[object, Statement] = {}

    def read(
        self, keys: Sequence[tuple[Any, ...]], limit: int = HEAD, head: int = HEAD_CHARACTERS
    ) -> Plan[list[tuple[Cell, ...] | None]]:
        """The cells of each key, whole up to `limit` bytes, of longer ones the first `head` characters;
        None for a row that is gone."""
        out: list[tuple[Cell, ...] | None] = []
        if self._by_blob:
            out = yield Drive(lambda connection: self._through_blobs(connection, keys, limit, head))
            return out
        if self.dialect != "sqlite":
            return (yield from self._in_batches(keys, limit, head))
        decode = yield from decoding(self.dialect)
        for key in keys:
            statement = self._statement(
                ("key", limit, tuple(map(fits_text, key))), limit, key_is(self.key, key)
            )
            rows = yield Ask(statement, key_values(key))
            out.append(heads(rows[0], decode, limit, head) if rows else None)
        return out

    def _in_batches(
        self, keys: Sequence[tuple[Any, ...]], limit: int, head: int
    ) -> Plan[list[tuple[Cell, ...] | None]]:
        """One statement for many keys: to a server each is a round trip."""
        found: dict[tuple[Any, ...], tuple[Cell, ...]] = {}
        names: list[ColumnElement[Any]] = [column(name) for name in self.key.names]
        decode = yield from decoding(self.dialect)
        query = select(*names, *previewed(self.sources, self.dialect, limit)).select_from(self.table)
        for start in range(0, len(keys), _BATCH):
            wanted = [
                and_(*[name == value(part) for name, part in zip(names, key, strict=True)])
                for key in keys[start : start + _BATCH]
            ]
            for row in (yield Ask(Statement(query.where(or_(*wanted)), self.dialect))):
                found[tuple(row[: len(names)])] = heads(row[len(names) :], decode, limit, head)
        return [found.get(key) for key in keys]

    def part(self, key: tuple[Any, ...], name: str, offset: int, length: int) -> Plan[CellPart | None]:
        """Bytes of one stored cell as they lie there; None: no such row, or NULL."""
        if self._by_blob:
            found: CellPart | None = yield Drive(
                lambda connection: self._blob_part(connection, key, name, offset, length)
            )
            return found
        kind = next((source.type for source in self.sources if source.stored == name), "")
        query = select(*part_of(name, kind, self.dialect, offset, length)).select_from(self.table)
        rows = yield Ask(Statement(query.where(key_is(self.key, key)), self.dialect), key_values(key))
        return cell_part(rows[0], offset) if rows else None

    def _statement(self, shape: object, limit: int, where: ColumnElement[bool]) -> Statement:
        if shape not in self._compiled:
            query = select(*previewed(self.sources, self.dialect, limit)).select_from(self.table).where(where)
            self._compiled[shape] = Statement(query, self.dialect)
        return self._compiled[shape]

    def _row_text(self) -> str:
        if "row" not in self._compiled:
            chosen = []
            for source in self.sources:
                if source.stored is None:
                    chosen.append(null() if source.computed is None else source.computed)
                    continue
                cell: ColumnElement[Any] = column(source.stored)
                chosen.append(
                    case(
                        {"text": literal_column("x''"), "blob": literal_column("x'01'")},
                        value=func.typeof(cell),
                        else_=cell,
                    )
                )
            query = select(*[item.label(f"c{n}") for n, item in enumerate(chosen)])
            query = query.select_from(self.table).where(key_is(self.key, (0,)))
            self._compiled["row"] = Statement(query, self.dialect)
        return self._compiled["row"].text

    def _row_values(self, key: tuple[Any, ...]) -> list[Any]:
        return self._compiled["row"].positional(key_values(key))

    def _through_blobs(
        self, connection: sqlite3.Connection, keys: Sequence[tuple[Any, ...]], limit: int, head: int
    ) -> list[tuple[Cell, ...] | None]:
        text = self._row_text()
        decode = decoder(connection)
        table = self.table.name
        out: list[tuple[Cell, ...] | None] = []
        for key in keys:
            try:
                row = connection.execute(text, self._row_values(key)).fetchone()
            except sqlite3.DatabaseError as error:
                out.append(tuple([_unreadable(error)] * len(self.sources)))
                continue
            if row is None:
                out.append(None)
                continue
            cells: list[Cell] = list(row)
            for place, content in enumerate(row):
                stored = self.sources[place].stored
                if content.__class__ is not bytes or stored is None:
                    continue
                try:
                    with connection.blobopen(table, stored, key[0], readonly=True) as blob:
                        size = len(blob)
                        raw = blob.read() if size <= limit else blob.read(head * 4)
                except sqlite3.DatabaseError as error:
                    cells[place] = _unreadable(error)
                    continue
                if content == _TEXT:
                    cells[place] = decode(raw) if size <= limit else Preview(decode.head(raw, head), size)
                else:
                    cells[place] = raw if size <= limit else Preview(raw[:head], size)
            out.append(tuple(cells))
        return out

    def _blob_part(
        self, connection: sqlite3.Connection, key: tuple[Any, ...], name: str, offset: int, length: int
    ) -> CellPart | None:
        kind: Literal["text", "blob", "value"]
        query = select(
            func.typeof(column(name)),
            case({"text": null(), "blob": null()}, value=func.typeof(column(name)), else_=column(name)),
        )
        statement = Statement(query.select_from(self.table).where(key_is(self.key, key)), self.dialect)
        row = connection.execute(statement.text, statement.positional(key_values(key))).fetchone()
        if row is None or row[0] == "null":
            return None
        if row[0] not in ("text", "blob"):
            data = repr(row[1]).encode()
            return CellPart(data[offset : offset + length], offset, len(data), "value")
        with connection.blobopen(self.table.name, name, key[0], readonly=True) as blob:
            size = len(blob)
            blob.seek(min(offset, size))
            data = blob.read(max(0, min(length, size - offset)))
        kind = "text" if row[0] == "text" else "blob"
        return CellPart(data, offset, size, kind, decoder(connection).encoding if kind == "text" else "utf-8")


def _unreadable(error: sqlite3.DatabaseError) -> Unreadable:
    """A row the library cannot make sense of is marked, and never hides the good ones; the rest is raised."""
    if not corrupt(error):
        raise error
    return Unreadable(str(error))
