"""What lies where a store is said to be, by `stat` and first bytes, and whether it agrees (DECISIONS 18).

Each look is one moment; the reads that follow ask again whether it still held.
"""

from __future__ import annotations

import os
import stat as modes
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from persistence import files
from persistence.basics import Notice
from persistence.errors import NotAStoreError, StoreError, StoreMissingError
from persistence.lineage.report import ReadStep
from persistence.lineage.rules import Damage

if TYPE_CHECKING:
    from persistence.magic import Looks

__all__ = ["Parts", "look"]

Check = Callable[[int, int], None]
"""Told how many frames of a long log are checked; may raise to stop."""


class Parts(NamedTuple):
    """The store's files at one moment. `error` says why the file itself cannot be read at all.

    `hot`: a journal that begins with a header lies beside it. `journal` and `log`: their bytes, 0 for none.
    `readable_log`: the log may be read and begins as one. `written`: a connection has its write lock now;
    `held`: one has the store open (the log format alone; None: the system does not say).
    """

    path: bytes
    display: str
    identity: files.Identity | None = None
    header: files.Header | None = None
    links: int = 1
    hot: bool = False
    journal: int = 0
    log: int = 0
    readable_log: bool = False
    written: bool = False
    held: bool | None = None
    has_index: bool = False
    damage: tuple[Damage, ...] = ()
    notices: tuple[Notice, ...] = ()
    steps: tuple[ReadStep, ...] = ()
    error: StoreError | None = None

    @property
    def name(self) -> str:
        return os.fsdecode(os.path.basename(self.path))

    @property
    def empty(self) -> bool:
        """Whether it is a file of zero bytes with nothing beside it."""
        return self.header is not None and self.header.size == 0 and not self.journal and not self.log

    @property
    def database(self) -> bool:
        return self.header is not None and self.header.sqlite

    @property
    def long(self) -> bool:
        """Whether the path is longer than SQLite can open, with what may lie beside it."""
        return len(self.path) > _LONGEST_PATH

    @property
    def settled(self) -> bool:
        """Whether the file alone says what is committed."""
        return not self.hot and not self.log and not self.unread

    @property
    def unread(self) -> bool:
        """Whether something beside the file could not be read, so that nothing here is whole."""
        return any(damage.code in _UNREAD for damage in self.damage)

    @property
    def contradicted(self) -> bool:
        """Whether the parts do not go together (a second name and a long path are other matters)."""
        return any(damage.code not in ("second-name", "long-path") for damage in self.damage)


_LOOKS, _PAUSE = 20, 0.002
"""How often a log that is in use is looked at again when its header makes no sense, and seconds between."""
_LONGEST_PATH = 500  # SQLite's limit is 512 bytes, with the suffixes of what lies beside a store
_UNREAD = frozenset(("odd-sidecar", "no-permission", "io-error", "too-many-files", "not-a-database"))


def look(path: bytes, display: str, check: Check | None = None) -> Parts:
    """What is there now. Never raises for what it finds: that is in `error` and `damage`."""
    path = files.resolve(path)
    parts = Parts(path, display)
    try:
        found = files.status(path)
        if found is None:
            return _missing(parts)
        parts = parts._replace(identity=(found.st_dev, found.st_ino), links=found.st_nlink)
        if not modes.S_ISREG(found.st_mode):
            return _not_a_file(parts, found.st_mode)
        parts = _with_step(parts, parts.name, "stat", _stat_words(found))
        with files.held(path) as file:
            header = files.read_header(file)
            kind = None if header.sqlite else _looks(file, header)
            held = files.someone_holds(file)
            written = files.someone_writes(file)
    except OSError as error:
        refusal = files.os_refusal(error, display)
        return _with_step(parts._replace(error=refusal), parts.name, "header", refusal.message)
    parts = parts._replace(header=header, written=written is True, held=held)
    parts = _with_step(parts, parts.name, "header", kind.words if kind else _header_words(header))
    if found.st_nlink > 1:
        parts = _damaged(parts, "second-name", f"the file has {found.st_nlink} names (hard links)")
    if parts.long:
        parts = _damaged(
            parts, "long-path", f"its path has {len(parts.path)} bytes, more than SQLite can open"
        )
    parts = _journal(parts)
    parts = _log(parts, held, check)
    parts = _whole(parts)
    if kind is not None and parts.settled and not parts.empty and not parts.contradicted:
        refusal = NotAStoreError(
            f"This is not a SQLite database: it looks like {kind.words}.",
            where=display,
            expected="a file that begins with `SQLite format 3`",
            observed=kind.words,
            remedy=kind.remedy or "Name the database file itself.",
        )
        parts = parts._replace(error=refusal)
    return parts


