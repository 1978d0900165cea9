"""Looking at a file beneath a root without ever following out of it (ADR-0055 D5, DECISIONS 4).

One component at a time, each looked at from a held descriptor of the directory it is in, so a link that is
put in place between two steps is seen as the link it is. A link is read, never followed by the system: where
it stays beneath the root the walk goes on there; where it leads out the walk ends, and what is behind it is
neither opened nor asked anything. Files are never opened, only looked at; so nothing is read of them.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

__all__ = ["Root", "Seen", "SeenState"]

SeenState = Literal["file", "empty", "missing", "other", "outside", "unreadable"]

_MOST_LINKS = 40
_MOST_TRIES = 8
_BY_DESCRIPTOR = {os.stat, os.open, os.readlink} <= os.supports_dir_fd
# A directory that may be searched but not listed can be walked through where O_PATH exists (Linux).
_DIRECTORY = (
    getattr(os, "O_PATH", os.O_RDONLY)
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, slots=True)
class Seen:
    """What was there at the moment of looking.

    `file` is a regular file of more than zero bytes, `empty` one of zero; `other` is a directory, device,
    fifo or socket; `outside` is a link out of the root; `unreadable` is what the system did not let this
    user look at. `path` is where it was, relative to the root with links resolved; `size` (bytes) and
    `modified` (seconds since 1970) are told of regular files alone; `why` says what kept the others from
    counting.
    """

    state: SeenState
    path: str | None = None
    size: int | None = None
    modified: float | None = None
    why: str | None = None


class Root:
    """A directory files are looked for in. A context manager; `why` says why it cannot be used, if so."""

    def __init__(self, path: str | None) -> None:
        self.why: str | None = None
        self._given = path or ""
        self._real = ""
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        if not self._given:
            self.why = "no root is named"
            return self
        try:
            self._real = os.path.realpath(self._given)
            # The root itself may be named through a link; from here on only the descriptor counts.
            if _BY_DESCRIPTOR:
                self._descriptor = os.open(self._given, _DIRECTORY)
            elif not Path(self._given).is_dir():
                self.why = "the root is missing or not a directory"
        except (OSError, ValueError) as error:
            if isinstance(error, NotADirectoryError):
                self.why = "the root is not a directory"
            else:
                self.why = "the root does not exist" if _is_missing(error) else f"the root: {_reason(error)}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def look(self, path: str) -> Seen:
        """What is at a relative path (parts joined by `/`) beneath this root, now."""
        if self.why is not None:
            return Seen("missing", why=self.why)
        parts = [part for part in path.split("/") if part not in ("", ".")]
        try:
            if self._descriptor is None:
                return self._by_name(parts)
            with ExitStack() as held:
                return _Walk(self._descriptor, (self._real, self._given), held).to(parts)
        except (OSError, ValueError) as error:
            if _is_missing(error):
                return Seen("missing", why="no such file")
            return Seen("unreadable", why=_reason(error))

    def _by_name(self, parts: Sequence[str]) -> Seen:
        # Without descriptors (Windows) the whole path is resolved first, and what it came to is looked at.
        real = os.path.realpath(os.path.join(self._real, *parts))  # noqa: PTH118
        if os.path.commonpath((real, self._real)) != self._real:
            return Seen("outside", why="a link leads out of the root")
        return _seen(os.lstat(real), os.path.relpath(real, self._real).replace(os.sep, "/"))


class _Walk:
    """One walk: the directories entered so far, root first, and the parts still to go."""

    def __init__(self, root: int, names: tuple[str, ...], held: ExitStack) -> None:
        self._names = names
        self._held = held
        self._entered: list[tuple[int, str]] = [(root, "")]

    def to(self, parts: Sequence[str]) -> Seen:
        todo = deque(parts)
        links = tries = 0
        while todo:
            part = todo.popleft()
            if part in ("", "."):
                continue
            if part == "..":
                if len(self._entered) == 1:
                    return Seen("outside", why="a link leads out of the root")
                self._entered.pop()
                continue
            here = self._entered[-1][0]
            found = os.stat(part, dir_fd=here, follow_symlinks=False)
            if stat.S_ISLNK(found.st_mode):
                links += 1
                if links > _MOST_LINKS:
                    return Seen("unreadable", why="too many links, or a circle of them")
                target = self._within(os.readlink(part, dir_fd=here))
                if target is None:
                    return Seen("outside", why="a link leads out of the root")
                todo.extendleft(reversed(target.split("/")))
            elif not any(rest not in ("", ".") for rest in todo):
                return _seen(found, "/".join([*self._trail(), part]))
            else:
                try:
                    self._enter(part, here)
                except OSError as error:
                    # It was a directory's name a moment ago: whatever took its place is looked at anew.
                    swapped = error.errno in (errno.ELOOP, errno.ENOTDIR)
                    if not swapped or not stat.S_ISDIR(found.st_mode) or tries >= _MOST_TRIES:
                        raise
                    tries += 1
                    todo.appendleft(part)
        return Seen("other", "/".join(self._trail()) or ".", why="a directory")

    def _trail(self) -> list[str]:
        return [name for _, name in self._entered[1:]]

    def _enter(self, part: str, here: int) -> None:
        descriptor = os.open(part, _DIRECTORY | _NO_LINK, dir_fd=here)
        self._held.callback(os.close, descriptor)
        self._entered.append((descriptor, part))

    def _within(self, target: str) -> str | None:
        """The rest of the way a link names, seen from where the walk then stands; None: out of the root."""
        if not target.startswith("/"):
            return target
        for name in self._names:
            if name.startswith("/") and (target == name or target.startswith(name.rstrip("/") + "/")):
                del self._entered[1:]
                return target[len(name) :].lstrip("/")
        return None


_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a fifo"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def _seen(found: os.stat_result, path: str) -> Seen:
    if stat.S_ISREG(found.st_mode):
        if found.st_size > 0:
            return Seen("file", path, found.st_size, found.st_mtime)
        return Seen("empty", path, 0, found.st_mtime, why="the file has zero bytes")
    kind = next((word for test, word in _KINDS if test(found.st_mode)), "not a regular file")
    return Seen("other", path, why=kind)


def _is_missing(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return "not a name this system's files can have"
