"""A progression as a conversation, in windows cut here: a join of everything costs forty times as much.

The list is read and parsed once a change token; a window is then its slice, and the messages of these
ids. Order, gaps, repeats and ids that no message has are part of what is shown (SCREENS 4).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from persistence.errors import MissingTableError
from persistence.reading.entries import content_of, searchable
from persistence.reading.idlist import NOTHING, IdList, State, read_list
from persistence.reading.messages import Messages
from persistence.reading.plans import run
from persistence.reading.previews import LONGEST
from persistence.reading.rows import where_equal
from persistence.reading.stored import stored
from persistence.records import Cell, Preview, Progress, ReadInfo, TranscriptEntry

if TYPE_CHECKING:
    from persistence.reading.store import StoreReading

__all__ = ["Found", "Survey", "Transcript", "transcript"]

HEAD = 2_000
"""Characters of a text part a window brings unless asked otherwise."""
PARSED = 16_384
"""Bytes of a message's content that a window reads; of longer ones as many characters."""
REMEMBERED = 4
"""Lists kept in memory, each with the change token it was read under."""
CHUNK = 1_000
"""Positions one snapshot of a survey or a search covers."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What a stretch of a conversation was found to hold, position by position from `first`."""

    first: int
    times: tuple[float | None, ...]  # created_at; None: no message, or no time
    roles: tuple[str | None, ...]  # None: no message, or none recorded
    dangling: tuple[int, ...]  # positions whose id no message has
    out_of_order: tuple[int, ...]
    progress: Progress


@dataclass(frozen=True, slots=True)
class Found:
    """Positions at which a search found its text, and how far it is."""

    positions: tuple[int, ...]
    progress: Progress


class Transcript:
    """The positions of one progression. `marked` holds those known to be missing, double or out of order:
    doubles at once, the others as windows and `survey` come by them."""

    def __init__(
        self,
        reading: StoreReading,
        progression_id: str,
        state: State,
        entries: IdList,
        read: ReadInfo,
        why: str | None = None,
    ) -> None:
        self.progression_id = progression_id
        self.state = state
        """`list`, `empty`, `missing`, `not JSON`, `not a list` or `too long` (past 64 MB)."""
        self.why = why
        self.read = read
        self.length = len(entries)
        self.duplicates = len(entries.duplicates)
        self.dangling: int | None = None
        """How many positions name no message; None until `survey` has come to the end."""
        self.out_of_order: int | None = None
        self.marked: set[int] = {*entries.duplicates, *entries.odds}
        self._reading = reading
        self._entries = entries

    async def window(self, first: int, count: int, head: int = HEAD) -> tuple[TranscriptEntry, ...]:
        """The entries at a position, from one snapshot; texts are cut after `head` characters."""
        first = max(0, first)
        count = min(count, self.length - first)
        if count <= 0:
            return ()
        # The message in front tells whether the first one is out of order.
        start = max(0, first - 1)
        ids = self._entries.ids(start, first + count - start)
        async with self._reading.reader.snapshot() as snapshot:
            messages = await Messages.of(self._reading, snapshot)
            rows = await run(snapshot, lambda: messages.rows(ids, PARSED))
        return self._in_order(start, ids, rows, head)[first - start :]

    async def whole(self, position: int) -> TranscriptEntry | None:
        """One entry with all of its content, up to 64 MB; None outside the list."""
        if not 0 <= position < self.length:
            return None
        own = self._entries.ids(position, 1)
        front = self._entries.ids(position - 1, 1) if position else []
        async with self._reading.reader.snapshot() as snapshot:
            messages = await Messages.of(self._reading, snapshot)
            rows = await run(snapshot, lambda: messages.rows(own, LONGEST))
            times = await run(snapshot, lambda: messages.times(front))
        entry = self._entry(position, own[0], rows, None)
        before = times.get(front[0], (None, None))[0] if front else None
        if before is not None and entry.created_at is not None and entry.created_at < before:
            entry = replace(entry, out_of_order=True)
        return entry

    async def stored(self, first: int, count: int) -> tuple[Mapping[str, Any] | None, ...]:
        """The messages of a stretch, `content` as it lies in the store (up to 64 MB each); None: no such."""
        ids = self._entries.ids(first, max(0, min(count, self.length - first)))
        async with self._reading.reader.snapshot() as snapshot:
            messages = await Messages.of(self._reading, snapshot)
            rows = await run(snapshot, lambda: messages.rows(ids, LONGEST))
        return tuple(rows.get(each) for each in ids)

    async def survey(self) -> AsyncIterator[Survey]:
        """Looks at every position once, in chunks: the times, and the marks that need the messages.

        Closing the iterator stops it. At its end `dangling` and `out_of_order` are known.
        """
        dangling = late = 0
        latest: float | None = None
        for first in range(0, self.length, CHUNK):
            ids = self._entries.ids(first, CHUNK)
            async with self._reading.reader.snapshot() as snapshot:
                messages = await Messages.of(self._reading, snapshot)
                found = await run(snapshot, partial(messages.times, ids))
            gone, behind = [], []
            times: list[float | None] = []
            roles: list[str | None] = []
            for place, each in enumerate(ids, first):
                at, role = found.get(each, (None, None))
                times.append(at)
                roles.append(role)
                if each not in found:
                    gone.append(place)
                if at is not None and latest is not None and at < latest:
                    behind.append(place)
                latest = at if at is not None else latest
            dangling, late = dangling + len(gone), late + len(behind)
            self.marked.update(gone, behind)
            done = Progress(min(first + CHUNK, self.length), self.length, "messages")
            yield Survey(first, tuple(times), tuple(roles), tuple(gone), tuple(behind), done)
        self.dangling, self.out_of_order = dangling, late

    async def search(self, text: str) -> AsyncIterator[Found]:
        """Positions whose message shows `text`, in either case, chunk by chunk in order.

        The store does the looking, over text as it is stored and as JSON escapes it; what it finds is then
        taken apart, so that the keys of the JSON around a text are no hits.
        """
        wanted = text.casefold()
        for first in range(0, self.length if wanted else 0, CHUNK):
            ids = self._entries.ids(first, CHUNK)
            async with self._reading.reader.snapshot() as snapshot:
                messages = await Messages.of(self._reading, snapshot)
                cells = await run(snapshot, partial(messages.containing, ids, text))
            hits = {
                each
                for each, content in cells.items()
                if wanted in searchable(content_of(content, None).parts).casefold()
            }
            done = Progress(min(first + CHUNK, self.length), self.length, "messages")
            yield Found(tuple(place for place, each in enumerate(ids, first) if each in hits), done)

    async def refreshed(self) -> Transcript:
        """The progression as it is now; this very object when the change token has not moved."""
        if await self._reading.reader.token() == self.read.token:
            return self
        return await transcript(self._reading, self.progression_id)

    def _in_order(
        self, first: int, ids: Sequence[str], rows: Mapping[str, Mapping[str, Any]], head: int
    ) -> tuple[TranscriptEntry, ...]:
        out: list[TranscriptEntry] = []
        before: float | None = None
        for place, each in enumerate(ids, first):
            entry = self._entry(place, each, rows, head)
            if entry.created_at is not None:
                if before is not None and entry.created_at < before:
                    entry = replace(entry, out_of_order=True)
                before = entry.created_at
            if not entry.exists or entry.out_of_order:
                self.marked.add(place)
            out.append(entry)
        return tuple(out)

    def _entry(
        self, place: int, each: str, rows: Mapping[str, Mapping[str, Any]], head: int | None
    ) -> TranscriptEntry:
        odd = self._entries.odd(place)
        if odd is not None:
            return TranscriptEntry(place, odd, exists=False, problem="not an id")
        twice = self._entries.duplicates.get(place)
        row = rows.get(each)
        if row is None:
            return TranscriptEntry(place, each, exists=False, duplicate_of=twice)
        cell: Cell = row["content"]
        content = content_of(cell, head)
        return TranscriptEntry(
            place,
            each,
            duplicate_of=twice,
            role=row["role"],
            sender=row["sender"],
            recipient=row["recipient"],
            channel=row["channel"],
            created_at=row["created_at"],
            class_name=row["class_name"],
            parts=content.parts,
            content=content.value,
            raw=content.raw,
            problem=content.problem,
            size=_size(cell),
            truncated=content.truncated,
            key=row["key"],
        )


