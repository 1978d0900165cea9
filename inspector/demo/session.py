"""One demo from building to leaving: its directory, the child that writes on, and taking both away again.

A directory the demo made for itself is removed when it ends, and those of demos that were killed at the next
start: a lock in each tells the living from the dead. A directory a person named stays.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from inspector.demo.gallery import CARDS, INDEX, Card, read_index
from persistence.errors import StoreError

__all__ = ["DemoError", "Gallery", "build_gallery", "gallery"]

PREFIX = "store-inspector-demo-"
LOCK = ".demo.lock"


class DemoError(StoreError):
    """The gallery could not be built; what was in its directory is as it was."""

    default_code = "no-demo"


@dataclass(frozen=True, slots=True)
class Gallery:
    """A gallery that is built."""

    folder: Path
    cards: tuple[Card, ...]


class _Child(NamedTuple):
    """The program that makes a gallery, and what it says when it cannot."""

    program: subprocess.Popen[bytes]
    complaints: IO[bytes]


def build_gallery(folder: Path | None = None, clock: float | None = None) -> Gallery:
    """Builds the gallery in `folder` (None: a new temporary directory) and leaves it there. Raises DemoError."""
    if folder is None:
        folder = _temporary()
    with _held(_prepared(folder)), _child(folder, clock) as child:
        return _built(child, folder)


@contextmanager
def gallery(folder: Path | None = None, clock: float | None = None) -> Iterator[Gallery]:
    """A gallery with its live store being written, for as long as the demo lasts. Raises DemoError."""
    own = folder is None
    _sweep()
    if folder is None:
        folder = _temporary()
    try:
        with _held(_prepared(folder)), _child(folder, clock, "--live") as child:
            yield _built(child, folder)
    finally:
        if own:
            shutil.rmtree(folder, ignore_errors=True)


def _temporary() -> Path:
    return Path(tempfile.mkdtemp(prefix=PREFIX))


def _prepared(folder: Path) -> Path:
    """Makes the directory; what is in it may only be an older gallery, which is taken away."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = {entry.name for entry in folder.iterdir()} - {LOCK}
    except OSError as error:
        raise DemoError(
            f"The gallery cannot be put there: {error.strerror or error}.",
            where=str(folder),
            remedy="Name a directory that can be written to.",
        ) from None
    ours = {INDEX} | {card.name for card in CARDS} | {card.file for card in CARDS}
    ours |= {f"{card.file}{end}" for card in CARDS for end in ("-wal", "-shm", "-journal")}
    if there and (not read_index(folder) or there - ours):
        raise DemoError(
            "The directory holds something else; it is left as it is.",
            code="demo-directory-taken",
            where=str(folder),
            observed=", ".join(sorted(there - ours or there)[:3]),
            remedy="Name an empty directory, or one that does not exist.",
        )
    return folder


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Holds the directory's lock; kept until the process ends, however it ends."""
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DemoError(
                "A demo is running in that directory.",
                code="demo-running",
                where=str(folder),
                remedy="Leave it first, or name another directory.",
            ) from None
        yield
    finally:
        with suppress(OSError):
            (folder / LOCK).unlink()
        os.close(handle)


@contextmanager
def _child(folder: Path, clock: float | None, *options: str) -> Iterator[_Child]:
    """The program that builds in the directory, whatever was there, and maybe writes on until the end."""
    for entry in list(folder.iterdir()):
        if entry.name != LOCK:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    when = time.time() if clock is None else clock
    with tempfile.TemporaryFile() as complaints:
        # Our end of the pipe closes when this process ends, whatever ends it, and with it the child's input.
        program = subprocess.Popen(
            [sys.executable, "-m", "inspector.demo.build", str(folder), repr(when), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            start_new_session=True,  # ctrl-c is for the application
        )
        try:
            yield _Child(program, complaints)
        finally:
            _stop(program)


def _built(child: _Child, folder: Path) -> Gallery:
    """Waits until the gallery is built. Raises DemoError with the last thing the child said."""
    assert child.program.stdout is not None
    said = child.program.stdout.readline()
    cards = read_index(folder)
    if said != b"built\n" or not cards:
        child.complaints.seek(0)
        lines = child.complaints.read().decode("utf-8", "replace").strip().splitlines()
        raise DemoError(
            "The gallery could not be built.",
            where=str(folder),
            observed=lines[-1] if lines else "nothing was said",
        )
    return Gallery(folder, cards)


def _stop(program: subprocess.Popen[bytes]) -> None:
    for pipe in (program.stdin, program.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    try:
        program.wait(5)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()


def _sweep() -> None:
    """Removes what killed demos of this user left in the temporary directory."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError, DemoError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            if (folder / LOCK).is_file():  # a directory without one was left on purpose (--build-only)
                with _held(folder):
                    shutil.rmtree(folder, ignore_errors=True)
