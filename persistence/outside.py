"""Reading a file outside the store that a row names, so that a stored text can be held against it.

What a row names is anybody's word. A file is looked at before it is opened: only a regular file is, its last
part never a link, and never a file of this store or of another one that is open here (closing a descriptor of
it would drop locks, see `persistence.files`). No more than its size then, and never more than `LONGEST`, is
read. The answer is an observation of that moment.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from persistence.files import is_open_here, kind_of, resolve, status

if TYPE_CHECKING:
    from persistence.location import StoreLocation

__all__ = ["LONGEST", "OutsideFile", "OutsideState", "look_outside", "read_outside"]

LONGEST = 4_000_000
"""Bytes of the longest file that is read."""

OutsideState = Literal["file", "gone", "cannot tell", "other"]
_SIDECARS = (b"", b"-wal", b"-shm", b"-journal")
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_FLAGS |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_swapped: list[int] = []  # descriptors that turned out to be a store's: closing one would drop its locks


@dataclass(frozen=True, slots=True)
class OutsideFile:
    """What is at a path now.

    `file`: a regular file, `size` bytes, `modified` seconds since 1970; `gone`: nothing is there; `other`: it
    is no regular file; `cannot tell`: `why` says what kept it from being looked at. `text` is what was read
    of it (bytes that are not UTF-8 as surrogate escapes), None when nothing was.
    """

    state: OutsideState
    path: str
    size: int | None = None
    modified: float | None = None
    text: str | None = None
    why: str | None = None


def look_outside(path: object, location: StoreLocation | None) -> OutsideFile:
    """What is at a path, by `lstat` alone: nothing is opened. Raises nothing."""
    refused = _unusable(path)
    if refused is not None:
        return refused
    assert isinstance(path, str)
    try:
        found = os.lstat(path)
    except (OSError, ValueError) as error:
        return _failed(path, error)
    if not stat.S_ISREG(found.st_mode):
        kind = "a link, which is not followed" if stat.S_ISLNK(found.st_mode) else kind_of(found.st_mode)
        return OutsideFile("other", path, why=kind)
    if _of_a_store(found, location):
        return OutsideFile("cannot tell", path, why="it is a file of an open store")
    return OutsideFile("file", path, found.st_size, found.st_mtime)


def read_outside(path: object, location: StoreLocation | None, *, most: int = LONGEST) -> OutsideFile:
    """What is at a path, with its text when it is a regular file of at most `most` bytes. Raises nothing."""
    seen = look_outside(path, location)
    if seen.state != "file":
        return seen
    if (seen.size or 0) > most:
        why = f"it has {seen.size:,} bytes; up to {most:,} are read"
        return OutsideFile("cannot tell", seen.path, seen.size, seen.modified, why=why)
    try:
        descriptor = os.open(seen.path, _FLAGS)
    except (OSError, ValueError) as error:
        return _failed(seen.path, error)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or _of_a_store(found, location) or found.st_size > most:
            return OutsideFile("cannot tell", seen.path, why="it was replaced while it was looked at")
        data = _whole(descriptor, found.st_size)
    except OSError as error:
        return _failed(seen.path, error)
    finally:
        if _of_a_store(found, location):
            _swapped.append(descriptor)
        else:
            os.close(descriptor)
    text = data.decode("utf-8", "surrogateescape")
    return OutsideFile("file", seen.path, len(data), found.st_mtime, text)


def _whole(descriptor: int, size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0 and (part := os.read(descriptor, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _unusable(path: object) -> OutsideFile | None:
    if not isinstance(path, str) or not path:
        return OutsideFile("cannot tell", "", why="no path is recorded")
    if "\0" in path:
        return OutsideFile("cannot tell", path, why="the path has a NUL")
    if not Path(path).is_absolute():
        return OutsideFile("cannot tell", path, why="the path is relative, and to what is not recorded")
    return None


def _of_a_store(found: os.stat_result, location: StoreLocation | None) -> bool:
    identity = (found.st_dev, found.st_ino)
    if is_open_here(identity):
        return True
    if location is None or location.path is None:
        return False
    path = resolve(location.path)
    for suffix in _SIDECARS:
        try:
            own = status(path + suffix)
        except OSError:
            continue
        if own is not None and (own.st_dev, own.st_ino) == identity:
            return True
    return False


def _failed(path: str, error: Exception) -> OutsideFile:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return OutsideFile("gone", path, why="nothing is there")
    if isinstance(error, OSError) and error.strerror:
        return OutsideFile("cannot tell", path, why=error.strerror.lower())
    return OutsideFile("cannot tell", path, why="not a name this system's files can have")
