"""A row source into a file: streamed, in one step, counted, and never over a store.

The file appears whole or not at all. What could be mistaken for a part of a store (the store itself, a name
beside it that SQLite would take for its log) is refused before anything is written.
"""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar

from inspector.reports.writers import Form, RowWriter, encode, writer
from persistence.errors import StoreError

if TYPE_CHECKING:
    from persistence.location import StoreLocation
    from persistence.reading.source import RowSource
    from persistence.records import Row

__all__ = ["ExportError", "Exported", "export_rows", "export_text", "suggested_target"]

CHUNK = 1 << 18  # bytes gathered before the file is written to


class ExportError(StoreError):
    """A file was not written; what was there before is as it was."""

    default_code: ClassVar[str] = "not-exported"


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote: how many rows and bytes, where, and whether those were all there are."""

    path: Path
    rows: int
    size: int
    complete: bool
    reason: str | None = None  # why it is not complete


def suggested_target(name: str, ending: str, location: StoreLocation | None = None) -> Path:
    """A free file name for an export: in the working directory, or in the home directory when that is where
    the store lies (nothing is put beside a store unless it is asked for)."""
    try:
        folder = Path.cwd()
    except OSError:  # the working directory is gone
        folder = Path.home()
    if location is not None and location.path is not None:
        with suppress(OSError):
            if os.path.samefile(folder, os.path.dirname(location.path)):  # noqa: PTH120, PTH121 (bytes)
                folder = Path.home()
    stem = "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip("-.")[:60] or "export"
    target, number = folder / f"{stem}{ending}", 2
    while os.path.lexists(target):
        target, number = folder / f"{stem}-{number}{ending}", number + 1
    return target


async def export_rows(
    source: RowSource,
    target: Path,
    form: Form,
    *,
    location: StoreLocation | None = None,
    store: Mapping[str, Any] | None = None,
    neutralise: bool = False,
    limit: int | None = None,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Exported:
    """Writes the rows of `source`, in its order and with its filter, to `target`.

    `store` is what the JSON form says about where the rows come from (`shapes.store_shape`); `progress` is
    told the number of rows written so far. Cancelling leaves nothing behind. Raises StoreError.
    """
    rows = 0
    more = False

    async def pieces() -> AsyncIterator[str]:
        nonlocal rows, more
        out: RowWriter | None = None
        asked = None if limit is None else limit + 1
        async for row in _closing(source.everything(limit=asked)):
            if limit is not None and rows >= limit:
                more = True
                break
            rows += 1
            if out is None:  # with the first row the columns are known
                out = writer(form, source.columns, store=store, neutralise=neutralise)
                yield out.begin()
            yield out.row(row.cells)
            if progress is not None and rows % 256 == 0:
                progress(rows)
        if out is None:
            out = writer(form, source.columns, store=store, neutralise=neutralise)
            yield out.begin()
        yield out.end(count=rows, **_completeness(source, limit, more))

    size = await _write(target, pieces(), location, overwrite)
    if progress is not None:
        progress(rows)
    said = _completeness(source, limit, more)
    return Exported(target, rows, size, said["complete"], said.get("reason"))


async def export_text(
    pieces: AsyncIterator[str],
    target: Path,
    *,
    location: StoreLocation | None = None,
    overwrite: bool = False,
) -> int:
    """Writes text that comes in pieces (a transcript) to `target`; the number of bytes."""
    return await _write(target, pieces, location, overwrite)


def _completeness(source: RowSource, limit: int | None, more: bool) -> dict[str, Any]:
    if more:
        return {"complete": False, "reason": f"the first {limit} rows were asked for"}
    if part := source.extent.part_of:
        return {"complete": False, "reason": part}
    return {"complete": True}


async def _closing(rows: AsyncIterator[Row]) -> AsyncIterator[Row]:
    """The rows; however this ends, what reads them is ended too."""
    try:
        async for row in rows:
            yield row
    finally:
        close = getattr(rows, "aclose", None)
        if close is not None:
            await close()


async def _write(
    target: Path, pieces: AsyncIterator[str], location: StoreLocation | None, overwrite: bool
) -> int:
    target = target.expanduser()
    _refuse_a_store(target, location)
    if os.path.lexists(target) and not overwrite:
        raise ExportError(
            "There is already a file of that name; it is left as it is.",
            code="file-exists",
            where=str(target),
            remedy="Choose another name, or ask for it to be replaced.",
        )
    name = target.parent / f".{target.name[:40]}.{secrets.token_hex(6)}"
    try:
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise _failed(target, error) from None
    size = 0
    try:
        with os.fdopen(handle, "wb") as file:
            gathered: list[str] = []
            held = 0
            async for piece in pieces:
                gathered.append(piece)
                held += len(piece)
                if held >= CHUNK:
                    size += await asyncio.to_thread(_put, file, gathered)
                    gathered, held = [], 0
            size += await asyncio.to_thread(_put, file, gathered)
            await asyncio.to_thread(_settle, file)
        await asyncio.to_thread(_move, name, target, overwrite)
    except BaseException as error:
        with suppress(OSError):
            name.unlink()
        if isinstance(error, OSError):
            raise _failed(target, error) from None
        raise
    finally:
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()
    return size


def _put(file: IO[bytes], gathered: list[str]) -> int:
    return file.write(encode("".join(gathered)))


def _settle(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _move(name: Path, target: Path, overwrite: bool) -> None:
    if overwrite:
        name.replace(target)
        return
    try:
        os.link(name, target)  # fails when somebody was quicker, where a rename would not
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        name.rename(target)
    else:
        name.unlink()


def _failed(target: Path, error: OSError) -> ExportError:
    return ExportError(
        f"The file was not written: {error.strerror or error}.",
        where=str(target),
        remedy="Choose a place that can be written to and has room.",
    )


_SIDECARS = (b"-journal", b"-wal", b"-shm")
_DATABASES = (".db", ".sqlite", ".sqlite3", ".db3")


def _refuse_a_store(target: Path, location: StoreLocation | None) -> None:
    """Nothing is written over a store's file, or under a name that would become a part of one."""
    wanted = os.fsencode(target)
    if os.path.lexists(wanted) and target.suffix.lower() in _DATABASES:
        raise _belongs(target)
    if any(wanted.endswith(end) and os.path.lexists(wanted[: -len(end)]) for end in _SIDECARS):
        raise _belongs(target)
    if location is None or location.path is None:
        return
    family = [location.path, *(location.path + end for end in _SIDECARS)]
    # A link may stand anywhere in either name: compared as what they lead to, and as what they are.
    real = os.path.realpath(location.path)
    named = {real, *(real + end for end in _SIDECARS), *map(os.path.realpath, family)}
    if os.path.realpath(wanted) in named:
        raise _belongs(target)
    for member in family:
        with suppress(OSError):
            if os.path.samefile(wanted, member):  # noqa: PTH121 (bytes)
                raise _belongs(target)


def _belongs(target: Path) -> ExportError:
    return ExportError(
        "That name belongs to a store; nothing was written.",
        code="export-over-store",
        where=str(target),
        remedy="Choose another name.",
    )
