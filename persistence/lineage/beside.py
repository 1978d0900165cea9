"""What else lies beside a store, and which other programs have it open, as far as the system says.

A directory is listed and `/proc` is looked at; no file is opened.
"""

from __future__ import annotations

import contextlib
import os
import stat as modes
import time
from collections.abc import Iterator

from persistence.basics import FileFacts
from persistence.lineage.report import Opener

__all__ = ["backups", "openers"]

_SIDECARS = (b"", b"-journal", b"-wal", b"-shm")
_MOST = 200  # files told of
_MOST_LISTED = 100_000  # entries of a directory that are looked at
_LONGEST = 1.0  # seconds that processes are looked at


def backups(path: bytes) -> tuple[FileFacts, ...] | None:
    """The other files whose names begin with the store's: backups a migration made (`NAME.pre-...bak`),
    super-journals (`NAME-mj...`), copies. `path` is resolved. None when the folder may not be listed."""
    folder, name = os.path.split(path)
    found: list[FileFacts] = []
    try:
        with os.scandir(folder or b".") as entries:
            for number, entry in enumerate(entries):
                if number >= _MOST_LISTED or len(found) >= _MOST:
                    break
                rest = entry.name[len(name) :]
                if not entry.name.startswith(name) or rest in _SIDECARS or rest[:1] not in b".-~_":
                    continue
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if modes.S_ISREG(status.st_mode):
                        found.append(_facts(entry.name, rest, status))
    except OSError:
        return None
    return tuple(sorted(found, key=lambda facts: facts.name))


def _facts(name: bytes, rest: bytes, status: os.stat_result) -> FileFacts:
    if rest.startswith(b".pre-") and rest.endswith(b".bak"):
        state = "a backup a migration made"
    elif rest.startswith(b"-mj"):
        state = "a super-journal"
    else:
        state = "named after the store"
    mode = modes.S_IMODE(status.st_mode)
    return FileFacts(os.fsdecode(name), True, status.st_size, status.st_mtime, mode, status.st_nlink, state)


def openers(path: bytes) -> tuple[Opener, ...] | None:
    """The other processes that have the store, its journal, log or index open, by number; None where the
    system does not say. Of processes of other users it tells only those that hold locks."""
    wanted = {}
    for suffix in _SIDECARS:
        with contextlib.suppress(OSError):
            found = os.stat(path + suffix)
            wanted[(found.st_dev, found.st_ino)] = os.fsdecode(os.path.basename(path) + suffix)
    try:
        processes = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return None
    if not os.path.isdir("/proc/self/fd"):
        return None
    locking = _lockers(wanted)
    own = os.getpid()
    answer: list[Opener] = []
    until = time.monotonic() + _LONGEST
    for process in sorted(processes):
        if time.monotonic() > until:
            break
        names = {wanted[file] for file in _open_files(process) if file in wanted}
        names |= locking.get(process, set())
        if names and process != own:
            answer.append(Opener(process, _program(process), tuple(sorted(names)), process in locking))
    return tuple(answer)


def _open_files(process: int) -> Iterator[tuple[int, int]]:
    """The device and inode of each file a process has open, as far as this user may know."""
    folder = f"/proc/{process}/fd"
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    found = os.stat(entry.path)
                    yield found.st_dev, found.st_ino
    except OSError:
        return


def _lockers(wanted: dict[tuple[int, int], str]) -> dict[int, set[str]]:
    """Which processes hold POSIX locks on which of these files: /proc/locks tells of every user's."""
    locking: dict[int, set[str]] = {}
    try:
        with open("/proc/locks", encoding="ascii", errors="replace") as table:
            lines = table.read().splitlines()
    except OSError:
        return locking
    for line in lines:
        words = line.split()
        if len(words) < 8 or words[1] == "->":
            continue
        major, minor, inode = words[5].split(":")
        name = wanted.get((os.makedev(int(major, 16), int(minor, 16)), int(inode)))
        if name is not None and words[4].isdigit():
            locking.setdefault(int(words[4]), set()).add(name)
    return locking


def _program(process: int) -> str:
    try:
        with open(f"/proc/{process}/comm", "rb") as comm:
            return os.fsdecode(comm.read().rstrip(b"\n"))
    except OSError:
        return "?"
