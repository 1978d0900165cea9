"""The journal as rows: one a row for each action, the newest first, in windows read from its files.

In memory are a few numbers a row; the lines stay in the files. What is no entry (a torn line) has a row
of its own that says so. An action whose end is not there is shown by its beginning.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from inspector.actions.journal import Entry, Unread, journal_files, read_line
from inspector.actions.journal_query import JournalQuery
from persistence.basics import ReadInfo, Route
from persistence.errors import StoreError
from persistence.records import Cell, Column, Extent, Order, Row, Unreadable, Window

__all__ = ["COLUMNS", "JournalSource", "journal_source"]

COLUMNS: tuple[Column, ...] = tuple(
    Column(name, label, kind, sortable=False)  # type: ignore[arg-type]
    for name, label, kind in (
        ("when", "when", "time"),
        ("action", "action", "text"),
        ("outcome", "outcome", "text"),
        ("store", "store", "text"),
        ("lineage", "lineage", "text"),
        ("profile", "profile", "text"),
        ("owner", "owner", "text"),
        ("run", "run", "id"),
        ("committed", "committed", "text"),
        ("code", "refusal", "text"),
        ("message", "why", "text"),
        ("seconds", "took", "duration"),
        ("operations", "operations", "text"),
        ("source", "source", "text"),
        ("note", "note", "text"),
        ("version", "version", "text"),
        ("id", "id", "id"),
    )
)
NO_END = "begun, no end was recorded"
_CHUNK = 200


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a line is: its file's device and inode (a file may be renamed), and the bytes in it."""

    file: tuple[int, int]
    start: int
    size: int


@dataclass(frozen=True)
class JournalSource:
    """A row source, made by `journal_source`; a row's key is `(inode, offset)` of its line."""

    query: JournalQuery = field(default_factory=JournalQuery)
    folder: Path | None = None
    places: tuple[_Place, ...] = ()
    seen: tuple[tuple[str, int, int], ...] = ()
    read: ReadInfo = field(default_factory=lambda: ReadInfo(Route.SETTLED, time.time()))
    name: str = "actions"
    order: Order | None = None

    @property
    def columns(self) -> Sequence[Column]:
        return COLUMNS

    @property
    def extent(self) -> Extent:
        return Extent(len(self.places), True)

    async def window(self, first: int, count: int) -> Window:
        first = max(0, first + len(self.places)) if first < 0 else first
        rows = await asyncio.to_thread(self._rows, self.places[first : first + max(0, count)])
        return Window(first, tuple(rows), self.read)

    async def complete(self, window: Window) -> Window:
        return window

    async def measure(self) -> AsyncIterator[Extent]:
        yield self.extent

    async def position(self, key: tuple[Any, ...]) -> int | None:
        return next((at for at, place in enumerate(self.places) if _key(place) == key), None)

    async def cells(self, key: tuple[Any, ...]) -> Row | None:
        at = await self.position(key)
        return None if at is None else (await self.window(at, 1)).rows[0]

    async def entry(self, key: tuple[Any, ...]) -> Entry | Unread | None:
        """The whole entry of a row, its refusal and every phase included."""
        at = await self.position(key)
        if at is None:
            return None
        return read_line((await asyncio.to_thread(self._lines, self.places[at : at + 1]))[0])

    async def everything(
        self, *, limit: int | None = None, after: tuple[Any, ...] | None = None
    ) -> AsyncIterator[Row]:
        start = 0
        if after is not None:
            found = await self.position(after)
            if found is None:
                raise StoreError("The row the cursor stands on is gone.", code="cursor-gone")
            start = found + 1
        wanted = self.places[start : None if limit is None else start + limit]
        for first in range(0, len(wanted), _CHUNK):
            for row in await asyncio.to_thread(self._rows, wanted[first : first + _CHUNK]):
                yield row

    def ordered(self, order: Order | None) -> JournalSource:
        """The newest first: a journal has the order in which things happened."""
        return self

    async def refreshed(self) -> JournalSource:
        """The journal as it is now; itself when nothing was appended."""
        if await asyncio.to_thread(_state, self.folder) == self.seen:
            return self
        return await journal_source(self.query, folder=self.folder)

    def _rows(self, places: Sequence[_Place]) -> list[Row]:
        return [
            Row(_key(place), _cells(read_line(line)))
            for place, line in zip(places, self._lines(places), strict=True)
        ]

    def _lines(self, places: Sequence[_Place]) -> list[bytes]:
        out: dict[_Place, bytes] = {}
        wanted = {place.file for place in places}
        for path in journal_files(self.folder):
            try:
                with path.open("rb", buffering=0) as file:
                    info = os.fstat(file.fileno())
                    if (info.st_dev, info.st_ino) in wanted:
                        for place in places:
                            if place.file == (info.st_dev, info.st_ino):
                                file.seek(place.start)
                                out[place] = file.read(place.size)
            except OSError:
                continue
        return [out.get(place, b"(this part of the journal is gone)") for place in places]


def _key(place: _Place) -> tuple[int, int]:
    return place.file[1], place.start


def _cells(entry: Entry | Unread) -> tuple[Cell, ...]:
    if isinstance(entry, Unread):
        return (None, "?", Unreadable(entry.why, entry.text), *(None for _ in COLUMNS[3:]))
    refusal = entry.refusal or {}
    operations = ", ".join(f"{name} {count}" for name, count in entry.operations.items())
    return (
        entry.when,
        entry.action,
        NO_END if entry.event == "begun" else entry.event,
        entry.store,
        entry.lineage,
        entry.profile,
        entry.owner,
        entry.run,
        ", ".join(map(str, entry.committed)) or "nothing",
        _text(refusal.get("code")),
        _text(refusal.get("message")),
        entry.seconds,
        operations or None,
        entry.source,
        entry.note,
        entry.version,
        entry.id,
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


async def journal_source(query: JournalQuery | None = None, *, folder: Path | None = None) -> JournalSource:
    """The journal of this user, the newest action first. A journal that is not there has no rows."""
    return await asyncio.to_thread(partial(_gather, query or JournalQuery(), folder))


def _gather(query: JournalQuery, folder: Path | None) -> JournalSource:
    seen = _state(folder)
    found: list[_Place] = []
    ended: set[str] = set()
    for path in reversed(journal_files(folder)):
        for place, line in reversed(_placed(path)):
            entry = read_line(line)
            if isinstance(entry, Unread):
                if not query.narrows:
                    found.append(place)
                continue
            if entry.event == "begun" and entry.id in ended:
                continue
            ended.add(entry.id)
            if query.takes(entry):
                found.append(place)
    return JournalSource(query, folder, tuple(found), seen, ReadInfo(Route.SETTLED, time.time()))


def _placed(path: Path) -> list[tuple[_Place, bytes]]:
    """Every line of one file with where it is; what follows the last line's end is a torn one."""
    try:
        with path.open("rb") as file:
            info = os.fstat(file.fileno())
            data = file.read()
    except OSError:
        return []
    out, start = [], 0
    for line in data.split(b"\n"):
        if line.strip():
            out.append((_Place((info.st_dev, info.st_ino), start, len(line)), line))
        start += len(line) + 1
    return out


def _state(folder: Path | None) -> tuple[tuple[str, int, int], ...]:
    out = []
    for path in journal_files(folder):
        try:
            info = path.stat()
        except OSError:
            continue
        out.append((path.name, info.st_ino, info.st_size))
    return tuple(out)
