"""`create_all` on PostgreSQL gives the store lionagi 0.36.0 makes there, object by object."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from tests.persistence.schema.facts import FACTS
from tests.persistence.server import make_schema

SERVER: dict[str, Any] = FACTS["postgresql"]


@pytest.fixture
async def made(postgres_url: str) -> AsyncIterator[AsyncConnection]:
    engine = await make_schema(postgres_url)
    async with engine.connect() as connection:
        yield connection
    await engine.dispose()


async def rows(made: AsyncConnection, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in await made.execute(text(sql))]


async def test_every_object(made: AsyncConnection) -> None:
    relations = await rows(
        made,
        "SELECT c.relkind::text, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = 'public' ORDER BY c.relname",
    )
    named = {kind: [name for other, name in relations if other == kind] for kind, _ in relations}
    assert set(named["r"]) == set(SERVER["tables"])
    assert named["S"] == SERVER["sequences"]
    assert "v" not in named and SERVER["views"] == []
    assert await rows(made, "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal") == []
    found = await rows(
        made,
        "SELECT table_name, column_name, data_type, is_nullable, column_default, is_generated"
        " FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, ordinal_position",
    )
    constraints = await rows(
        made,
        "SELECT conrelid::regclass::text, contype::text, conname, pg_get_constraintdef(oid)"
        " FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype IN ('p', 'u', 'c', 'f')"
        " ORDER BY conname",
    )
    indexes = await rows(
        made, "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 2"
    )
    for table, facts in SERVER["tables"].items():
        columns = [
            {"name": name, "type": kind, "notnull": nullable == "NO", "default": default, "identity": None}
            | {"generated": None if generated == "NEVER" else generated}
            for owner, name, kind, nullable, default, generated in found
            if owner == table
        ]
        assert columns == facts["columns"], table
        for kind, key in (
            ("p", "primary_key"),
            ("u", "unique_constraints"),
            ("c", "checks"),
            ("f", "foreign_keys"),
        ):
            seen = [
                {"name": name, "definition": definition}
                for owner, contype, name, definition in constraints
                if owner == table and contype == kind
            ]
            assert seen == sorted(facts[key], key=lambda fact: fact["name"]), (table, key)
        seen = [
            {"name": name, "definition": definition} for owner, name, definition in indexes if owner == table
        ]
        assert seen == sorted(facts["indexes"], key=lambda fact: fact["name"]), table
