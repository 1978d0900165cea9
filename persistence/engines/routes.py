"""The one table that says how a SQLite store is opened for reading (DESIGN 3.1, row by row).

`look` asks the state of the files, by `stat` and header bytes alone, and raises the typed refusals;
`opening` says how a store in that state is opened; `answer` says what SQLite's answer to that means.
All three are asked again for every load: a state is true only for the moment it was seen in.
"""

from __future__ import annotations

import os
import stat as modes
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from persistence import files, filesystems
from persistence.basics import Notice, Route
from persistence.errors import NotAStoreError, StoreDamagedError, StoreMissingError, StoreMovedError
from persistence.magic import HEAD, looks_like

__all__ = ["Answer", "Opening", "Sight", "answer", "look", "opening", "restless"]

LONGEST_PATH = 500
"""Bytes of a path that SQLite opens with room for its sidecars' names (its limit is 512)."""


_LOOKS = 20
_SHARED_INDEX = "mode=ro&readonly_shm=1"


@dataclass(frozen=True, slots=True)
class Sight:
    """The state of a store's files at one moment. `path` is resolved; a size of None: not there."""

    path: bytes
    display: str
    identity: files.Identity
    header: files.Header
    links: int = 1
    log: int | None = None
    log_salts: bytes | None = None  # None: no log, or its header is not valid
    index: bool = False  # there is an index, and it may be read
    journal: int | None = None
    hot: bool = False  # the journal begins as one an interrupted transaction leaves
    file_system: str | None = None  # its name, when its `stat` cannot be trusted
    contradictions: tuple[Notice, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def empty(self) -> bool:
        return self.header.size == 0 and not self.log and not self.journal


@dataclass(frozen=True, slots=True)
class Opening:
    """How a store is opened: `query` is that of its URI (None: not by its name), `reason` why by copy.

    A `passing` state may be one a program that opens or closes the store goes through: it is worth a second
    look before a copy is made.
    """

    route: Route
    query: str | None
    reason: str = ""
    notices: tuple[Notice, ...] = ()
    passing: bool = False


class Answer(Enum):
    """What SQLite's error on opening means."""

    WAIT = "another program holds the store: wait within the deadline"
    AGAIN = "the state has changed: ask it again"
    COPY = "read it by private copy"
    RAISE = "it is what it says"


def look(path: bytes, display: str, check: Callable[[int, int], None] | None = None) -> Sight:
    """The state of the store at a path. Raises the typed refusal for what is no store at all.

    A log that nobody has open is checked frame by frame, once (`check` is called as it goes on).
    """
    given, path = path, files.resolve(path)
    for _ in range(_LOOKS):
        try:
            found = files.status(path)
            if found is None:
                raise _missing(given, display)
            if not modes.S_ISREG(found.st_mode):
                raise _not_a_file(path, found.st_mode, display)
            with files.held(path) as file:
                return _look(path, display, found, file, check)
        except FileNotFoundError:
            continue  # a log or a journal that was there a moment ago
        except OSError as error:
            raise files.os_refusal(error, display) from error
    raise StoreMovedError("What lies beside the store comes and goes too quickly.", where=display)


def _look(
    path: bytes,
    display: str,
    found: os.stat_result,
    file: files.Held,
    check: Callable[[int, int], None] | None,
) -> Sight:
    header = files.read_header(file)
    log, journal = _sidecar(path, b"-wal", display), _sidecar(path, b"-journal", display)
    sight = Sight(
        path,
        display,
        (found.st_dev, found.st_ino),
        header,
        found.st_nlink,
        log,
        log_salts=files.log_salts(path + b"-wal") if log else None,
        index=_readable(path + b"-shm"),
        journal=journal,
        # A live writer of a rollback store makes one journal after another; SQLite tells a hot one
        # there by its locks, and no descriptor need be held for each.
        hot=bool(journal)
        and (header.log_format or not header.sqlite)
        and _quietly(lambda name: files.journal_facts(name).hot_header, path + b"-journal"),
        file_system=filesystems.untrusted(path, found.st_dev),
    )
    sight = replace(sight, notices=_notices(sight))
    if not header.sqlite and not sight.empty:
        _sqlite_or_refused(sight, file, display)
    wrong, said = _log_notices(sight, file, check)
    return replace(sight, contradictions=wrong, notices=said)


def opening(sight: Sight) -> Opening:
    """How a store in this state is opened: the rows of DESIGN 3.1's table, from the top."""
    found = (*sight.notices, *sight.contradictions)

    def copy(reason: str) -> Opening:
        return Opening(Route.COPY, None, reason, found)

    if sight.empty:
        return Opening(Route.EMPTY, None, "", found)
    if sight.contradictions:
        return copy(sight.contradictions[0].text)
    if sight.file_system is not None:
        return copy(f"on {sight.file_system} a change does not surely show")
    if len(sight.path) > LONGEST_PATH:
        return copy("the path is longer than SQLite can open")
    if not sight.header.log_format:
        if sight.log is not None:
            return copy("a write-ahead log lies beside a file of the rollback format")
        return Opening(Route.LIVE, "mode=ro", "", found)
    if sight.hot:
        return copy("an interrupted transaction's journal lies beside it")
    if not sight.log:
        return Opening(Route.SETTLED, "mode=ro&immutable=1", "", found)
    if sight.index:
        return Opening(Route.LIVE_LOG, _SHARED_INDEX, "", found)
    return replace(copy("its write-ahead log has no readable index"), passing=True)


def restless(sight: Sight, plan: Opening) -> Opening:
    """How a store that was settled, and moved under the read, is opened when a program still has it open.

    A program that empties its log after every few commits leaves a store that is settled each time it is
    looked at and never for as long as a read takes. Its index is there all that time: it is read as live.
    """
    if plan.route is Route.SETTLED and sight.index and sight.log is not None:
        return replace(plan, route=Route.LIVE_LOG, query=_SHARED_INDEX)
    return plan


def answer(route: Route, error: str, *, moved: bool) -> Answer:
    """What SQLite's error name (`SQLITE_BUSY`, ...) on opening or reading by `route` means.

    `moved` says whether the change token moved since the state was asked.
    """
    if route in (Route.COPY, Route.EMPTY, Route.SERVER):
        return Answer.RAISE
    if route is Route.SETTLED:
        # Read without a lock: whatever it says while the store moves is not the store's fault.
        return Answer.AGAIN if moved else Answer.RAISE
    if error.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return Answer.WAIT
    if error == "SQLITE_READONLY_ROLLBACK":
        return Answer.COPY
    if error.startswith(("SQLITE_IOERR_LOCK", "SQLITE_IOERR_RDLOCK", "SQLITE_IOERR_CHECKRESERVEDLOCK")):
        return Answer.COPY  # a file system that does not lock
    if error.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PROTOCOL", "SQLITE_IOERR_SHM")):
        return Answer.AGAIN
    if moved and error.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR")):
        return Answer.AGAIN
    return Answer.RAISE


def _missing(path: bytes, display: str) -> StoreMissingError:
    if os.path.islink(path):
        return StoreMissingError(
            "The path is a link to a file that is not there. Nothing was created.",
            where=display,
            observed=f"a link to {os.fsdecode(os.readlink(path))}",
        )
    return StoreMissingError(
        "There is no such store. Nothing was created.",
        where=display,
        remedy="Check the path. `store-inspector demo` makes stores to look at.",
    )


def _not_a_file(path: bytes, mode: int, display: str) -> NotAStoreError:
    kind = files.kind_of(mode)
    inside = modes.S_ISDIR(mode) and os.path.isfile(os.path.join(path, b"state.db"))
    return NotAStoreError(
        f"This is {kind}, not a database file.",
        where=display,
        expected="a SQLite database file",
        observed=kind,
        remedy="There is a state.db in it: name that." if inside else "Name the database file itself.",
    )


def _sidecar(path: bytes, suffix: bytes, display: str) -> int | None:
    found = files.status(path + suffix)
    if found is None:
        return None
    if not modes.S_ISREG(found.st_mode):
        kind = files.kind_of(found.st_mode)
        raise StoreDamagedError(
            f"Beside the store lies {kind} where its {suffix.decode()} file belongs.",
            code="odd-sidecar",
            where=display,
            expected="a file, or nothing",
            observed=kind,
            remedy="SQLite cannot open a store so. See what put it there, and move it away.",
        )
    return found.st_size


def _readable(path: bytes) -> bool:
    return os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids)


