"""The only code that opens a store's files: held descriptors, `stat`, headers, what lies beside a file.

Closing any descriptor of a file drops every POSIX lock this process holds on it, and a writer here then
loses its commits unseen. So each file is opened once, read through that descriptor for the life of the
process, and never closed; the index (`-shm`), which carries locks too, is never opened at all. A log or a
journal carries no locks: its descriptor is let go once the file has no name left, so that following a
store whose log comes and goes does not collect them.
"""

from __future__ import annotations

import contextlib
import os
import stat as modes
import struct
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from persistence.basics import FileFacts
from persistence.errors import NotAStoreError, StoreError, StoreMissingError, StorePermissionError
from persistence.location import StoreLocation

if TYPE_CHECKING:
    from persistence.magic import Looks
    from persistence.sidecars import JournalFacts, LogFacts

__all__ = [
    "KEEPS",
    "LOG_CHECK_LIMIT",
    "Header",
    "Held",
    "Identity",
    "describe",
    "held",
    "hold",
    "is_open_here",
    "journal_facts",
    "locks_work",
    "log_facts",
    "log_header",
    "log_salts",
    "looks",
    "os_refusal",
    "read_header",
    "resolve",
    "someone_holds",
    "someone_writes",
    "status",
]

Identity = tuple[int, int]
"""Device and inode: which file it is, however its path is spelled."""

LOG_CHECK_LIMIT = 256 * 1024 * 1024
"""Bytes of a log above which its frames are not checked one by one (that takes some three seconds)."""

SQLITE = b"SQLite format 3\0"
KEEPS = os.name != "nt"
"""Whether a descriptor is kept: on Windows a lock belongs to the handle that took it (ADR-0128 D7)."""

_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_FLAGS |= getattr(os, "O_BINARY", 0)
_lock = threading.RLock()
_stores: dict[Identity, Held] = {}
_sidecars: dict[Identity, Held] = {}
_spares: list[int] = []  # second descriptors of a held file, opened by a race: closing one would drop locks
_logs: OrderedDict[tuple[int, ...], LogFacts] = OrderedDict()


class Held:
    """A file held open for reading; positions are given with each read, so any thread may use it."""

    __slots__ = ("fd", "identity", "users")

    def __init__(self, fd: int, identity: Identity) -> None:
        self.fd = fd
        self.identity = identity
        self.users = 0

    def read(self, count: int, offset: int) -> bytes:
        """Up to `count` bytes from `offset`; fewer only at the end of the file."""
        parts: list[bytes] = []
        while count > 0:
            part = _read_at(self.fd, count, offset)
            if not part:
                break
            parts.append(part)
            count -= len(part)
            offset += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def status(self) -> os.stat_result:
        return os.fstat(self.fd)


if hasattr(os, "pread"):
    _read_at = os.pread
else:  # Windows, where a lock belongs to its handle

    def _read_at(fd: int, count: int, offset: int) -> bytes:
        with _lock:
            os.lseek(fd, offset, os.SEEK_SET)
            return os.read(fd, count)


class Header(NamedTuple):
    """The first 100 bytes of a database: https://www.sqlite.org/fileformat2.html, section 1.3."""

    size: int  # of the file
    sqlite: bool
    page_size: int = 0
    write_version: int = 0  # 1: rollback journal, 2: write-ahead log
    read_version: int = 0
    change_counter: int = 0
    pages: int = 0
    schema_cookie: int = 0
    encoding: str | None = None
    user_version: int = 0
    application_id: int = 0
    valid_for: int = 0
    written_by: int = 0  # the SQLite version number of the last writer, such as 3040001

    @property
    def log_format(self) -> bool:
        """Whether SQLite looks for a write-ahead log (it goes by the read version)."""
        return self.read_version == 2


def resolve(path: bytes) -> bytes:
    """The path as SQLite resolves it: links followed, so that sidecars are looked for beside the file."""
    try:
        return os.path.realpath(path)
    except OSError:
        return path


