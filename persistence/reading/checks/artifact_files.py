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

from sqlalchemy import ColumnElement, Select, column, func, select, table

from persistence.beneath import Root
from persistence.reading.checks.result import Check, Tally
from persistence.reading.keys import Key, choose_key, terms
from persistence.reading.plans import Ask, Plan, Statement, run, value
from persistence.reading.scans import Bookmark, Scan, key_is, key_values
from persistence.records import Progress, TableShape

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
    rooted = sessions is not None and sessions.column("artifacts_path") is not None
    scan = Scan(table(shape.name), key, terms(shape, key, None), dialect=dialect)
    place: Bookmark | None = None
    done = 0
    while True:
        async with reading.reader.snapshot() as snapshot:
            rows = await run(snapshot, partial(scan.walk, place, _AT_ONCE))
            keys = [scan.key_of(row) for row in rows]
            named = await run(snapshot, partial(_paths, shape, key, keys, rooted, dialect))
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
    shape: TableShape, key: Key, keys: Sequence[tuple[Any, ...]], rooted: bool, dialect: str
) -> Plan[list[tuple[tuple[Any, ...], str, str | None]]]:
    """Of each artifact that names a file: its key, the path, and the folder of its session."""
    own = table(shape.name)
    out: list[tuple[tuple[Any, ...], str, str | None]] = []
    roots: dict[Any, str | None] = {}
    short: list[ColumnElement[Any]] = [
        func.substr(column("file_path"), 1, _LONGEST_PATH + 1),
        column("session_id"),
    ]
    for each in keys:
        query: Select[Any] = select(*short).select_from(own).where(key_is(key, each))
        found = yield Ask(Statement(query, dialect), key_values(each))
        if not found or not isinstance(found[0][0], str) or not found[0][0]:
            continue
        path, session = found[0]
        if session not in roots:
            roots[session] = None
            if rooted and session is not None:
                folder: Select[Any] = select(func.substr(column("artifacts_path"), 1, _LONGEST_PATH + 1))
                same = column("id") == value(session)
                rows = yield Ask(Statement(folder.select_from(table("sessions")).where(same), dialect))
                root = rows[0][0] if rows else None
                roots[session] = root if isinstance(root, str) and root else None
        out.append((each, path, roots[session]))
    return out


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
