"""The frozen dataclasses that reads return; nothing here knows SQL or a screen.

Times are seconds since 1970 (UTC) as floats unless said otherwise; sizes are bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from persistence.basics import (
    ABSENT,
    PENDING,
    FileFacts,
    Mark,
    Notice,
    Preview,
    Progress,
    ReadInfo,
    Route,
    StoreFacts,
    Unreadable,
)

__all__ = [
    "ABSENT",
    "PENDING",
    "BranchInfo",
    "Cell",
    "CellPart",
    "Column",
    "ColumnKind",
    "Extent",
    "FileFacts",
    "ForeignKey",
    "Index",
    "Mark",
    "Missing",
    "Notice",
    "Order",
    "Preview",
    "Progress",
    "ReadInfo",
    "Route",
    "Row",
    "RunChoices",
    "RunDetail",
    "RunFilter",
    "SchemaApplied",
    "StoreFacts",
    "TableColumn",
    "TableShape",
    "TranscriptEntry",
    "TranscriptPart",
    "Unreadable",
    "Window",
]


Cell: TypeAlias = "int | float | str | bytes | Preview | Unreadable | Mark | None"
"""What a row holds. Text that was not UTF-8 carries surrogate escapes (`surrogateescape`)."""

ColumnKind: TypeAlias = Literal[
    "text", "id", "number", "time", "json", "blob", "status", "duration", "bytes", "money", "any"
]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a row source: `name` is stable (sorting, export), `label` is what a person reads."""

    name: str
    label: str
    kind: ColumnKind = "any"
    sortable: bool = True
    width: int | None = None  # cells it would like; None: measured from what is shown
    missing: bool = False  # not in this store
    links_to: tuple[str, str] | None = None  # (table, column) its values name


