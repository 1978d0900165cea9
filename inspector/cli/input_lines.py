"""The input of `record`: a file that can be read twice, or a stream that is read as it comes.

A stream is read by a thread of its own that nobody waits for, so that ctrl-c ends a command whose input is
silent; it reads no further than a few pieces ahead.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from inspector.actions.record import Record
from persistence.errors import StoreError

__all__ = ["KEPT", "input_of"]

PIECE = 1 << 16
AHEAD = 8
"""Pieces a stream is read ahead."""
KEPT = 256 * 1024 * 1024
"""Bytes of a stream that are kept to be previewed."""


async def input_of(file: str, into: str, *, live: bool) -> Record:
    """The action over `file` (`-`: standard input). `live`: what is no file is recorded as it comes; else it
    is read to its end first, to be previewed."""
    if file != "-" and _is_regular(file, into):
        path = Path(file)
        return Record(file, lambda: _of_file(path), again=True)
    name = "standard input" if file == "-" else file
    descriptor = _standard_input() if file == "-" else os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    if live:
        return Record(name, lambda: _of_stream(descriptor), again=False)
    kept: list[bytes] = []
    size = 0
    async for piece in _of_stream(descriptor):
        size += len(piece)
        if size > KEPT:
            raise StoreError(
                "The input is too long to be kept for a preview.",
                code="input-too-long",
                where=name,
                expected=f"at most {KEPT} bytes",
                observed="more",
                remedy="Put it into a file, which is read twice instead.",
            )
        kept.append(piece)

    async def again() -> AsyncIterator[bytes]:
        for piece in kept:
            yield piece

    return Record(name, again, again=True)


def _is_regular(file: str, into: str) -> bool:
    """Whether it is a plain file. Raises StoreError for what cannot be read as an input at all."""
    from persistence import locate

    try:
        found = Path(file).stat()
    except OSError as error:
        raise _unread(file, error) from None
    path = locate(into).path
    for part in () if path is None else (path, path + b"-wal", path + b"-shm", path + b"-journal"):
        # Opening and closing a store's file drops the locks this process has on it.
        with suppress(OSError):
            if os.path.samestat(found, os.stat(part)):  # noqa: PTH116 (bytes)
                raise StoreError(
                    "The input is a file of the store itself.",
                    code="input-is-store",
                    where=file,
                    expected="a file of JSON lines",
                    observed="the managed store",
                    remedy="Name the file the run is told in.",
                )
    if stat.S_ISDIR(found.st_mode):
        raise _unread(file, IsADirectoryError("a directory"))
    return stat.S_ISREG(found.st_mode)


def _standard_input() -> int:
    try:
        return sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):  # closed before we began, or no real one
        raise _unread("standard input", OSError("it is closed")) from None


def _unread(file: str, error: OSError) -> StoreError:
    return StoreError(
        "The input cannot be read.",
        code="input-unread",
        where=file,
        expected="a file of JSON lines, or - for standard input",
        observed=error.strerror or str(error),
        remedy="Check the name, and that this user may read it.",
    )


async def _of_file(path: Path) -> AsyncIterator[bytes]:
    try:
        with path.open("rb") as opened:
            while piece := await asyncio.to_thread(opened.read, 1 << 20):
                yield piece
    except OSError as error:
        raise _unread(str(path), error) from None


async def _of_stream(descriptor: int) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[bytes | OSError] = asyncio.Queue()
    room = threading.Semaphore(AHEAD)

    def read() -> None:
        while room.acquire():
            try:
                piece: bytes | OSError = os.read(descriptor, PIECE)
            except OSError as error:
                piece = error
            with suppress(RuntimeError):  # the loop is closed: nobody reads any more
                loop.call_soon_threadsafe(pieces.put_nowait, piece)
            if not piece or isinstance(piece, OSError):
                return

    threading.Thread(target=read, name="input", daemon=True).start()
    while True:
        piece = await pieces.get()
        room.release()
        if isinstance(piece, OSError):
            raise _unread("standard input", piece)
        if not piece:
            return
        yield piece
