"""What `examine` answers: the rows seen, the verdict for each mode, and how that is known (DESIGN 3.2).

The command line, the *Lineage* screen and the errors all show this one object.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from persistence.basics import FileFacts, Notice
from persistence.errors import StoreError
from persistence.lineage.rows import Seen
from persistence.location import StoreLocation

__all__ = ["LineageReport", "Opener", "ReadStep", "RuleStep", "StoreHeader", "Verdict"]

Mode = Literal["read_only", "native", "compatibility"]


class ReadStep(NamedTuple):
    """One read: what was read, which way, what came back, and what moved meanwhile (None: nothing).

    `decides` marks the read whose rows the rules were asked about.
    """

    what: str
    way: str
    answer: str
    moved: str | None = None
    decides: bool = False
    kernel_held: bool = False


class RuleStep(NamedTuple):
    """One rule asked for a mode: its name, its question, where it stands, what it answered."""

    mode: Mode
    rule: str
    question: str
    source: str
    answer: str
    refuses: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a mode would do with the store: `opens` is None where only a profile's admission decides.

    `route` is how a read-only open reads it (`persistence.records.Route`). `by` says who decides: the reads
    that come before any writable connection, or that connection, when the file could not be read at all.
    """

    mode: Mode
    opens: bool | None
    why: str
    route: str | None = None
    refusal: StoreError | None = None
    notices: tuple[str, ...] = ()
    by: Literal["reads", "connection"] = "reads"

    def check(self) -> None:
        """Raises the refusal, when the reads before any connection refuse; else does nothing."""
        if self.refusal is not None and self.by == "reads":
            raise self.refusal


class StoreHeader(NamedTuple):
    """What the file's first 100 bytes say; sizes are bytes. None of it decides whose the store is."""

    journal_mode: str  # `wal` or `delete` (any rollback mode)
    page_size: int
    pages: int
    encoding: str | None
    user_version: int
    application_id: int
    written_by: int


class Opener(NamedTuple):
    """Another process that has a file of the store open, as the system tells: `files` are their names."""

    pid: int
    program: str
    files: tuple[str, ...]
    locks: bool = False


@dataclass(frozen=True, slots=True)
class LineageReport:
    """Whose store it is, what each open would do, and every read and rule that says so.

    `seen` are the rows that decide; None when no read could make sense of the store. `file_rows` is what the
    file alone shows, which decides nothing beside a journal or a log. `at` is when it was examined (seconds
    since 1970, UTC). `backups` and `openers` are None where the system does not say.
    """

    location: StoreLocation
    at: float
    seen: Seen | None
    file_rows: Seen | None
    read_only: Verdict
    native: Verdict
    compatibility: Verdict
    reads: tuple[ReadStep, ...]
    rules: tuple[RuleStep, ...]
    library: str
    header: StoreHeader | None = None
    size: int | None = None
    identity: tuple[int, int] | None = None
    links: int = 1
    files: tuple[FileFacts, ...] = ()
    backups: tuple[FileFacts, ...] | None = None
    openers: tuple[Opener, ...] | None = None
    exposed_to_wal_reset: bool | None = None
    kernel_held: bool = False
    notices: tuple[Notice, ...] = ()
    error: StoreError | None = None

    @property
    def display(self) -> str:
        """The store as it may be shown: its password masked, the home directory as the user has it."""
        return self.location.display

    @property
    def verdicts(self) -> tuple[Verdict, Verdict, Verdict]:
        return self.read_only, self.native, self.compatibility

    @property
    def exists(self) -> bool:
        return self.location.backend == "postgresql" or self.identity is not None

    @property
    def application(self) -> object:
        """The value of the one lineage row, as it is; a tuple where there are several; None where none."""
        values = self.seen.lineage if self.seen is not None else ()
        return values[0] if len(values) == 1 else (values or None)

    @property
    def version(self) -> object:
        """The value of the one version row, as it is; a tuple where there are several; None where none."""
        values = self.seen.version if self.seen is not None else ()
        return values[0] if len(values) == 1 else (values or None)