@dataclass(frozen=True, slots=True)
class Order:
    """A requested order: by one column, ties by key; NULLs come last either way."""

    column: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One row: `key` finds it again whatever moved, `cells` are in the source's column order."""

    key: tuple[Any, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive rows of a source starting at position `first` (counted from 0)."""

    first: int
    rows: tuple[Row, ...]
    read: ReadInfo


@dataclass(frozen=True, slots=True)
class Extent:
    """What is known of how many rows a source has.

    `rows` is exact when `complete`, otherwise the number known so far (there are at least these). A
    source that shows only its first part says so in `part_of`, a sentence for the reader. `progress` is
    how far the measuring (or the sorting) that gave this extent is, and `snapshots` how many reads with
    different change tokens it spans: above one, say `across N snapshots`.
    """

    rows: int
    complete: bool
    part_of: str | None = None
    estimate: int | None = None
    progress: Progress | None = None
    snapshots: int = 1


@dataclass(frozen=True, slots=True)
class RunFilter:
    """What narrows the list of runs; everything left out does not. All that is given must hold.

    `statuses` are alternatives, None among them meaning no status. `project`, `agent` and `model` are equal
    to the value, or match it where it has a `*`. Each word of `text` is looked for in names, labels,
    identifiers, agents, models and projects. `since` (at or after) and `until` (before) are about the last
    update.
    """

    statuses: tuple[str | None, ...] = ()
    project: str | None = None
    agent: str | None = None
    model: str | None = None
    text: str | None = None
    since: float | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class RunChoices:
    """What the list of runs can be narrowed to: each value there is (None: without one), and how many runs
    have it, the most frequent first. `capped`: there are more values than these."""

    statuses: tuple[tuple[str | None, int], ...] = ()
    projects: tuple[tuple[str | None, int], ...] = ()
    agents: tuple[tuple[str | None, int], ...] = ()
    models: tuple[tuple[str | None, int], ...] = ()
    capped: bool = False


@dataclass(frozen=True, slots=True)
class BranchInfo:
    """A branch of a run. `messages` is its progression's length, or why that is not known."""

    id: str
    name: Cell
    progression_id: str | None
    messages: int | Unreadable | None
    row: Mapping[str, Cell]  # as stored


@dataclass(frozen=True, slots=True)
class RunDetail:
    """One session and what stands around it, from one snapshot.

    `row` is as stored (JSON as text); the decoded fields are None where absent and Unreadable where broken.
    `counts` has `signals`, `transitions`, `artifacts`, `controls`, `engine_runs`, `tags`: a number, or ABSENT
    where the store has no such table. `length` is in seconds, None while it runs or when not recorded.
    """

    id: str
    row: Mapping[str, Cell]
    name: Cell
    status: Cell
    length: float | None
    progression_id: str | None
    messages: int | Unreadable | None
    branches: tuple[BranchInfo, ...]
    invocation: Mapping[str, Cell] | None
    show: Mapping[str, Cell] | None
    plays: tuple[Mapping[str, Cell], ...]
    contract: Any
    verification: Any
    metadata: Any
    evidence: Any
    counts: Mapping[str, int | Mark]
    missing_columns: tuple[str, ...]
    missing_tables: tuple[str, ...]
    read: ReadInfo


@dataclass(frozen=True, slots=True)
class TranscriptPart:
    """One part of a message's content, taken apart for people.

    `text`: `text`, under `name` (system, instruction, response, ...; "" when it is just text). `call`: a tool
    call, `function` with `value` its arguments. `result`: its result, `value` the output and `arguments`
    what it was called with. `json`: anything else, `value` under the key `name` ("" for the whole). `cut`:
    `text` goes on; `TranscriptEntry.truncated` says so for the whole entry.
    """

    kind: Literal["text", "call", "result", "json"]
    name: str = ""
    text: str = ""
    function: str | None = None
    value: Any = None
    arguments: Any = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """One position of a progression.

    `exists` is False for an id that no message has, and for a list entry that is no id (`id` is its JSON
    then, and `problem` says so). `duplicate_of` is the position where the id stood first. `out_of_order`:
    dated before the message in front of it. `content` is the decoded JSON, None when absent or not JSON:
    then `raw` is what lies there and `problem` why it cannot be read; `problem` is also set for JSON that
    had to be read leniently. `size` is the content's in bytes. `truncated`: parts show only the beginning,
    `Transcript.whole` has the rest. `key` is the row's key in `rows("messages")`.
    """

    position: int
    id: str
    exists: bool = True
    duplicate_of: int | None = None
    out_of_order: bool = False
    role: str | None = None
    sender: str | None = None
    recipient: str | None = None
    channel: str | None = None
    created_at: float | None = None
    class_name: str | None = None
    parts: tuple[TranscriptPart, ...] = ()
    content: Any = None
    raw: str | None = None
    problem: str | None = None
    size: int = 0
    truncated: bool = False
    key: tuple[Any, ...] | None = None


@dataclass(frozen=True, slots=True)
class CellPart:
    """Some bytes of one cell, as stored: `data` from byte `offset` on, of `size` in all. `kind` says what
    the whole is: `text` (in `encoding`), `blob`, or `value` (a number's digits)."""

    data: bytes
    offset: int
    size: int
    kind: Literal["text", "blob", "value"]
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column as the store declares it."""

    name: str
    type: str
    nullable: bool = True
    default: str | None = None
    primary_key: int = 0  # position in the key from 1; 0: not in it
    generated: str | None = None  # the expression, when known; "" when only the fact is known
    hidden: bool = False
    collation: str | None = None


@dataclass(frozen=True, slots=True)
class ForeignKey:
    columns: tuple[str, ...]
    table: str
    references: tuple[str, ...]
    on_delete: str = "NO ACTION"
    on_update: str = "NO ACTION"
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Index:
    name: str
    columns: tuple[str | None, ...]  # None: an expression
    unique: bool = False
    where: str | None = None
    origin: str = "c"  # c: CREATE INDEX, u: UNIQUE, pk: PRIMARY KEY
    descending: tuple[bool, ...] = ()
    sql: str | None = None


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table or view as it is in the live store, whoever made it."""

    name: str
    kind: Literal["table", "view", "virtual", "shadow"]
    columns: tuple[TableColumn, ...]
    primary_key: tuple[str, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    referenced_by: tuple[tuple[str, ForeignKey], ...] = ()  # (table, its key)
    checks: tuple[str, ...] = ()
    indexes: tuple[Index, ...] = ()
    triggers: tuple[tuple[str, str], ...] = ()  # (name, SQL)
    has_rowid: bool = True
    without_rowid: bool = False  # made so (SQLite)
    strict: bool = False
    sql: str | None = None
    group: str | None = None  # ADR-0055 D1 group, when the table is one of the operational schema
    unreadable: str | None = None  # why its shape could not be read

    def column(self, name: str) -> TableColumn | None:
        return next((column for column in self.columns if column.name == name), None)


@dataclass(frozen=True, slots=True)
class Missing:
    """What a store lacks of a table that a release of this lineage has (an older store, another's)."""

    table: bool = False  # there is no such table or view
    columns: tuple[str, ...] = ()  # the newest release read has these
    unreadable: str | None = None  # it is there, and why its shape could not be read

    def __bool__(self) -> bool:
        return self.table or bool(self.columns) or self.unreadable is not None


@dataclass(frozen=True, slots=True)
class SchemaApplied:
    """What a native open did to a store before it was opened, all of it in one transaction.

    `backup` is the path of the copy made before tables were rebuilt; `backups` are all such copies that lie
    beside the store now, which no program removes by itself. A store that needed nothing has only those.
    """

    created: bool = False
    from_version: str | None = None  # the version row as it was; None when there was none
    tables_added: tuple[str, ...] = ()
    tables_rebuilt: tuple[str, ...] = ()
    columns_added: tuple[str, ...] = ()  # table.column
    indexes_changed: tuple[str, ...] = ()
    backfilled: Mapping[str, int] = field(default_factory=dict)  # rows by backfill, where there were any
    stamped: bool = False
    backup: str | None = None
    backups: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return self.created or self.stamped
