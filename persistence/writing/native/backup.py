"""The copy that is made of a SQLite store before a migration rebuilds tables of it."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress

from persistence import files
from persistence.errors import SchemaApplicationError
from persistence.location import sqlite_uri
from persistence.schema.known import SCHEMA_VERSION

__all__ = ["backups_beside", "make_backup"]

_SUFFIX = b".bak"


def make_backup(path: bytes, where: str) -> bytes:
    """Copies the store, as its last commit left it, to a new file beside it, and returns that file's path.

    Called while the migration holds the write lock, so that the copy is exactly what it starts from. The
    copy has the store's permissions, and is on the disk when this returns. Raises SchemaApplicationError.
    """
    target = _free_name(path)
    try:
        made = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            _copy(path, target)
            os.fchmod(made, files.hold(path).status().st_mode & 0o777)
            os.fsync(made)
        except BaseException:
            discard(target)
            raise
        finally:
            os.close(made)
    except (OSError, sqlite3.Error) as error:
        raise SchemaApplicationError(
            "The store's schema is older, and the copy that is made before it is changed could not be made.",
            code="no-backup",
            where=where,
            observed=str(error),
            remedy="Nothing was changed. Make room, and see that the store's folder can be written.",
        ) from error
    return target


def _free_name(path: bytes) -> bytes:
    stem = path + f".pre-v{SCHEMA_VERSION}.{int(time.time())}".encode()
    name, number = stem + _SUFFIX, 1
    while os.path.lexists(name):
        name, number = stem + f"-{number}".encode() + _SUFFIX, number + 1
    return name


def _copy(path: bytes, target: bytes) -> None:
    with (
        closing(sqlite3.connect(sqlite_uri(path, "mode=ro"), uri=True, timeout=5)) as source,
        closing(sqlite3.connect(sqlite_uri(target, "mode=rw"), uri=True, isolation_level=None)) as copy,
    ):
        copy.execute("PRAGMA journal_mode=OFF")
        copy.execute("PRAGMA synchronous=OFF")
        source.backup(copy, pages=-1)


def discard(target: bytes) -> None:
    """Removes a copy that is not needed: the store was not changed."""
    for suffix in (b"", b"-journal", b"-wal", b"-shm"):
        with suppress(OSError):
            os.unlink(target + suffix)


def backups_beside(path: bytes) -> tuple[str, ...]:
    """The names of the copies migrations made of this store, ours and other releases', oldest first."""
    folder, name = os.path.split(path)
    try:
        entries = os.listdir(folder)
    except OSError:
        return ()
    found = [one for one in entries if one.startswith(name + b".pre-") and one.endswith(_SUFFIX)]
    return tuple(os.fsdecode(one) for one in sorted(found))