def _size(cell: Cell) -> int:
    if isinstance(cell, Preview):
        return cell.size
    if isinstance(cell, str):
        return len(cell) if cell.isascii() else len(cell.encode("utf-8", "surrogateescape"))
    return len(cell) if isinstance(cell, bytes) else 0


_lists: WeakKeyDictionary[StoreReading, dict[str, tuple[object, tuple[State, IdList, str | None]]]]
_lists = WeakKeyDictionary()


async def transcript(reading: StoreReading, progression_id: str) -> Transcript:
    """A progression as a transcript; one that is missing, empty, not JSON or not a list says so in `state`.

    Raises MissingTableError where the store has no progressions.
    """
    known = _lists.setdefault(reading, {})
    async with reading.reader.snapshot() as snapshot:
        shape = (await reading.tables(snapshot)).get("progressions")
        if shape is None:
            raise MissingTableError(
                "There are no progressions in this store.", where=reading.location.display
            )
        token = snapshot.info.token
        if progression_id in known and token is not None and known[progression_id][0] == token:
            state, entries, why = known[progression_id][1]
            return Transcript(reading, progression_id, state, entries, snapshot.info, why)
        where = where_equal({"id": progression_id})
        rows: Sequence[Mapping[str, Cell]] = await run(
            snapshot, lambda: stored(shape, snapshot.dialect, where, cells=LONGEST)
        )
        info = snapshot.info
    if not rows:
        return Transcript(reading, progression_id, "missing", NOTHING, info)
    state, entries, why = read_list(rows[0].get("collection"))
    while len(known) >= REMEMBERED:
        del known[next(iter(known))]
    known[progression_id] = (info.token, (state, entries, why))
    return Transcript(reading, progression_id, state, entries, info, why)