def _looks(file: files.Held, header: files.Header) -> Looks:
    from persistence.magic import HEAD, looks_like  # for what is no database alone

    return looks_like(file.read(HEAD, 0), header.size)


def _missing(parts: Parts) -> Parts:
    dangling = os.path.islink(parts.path)
    seen = "a link to a file that is not there" if dangling else "no such file"
    error = StoreMissingError(
        "There is no such store. Nothing was created.",
        where=parts.display,
        observed=seen,
        remedy="Check the path. `store-inspector demo` makes stores to look at.",
    )
    return _with_step(parts._replace(error=error), parts.name, "stat", seen)


def _not_a_file(parts: Parts, mode: int) -> Parts:
    kind = files.kind_of(mode)
    error = NotAStoreError(
        f"This is {kind}, not a database file.",
        where=parts.display,
        expected="a SQLite database file",
        observed=kind,
        remedy="Name the database file itself.",
    )
    return _with_step(parts._replace(error=error), parts.name, "stat", kind)


def _stat_words(found: os.stat_result) -> str:
    names = f", {found.st_nlink} names" if found.st_nlink != 1 else ""
    device = f"{os.major(found.st_dev)}:{os.minor(found.st_dev)}" if hasattr(os, "major") else found.st_dev
    return f"{found.st_size:,} bytes{names}, device {device} inode {found.st_ino}"


def _header_words(header: files.Header) -> str:
    kind = "write-ahead log" if header.log_format else "rollback journal"
    return f"a SQLite database, {kind} format, {header.pages:,} pages of {header.page_size:,} bytes"


def _with_step(parts: Parts, what: str, way: str, answer: str) -> Parts:
    return parts._replace(steps=(*parts.steps, ReadStep(what, way, answer)))


def _damaged(parts: Parts, code: str, observed: str) -> Parts:
    return parts._replace(damage=(*parts.damage, Damage(code, observed)))


def _beside(parts: Parts, suffix: bytes) -> tuple[Parts, os.stat_result | None]:
    """What lies beside the file under this suffix; None when nothing that can be read does."""
    name = parts.name + suffix.decode()
    try:
        found = files.status(parts.path + suffix)
    except OSError as error:
        return _unreadable(parts, name, error), None
    if found is None:
        return _with_step(parts, name, "stat", "none"), None
    if not modes.S_ISREG(found.st_mode):
        kind = files.kind_of(found.st_mode)
        parts = _damaged(parts, "odd-sidecar", f"{name} is {kind}")
        return _with_step(parts, name, "stat", kind), None
    return parts, found


def _unreadable(parts: Parts, name: str, error: OSError) -> Parts:
    code = files.os_refusal(error, parts.display).code
    reason = error.strerror or str(error)
    parts = _damaged(parts, code, f"{name} could not be read: {reason}")
    return _with_step(parts, name, "header", f"not readable: {reason}")


def _journal(parts: Parts) -> Parts:
    parts, found = _beside(parts, b"-journal")
    name = f"{parts.name}-journal"
    if found is None:
        return parts
    if found.st_size == 0:
        return _with_step(parts, name, "stat", "empty")
    from persistence.lineage.journals import at_rest, broken_records, header_makes_sense

    try:
        with files.held(parts.path + b"-journal", sidecar=True) as file:
            facts = files.journal_facts(parts.path + b"-journal")
            head = file.read(28, 0)
            broken = broken_records(file.read, facts) if facts.hot_header and header_makes_sense(facts) else 0
    except FileNotFoundError:
        return _with_step(parts, name, "header", "gone again")
    except OSError as error:
        return _unreadable(parts, name, error)
    parts = parts._replace(hot=facts.hot_header, journal=found.st_size)
    parts = _with_step(parts, name, "header", facts.words)
    if facts.super_journal is not None:
        shown = os.fsdecode(facts.super_journal)
        there = _there(facts.super_journal)
        parts = _with_step(parts, shown, "stat", "there: rolled back" if there else "gone: committed")
    if not facts.hot_header:
        if not at_rest(head):
            return _damaged(parts, "journal-odd", f"{name} begins neither as a journal nor as one at rest")
    elif not header_makes_sense(facts):
        return _damaged(
            parts,
            "journal-odd",
            f"{name} names a page of {facts.page_size} and a sector of {facts.sector_size} bytes",
        )
    elif facts.short:
        return _damaged(
            parts, "journal-short", f"{name} promises {facts.promised:,} bytes and has {facts.size:,}"
        )
    elif broken:
        return _damaged(
            parts, "journal-broken", f"{broken} of the {facts.records} pages in {name} are not whole"
        )
    return parts


