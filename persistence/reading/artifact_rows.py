"""Artifacts as a windowed source, by the shape of their natural key, and what is at their paths now.

`file_path` is a reference that nobody interpreted when it was stored (ADR-0055 D4). What is said of it here
is an observation of the moment it was looked at: beneath the artifacts folder of the artifact's session where
it has one, never followed out of it, otherwise at the absolute path itself; nothing is opened.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from sqlalchemy import ColumnElement, Text, and_, case, cast, column, false, literal, null

from persistence.beneath import Root
from persistence.outside import look_outside
from persistence.reading.listed import Field, Listed
from persistence.reading.listing import Listing
from persistence.reading.plans import Plan, run, value
from persistence.reading.previews import Source
from persistence.reading.rows import find_table
from persistence.reading.runs import runs_where
from persistence.reading.stored import stored
from persistence.records import Cell, Column, ColumnKind, Order, TableShape

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot
    from persistence.location import StoreLocation
    from persistence.reading.source import RowSource
    from persistence.reading.store import StoreReading

__all__ = ["KEY_SHAPES", "KeyShape", "artifacts", "contracts"]

KeyShape = Literal["invocation", "session", "both", "none"]
KEY_SHAPES: Final[tuple[str, ...]] = get_args(KeyShape)
"""What an artifact's natural key names beside kind and name (ADR-0055 D4)."""

_LONGEST_PATH = 4_096
_SHOWN: tuple[tuple[str, str, ColumnKind], ...] = (
    ("name", "name", "text"),
    ("kind", "kind", "text"),
    ("key", "key", "text"),
    ("file_path", "path", "text"),
    ("now", "path now", "text"),
    ("updated_at", "updated", "time"),
    ("created_at", "created", "time"),
    ("content", "content", "json"),
    ("session_id", "session", "id"),
    ("invocation_id", "invocation", "id"),
    ("id", "id", "id"),
)


def artifacts(reading: StoreReading, shape: KeyShape | None = None) -> RowSource:
    """The artifacts (None: of every key shape), the last written first. A row's key is `(artifact id,)`.

    `key` is the key's shape. `now` comes from `complete`: `present, 12,410 B`, `gone`, `cannot tell: why`;
    NULL where no path is recorded.
    """

    async def make(snapshot: Snapshot) -> Listed:
        found = await find_table(reading, snapshot, "artifacts")
        sessions = (await reading.tables(snapshot)).get("sessions")
        has = {name: found.column(name) is not None for name, _, _ in _SHOWN}
        known = has["session_id"] and has["invocation_id"]
        conditions = () if shape is None else (_shaped(shape) if known else false(),)
        newest = Order("updated_at", descending=True) if has["updated_at"] else None
        return Listed(
            found,
            snapshot.dialect,
            tuple(_field(found, sessions, reading.location, known, *shown) for shown in _SHOWN),
            conditions=conditions,
            narrowed=shape is not None,
            own_order=newest,
            identity="id" if has["id"] else None,
        )

    columns = tuple(Column(name, label, kind) for name, label, kind in _SHOWN)
    return Listing(reading, "artifacts", make, columns=columns)


def contracts(reading: StoreReading) -> RowSource:
    """The runs that were expected to leave files, as `runs` lists them."""

    def where(shape: TableShape) -> Sequence[ColumnElement[bool]]:
        if shape.column("artifact_contract_json") is None:
            return (false(),)
        kept: ColumnElement[Any] = column("artifact_contract_json")
        return (kept.is_not(None), cast(kept, Text) != "null")

    return runs_where(reading, where)


def _shaped(shape: KeyShape) -> ColumnElement[bool]:
    session: ColumnElement[Any] = column("session_id")
    invocation: ColumnElement[Any] = column("invocation_id")
    return and_(
        session.is_not(None) if shape in ("session", "both") else session.is_(None),
        invocation.is_not(None) if shape in ("invocation", "both") else invocation.is_(None),
    )


def _field(
    shape: TableShape,
    sessions: TableShape | None,
    location: StoreLocation,
    known: bool,
    name: str,
    label: str,
    kind: ColumnKind,
) -> Field:
    shown = Column(name, label, kind)
    declared = shape.column(name)
    if name == "key" and known:
        told = case(*((_shaped(each), literal(each)) for each in get_args(KeyShape)), else_=null())
        return Field(shown, Source(computed=told), sort_by=told)
    if name == "now" and shape.column("file_path") is not None and shape.column("id") is not None:

        async def late(snapshot: Snapshot, keys: Sequence[tuple[Any, ...]]) -> Sequence[Cell]:
            return await _now(shape, sessions, location, snapshot, [key[0] for key in keys])

        return Field(Column(name, label, kind, sortable=False), late=late)
    if declared is not None:
        return Field(shown, Source(declared.name, declared.type))
    return Field(Column(name, label, kind, sortable=False, missing=True))


async def _now(
    shape: TableShape,
    sessions: TableShape | None,
    location: StoreLocation,
    snapshot: Snapshot,
    ids: Sequence[Any],
) -> Sequence[Cell]:
    places = await run(snapshot, lambda: _places(shape, sessions, ids, snapshot.dialect))
    return await asyncio.to_thread(lambda: [_look(path, root, location) for path, root in places])


def _places(
    shape: TableShape, sessions: TableShape | None, ids: Sequence[Any], dialect: str
) -> Plan[list[tuple[Cell, Cell]]]:
    """Of each artifact its path, and the artifacts folder of its session."""
    roots: dict[Any, Cell] = {None: None}
    out: list[tuple[Cell, Cell]] = []
    for each in ids:
        rows = yield from stored(shape, dialect, [column("id") == value(each)], cells=_LONGEST_PATH)
        own = rows[0] if rows else {}
        session = own.get("session_id")
        if session not in roots:
            roots[session] = None
            if sessions is not None and sessions.column("id") is not None and isinstance(session, str):
                same = [column("id") == value(session)]
                found = yield from stored(sessions, dialect, same, cells=_LONGEST_PATH)
                roots[session] = found[0].get("artifacts_path") if found else None
        out.append((own.get("file_path"), roots[session]))
    return out


def _look(path: Cell, root: Cell, location: StoreLocation) -> Cell:
    """What is at an artifact's path now, in words; None where it names none."""
    if path is None or path == "":
        return None
    if isinstance(path, str) and isinstance(root, str) and root.startswith("/") and "\0" not in path + root:
        prefix = root.rstrip("/") + "/"
        inside = path[len(prefix) :] if path.startswith(prefix) else path
        if not inside.startswith("/"):
            return _beneath(root, inside)
    found = look_outside(path, location)
    if found.state == "file":
        return _present(found.size)
    return "gone" if found.state == "gone" else f"cannot tell: {found.why}"


def _beneath(root: str, path: str) -> Cell:
    if os.pardir in path.split("/"):
        return "cannot tell: the path leads upwards"
    with Root(root) as folder:
        if folder.why is not None:
            return "gone" if "does not exist" in folder.why else f"cannot tell: {folder.why}"
        seen = folder.look(path)
    if seen.state in ("file", "empty"):
        return _present(seen.size)
    return "gone" if seen.state == "missing" else f"cannot tell: {seen.why or seen.state}"


def _present(size: int | None) -> str:
    return f"present, {size or 0:,} B"
