"""Opening a SQLite store for writing: whose it is, its schema, then its one writer (ADR-0128 D7)."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import ExitStack
from dataclasses import replace
from typing import NamedTuple

from persistence import files
from persistence.engines.gate import gate_for
from persistence.engines.native_reader import NativeReader
from persistence.engines.native_sqlite import TEXT, NativeSqlite
from persistence.engines.patience import busy_timeout
from persistence.engines.thread import Worker
from persistence.engines.write_faults import sqlite_write_fault
from persistence.errors import StoreMovedError
from persistence.lineage import (
    LineageReport,
    check_first_connection,
    check_later_connection,
    check_transaction,
    claim,
    connection_identity,
    examine,
)
from persistence.location import StoreLocation, sqlite_uri
from persistence.records import Notice, SchemaApplied
from persistence.writing.native.application import apply_schema
from persistence.writing.native.creation import create_store, replace_empty
from persistence.writing.native.messages import may_hold

__all__ = ["open_sqlite"]

_READS_TO_END = 10.0  # seconds reads of this process have to end before a writer can be opened
_NO_LOG = "The store stays in journal mode {}: a write-ahead log is not possible where it lies."
_SETTINGS = (
    "synchronous=NORMAL",
    "foreign_keys=ON",
    "cache_size=-64000",
    "wal_autocheckpoint=1000",
    "temp_store=MEMORY",
)


class Opened(NamedTuple):
    """What the opening came to, on the writer's thread."""

    connection: sqlite3.Connection
    applied: SchemaApplied
    held: ExitStack


async def open_sqlite(location: StoreLocation) -> tuple[NativeSqlite, SchemaApplied]:
    """The engine of a native store, and what its opening did. Raises the refusals and faults of an open;
    nothing is left open then."""
    state: list[Opened] = []

    def ended() -> None:
        while state:
            opened = state.pop()
            opened.connection.close()
            opened.held.close()

    def nothing() -> None: ...

    def begin() -> SchemaApplied:
        state.append(_open(location))
        return state[0].applied

    worker = Worker(begin=int, ended=ended, lapse=lambda: None, idle=int)
    try:
        applied = await worker.call(begin, nothing)
    except BaseException:
        await worker.end()
        raise
    where = location.display

    def check(connection: sqlite3.Connection) -> None:
        check_transaction(connection, where)

    return NativeSqlite(location, worker, state[0].connection, check, NativeReader(location)), applied


def _open(location: StoreLocation) -> Opened:
    assert location.path is not None
    path = files.resolve(location.path)
    created = None if os.path.lexists(path) else create_store(location, path)
    report, identity = _examined(location)
    if report.size == 0:
        created = _filled(location, path, identity)
        report, identity = _examined(location)
    with ExitStack() as held:
        held.enter_context(claim(identity, "native", location.display))
        with gate_for(identity).opening(time.monotonic() + _READS_TO_END):
            try:
                applied = _apply(path, location.display, identity)
                connection, notices = _writer(path, location.display)
            except (sqlite3.Error, OSError) as error:
                raise sqlite_write_fault(error, location.display) from error
        told = (*applied.notices, *(Notice("opening", text) for text in report.native.notices), *notices)
        return Opened(connection, replace(created or applied, notices=told), held.pop_all())


def _examined(location: StoreLocation) -> tuple[LineageReport, files.Identity]:
    """Whose store it is, and which file. Raises the refusals of a native open."""
    report = examine(location, surroundings=False)
    report.native.check()
    if report.identity is None:
        raise StoreMovedError("The store went away while it was being opened.", where=location.display)
    return report, report.identity


def _filled(location: StoreLocation, path: bytes, identity: files.Identity) -> SchemaApplied | None:
    """What making a store of an empty file came to; None where that is left to the file's own connection."""
    with (
        claim(identity, "native", location.display),
        gate_for(identity).opening(time.monotonic() + _READS_TO_END),
    ):
        try:
            return replace_empty(location, path, identity, busy_timeout())
        except sqlite3.Error as error:
            raise sqlite_write_fault(error, location.display) from error


def _connect(path: bytes) -> sqlite3.Connection:
    connection = sqlite3.connect(
        sqlite_uri(path, "mode=rw"),
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=512,
    )
    connection.execute(f"PRAGMA busy_timeout={busy_timeout()}")
    return connection


def _apply(path: bytes, where: str, identity: files.Identity) -> SchemaApplied:
    """The schema, on a connection of its own that is closed afterwards (DECISIONS 24)."""
    connection = _connect(path)
    try:
        if connection_identity(connection) != identity:
            raise StoreMovedError(
                "Another file took the store's name while it was being opened.", where=where
            )
        check_first_connection(connection, where)
        return apply_schema(connection, path, where)
    finally:
        connection.close()


def _writer(path: bytes, where: str) -> tuple[sqlite3.Connection, tuple[Notice, ...]]:
    """The connection that stays: asked whose store it is, set up, proved by an empty transaction."""
    connection = _connect(path)
    try:
        check_later_connection(connection, where)
        connection.text_factory = TEXT
        mode = str(connection.execute("PRAGMA journal_mode=WAL").fetchone()[0])
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
        connection.create_function("may_hold", 2, may_hold, deterministic=True)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    except BaseException:
        connection.close()
        raise
    return connection, () if mode == "wal" else (Notice("no-log", _NO_LOG.format(mode)),)
