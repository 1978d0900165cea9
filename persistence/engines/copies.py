"""Private copies: how a store is read that cannot be read in place without changing it (DESIGN 3.1).

A copy is made in a new directory that only this user can read, byte for byte through held descriptors,
taken again when the store moved under it, and recovered there. A lock in the directory tells a living
copy from what a killed process left behind.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import stat as modes
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from persistence import files
from persistence.basics import Notice, Progress
from persistence.engines import leases, routes, token
from persistence.engines.faults import error_name, fault, quoting_error
from persistence.engines.shelf import COPY_LIMIT
from persistence.errors import CancelledReadError, CopyRefusedError, StoreError, StoreMovedError
from persistence.location import StoreLocation, sqlite_uri
from persistence.sidecars import JOURNAL_MAGIC

__all__ = ["COPY_LIMIT", "PrivateCopy", "make", "private_copy", "sweep_leftovers"]

_PREFIX = "store-inspector-copy-"
_NAME = b"store"
_KNOWN = frozenset((leases.LOCK, _NAME, *(_NAME + suffix for suffix in (b"-journal", b"-wal", b"-shm"))))
_TRIES = 8
_CHUNK = 8 * 1024 * 1024
Stopped = Callable[[], bool]
_guard = threading.Lock()


class PrivateCopy:
    """A recovered copy of a store. `uri` opens it; `token` is what the store was when it was `taken`."""

    def __init__(self, directory: bytes, lock: int) -> None:
        self.directory = directory
        self.path = os.path.join(directory, _NAME)
        self.token: token.Token | None = None
        self.taken = 0.0
        self.size = 0
        self.notices: tuple[Notice, ...] = ()
        # Also when it is forgotten, and at exit.
        self._finalizer = weakref.finalize(self, _discard, directory, lock, os.getpid())

    @property
    def uri(self) -> str:
        """Opens the copy for reading; nobody else changes it."""
        return sqlite_uri(self.path, "mode=ro&immutable=1")

    @property
    def removed(self) -> bool:
        return not self._finalizer.alive

    def remove(self) -> None:
        """Removes the copy and its directory; calling it again does nothing."""
        self._finalizer()


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a copy is made of, and the headers that tell whether they moved."""

    store: tuple[object, ...]
    journal: tuple[object, ...] | None
    log: tuple[object, ...] | None
    sizes: tuple[int, int, int]


def make(
    path: bytes,
    display: str,
    *,
    with_journal: bool = True,
    with_log: bool = True,
    limit: int | None = COPY_LIMIT,
    progress: Callable[[Progress], None] | None = None,
    stopped: Stopped = lambda: False,
    tries: int = _TRIES,
) -> PrivateCopy:
    """A private copy of the store at `path`, recovered as SQLite would recover the store itself.

    Blocking; not on a thread the kernel holds. `limit` is in bytes (None: any size). `tries` bounds how
    often it is taken again when the store moved under it. Raises
    CopyRefusedError (`copy-too-large`, `no-room`), StoreMovedError, CancelledReadError, and the
    refusals of `routes.look`.
    """
    path = files.resolve(path)
    sweep_leftovers()
    copy = _new_directory(display)
    try:
        for attempt in range(tries):
            sight = routes.look(path, display)
            with contextlib.suppress(FileNotFoundError):  # a log or journal that went meanwhile
                before = _parts(path, with_journal, with_log)
                _room(before.sizes, copy.directory, display, limit)
                copy.token, copy.taken = token.take(path), time.time()
                _copy_all(path, copy, before, progress, stopped, display)
                if _parts(path, with_journal, with_log, like=before) == before:
                    copy.notices = _settle_journal(copy, before, sight)
                    _recover(copy, display)
                    copy.size = os.stat(copy.path).st_size
                    return copy
            _empty(copy.directory)
            if stopped():
                raise _stopped(display)
            time.sleep(0.02 * (attempt + 1))
    except OSError as error:
        copy.remove()
        raise _refusal(error, copy, display) from error
    except BaseException:
        copy.remove()
        raise
    copy.remove()
    raise StoreMovedError(
        f"The store changed under {'a copy' if tries == 1 else f'each of {tries} copies'} of it.",
        where=display,
        remedy="Try again when the program that writes it is less busy.",
    )


