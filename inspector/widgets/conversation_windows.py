"""The entries of a conversation that are held: a bounded number of chunks, loaded as they come into sight."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from persistence.records import TranscriptEntry

__all__ = ["CHUNK", "Windows"]

CHUNK = 64
"""Entries read at a time."""
KEPT = 24
"""Chunks held; 1,500 entries of at most 2,000 characters."""


class Windows:
    """Entries by position."""

    def __init__(self) -> None:
        self._chunks: OrderedDict[int, Sequence[TranscriptEntry]] = OrderedDict()
        self._failed: set[int] = set()

    def get(self, position: int) -> TranscriptEntry | None:
        """The entry, when it is held."""
        number, offset = divmod(position, CHUNK)
        chunk = self._chunks.get(number)
        if chunk is None or offset >= len(chunk):
            return None
        self._chunks.move_to_end(number)
        return chunk[offset]

    def put(self, number: int, entries: Sequence[TranscriptEntry]) -> None:
        self._chunks[number] = entries
        self._chunks.move_to_end(number)
        self._failed.discard(number)
        while len(self._chunks) > KEPT:
            self._chunks.popitem(last=False)

    def fail(self, number: int) -> None:
        """This chunk could not be read: it is not asked for again until somebody refreshes."""
        self._failed.add(number)

    def failed(self, position: int) -> bool:
        return position // CHUNK in self._failed

    def lacking(self, first: int, last: int, count: int) -> int | None:
        """The first chunk that is needed for these positions and not held; None: all are."""
        last = min(last, count - 1)
        for number in range(max(0, first) // CHUNK, last // CHUNK + 1 if last >= 0 else 0):
            chunk = self._chunks.get(number)
            expected = min(CHUNK, count - number * CHUNK)
            if number not in self._failed and (chunk is None or len(chunk) < expected):
                return number
        return None

    def clear(self) -> None:
        self._chunks.clear()
        self._failed.clear()
