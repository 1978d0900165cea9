"""Artifacts whose file is gone.

`file_path` stays uninterpreted in the store (DECISIONS 3). Here it is looked for beneath the artifacts
folder of the artifact's session, and nowhere else: neither a `..` nor a link leads the look out of it, and a
path that is not in it, or has no folder to be in, is one this check cannot tell anything about.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import column, table

from persistence.beneath import Root
from persistence.reading.cells import Cells
from persistence.reading.checks.result import Check, Tally
from persistence.reading.keys import Key, choose_key, terms
from persistence.reading.plans import Plan, run, value
from persistence.reading.previews import Source
from persistence.reading.scans import Bookmark, Scan
from persistence.reading.stored import stored
from persistence.records import Cell, Preview, Progress, TableShape

if TYPE_CHECKING:
    from persistence.reading.store import StoreReading

__all__ = ["ARTIFACT_FILES"]

_AT_ONCE = 200
_LONGEST_PATH = 4_096


async def _gather(reading: StoreReading, tally: Tally, _now: float) -> AsyncGenerator[None, None]:
    dialect = reading.reader.dialect
    async with reading.reader.snapshot() as snapshot:
        tables = await reading.tables(snapshot)
        tally.seen(snapshot.info)
    shape, sessions = tables.get("artifacts"), tables.get("sessions")
    key = None if shape is None else choose_key(shape, dialect)
    if shape is None or key is None or any(shape.column(n) is None for n in ("file_path", "session_id")):
        return
    scan = Scan(table(shape.name), key, terms(shape, key, None), dialect=dialect)
    place: Bookmark | None = None
    done = 0
    while True:
        async with reading.reader.snapshot() as snapshot:
            rows = await run(snapshot, partial(scan.walk, place, _AT_ONCE))
            keys = [scan.key_of(row) for row in rows]
            named = await run(snapshot, partial(_paths, shape, key, keys, sessions, dialect))
            tally.seen(snapshot.info)
        states = await asyncio.to_thread(_look, [(path, root) for _, path, root in named])
        for (each, _, _), state in zip(named, states, strict=True):
            tally.examined += 1
            if state is False:
                tally.add(shape.name, each)
            elif isinstance(state, str):
                tally.cannot_tell(state)
        done += len(rows)
        tally.progress = Progress(done, None, "artifacts")
        yield
        if len(rows) < _AT_ONCE:
            return
        place = scan.mark(rows[-1])


def _paths(
    shape: TableShape, key: Key, keys: Sequence[tuple[Any, ...]], sessions: TableShape | None, dialect: str
) -> Plan[list[tuple[tuple[Any, ...], str, str | None]]]:
    """Of each artifact that names a file: its key, the path, and the folder of its session."""
    own = Cells(table(shape.name), key, _sources(shape, "file_path", "session_id"), dialect)
    rows = yield from own.read(keys, _LONGEST_PATH)
    out: list[tuple[tuple[Any, ...], str, str | None]] = []
    roots: dict[Any, str | None] = {None: None}
    for each, row in zip(keys, rows, strict=True):
        path, session = row or (None, None)
        if isinstance(path, Preview):
            path = path.head
        if not isinstance(path, str) or not path:
            continue
        if session not in roots:
            root: Cell = None
            if sessions is not None and sessions.column("id") is not None:
                same = [column("id") == value(session)]
                found = yield from stored(sessions, dialect, same, cells=_LONGEST_PATH)
                root = found[0].get("artifacts_path") if found else None
            roots[session] = root if isinstance(root, str) and root else None
        out.append((each, path, roots[session]))
    return out


def _sources(shape: TableShape, *names: str) -> list[Source]:
    return [Source(each.name, each.type) for name in names if (each := shape.column(name)) is not None]


def _look(named: Sequence[tuple[str, str | None]]) -> list[bool | str]:
    """For each path and root: whether there is such a file, or why that cannot be told."""
    out: list[bool | str] = []
    by_root: dict[str, list[int]] = {}
    for place, (_, root) in enumerate(named):
        out.append("it names no session with an artifacts folder")
        if root is not None:
            by_root.setdefault(root, []).append(place)
    for root, places in by_root.items():
        if not root.startswith("/") or "\0" in root or len(root) > _LONGEST_PATH:
            for place in places:
                out[place] = "the artifacts folder is no absolute path"
            continue
        with Root(root) as folder:
            for place in places:
                out[place] = _beneath(folder, root, named[place][0])
    return out


def _beneath(folder: Root, root: str, path: str) -> bool | str:
    if folder.why is not None:
        return f"the artifacts folder cannot be looked into: {folder.why}"
    if "\0" in path or len(path) > _LONGEST_PATH:
        return "the path is no path"
    if path.startswith("/"):
        prefix = root.rstrip("/") + "/"
        if not path.startswith(prefix):
            return "the path is outside of its session's artifacts folder"
        path = path[len(prefix) :]
    if os.pardir in path.split("/"):
        return "the path leads upwards"
    seen = folder.look(path)
    if seen.state in ("file", "empty", "other"):
        return True
    if seen.state == "missing":
        return False
    return seen.why or f"the path is {seen.state}"


def _say(tally: Tally) -> str:
    if not tally.examined:
        return "no artifact names a file"
    if tally.count:
        files = "1 artifact's file is" if tally.count == 1 else f"{tally.count:,} artifacts' files are"
        return f"{files} gone"
    known = tally.examined - tally.unknown
    if not known:
        return f"cannot tell whether the files of {tally.examined:,} artifacts are there"
    return f"the files of {known:,} artifacts are there"


ARTIFACT_FILES = Check("artifact-files", "notice", _gather, _say, cached=False)