def status(path: bytes) -> os.stat_result | None:
    """`stat` of a path; None when there is no such file."""
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def hold(path: bytes, *, sidecar: bool = False) -> Held:
    """The held descriptor of the file at a path. Raises OSError.

    `sidecar` says that it is a log or journal, which may be let go when its name is gone; use those
    within `held`.
    """
    with _lock:
        found = os.stat(path)
        identity = (found.st_dev, found.st_ino)
        known = _stores.get(identity) or _sidecars.get(identity)
        if known is not None:
            if not sidecar and identity in _sidecars:
                _stores[identity] = _sidecars.pop(identity)
            return known
        if not modes.S_ISREG(found.st_mode):
            raise OSError(22, "not a regular file", os.fsdecode(path))
        if sidecar:
            _let_go()
        fd = os.open(path, _FLAGS)
        opened = os.fstat(fd)
        identity = (opened.st_dev, opened.st_ino)  # another than a moment ago, when it was replaced
        known = _stores.get(identity) or _sidecars.get(identity)
        if known is not None:
            _spares.append(fd)
            return known
        return (_sidecars if sidecar else _stores).setdefault(identity, Held(fd, identity))


def is_open_here(identity: Identity) -> bool:
    """Whether this process holds that file: nobody else may open and close it."""
    with _lock:
        return identity in _stores or identity in _sidecars


def _let_go() -> None:
    for identity, file in list(_sidecars.items()):
        if file.users == 0 and os.fstat(file.fd).st_nlink == 0:
            del _sidecars[identity]
            os.close(file.fd)


@contextlib.contextmanager
def held(path: bytes, *, sidecar: bool = False) -> Iterator[Held]:
    """A file's held descriptor, kept from being let go while it is used. Raises OSError."""
    if not KEEPS:
        # An ordinary open: one that stays would keep others from renaming or removing the file.
        fd = os.open(path, _FLAGS)
        try:
            found = os.fstat(fd)
            yield Held(fd, (found.st_dev, found.st_ino))
        finally:
            os.close(fd)
        return
    with _lock:
        file = hold(path, sidecar=sidecar)
        file.users += 1
    try:
        yield file
    finally:
        with _lock:
            file.users -= 1


def read_header(file: Held) -> Header:
    """The header facts of a held file, read now."""
    size = file.status().st_size
    head = file.read(100, 0)
    if len(head) < 100 or not head.startswith(SQLITE):
        return Header(size, head.startswith(SQLITE))
    page = struct.unpack_from(">H", head, 16)[0]
    counter, pages, _free, _frees, cookie = struct.unpack_from(">IIIII", head, 24)
    encoding, user = struct.unpack_from(">II", head, 56)
    application = struct.unpack_from(">I", head, 68)[0]
    valid, version = struct.unpack_from(">II", head, 92)
    return Header(
        size,
        True,
        65536 if page == 1 else page,
        head[18],
        head[19],
        counter,
        pages,
        cookie,
        {1: "UTF-8", 2: "UTF-16le", 3: "UTF-16be"}.get(encoding),
        user,
        application,
        valid,
        version,
    )


def looks(path: bytes) -> Looks:
    """What the file at a path looks like by its first bytes. Raises OSError."""
    from persistence.magic import HEAD, looks_like

    with held(path) as file:
        return looks_like(file.read(HEAD, 0), file.status().st_size)


def log_header(path: bytes) -> bool:
    """Whether the log at this path begins with a valid header. Raises OSError."""
    return log_salts(path) is not None


def log_salts(path: bytes) -> bytes | None:
    """The salts of the log at this path, which tell its generation; None: its header is not valid.

    Raises OSError.
    """
    from persistence.sidecars import log_header_valid

    with held(path, sidecar=True) as file:
        head = file.read(32, 0)
    return head[16:24] if log_header_valid(head) else None


def log_facts(path: bytes, check: Callable[[int, int], None] | None = None) -> LogFacts:
    """The facts of the log at this path, each frame checked; remembered while the file does not move.

    Raises OSError, and whatever `check` raises to stop.
    """
    from persistence.sidecars import read_log

    with held(path, sidecar=True) as file:
        found = file.status()
        key = (*file.identity, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        known = _logs.get(key)
        if known is None:
            known = read_log(file.read, found.st_size, check)
            if file.status().st_mtime_ns == found.st_mtime_ns:
                _logs[key] = known
                while len(_logs) > 32:
                    _logs.popitem(last=False)
        return known


def journal_facts(path: bytes) -> JournalFacts:
    """The facts of the journal at this path. Raises OSError."""
    from persistence.sidecars import read_journal

    with held(path, sidecar=True) as file:
        return read_journal(file.read, file.status().st_size)


def someone_holds(file: Held) -> bool | None:
    """Whether a connection, of any process, has this WAL store open now; None: the system does not say.

    Asks the kernel (F_OFD_GETLK) about the bytes every such connection keeps locked; takes no lock.
    """
    return _locked(file, 0x40000002, 510)


def someone_writes(file: Held) -> bool | None:
    """Whether a connection, of any process, is writing this store of the rollback format now (it has the
    reserved lock); None: the system does not say."""
    return _locked(file, 0x40000001, 1)


def locks_work(file: Held) -> bool:
    """Whether the file's file system answers questions about locks at all (some network ones do not)."""
    if not sys.platform.startswith("linux"):
        return True
    import errno
    import fcntl

    try:
        fcntl.fcntl(file.fd, fcntl.F_GETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0))
    except OSError as error:
        return error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)
    return True


