"""Messages by id, many at a time: what a conversation's windows, surveys and searches read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sqlalchemy import ColumnElement, Select, Text, cast, column, false, literal, or_, select, table

from persistence.reading.cells import Cells
from persistence.reading.keys import Key, choose_key
from persistence.reading.plans import Ask, Plan, Statement, fits_text, slot, value
from persistence.reading.previews import LONGEST, Source
from persistence.reading.values import decode_json
from persistence.records import Cell, TableShape

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot
    from persistence.reading.store import StoreReading

__all__ = ["Messages"]

_COLUMNS = (
    "id",
    "role",
    "sender",
    "recipient",
    "channel",
    "created_at",
    "lion_class",
    "node_metadata",
    "content",
)
_UNKNOWN = "__unknown__"
_BATCH = 100
"""Ids of one statement; it is compiled once, for this many."""


class Messages:
    """Reads rows of `messages` by their ids. A store without that table has none of them."""

    def __init__(self, shape: TableShape | None, types: TableShape | None, dialect: str) -> None:
        self.shape = shape
        self.types = types
        self._dialect = dialect
        key = None if shape is None or shape.column("id") is None else choose_key(shape, dialect)
        self._key: Key | None = key
        if shape is None or key is None:
            return
        own = table(shape.name)
        declared = {each.name: each for each in shape.columns}
        self._shown = [name for name in _COLUMNS if name in declared]
        sources = [Source(name, declared[name].type) for name in self._shown]
        blobs = not any(each.generated is not None for each in shape.columns)
        self._cells = Cells(own, key, sources, dialect, blobs=blobs)
        content = [Source("content", declared["content"].type)] if "content" in declared else []
        self._content = Cells(own, key, content, dialect, blobs=blobs)
        self._id: ColumnElement[Any] = column("id")
        keys: list[ColumnElement[Any]] = [column(name) for name in key.names]
        among = self._id.in_([slot(f"i{place}") for place in range(_BATCH)])
        by_key: Select[Any] = select(self._id, *keys)
        self._by_key = by_key.select_from(own)
        self._keys = Statement(self._by_key.where(among), dialect)
        time: ColumnElement[Any] = column("created_at") if "created_at" in declared else self._id
        role: ColumnElement[Any] = column("role") if "role" in declared else literal(None)
        by_time: Select[Any] = select(self._id, time, role)
        self._time = by_time.select_from(own)
        self._times = Statement(self._time.where(among), dialect)

    @classmethod
    async def of(cls, reading: StoreReading, snapshot: Snapshot) -> Messages:
        """The messages of a store, as the snapshot's tables are."""
        tables = await reading.tables(snapshot)
        shape, types = tables.get("messages"), tables.get("message_types")
        known = _known.get(reading)
        if known is None or known.shape is not shape or known.types is not types:
            known = _known[reading] = cls(shape, types, snapshot.dialect)
        return known

    def rows(self, ids: Sequence[str], limit: int) -> Plan[dict[str, dict[str, Any]]]:
        """The messages there are of those asked for: their columns, `class_name` and `key`.

        `content` is whole up to `limit` bytes, else a Preview of as many characters.
        """
        if self._key is None:
            return {}
        keys = yield from self._found(self._keys, self._by_key, ids)
        cells = yield from self._cells.read(list(keys.values()), limit, limit)
        names = yield from self._class_names()
        out: dict[str, dict[str, Any]] = {}
        for (each, key), row in zip(keys.items(), cells, strict=True):
            if row is not None:
                out[each] = _told(dict(zip(self._shown, row, strict=True)), key, names)
        return out

    def times(self, ids: Sequence[str]) -> Plan[dict[str, tuple[float | None, str | None]]]:
        """When each message that there is was created (None where that is no number), and its role."""
        if self._key is None:
            return {}
        found = yield from self._found(self._times, self._time, ids)
        return {each: (_number(row[0]), _text(row[1])) for each, row in found.items()}

    def containing(self, ids: Sequence[str], text: str) -> Plan[dict[str, Cell]]:
        """The content of the messages that may show a text: a superset, found by the store itself."""
        if self._key is None or not self._content.sources:
            return {}
        content = cast(column("content"), Text)
        likes = [content.ilike(f"%{each}%", escape="!") for each in _spellings(text)]
        query = self._by_key.where(or_(false(), *likes))
        among = self._id.in_([slot(f"i{place}") for place in range(_BATCH)])
        keys = yield from self._found(Statement(query.where(among), self._dialect), query, ids)
        cells = yield from self._content.read(list(keys.values()), LONGEST)
        return {each: row[0] for each, row in zip(keys, cells, strict=True) if row is not None}

    def _found(
        self, statement: Statement, query: Select[Any], ids: Sequence[str]
    ) -> Plan[dict[str, tuple[Any, ...]]]:
        """What the statement says of each id, by id."""
        out: dict[str, tuple[Any, ...]] = {}
        plain = [each for each in dict.fromkeys(ids) if each and fits_text(each)]
        for batch in _batches(plain):
            rows = yield Ask(statement, {f"i{place}": each for place, each in enumerate(batch)})
            out.update((row[0], tuple(row[1:])) for row in rows)
        for each in dict.fromkeys(ids):
            if each and not fits_text(each):
                rows = yield Ask(Statement(query.where(self._id == value(each)), self._dialect))
                out.update((row[0], tuple(row[1:])) for row in rows)
        return out

    def _class_names(self) -> Plan[Mapping[Any, str]]:
        if self.types is None or any(self.types.column(name) is None for name in ("type_id", "lion_class")):
            return {}
        named: list[ColumnElement[Any]] = [column("type_id"), column("lion_class")]
        query: Select[Any] = select(*named)
        query = query.select_from(table(self.types.name)).limit(1_000)
        rows = yield Ask(Statement(query, self._dialect))
        return {row[0]: str(row[1]) for row in rows}


