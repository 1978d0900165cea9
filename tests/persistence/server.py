"""A PostgreSQL database with the operational schema and the rows of `tests.persistence.filled`."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import insert, make_url
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from persistence.schema import metadata
from persistence.schema.known import JSON_COLUMNS, MESSAGE_TYPES
from tests.persistence.filled import ROWS


async def make_schema(url: str) -> AsyncEngine:
    """The operational schema in an empty database; the engine is the caller's to dispose."""
    engine = create_async_engine(make_url(url).set(drivername="postgresql+asyncpg"))
    async with engine.begin() as connection:
        await connection.run_sync(metadata.create_all)
    return engine


async def fill(engine: AsyncEngine) -> None:
    """The rows every SQLite store of the tests has, as far as a server takes them."""
    async with engine.begin() as connection:
        types = [{"type_id": number, "lion_class": name} for number, name in MESSAGE_TYPES]
        await connection.execute(insert(metadata.tables["message_types"]), types)
        meta = [{"key": "version", "value": "4"}, {"key": "lineage", "value": "lionagi"}]
        await connection.execute(insert(metadata.tables["schema_meta"]), meta)
        for table in metadata.sorted_tables:
            for row in ROWS.get(table.name, ()):
                await connection.execute(insert(table), _row(table.name, row))


def _row(table: str, row: dict[str, Any]) -> dict[str, Any]:
    if table == "progressions":  # a text column that holds JSON
        collection = row["collection"]
        text = collection if isinstance(collection, str) else json.dumps(collection)
        return {**row, "collection": text}
    assert all(not isinstance(row.get(name), str) for name in JSON_COLUMNS.get(table, ())), table
    return row
