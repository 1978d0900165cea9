"""What profiles, live closures and admissions are made of (ADR-0128 D2, D4, D5; DESIGN 4).

Frozen dataclasses without SQLAlchemy. Names of tables and columns are as their store or document spells them
and compare without regard to the case of ASCII letters, as SQLite compares them (`folded`). SQL text is as it
was written: what it means is compared by `persistence.profiles.compare`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from persistence.basics import Notice, ReadInfo
from persistence.errors import BusyError, StateCompatibilityRefused, StoreError, StoreMovedError
from persistence.lineage.report import ReadStep, RuleStep

__all__ = [
    "AdmissionReport",
    "CheckShape",
    "Closure",
    "ClosureTable",
    "ColumnShape",
    "Finding",
    "Generated",
    "Incoming",
    "IndexShape",
    "IndexTerm",
    "KeyShape",
    "LinkShape",
    "ObjectShape",
    "OwnerRule",
    "Profile",
    "Uninterpreted",
    "UniqueShape",
    "WriteRule",
    "folded",
    "key_of",
]

Severity = Literal["refuses", "notice"]
ObjectKind = Literal["trigger", "view", "virtual"]

_ASCII_UPPER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def folded(name: str) -> str:
    """A name as SQLite compares it: the case of ASCII letters does not count, that of others does."""
    return name.lower() if name.isascii() else name.translate(_ASCII_UPPER)


@dataclass(frozen=True, slots=True)
class Generated:
    """How a column is computed; `stored` or on each read."""

    expression: str
    stored: bool = False


@dataclass(frozen=True, slots=True)
class ColumnShape:
    """A column. `default` is SQL text. `collation` None is BINARY, `conflict` None is ABORT (of NOT NULL)."""

    name: str
    type: str = ""
    nullable: bool = True
    default: str | None = None
    generated: Generated | None = None
    collation: str | None = None
    conflict: str | None = None


@dataclass(frozen=True, slots=True)
class IndexTerm:
    """What one position of a key or index compares: a column or an expression. `collation` None is BINARY."""

    column: str | None = None
    expression: str | None = None
    collation: str | None = None
    descending: bool = False


@dataclass(frozen=True, slots=True)
class KeyShape:
    """A primary key. `rowid`: its column is another name of the row id (INTEGER PRIMARY KEY)."""

    terms: tuple[IndexTerm, ...]
    rowid: bool = False
    autoincrement: bool = False
    conflict: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(term.column for term in self.terms if term.column is not None)


@dataclass(frozen=True, slots=True)
class UniqueShape:
    """A unique constraint or a unique index: one and the same to SQLite. `name` is not compared."""

    terms: tuple[IndexTerm, ...]
    predicate: str | None = None
    conflict: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class CheckShape:
    """A check constraint, of a column or of the table. `name` is not compared."""

    expression: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class IndexShape:
    """An index that is not unique: it refuses only where computing it can make a write fail."""

    name: str
    terms: tuple[IndexTerm, ...]
    predicate: str | None = None


@dataclass(frozen=True, slots=True)
class LinkShape:
    """A foreign key, grouped by constraint. Without `parent_columns` the parent's primary key is meant.

    Actions are the words of `PRAGMA foreign_key_list`; `deferred` is DEFERRABLE INITIALLY DEFERRED.
    """

    columns: tuple[str, ...]
    table: str
    parent_columns: tuple[str, ...] = ()
    on_update: str = "NO ACTION"
    on_delete: str = "NO ACTION"
    match: str = "NONE"
    deferred: bool = False


@dataclass(frozen=True, slots=True)
class Incoming:
    """A foreign key of a table outside the closure (`table`) into it."""

    table: str
    link: LinkShape


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """A trigger, a view or a virtual table that touches the closure.

    `table` is what a trigger stands on, else None. `touches` are the closure's tables it reads, writes or
    stands on; `writes` those it writes, inside the closure or outside.
    """

    kind: ObjectKind
    name: str
    table: str | None
    sql: str
    touches: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Uninterpreted:
    """Something of the closure that could not be interpreted, and why; it always refuses."""

    table: str | None
    object: str
    why: str


@dataclass(frozen=True, slots=True)
class ClosureTable:
    """One table of a closure; `columns` in the table's order."""

    name: str
    columns: tuple[ColumnShape, ...]
    primary_key: KeyShape | None = None
    uniques: tuple[UniqueShape, ...] = ()
    checks: tuple[CheckShape, ...] = ()
    links: tuple[LinkShape, ...] = ()
    indexes: tuple[IndexShape, ...] = ()
    strict: bool = False
    without_rowid: bool = False

    def column(self, name: str) -> ColumnShape | None:
        """The column of this name, in any spelling of its ASCII letters."""
        wanted = folded(name)
        return next((column for column in self.columns if folded(column.name) == wanted), None)