@contextlib.contextmanager
def private_copy(
    location: StoreLocation,
    *,
    with_journal: bool = True,
    with_log: bool = True,
    limit: int | None = COPY_LIMIT,
    progress: Callable[[Progress], None] | None = None,
    stopped: Stopped = lambda: False,
) -> Iterator[PrivateCopy]:
    """A private copy for the time of a `with` block; removed before that ends (ADR-0128 D7). See `make`."""
    if location.path is None:
        raise CopyRefusedError("A server database is not copied.", where=location.display)
    copy = make(
        location.path,
        location.display,
        with_journal=with_journal,
        with_log=with_log,
        limit=limit,
        progress=progress,
        stopped=stopped,
    )
    try:
        yield copy
    finally:
        copy.remove()


def _parts(path: bytes, with_journal: bool, with_log: bool, like: _Parts | None = None) -> _Parts:
    """The headers of a store's files now; `like` names the sizes that were copied."""
    with files.held(path) as file:
        found = file.status()
        store: tuple[object, ...] = (*file.identity, file.read(4, 24), file.read(4, 92))
    journal, journal_size = _side(path + b"-journal", 28) if with_journal else (None, 0)
    log, log_size = _side(path + b"-wal", 32) if with_log else (None, 0)
    if journal is None and log is None:
        # With neither beside it, nothing else tells of a change.
        store = (*store, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    elif journal is None:
        # A checkpoint may write pages back while the copy is made: the log, copied after the file,
        # has those pages too, unless it was begun anew, which its header shows.
        store = store[:2]
    return _Parts(store, journal, log, like.sizes if like else (found.st_size, journal_size, log_size))


def _side(path: bytes, head: int) -> tuple[tuple[object, ...] | None, int]:
    try:
        with files.held(path, sidecar=True) as file:
            size = file.status().st_size
            return ((*file.identity, file.read(head, 0)), size) if size else (None, 0)
    except FileNotFoundError:
        return None, 0


def _room(sizes: tuple[int, int, int], directory: bytes, display: str, limit: int | None) -> None:
    total = sum(sizes)
    if limit is not None and total > limit:
        raise CopyRefusedError(
            "The store can only be read from a private copy, and it is large: a copy was not made unasked.",
            code="copy-too-large",
            where=display,
            expected=f"up to {limit:,} bytes",
            observed=f"{total:,} bytes",
            remedy="Allow the copy, or try again when the program that writes the store has closed it.",
        )
    import shutil  # 6 ms, and tempfile has it already

    if shutil.disk_usage(directory).free < total + sizes[2]:  # recovery writes the log into the copy
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _copy_all(
    path: bytes,
    copy: PrivateCopy,
    parts: _Parts,
    progress: Callable[[Progress], None] | None,
    stopped: Stopped,
    display: str,
) -> None:
    total = sum(parts.sizes)
    done = 0

    def step(count: int) -> None:
        nonlocal done
        done += count
        if progress is not None:
            progress(Progress(done, total, "bytes"))
        if stopped():
            raise _stopped(display)

    for suffix, size in zip((b"", b"-journal", b"-wal"), parts.sizes, strict=True):
        if size or not suffix:
            with files.held(path + suffix, sidecar=bool(suffix)) as file:
                _copy_file(file, copy.path + suffix, size, step)


def _copy_file(source: files.Held, target: bytes, size: int, step: Callable[[int], None]) -> None:
    out = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        done, sharing = 0, hasattr(os, "copy_file_range")
        while done < size:
            want = min(_CHUNK, size - done)
            if sharing:
                try:
                    count = os.copy_file_range(source.fd, out, want, done, done)
                except OSError as error:
                    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
                        raise
                    sharing = False  # another file system, or one that cannot
                    continue
            else:
                os.lseek(out, done, os.SEEK_SET)
                count = os.write(out, source.read(want, done))
            if count == 0:
                if sharing:  # some file systems answer so for what they only make when it is read
                    sharing = False
                    continue
                break
            done += count
            step(count)
    finally:
        os.close(out)


def _settle_journal(copy: PrivateCopy, parts: _Parts, sight: routes.Sight) -> tuple[Notice, ...]:
    """Takes a super-journal's name out of the copy's journal, as that file's being there or gone decides.

    Rolling a journal back deletes the super-journal it names, outside the copy. With that file there
    SQLite rolls back; with it gone the transaction was committed, and the journal means nothing.
    """
    notices = [*sight.notices, *sight.contradictions]
    if parts.journal is None:
        return tuple(notices)
    journal = copy.path + b"-journal"
    facts = files.journal_facts(journal)
    if facts.short:
        notices.append(
            Notice(
                "journal-short",
                "The journal beside the store does not hold all the pages it promises. Let the program that "
                "owns the store open it once.",
            )
        )
    if facts.super_journal is not None:
        if _there(facts.super_journal):
            with open(journal, "r+b") as out:
                out.seek(facts.size - len(JOURNAL_MAGIC))
                out.write(bytes(len(JOURNAL_MAGIC)))
        else:
            os.unlink(journal)
    return tuple(notices)


def _there(name: bytes) -> bool:
    """Whether SQLite would say that the named file exists: an empty one does not."""
    try:
        found = os.stat(name)
    except (OSError, ValueError):
        return False
    return not modes.S_ISREG(found.st_mode) or found.st_size > 0


def _recover(copy: PrivateCopy, display: str) -> None:
    """Has SQLite roll the journal back and fold the log in, and leaves one file at rest."""
    # Nobody else knows of the copy, and the temporary directory may be where files cannot be locked.
    query = "mode=rw&vfs=unix-none" if os.name == "posix" else "mode=rw"
    connection = sqlite3.connect(sqlite_uri(copy.path, query), uri=True, isolation_level=None)
    failed: sqlite3.Error | None = None
    try:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")  # no index beside it
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA temp_store=MEMORY")
        connection.execute("PRAGMA schema_version").fetchall()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite3.Error as error:
        failed = error
    except UnicodeDecodeError as error:
        failed = quoting_error(error)
    finally:
        connection.close()
    if failed is not None:
        if error_name(failed).startswith(("SQLITE_FULL", "SQLITE_IOERR_WRITE")):
            full = error_name(failed) == "SQLITE_FULL" or os.statvfs(copy.directory).f_bavail == 0
            number = errno.ENOSPC if full else errno.EIO
            raise OSError(number, os.strerror(number)) from failed
        if any(files.status(copy.path + suffix) for suffix in (b"-journal", b"-wal")):
            raise fault(failed, display) from failed  # what lies beside the store could not be taken in
    for suffix in (b"-journal", b"-wal", b"-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(copy.path + suffix)


def _stopped(where: str) -> CancelledReadError:
    return CancelledReadError("The copy was cancelled; nothing of it is left.", where=where)


def _refusal(error: OSError, copy: PrivateCopy, display: str) -> StoreError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        folder = os.fsdecode(os.path.dirname(copy.directory))
        return CopyRefusedError(
            "The store can only be read from a private copy, and there is no room for one.",
            code="no-room",
            where=display,
            observed=f"no room in {folder}",
            remedy="Make room there, or set TMPDIR to a directory with more.",
        )
    return files.os_refusal(error, display)


# -- directories ------------------------------------------------------------------------------------


def _new_directory(display: str) -> PrivateCopy:
    return PrivateCopy(*leases.take(_PREFIX, display, "The store can only be read from a private copy"))


def _discard(directory: bytes, lock: int, process: int) -> None:
    if os.getpid() == process:  # not in a child that was forked with it
        _remove(directory)
        os.close(lock)


def _empty(directory: bytes) -> None:
    for name in _KNOWN - {leases.LOCK}:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(directory, name))


def _remove(directory: bytes) -> None:
    with contextlib.suppress(OSError):
        _empty(directory)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(directory, leases.LOCK))
        os.rmdir(directory)


_swept = False


def sweep_leftovers(*, again: bool = False) -> int:
    """Removes copies that killed processes of this user left; how many. Once a process, unless `again`."""
    global _swept
    with _guard:
        if _swept and not again:
            return 0
        _swept = True
    return leases.sweep(_PREFIX, _remove, known=_KNOWN)
