"""A program under strace, and which of its system calls would have changed something below a directory."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

__all__ = ["Call", "calls", "changes", "traced", "why_not"]

_CHANGING = frozenset(
    """
    write pwrite64 pwritev pwritev2 writev sendfile copy_file_range splice truncate ftruncate fallocate
    unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat mkdir mkdirat rmdir mknod mknodat
    chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat
    setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr creat msync
    """.split()  # noqa: SIM905
)
_OPENING = frozenset(("open", "openat", "openat2"))
_LINE = re.compile(
    r"^(?P<pid>\d+)\s+(?P<name>\w+)\((?P<arguments>.*)\)\s+=\s+(?P<result>-?\d+|0x[0-9a-f]+)(?P<rest>.*)$"
)
_START = re.compile(r"^(?P<pid>\d+)\s+(?P<head>\w+\(.*) <unfinished \.\.\.>$")
_END = re.compile(r"^(?P<pid>\d+)\s+<\.\.\. \w+ resumed>(?P<tail>.*)$")


@dataclass(frozen=True)
class Call:
    """One system call that returned; `paths` are all the paths in it, of arguments and descriptors."""

    pid: int
    name: str
    arguments: str
    result: int
    paths: tuple[str, ...]

    @property
    def succeeded(self) -> bool:
        return self.result >= 0


@lru_cache(maxsize=1)
def why_not() -> str | None:
    """Why nothing can be traced here; None: it can."""
    if sys.platform != "linux" or shutil.which("strace") is None:
        return "strace is not installed"
    done = subprocess.run(["strace", "-f", "-qq", "-o", os.devnull, "true"], capture_output=True, check=False)
    return None if done.returncode == 0 else f"strace may not trace here: {done.stderr.decode().strip()}"


def traced(log: Path, command: Sequence[str]) -> list[str]:
    """The command line that runs `command` with every call about a file or descriptor written to `log`."""
    return [
        "strace",
        "-f",
        "-qq",
        "-y",
        "-s",
        "0",
        "-o",
        str(log),
        "-e",
        "trace=%file,%desc,%process",
        *command,
    ]


def calls(log: Path) -> Iterator[Call]:
    """The calls of a log, those that were interrupted by others put together."""
    started: dict[str, str] = {}
    for line in log.read_text("utf-8", "replace").splitlines():
        if (start := _START.match(line)) is not None:
            started[start["pid"]] = start["head"]
            continue
        if (end := _END.match(line)) is not None:
            line = f"{end['pid']} {started.pop(end['pid'], '?(')}{end['tail']}"
        if (match := _LINE.match(line)) is not None:
            said = match["arguments"] + match["rest"]
            paths = tuple(re.findall(r"<(/[^>]*)>", said)) + tuple(re.findall(r'"(/?[^"]+)"', said))
            yield Call(int(match["pid"]), match["name"], match["arguments"], int(match["result"], 0), paths)


def changes(log: Path, below: Path, *, opened: bool = True) -> list[Call]:
    """The successful calls that could have changed something at or below a directory.

    `opened`: opening for writing counts (where the kernel holds the readers there is none); creating always
    does.
    """
    folder = os.path.realpath(below)
    return [call for call in calls(log) if call.succeeded and _about(call, folder) and _changes(call, opened)]


def _about(call: Call, folder: str) -> bool:
    paths = call.paths
    if call.name in ("copy_file_range", "splice"):  # from the first descriptor into the second
        paths = paths[1:]
    elif call.name == "sendfile":
        paths = paths[:1]
    return any(path == folder or path.startswith(f"{folder}/") for path in _real(paths))


def _real(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        yield path
        if path.startswith("/"):
            yield _realpath(path)


_realpath = lru_cache(maxsize=None)(os.path.realpath)  # a log names the same few paths all over


def _changes(call: Call, opened: bool) -> bool:
    if call.name in _OPENING:
        if "O_CREAT" in call.arguments or "O_TRUNC" in call.arguments or "O_TMPFILE" in call.arguments:
            return True
        return opened and ("O_RDWR" in call.arguments or "O_WRONLY" in call.arguments)
    return call.name in _CHANGING