@dataclass(frozen=True, slots=True)
class Closure:
    """The part of a store that a set of operations depends on. `tables` is by folded name.

    `missing` are asked tables a live store does not have as tables, with what stands there instead (or None).
    """

    tables: Mapping[str, ClosureTable]
    incoming: tuple[Incoming, ...] = ()
    objects: tuple[ObjectShape, ...] = ()
    uninterpreted: tuple[Uninterpreted, ...] = ()
    missing: Mapping[str, str | None] = field(default_factory=dict)

    def table(self, name: str) -> ClosureTable | None:
        return self.tables.get(folded(name))


@dataclass(frozen=True, slots=True)
class WriteRule:
    """What may be written of a table; `unwritten` says for each column left out why that is right."""

    insert: tuple[str, ...] = ()
    update: tuple[str, ...] = ()
    unwritten: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """Rows carry a principal in `column`; the principals are the `key` of the table `principals` (D5)."""

    column: str
    principals: str
    key: str


@dataclass(frozen=True, slots=True)
class Profile:
    """A compatibility profile: what a store must be, and what may be written into it.

    `lineage` is the application it is bound to; `store_versions` narrow (empty: any), and never admit.
    `source` says where it was read from. Equal profiles are equal documents.
    """

    name: str
    version: int
    lineage: str
    closure: Closure
    writes: Mapping[str, WriteRule]
    operations: tuple[str, ...]
    invariants: tuple[str, ...] = ()
    owner: OwnerRule | None = None
    store_versions: tuple[str, ...] = ()
    source: str = field(default="", compare=False)

    @property
    def identity(self) -> str:
        """`name@version`: what configuration, refusals and reports name."""
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One difference or missing condition. `code` is one of `persistence.profiles.codes.CODES`."""

    code: str
    severity: Severity
    table: str | None
    object: str | None
    expected: str | None
    observed: str | None
    why: str
    remedy: str

    @property
    def refuses(self) -> bool:
        return self.severity == "refuses"

    @property
    def sentence(self) -> str:
        """One line: what, where, and both sides."""
        where = ".".join(part for part in (self.table, self.object) if part)
        sides = (("expected", self.expected), ("observed", self.observed))
        said = "; ".join(f"{word} {side}" for word, side in sides if side is not None)
        return ": ".join(part for part in (where, self.why.rstrip(".") if said else self.why, said) if part)


@dataclass(frozen=True, slots=True)
class AdmissionReport:
    """What an admission found (DESIGN 4). The store is admitted when no finding refuses.

    `operations` are those asked for. `holds` counts, by table and concern, the declared facts that hold.
    `application` and `version` are the values of the store's rows as they are; None where there is none.
    `cookie` is `PRAGMA schema_version` and `identity` device and inode: what a later check compares first.
    `read` is how and when the store was read (None: it was not); `reads` and `rules` are the trace.
    """

    store: str
    profile: str | None
    owner: str | None
    operations: tuple[str, ...]
    findings: tuple[Finding, ...]
    holds: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    application: object = None
    version: object = None
    journal_mode: str | None = None
    cookie: int | None = None
    identity: tuple[int, int] | None = None
    read: ReadInfo | None = None
    reads: tuple[ReadStep, ...] = ()
    rules: tuple[RuleStep, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def admitted(self) -> bool:
        return not self.refusing

    @property
    def refusing(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.refuses)

    @property
    def passing(self) -> StoreError | None:
        """BusyError or StoreMovedError when all that speaks against the store is that it could not be read at
        this moment: that is no answer, and the next moment has another one."""
        refusing = self.refusing
        if not refusing or not all(_passes(one) for one in refusing):
            return None
        return _PASSING[str(refusing[0].object)](
            refusing[0].observed or "The store could not be read at this moment.",
            where=self.store,
            remedy="Try again in a moment. Nothing is wrong with the store.",
        )

    def check(self, operation: str = "open") -> None:
        """Raises StateCompatibilityRefused, naming the first finding that refuses, unless admitted; BusyError
        or StoreMovedError where only the moment refuses (`passing`)."""
        refusing = self.refusing
        if not refusing:
            return
        passing = self.passing
        if passing is not None:
            raise passing
        first = next(one for one in refusing if not _passes(one))
        more = f" ({len(refusing) - 1} more)" if len(refusing) > 1 else ""
        raise StateCompatibilityRefused(
            f"The store is not admitted: {first.sentence}{more}",
            code=first.code,
            operation=operation,
            profile=self.profile,
            where=self.store,
            rule="admission",
            lineage=self.application,
            version=self.version,
            expected=first.expected,
            observed=first.observed,
            remedy=first.remedy,
        )


_PASSING: Mapping[str, type[StoreError]] = {"busy": BusyError, "store-moving": StoreMovedError}


def _passes(finding: Finding) -> bool:
    """Whether it is only of this moment: the store was busy, or kept moving while it was read."""
    return finding.code == "store-unread" and finding.object in _PASSING


def key_of(*columns: str, rowid: bool = False) -> KeyShape:
    """A plain primary key over columns."""
    return KeyShape(tuple(IndexTerm(column) for column in columns), rowid)