def _quietly(ask: Callable[[bytes], bool], path: bytes) -> bool:
    """The answer about a sidecar; no when it went away meanwhile. Raises OSError when it may not be read."""
    try:
        return ask(path)
    except FileNotFoundError:
        return False


def _sqlite_or_refused(sight: Sight, file: files.Held, display: str) -> None:
    """Refuses a file that is no database, unless a journal or log beside it may hold its first page."""
    if sight.contradictions or sight.hot or (sight.log_salts is not None):
        return
    size = sight.header.size
    found = looks_like(file.read(HEAD, 0), size)
    raise NotAStoreError(
        f"This is not a SQLite database: it looks like {found.words}.",
        where=display,
        expected="a file that begins with `SQLite format 3`",
        observed=found.words,
        remedy=found.remedy or "Name the database file itself.",
    )


def _notices(sight: Sight) -> tuple[Notice, ...]:
    said: list[Notice] = []
    if sight.links > 1:
        said.append(
            Notice(
                "second-name",
                f"The file has {sight.links} names (hard links). A log or journal lies beside one of them "
                "and is found by name: what was written under another name may not be seen.",
            )
        )
    if sight.log and sight.header.sqlite and not sight.header.log_format:
        said.append(
            Notice(
                "log-beside-rollback",
                "A write-ahead log lies beside a file of the rollback format. SQLite reads it all the same, "
                "so it is read here too.",
            )
        )
    return tuple(said)


