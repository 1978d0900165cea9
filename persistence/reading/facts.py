"""What a store is: its files, its own `schema_meta` rows, and the library that reads it."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

from persistence import files
from persistence.engines.thread import in_thread
from persistence.lineage.exposure import exposed_to_wal_reset
from persistence.reading.values import readable
from persistence.records import FileFacts, StoreFacts, TableShape
from persistence.schema.known import TABLES

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot
    from persistence.location import StoreLocation
    from persistence.reading.store import StoreReading

__all__ = ["exposed_to_wal_reset", "read_facts"]


async def read_facts(reading: StoreReading) -> StoreFacts:
    """The facts of an open store, in one snapshot."""

    async def read(snapshot: Snapshot) -> StoreFacts:
        shapes = await reading.shapes(snapshot)
        meta = await _meta(snapshot, {shape.name: shape for shape in shapes}.get("schema_meta"))
        known = {shape.name for shape in shapes if shape.kind == "table"} & set(TABLES)
        if snapshot.dialect == "sqlite":
            parts = await _sqlite_parts(reading, snapshot)
        else:
            parts = await _server_parts(snapshot)
        return StoreFacts(
            display=reading.location.display,
            lineage=_text(meta, "lineage"),
            version=_text(meta, "version"),
            meta=tuple((_plain(key), value) for key, value in meta),
            tables=len(shapes),
            known_tables=len(known),
            missing_tables=tuple(name for name in TABLES if name not in known),
            read=snapshot.info,
            **parts,
        )

    return await reading.reader.load(read)


async def _meta(snapshot: Snapshot, shape: TableShape | None) -> list[tuple[Any, Any]]:
    """Every row of schema_meta, as it is; none when there is no such table with a key and a value."""
    if shape is None or shape.column("key") is None or shape.column("value") is None:
        return []
    rows = await snapshot.rows("SELECT key, value FROM schema_meta ORDER BY key LIMIT 1000")
    return [(row[0], readable(row[1])) for row in rows]


def _plain(key: Any) -> str:
    return key if isinstance(key, str) else repr(key)


def _text(meta: list[tuple[Any, Any]], wanted: str) -> str | None:
    """The value of the last row with this exact key, as text; None when there is none or it is NULL."""
    found = [value for key, value in meta if key == wanted and value is not None]
    if not found:
        return None
    return found[-1] if isinstance(found[-1], str) else repr(found[-1])


async def _sqlite_parts(reading: StoreReading, snapshot: Snapshot) -> dict[str, Any]:
    names = ("page_size", "encoding", "application_id", "user_version", "auto_vacuum", "freelist_count")

    def pragmas(connection: sqlite3.Connection) -> dict[str, Any]:
        return {name: (connection.execute(f"PRAGMA {name}").fetchone() or [None])[0] for name in names}

    found = await snapshot.on_driver(pragmas)
    described, journal_mode = await in_thread(lambda: _files(reading.location))
    return {
        "backend": "sqlite",
        "size": described[0].size,
        "files": described,
        "journal_mode": journal_mode,
        "library": f"SQLite {sqlite3.sqlite_version}",
        "exposed_to_wal_reset": exposed_to_wal_reset(sqlite3.sqlite_version_info),
        "page_size": found["page_size"],
        "encoding": found["encoding"],
        "application_id": found["application_id"],
        "user_version": found["user_version"],
        "extra": {"auto_vacuum": found["auto_vacuum"], "free_pages": found["freelist_count"]},
    }


def _files(location: StoreLocation) -> tuple[tuple[FileFacts, ...], str | None]:
    """The files, and the journal mode the header's bytes say (a connection that reads a store at rest
    immutable calls every mode `delete`)."""
    assert location.path is not None
    facts = files.describe(location)
    with files.held(files.resolve(location.path)) as held:
        header = files.read_header(held)
    if not header.sqlite:
        return facts, None
    return facts, "wal" if header.log_format else "delete"


async def _server_parts(snapshot: Snapshot) -> dict[str, Any]:
    row = await snapshot.first(
        "SELECT current_setting('server_version'), pg_database_size(current_database()),"
        " current_setting('server_encoding'),"
        " (SELECT count(*) FROM pg_class c WHERE c.relkind IN ('r','v','m','p','f')"
        " AND NOT pg_table_is_visible(c.oid) AND c.relnamespace NOT IN"
        " (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pg\\_%' OR nspname = 'information_schema')),"
        # What text is ordered by; the column's name changed twice.
        " (SELECT coalesce(to_jsonb(d)->>'datlocale', to_jsonb(d)->>'daticulocale', d.datcollate::text)"
        " FROM pg_database d WHERE d.datname = current_database())"
    )
    version, size, encoding, elsewhere, order = row if row is not None else (None,) * 5
    return {
        "backend": "postgresql",
        "size": size,
        "files": (),
        "journal_mode": None,
        "library": f"PostgreSQL {version}",
        "exposed_to_wal_reset": None,
        "encoding": encoding,
        "extra": {"tables_in_other_schemas": elsewhere, "text_order": order},
    }
