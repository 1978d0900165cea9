"""The positions of a progression as rows: what each names, with the beginning of it, and what is wrong."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from inspector import safe
from persistence.records import Cell, Column, Extent, Order, Preview, Row, TranscriptEntry, Window

if TYPE_CHECKING:
    from persistence.reading.transcript import Transcript

__all__ = ["COLUMNS", "ProgressionSource", "marks_of", "preview_of"]

COLUMNS: tuple[Column, ...] = (
    Column("position", "#", "number", sortable=False),
    Column("marks", "marks", "text", sortable=False),
    Column("role", "role", "text", sortable=False),
    Column("created_at", "when", "time", sortable=False),
    Column("message", "message", "text", sortable=False),
    Column("id", "message id", "id", sortable=False, links_to=("messages", "id")),
)
PAGE = 200
HEAD = 200
"""Characters of a message's text that a row shows."""


@dataclass(frozen=True)
class ProgressionSource:
    """A row source over a `Transcript`; a row's key is `(position,)`, from 0; `#` counts from 1.

    `shared` are the ids that another progression of the same run names as well.
    """

    transcript: Transcript
    shared: frozenset[str] = field(default=frozenset())
    name: str = "positions"
    order: Order | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        return COLUMNS

    @property
    def extent(self) -> Extent:
        return Extent(self.transcript.length, True)

    async def window(self, first: int, count: int) -> Window:
        if first < 0:
            first = max(0, self.transcript.length + first)
        entries = await self.transcript.window(first, count, HEAD)
        return Window(first, tuple(self._row(entry) for entry in entries), self.transcript.read)

    def _row(self, entry: TranscriptEntry, *, whole: bool = False) -> Row:
        text = preview_of(entry)
        said: Cell = text if whole or not entry.truncated else Preview(text, entry.size)
        cells = (
            entry.position + 1,
            marks_of(entry, self.shared),
            entry.role,
            entry.created_at,
            said,
            entry.id,
        )
        return Row((entry.position,), cells)

    async def complete(self, window: Window) -> Window:
        return window

    async def measure(self) -> AsyncIterator[Extent]:
        yield self.extent

    async def position(self, key: tuple[Any, ...]) -> int | None:
        return key[0] if 0 <= key[0] < self.transcript.length else None

    async def cells(self, key: tuple[Any, ...]) -> Row | None:
        entry = await self.transcript.whole(key[0])
        return None if entry is None else self._row(entry, whole=True)

    async def everything(
        self, *, limit: int | None = None, after: tuple[Any, ...] | None = None
    ) -> AsyncIterator[Row]:
        start = 0 if after is None else after[0] + 1
        end = self.transcript.length if limit is None else min(self.transcript.length, start + limit)
        for first in range(start, end, PAGE):
            for entry in await self.transcript.window(first, min(PAGE, end - first), 1 << 30):
                yield self._row(entry, whole=True)

    def ordered(self, order: Order | None) -> ProgressionSource:
        """In the order of the progression: that order is what it is."""
        return self

    async def refreshed(self) -> ProgressionSource:
        again = await self.transcript.refreshed()
        return self if again is self.transcript else replace(self, transcript=again)


def marks_of(entry: TranscriptEntry, shared: frozenset[str] = frozenset()) -> str | None:
    """What is wrong (or worth knowing) about a position, in words; None: nothing."""
    said = []
    if entry.problem == "not an id":
        said.append("not an id")
    elif not entry.exists:
        said.append("missing")
    if entry.duplicate_of is not None:
        said.append(f"duplicate of #{entry.duplicate_of + 1}")
    if entry.out_of_order:
        said.append("out of order")
    if entry.id in shared:
        said.append("shared")
    return ", ".join(said) or None


def preview_of(entry: TranscriptEntry) -> str:
    """The text of a message's parts, one after another."""
    said = []
    for part in entry.parts:
        if part.kind == "text":
            said.append(part.text or "")
            continue
        sign = {"call": "→ ", "result": "← "}.get(part.kind, "")
        value = part.value if isinstance(part.value, str) else json.dumps(part.value, ensure_ascii=False)
        said.append(f"{sign}{safe.text(part.function or part.name or '')} {value}".strip())
    return "\n".join(said) if said else (entry.raw or "")