def _log_notices(
    sight: Sight, file: files.Held, check: Callable[[int, int], None] | None
) -> tuple[tuple[Notice, ...], tuple[Notice, ...]]:
    """The contradictions of DECISIONS 18, and what is normal but is said."""
    wrong: list[Notice] = []
    said: list[Notice] = list(sight.notices)
    if sight.header.size == 0 and (sight.log or sight.journal):
        beside = "log" if sight.log else "journal"
        wrong.append(
            Notice("empty-beside", f"The file is empty, and a {beside} that is not lies beside it. {_OWNER}")
        )
    elif not sight.header.sqlite and not sight.empty:
        wrong.append(
            Notice(
                "no-header",
                f"The file does not begin as a database, and a journal or log lies beside it. {_OWNER}",
            )
        )
    if sight.log and sight.log_salts is None:
        wrong.append(Notice("log-header", f"The write-ahead log's header is not valid. {_OWNER}"))
    elif sight.log and sight.log > files.LOG_CHECK_LIMIT:
        said.append(Notice("log-unchecked", "The write-ahead log is too long to be checked frame by frame."))
    elif sight.log and files.someone_holds(file) is False:
        # A log somebody has open is read through the index its users share; one nobody has is what
        # recovery makes of it, which may be less than was written.
        facts = files.log_facts(sight.path + b"-wal", check)
        if facts.contradicts:
            wrong.append(
                Notice(
                    "log-broken",
                    f"The write-ahead log breaks off: {facts.lost_commits} transactions behind the "
                    f"break are not read. {_OWNER}",
                )
            )
        elif facts.torn:
            said.append(
                Notice(
                    "log-torn",
                    "The write-ahead log ends in a transaction that was not finished; it is not read, which "
                    "is normal after a crash.",
                )
            )
    return tuple(wrong), tuple(said)


_OWNER = "Let the program that owns the store open it once."