def _locked(file: Held, start: int, length: int) -> bool | None:
    if not sys.platform.startswith("linux"):
        return None
    import fcntl

    # struct flock: type, whence, start, length, pid.
    question = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
    try:
        answer = fcntl.fcntl(file.fd, 36, question)
    except OSError:
        return None
    return bool(struct.unpack_from("h", answer)[0] != fcntl.F_UNLCK)


def describe(location: StoreLocation) -> tuple[FileFacts, ...]:
    """The store's file and the three that may lie beside it, in this order: file, -wal, -shm, -journal.

    Files that are not there come with `exists=False`; what cannot be read says so in `state`. A server
    has none.
    """
    if location.path is None:
        return ()
    path = resolve(location.path)
    return tuple(_describe(path, suffix) for suffix in (b"", b"-wal", b"-shm", b"-journal"))


def _describe(path: bytes, suffix: bytes) -> FileFacts:
    name = os.fsdecode(os.path.basename(path + suffix))
    try:
        found = status(path + suffix)
        if found is None:
            return FileFacts(name, False, state="none")
        state = _state(path + suffix, suffix, found)
    except OSError as error:
        return FileFacts(name, True, state=f"not readable: {error.strerror}")
    return FileFacts(
        name, True, found.st_size, found.st_mtime, modes.S_IMODE(found.st_mode), found.st_nlink, state
    )


def _state(path: bytes, suffix: bytes, found: os.stat_result) -> str:
    if not modes.S_ISREG(found.st_mode):
        return kind_of(found.st_mode)
    if suffix == b"-shm":
        return "readable" if os.access(path, os.R_OK) else "not readable"
    if suffix == b"-wal":
        if found.st_size > LOG_CHECK_LIMIT:
            return "its header is not valid" if log_salts(path) is None else "not checked (too long)"
        return log_facts(path).words
    if suffix == b"-journal":
        return journal_facts(path).words
    with held(path) as file:
        header = read_header(file)
        if not header.sqlite:
            from persistence.magic import HEAD, looks_like

            return looks_like(file.read(HEAD, 0), found.st_size).words.removeprefix("a ").removeprefix("an ")
    return "write-ahead log format" if header.log_format else "rollback journal format"


def kind_of(mode: int) -> str:
    """What is at a path when it is not a regular file."""
    for test, word in (
        (modes.S_ISDIR, "a directory"),
        (modes.S_ISCHR, "a device"),
        (modes.S_ISBLK, "a device"),
        (modes.S_ISFIFO, "a pipe"),
        (modes.S_ISSOCK, "a socket"),
    ):
        if test(mode):
            return word
    return "a file" if modes.S_ISREG(mode) else "not a file"


def os_refusal(error: OSError, where: str, what: str = "The store") -> StoreError:
    """The typed refusal for what the operating system said about a file."""
    if isinstance(error, PermissionError):
        return StorePermissionError(
            f"{what} may not be read by this user.",
            where=where,
            observed=error.strerror,
            remedy="Ask the owner of the file for the right to read it, or run as that user.",
        )
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return StoreMissingError(
            "There is no such store. Nothing was created.",
            where=where,
            remedy="Check the path. `store-inspector demo` makes stores to look at.",
        )
    if error.errno in (24, 23):  # EMFILE, ENFILE
        return StoreError(
            "No more files can be opened by this process.",
            code="too-many-files",
            where=where,
            observed=error.strerror,
            remedy="Raise the limit (ulimit -n) and start again.",
        )
    if error.errno in (40, 36):  # ELOOP, ENAMETOOLONG
        return NotAStoreError("The path leads to no file.", where=where, observed=error.strerror)
    return StoreError(
        f"{what} could not be read from its device.",
        code="io-error",
        where=where,
        observed=error.strerror or str(error),
        remedy="The store was not touched. Look at the device and the system's log.",
    )
