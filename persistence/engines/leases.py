"""Temporary directories for private copies: each is one process's, which holds a lock in it as long as it
lives. So what a killed process left is told from what is in use, and removed by another (DESIGN 3.1).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat as modes
import time
from collections.abc import Callable

from persistence import files
from persistence.errors import CopyRefusedError

__all__ = ["LOCK", "sweep", "take"]

LOCK = b"in-use"
"""The name of the lock file."""

_TRIES = 8
_ABANDONED = 3600.0
"""Seconds after which a directory whose lock was never made is what a killed process left."""


def take(prefix: str, display: str, why: str) -> tuple[bytes, int]:
    """A new directory that only this user can read, and the descriptor that holds its lock.

    Raises CopyRefusedError (`no-room` where there is none) that says `why` it is needed, and what it is when
    the process has no descriptors left.
    """
    import tempfile  # 10 ms

    problem: OSError | None = None
    for _ in range(_TRIES):
        directory = lock = None
        try:
            directory = os.fsencode(tempfile.mkdtemp(prefix=prefix))
            lock = _locked(os.path.join(directory, LOCK), os.O_CREAT | os.O_EXCL)
        except OSError as error:
            problem = error
        if directory is not None and lock is not None:
            return directory, lock
        if directory is not None:
            _remove_new(directory)
        if problem is not None:
            break
    if problem is not None and problem.errno in (errno.EMFILE, errno.ENFILE):
        raise files.os_refusal(problem, display) from problem
    room = problem is None or problem.errno not in (errno.ENOSPC, errno.EDQUOT)
    raise CopyRefusedError(
        f"{why}, and no directory for one could be made.",
        code=None if room else "no-room",
        where=display,
        observed=str(problem) if problem is not None else "its lock file could not be locked",
        remedy=f"Set TMPDIR to a directory this user can write{'' if room else ', with room in it'}.",
    ) from problem


def sweep(prefix: str, remove: Callable[[bytes], None], *, known: frozenset[bytes] | None = None) -> int:
    """Removes, by `remove`, the directories of a prefix that killed processes of this user left; how many.

    `known`: one in which anything else lies is left alone.
    """
    import tempfile

    removed = 0
    with contextlib.suppress(OSError), os.scandir(os.fsencode(tempfile.gettempdir())) as entries:
        for entry in entries:
            if entry.name.startswith(os.fsencode(prefix)):
                with contextlib.suppress(OSError):
                    removed += _sweep(entry.path, remove, known)
    return removed


def _sweep(directory: bytes, remove: Callable[[bytes], None], known: frozenset[bytes] | None) -> bool:
    found = os.lstat(directory)
    mine = not hasattr(os, "geteuid") or (found.st_uid == os.geteuid() and not found.st_mode & 0o077)
    if not modes.S_ISDIR(found.st_mode) or not mine:
        return False
    if known is not None and not set(os.listdir(directory)) <= known:
        return False
    try:
        lock = _locked(os.path.join(directory, LOCK))
    except FileNotFoundError:
        # Made a moment ago, and its lock is about to be; or its maker was killed right then.
        if time.time() - found.st_mtime < _ABANDONED:
            return False
        remove(directory)
        return True
    if lock is None:
        return False
    try:
        remove(directory)
    finally:
        os.close(lock)
    return True


def _locked(path: bytes, extra: int = 0) -> int | None:
    """A descriptor of the lock file, locked; None when another process has it, or took it away."""
    fd = os.open(path, os.O_RDWR | extra | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.stat(path).st_ino == os.fstat(fd).st_ino:
            return fd
    except ImportError:  # Windows: an open file cannot be removed, which is a lock of its own
        return fd
    except OSError:
        pass
    os.close(fd)
    return None


def _remove_new(directory: bytes) -> None:
    with contextlib.suppress(OSError):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(directory, LOCK))
        os.rmdir(directory)