def _there(path: bytes) -> bool:
    try:
        return os.stat(path).st_size > 0
    except (OSError, ValueError):
        return False


def _log(parts: Parts, held: bool | None, check: Check | None, again: int = _LOOKS) -> Parts:
    before = parts
    parts, found = _beside(parts, b"-wal")
    name, path = f"{parts.name}-wal", parts.path + b"-wal"
    if found is None:
        return parts
    if found.st_size == 0:
        return _with_step(parts, name, "stat", "empty")
    parts = parts._replace(log=found.st_size)
    try:
        if not files.log_header(path):
            if again and (held or _moved(path, found)):
                # A checkpoint that cuts the log off, or the writer that begins it anew, was met half-way.
                time.sleep(_PAUSE)
                return _log(before, held, check, again - 1)
            parts = _with_step(parts, name, "header", "not valid")
            return _damaged(parts, "log-header", f"the header of {name} is not valid")
        parts = _index(parts._replace(readable_log=True))
        if held:
            # What its users read is what their shared index says; frames come and go under a look.
            return _with_step(parts, name, "header", f"valid, {found.st_size:,} bytes; in use, not checked")
        facts = files.log_facts(path, check)
    except FileNotFoundError:
        return _with_step(parts._replace(log=0), name, "header", "gone again")
    except OSError as error:
        return _unreadable(parts, name, error)
    parts = _with_step(parts, name, "check", facts.words)
    if facts.contradicts:
        return _damaged(
            parts, "log-broken", f"{name} breaks off: {facts.lost_commits} transactions are behind the break"
        )
    if facts.torn:
        notice = Notice(
            "log-torn",
            f"{name} ends in a transaction that was not finished; it is not read, which is normal after a "
            "crash.",
        )
        return parts._replace(notices=(*parts.notices, notice))
    return parts


def _moved(path: bytes, before: os.stat_result) -> bool:
    """Whether a file is another than the one that was looked at."""
    now = files.status(path)
    return now is None or any(
        getattr(now, mark) != getattr(before, mark) for mark in ("st_ino", "st_size", "st_mtime_ns")
    )


def _index(parts: Parts) -> Parts:
    name = f"{parts.name}-shm"
    try:
        found = files.status(parts.path + b"-shm")
    except OSError as error:
        return _with_step(parts, name, "stat", f"not readable: {error.strerror}")
    if found is None:
        return _with_step(parts, name, "stat", "none")
    if not modes.S_ISREG(found.st_mode):
        return _with_step(parts, name, "stat", files.kind_of(found.st_mode))
    effective = os.access in os.supports_effective_ids
    readable = os.access(parts.path + b"-shm", os.R_OK, effective_ids=effective)
    answer = f"{found.st_size:,} bytes{'' if readable else ', not readable'}"
    return _with_step(parts._replace(has_index=readable), name, "stat", answer)


def _whole(parts: Parts) -> Parts:
    """Whether the file can go with what lies beside it, and is as long as it says."""
    header = parts.header
    assert header is not None
    if header.size == 0 and (parts.log or parts.journal):
        beside = "log" if parts.log else "journal"
        return _damaged(
            parts, "empty-beside", f"the file is empty, and a {beside} that is not lies beside it"
        )
    if not header.sqlite and header.size > 0 and parts.log:
        return _damaged(parts, "no-header", "the file does not begin as a database, and a log lies beside it")
    counted = header.pages > 0 and header.valid_for == header.change_counter
    if header.sqlite and parts.settled and counted and header.pages * header.page_size > header.size:
        told = header.pages * header.page_size
        return _damaged(parts, "file-short", f"the file says it has {told:,} bytes and has {header.size:,}")
    if not header.log_format and header.sqlite and parts.log:
        notice = Notice(
            "log-beside-rollback",
            "A write-ahead log lies beside a file of the rollback format. SQLite reads it all the same, so "
            "it is read here too.",
        )
        return parts._replace(notices=(*parts.notices, notice))
    return parts
