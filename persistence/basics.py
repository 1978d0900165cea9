"""The records that nearly everything needs: how a read was made, files, and what stands for no value.

Apart from `persistence.records`, which has them all, because to define a dataclass takes half a millisecond
and `doctor` must start at once. Times are seconds since 1970 (UTC), sizes are bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from persistence.records import Cell

__all__ = [
    "ABSENT",
    "PENDING",
    "FileFacts",
    "Mark",
    "Notice",
    "Preview",
    "Progress",
    "ReadInfo",
    "Route",
    "StoreFacts",
    "Unreadable",
]


class Route(StrEnum):
    """How a store was read (DESIGN 3.1); the shell shows this word."""

    LIVE = "live"  # rollback format, a plain read-only connection
    LIVE_LOG = "live log"  # WAL format beside a log, through its index, which is never written
    SETTLED = "settled"  # WAL format at rest, read immutable between two equal change tokens
    COPY = "copy"  # a private copy, recovered there
    EMPTY = "empty"  # a file of zero bytes without sidecars
    SERVER = "server"  # PostgreSQL


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a reader must be told for as long as it holds (DESIGN 9): a word, and a sentence."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class ReadInfo:
    """How and when an answer was read. `token` is opaque: equal tokens mean the store had not moved."""

    route: Route
    at: float
    token: object = None
    kernel_held: bool = False
    notices: tuple[Notice, ...] = ()
    snapshots: int = 1


class Mark(Enum):
    """Three ways of having no value that must not be mistaken for NULL or for each other (DESIGN 9)."""

    ABSENT = "not in this store"  # an older release has no such column or table
    PENDING = "not yet known"  # arrives later
    CLEARED = "not available"


ABSENT = Mark.ABSENT
PENDING = Mark.PENDING


@dataclass(frozen=True, slots=True)
class Preview:
    """The head of a cell that was not loaded whole. `size` is the whole cell's, in bytes."""

    head: str | bytes
    size: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A value that could not be read, and why; never shown as NULL. `raw` is what is there, if known."""

    why: str
    raw: str | bytes | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long read is: `done` of `total` (None: not known), and a word for what is counted."""

    done: int
    total: int | None = None
    what: str = "rows"


@dataclass(frozen=True, slots=True)
class FileFacts:
    """One file of a store, by `stat` alone."""

    name: str
    exists: bool
    size: int = 0
    modified: float | None = None
    mode: int = 0
    links: int = 1
    state: str = ""  # a few words: "98 frames", "hot journal", "readable", "none"


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """What a store is (the Overview's head, `doctor`). Fields not known are None, never guessed."""

    display: str  # masked, safe to show after `inspector.safe`
    backend: Literal["sqlite", "postgresql"]
    size: int | None
    files: tuple[FileFacts, ...]
    journal_mode: str | None
    lineage: str | None  # schema_meta's lineage value, when there is such a row
    version: str | None  # schema_meta's version value, as text
    meta: tuple[tuple[str, Cell], ...]  # every row of schema_meta
    library: str  # what reads it: "SQLite 3.40.1" or the server's version
    exposed_to_wal_reset: bool | None
    page_size: int | None = None
    encoding: str | None = None
    tables: int | None = None
    known_tables: int | None = None  # how many of them are the operational schema's
    missing_tables: tuple[str, ...] = ()
    application_id: int | None = None
    user_version: int | None = None
    read: ReadInfo | None = None
    extra: Mapping[str, Cell] = field(default_factory=dict)