_known: WeakKeyDictionary[StoreReading, Messages] = WeakKeyDictionary()


def _batches(ids: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), _BATCH):
        batch = list(ids[start : start + _BATCH])
        yield batch + [batch[-1]] * (_BATCH - len(batch))


def _told(row: dict[str, Cell], key: tuple[Any, ...], names: Mapping[Any, str]) -> dict[str, Any]:
    name = names.get(row.get("lion_class"))
    if name is None or name == _UNKNOWN:
        metadata = (
            decode_json(row.get("node_metadata")) if isinstance(row.get("node_metadata"), str) else None
        )
        said = metadata.get("lion_class") if isinstance(metadata, dict) else None
        name = said if isinstance(said, str) else name
    return {
        "role": _text(row.get("role")),
        "sender": _text(row.get("sender")),
        "recipient": _text(row.get("recipient")),
        "channel": _text(row.get("channel")),
        "created_at": _number(row.get("created_at")),
        "class_name": name,
        "content": row.get("content"),
        "key": key,
    }


def _text(cell: Cell) -> str | None:
    return cell if cell is None or isinstance(cell, str) else str(cell)


def _number(cell: Any) -> float | None:
    return float(cell) if isinstance(cell, int | float) and not isinstance(cell, bool) else None


def _spellings(text: str) -> list[str]:
    """A text as JSON may hold it, escaped for LIKE: plain or with its characters as escapes.

    LIKE takes ASCII in either case; other letters are tried as they are, small and large.
    """
    out: dict[str, None] = {}
    for each in (text, text.lower(), text.upper(), text.title()):
        each = each.encode("utf-8", "replace").decode()
        for spelled in (json.dumps(each, ensure_ascii=False)[1:-1], json.dumps(each)[1:-1], each):
            out["".join(f"!{c}" if c in "%_!" else c for c in spelled)] = None
    return list(out)
