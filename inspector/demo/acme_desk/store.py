"""A connection to the desk's store, and its two ways in: the file is made, or it is ours already."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inspector.demo.acme_desk import LINEAGE, VERSION, DeskError
from inspector.demo.acme_desk.shapes import AFTER, TABLES

__all__ = ["connect", "initialize", "opened", "put", "transaction", "version_of"]

WAIT = 5.0
"""Seconds it waits for another writer."""
INSTALLED = 1_760_000_000.0
"""When a store says it was installed: stores made alike are alike."""

_PEOPLE = (("acme-system", "Desk", "service"), ("kim", "Kim", "person"), ("lee", "Lee", "person"))
_TYPES = ("__unknown__", "lionagi.protocols.messages.system.System")


def connect(path: Path | str, *, wait: float = WAIT) -> sqlite3.Connection:
    """Opens a file that is there, for reading and writing; statements outside `transaction` stand alone."""
    uri = f"{Path(path).absolute().as_uri()}?mode=rw"
    try:
        connection = sqlite3.connect(uri, uri=True, timeout=wait, isolation_level=None)
    except sqlite3.OperationalError as error:
        raise DeskError(f"cannot open {path}: {error}") from None
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


@contextmanager
def opened(path: Path | str, *, wait: float = WAIT) -> Iterator[sqlite3.Connection]:
    """The desk's own store at today's schema. Raises DeskError for any other."""
    connection = connect(path, wait=wait)
    try:
        found = version_of(connection)
        if found != VERSION:
            raise DeskError(f"schema {found}, and this is the desk of schema {VERSION}: migrate it first")
        yield connection
    finally:
        connection.close()


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """One write: all of it, or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def version_of(connection: sqlite3.Connection) -> int:
    """The schema of a store of ours. Raises DeskError when it is not ours."""
    try:
        meta = dict(connection.execute("SELECT key, value FROM schema_meta").fetchall())
    except sqlite3.Error as error:
        raise DeskError(f"not a store of {LINEAGE}: {error}") from None
    if meta.get("lineage") != LINEAGE:
        raise DeskError(f"not a store of {LINEAGE}: its lineage is {meta.get('lineage')!r}")
    version = str(meta.get("version"))
    if not version.isascii() or not version.isdigit():
        raise DeskError(f"a schema nobody made: {version!r}")
    return int(version)


def initialize(path: Path | str, version: int = VERSION, *, sample: bool = False) -> None:
    """Makes a new store of that schema. `sample`: with a few rows of lee's and kim's, and a ticket.

    The row that says whose store it is is written in the transaction that creates the tables, so no moment
    exists in which the tables are there and belong to nobody.
    """
    try:
        Path(path).open("xb").close()
    except FileExistsError:
        raise DeskError(f"there is something at {path} already") from None
    except OSError as error:
        raise DeskError(f"cannot make {path}: {error.strerror}") from None
    connection = connect(path)
    try:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        with transaction(connection):
            for statement in (*TABLES[version].values(), *AFTER[version]):
                connection.execute(statement)
            meta = (("lineage", LINEAGE), ("version", str(version)), ("installed_at", "2026-01-15"))
            connection.executemany("INSERT INTO schema_meta VALUES (?, ?)", meta)
            _people(connection, version)
            for number, name in enumerate(_TYPES):
                put(connection, "message_types", type_id=number, lion_class=name)
            if sample:
                _sample(connection)
    finally:
        connection.close()


def put(connection: sqlite3.Connection, table: str, **columns: Any) -> None:
    """Inserts a row, leaving out the columns an older schema does not have."""
    there = {row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')}
    if "owner_id" in columns and "taken_by" in there:
        columns["taken_by"] = columns["owner_id"]
    known = {name: value for name, value in columns.items() if name in there}
    names = ", ".join(f'"{name}"' for name in known)
    marks = ", ".join("?" * len(known))
    connection.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', tuple(known.values()))


def _people(connection: sqlite3.Connection, version: int) -> None:
    table = "principals" if version > 5 else "desk_people"
    for number, (person, name, kind) in enumerate(_PEOPLE):
        put(connection, table, id=person, display_name=name, kind=kind, created_at=INSTALLED + number)


def _sample(connection: sqlite3.Connection) -> None:
    at = INSTALLED + 100
    put(connection, "progressions", id="lee-prog", created_at=at, collection='["lee-msg"]', owner_id="lee")
    put(connection, "messages", id="lee-msg", created_at=at, content='{"text":"lee wrote this"}', role="user",
        lion_class=0, desk_flags=3, owner_id="lee")  # fmt: skip
    for person in ("lee", "kim"):
        put(connection, "invocations", id=f"{person}-inv", skill="desk", started_at=at, created_at=at,
            updated_at=at, owner_id=person)  # fmt: skip
    put(connection, "sessions", id="lee-sess", created_at=at, progression_id="lee-prog", updated_at=at,
        status="running", last_message_at=at, owner_id="lee", desk_pinned=1)  # fmt: skip
    put(connection, "branches", id="lee-branch", created_at=at, session_id="lee-sess",
        progression_id="lee-prog", owner_id="lee")  # fmt: skip
    put(connection, "progressions", id="kim-old-prog", created_at=at, collection="[]", owner_id="kim")
    put(connection, "sessions", id="kim-old-sess", created_at=at, progression_id="kim-old-prog",
        updated_at=at, status="completed", owner_id="kim")  # fmt: skip
    put(connection, "tickets", id=1, subject="Printer on fire", session_id="lee-sess", opened_by="lee")
    put(connection, "ticket_notes", id=1, ticket_id=1, body="Try water")
