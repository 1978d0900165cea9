"""Making a new SQLite store: whole or not at all.

The file is made under another name in the same folder and takes the store's name when it is complete, in
one step that replaces nothing, or only an empty file. So a kill while it is made leaves no half store and no
journal beside one; what it leaves is a file of ours with no program behind it, which the next creation
removes.
"""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from persistence import files
from persistence.errors import StoreError, StoreMissingError, StorePermissionError
from persistence.location import StoreLocation, sqlite_uri
from persistence.records import SchemaApplied
from persistence.writing.native.application import apply_schema

__all__ = ["create_store", "replace_empty"]

_MARK = b".new-"
_SIDECARS = (b"", b"-journal", b"-wal", b"-shm")


def create_store(location: StoreLocation, path: bytes) -> SchemaApplied | None:
    """Makes the store at a path where there is none; None when another program was quicker.

    Its folder is made only for a store that was named in the call itself. Raises StoreMissingError when
    there is no folder, and the typed errors of what cannot be written; nothing is left then.
    """
    folder = os.path.dirname(path)
    try:
        with _folder(location, folder), _own_file(path) as made:
            applied = _complete(made, location.display)
            try:
                _take_name(made, path)
            except FileExistsError:
                return None
            _to_disk(folder)
    except (OSError, sqlite3.Error) as error:
        raise _fault(error, location, folder) from error
    return applied


def replace_empty(
    location: StoreLocation, path: bytes, identity: files.Identity, patience: int
) -> SchemaApplied | None:
    """Puts a complete new store in the place of a file of zero bytes.

    Written in place, it would first get a journal, and a kill would leave that beside an empty file: two
    files that no writable open takes any more (DECISIONS 18). The empty file is locked while it is replaced
    (`patience` milliseconds are waited for whoever has it), and its owner and mode are kept. None, with
    nothing changed, where that cannot be done: another user's file, a mount of its own, a folder that
    cannot be written, a file that is not empty any more. Raises sqlite3.Error.
    """
    try:
        was = os.stat(path)
        with _own_file(path) as made:
            _like(made, was)
            applied = _complete(made, location.display)
            with closing(_connection(path)) as empty:
                empty.execute(f"PRAGMA busy_timeout={patience}")
                empty.execute("PRAGMA journal_mode=MEMORY")  # beginning to write would make one on disk
                empty.execute("BEGIN EXCLUSIVE")
                now = os.stat(path)
                if now.st_size or (now.st_dev, now.st_ino) != identity:
                    return None
                os.replace(made, path)
            _to_disk(os.path.dirname(path))
    except OSError:
        return None
    return applied


def _complete(made: bytes, where: str) -> SchemaApplied:
    """Makes the whole store in a file of our own, and sees it to the disk."""
    with closing(_connection(made)) as new:
        new.execute("PRAGMA synchronous=OFF")  # one fsync at the end; until then it is nobody's
        applied = apply_schema(new, made, where)
        new.execute("PRAGMA journal_mode=WAL")
    _to_disk(made)
    return applied


def _connection(path: bytes) -> sqlite3.Connection:
    return sqlite3.connect(sqlite_uri(path, "mode=rw"), uri=True, isolation_level=None)


def _like(made: bytes, other: os.stat_result) -> None:
    """Gives a file of ours the owner and the mode of another; OSError when we may not."""
    if os.name != "posix":
        return
    if (os.stat(made).st_uid, os.stat(made).st_gid) != (other.st_uid, other.st_gid):
        os.chown(made, other.st_uid, other.st_gid)
    os.chmod(made, other.st_mode & 0o7777)


def _fault(error: OSError | sqlite3.Error, location: StoreLocation, folder: bytes) -> StoreError:
    shown = os.fsdecode(folder)
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return StoreMissingError(
            "There is no such folder, and opening a store makes none unless the store is named in the call.",
            where=location.display,
            expected="an existing folder",
            observed=f"no {shown}",
            remedy="Check the path, or make the folder first.",
        )
    if isinstance(error, PermissionError):
        return StorePermissionError(
            "No file can be made in the store's folder by this user.", where=location.display, observed=shown
        )
    return StoreError(
        "The store could not be made.", code="not-created", where=location.display, observed=str(error)
    )


@contextmanager
def _folder(location: StoreLocation, folder: bytes) -> Iterator[None]:
    """The store's folder, made (and, when the store is not, removed again) if it may be."""
    missing = []
    if location.origin == "argument":
        part = folder
        while part and not os.path.isdir(part):
            missing.append(part)
            part = os.path.dirname(part)
    made: list[bytes] = []
    try:
        for part in reversed(missing):
            with suppress(FileExistsError):
                os.mkdir(part)
                made.append(part)
        yield
    except BaseException:
        for part in reversed(made):
            with suppress(OSError):
                os.rmdir(part)
        raise


@contextmanager
def _own_file(path: bytes) -> Iterator[bytes]:
    """A new file beside the store's place, locked as long as somebody works on it; gone afterwards."""
    _sweep(path)
    made = path + _MARK + f"{os.getpid()}-{secrets.token_hex(4)}".encode()
    descriptor = os.open(made, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o644)
    try:
        _locked(descriptor)
        yield made
    finally:
        os.close(descriptor)
        _remove(made)


def _locked(descriptor: int) -> bool:
    """Takes the mark of a living maker; False when another has it. Not SQLite's locks: those are fcntl's."""
    try:
        import fcntl
    except ImportError:  # Windows does not remove a file that is open
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sweep(path: bytes) -> None:
    """Removes what makers that were killed left of this store."""
    folder, name = os.path.split(path)
    with suppress(OSError):
        for entry in os.listdir(folder):
            if (
                not entry.startswith(name + _MARK)
                or not entry[len(name + _MARK) :].replace(b"-", b"").isalnum()
            ):
                continue
            left = os.path.join(folder, entry)
            with suppress(OSError):
                descriptor = os.open(left, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
                try:
                    if _locked(descriptor):
                        _remove(left)
                finally:
                    os.close(descriptor)


def _remove(path: bytes) -> None:
    for suffix in _SIDECARS:
        with suppress(OSError):
            os.unlink(path + suffix)


def _to_disk(path: bytes) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(path or b".", os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_NO_REPLACE = 1  # renameat2(2)
_HERE = -100  # AT_FDCWD


def _take_name(made: bytes, path: bytes) -> None:
    """Gives the file the store's name unless it is taken (FileExistsError)."""
    if sys.platform.startswith("linux"):
        libc = ctypes.CDLL(None, use_errno=True)
        if hasattr(libc, "renameat2"):
            if libc.renameat2(_HERE, made, _HERE, path, _NO_REPLACE) == 0:
                return
            number = ctypes.get_errno()
            if number not in (errno.ENOSYS, errno.EINVAL):
                raise OSError(number, os.strerror(number), os.fsdecode(path))
    os.link(made, path)
    os.unlink(made)
