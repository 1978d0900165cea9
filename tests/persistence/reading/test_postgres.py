"""The same reads on PostgreSQL: the same rows, the same order, the same pages."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import text

from persistence import ReadOnlyStoreError, StateDB, StoreError
from persistence.records import TableShape, Unreadable
from persistence.schema.known import TABLES
from tests.persistence.reading.test_domain import (
    test_a_row_is_got_by_its_key,
    test_branches_messages_and_progressions,
    test_control,
    test_definitions,
    test_evidence_and_delivery,
    test_execution,
    test_many_messages_are_got_at_once,
    test_scheduling,
    test_sessions,
)
from tests.persistence.reading.test_paging import walk
from tests.persistence.reading.test_releases import READS, read
from tests.persistence.server import fill, make_schema
from tests.persistence.stores import make_filled

__all__ = [
    "test_a_row_is_got_by_its_key",
    "test_branches_messages_and_progressions",
    "test_control",
    "test_definitions",
    "test_evidence_and_delivery",
    "test_execution",
    "test_many_messages_are_got_at_once",
    "test_scheduling",
    "test_sessions",
]


@pytest.fixture(scope="module")
def filled(postgres_server: str) -> Iterator[str]:
    """The URL of one filled database for all of these tests: none of them changes it."""
    name = f"filled_{secrets.token_hex(6)}"
    url = f"{postgres_server.rpartition('/')[0]}/{name}"

    async def make() -> None:
        await _execute(postgres_server, f'CREATE DATABASE "{name}" TEMPLATE template0')
        engine = await make_schema(url)
        await fill(engine)
        await engine.dispose()

    asyncio.run(make())
    yield url
    asyncio.run(_execute(postgres_server, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'))


async def _execute(server: str, statement: str) -> None:
    connection = await asyncpg.connect(server)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


@pytest.fixture
async def db(filled: str) -> AsyncIterator[StateDB]:
    async with StateDB(filled) as opened:
        yield opened


async def test_every_read_answers_what_it_answers_on_sqlite(db: StateDB, tmp_path: Path) -> None:
    async with StateDB(make_filled(tmp_path / "state.db")) as file:
        for name in READS:
            assert await read(db, name) == await read(file, name), name
        for table in TABLES:
            assert await db.missing(table) == await file.missing(table)


def _links(shape: TableShape) -> list[tuple[object, ...]]:
    return sorted((key.columns, key.table, key.references, key.on_delete) for key in shape.foreign_keys)


async def test_the_catalogue_says_the_same_of_the_same_schema(db: StateDB, tmp_path: Path) -> None:
    async with StateDB(make_filled(tmp_path / "state.db")) as file:
        theirs = {shape.name: shape for shape in await file.catalogue()}
    ours = {shape.name: shape for shape in await db.catalogue()}
    assert set(ours) == set(theirs) == set(TABLES)
    for name, shape in ours.items():
        other = theirs[name]
        assert [column.name for column in shape.columns] == [column.name for column in other.columns]
        assert [column.nullable for column in shape.columns] == [
            column.nullable
            or bool(column.primary_key and column.type == "INTEGER" and not column.primary_key)
            for column in other.columns
        ]
        assert shape.primary_key == other.primary_key
        assert shape.group == other.group
        assert sorted(map(str, shape.unique)) == sorted(map(str, other.unique))
        assert sorted(
            (key.columns, key.table, key.references, key.on_delete) for key in shape.foreign_keys
        ) == (sorted((key.columns, key.table, key.references, key.on_delete) for key in other.foreign_keys))
        assert len(shape.referenced_by) == len(other.referenced_by)
        assert len(shape.checks) == len(other.checks)
        named = {index.name: index for index in shape.indexes if index.origin == "c"}
        for index in other.indexes:
            if index.origin == "c":
                twin = named[index.name]
                assert (twin.columns, twin.unique, twin.descending) == (
                    index.columns,
                    index.unique,
                    index.descending,
                )
                assert (twin.where is None) is (index.where is None)


async def test_the_facts(db: StateDB) -> None:
    facts = await db.facts()
    assert facts.backend == "postgresql" and facts.library.startswith("PostgreSQL ")
    assert (facts.lineage, facts.version) == ("lionagi", "4")
    assert facts.known_tables == len(TABLES) and facts.missing_tables == ()
    assert facts.files == () and facts.journal_mode is None and facts.exposed_to_wal_reset is None
    assert facts.size is not None and facts.size > 0
    assert "***" in facts.display or ":" not in facts.display.partition("@")[0].partition("//")[2]


@pytest.mark.parametrize("limit", [1, 2, 3])
async def test_pages_with_ties_and_nulls(postgres_url: str, limit: int) -> None:
    engine = await make_schema(postgres_url)
    values = [None, 1.5, None, 1.5, -2.0, 3.0]
    async with engine.begin() as connection:
        await connection.execute(text("DROP TABLE plays CASCADE"))
        await connection.execute(
            text("CREATE TABLE plays (id text PRIMARY KEY, sort_order int, created_at float)")
        )
        for number, value in enumerate(values):
            await connection.execute(
                text("INSERT INTO plays VALUES (:id, 1, :value)"), {"id": f"s{number}", "value": value}
            )
    await engine.dispose()
    async with StateDB(postgres_url) as db:
        assert await walk(db.list_plays, limit) == ["s4", "s1", "s3", "s5", "s0", "s2"]


async def test_generic_reads(db: StateDB) -> None:
    sql = "SELECT id FROM sessions WHERE project = ? AND updated_at > ? ORDER BY id"
    assert await db.fetch_all(sql, ["harbour", 2000.5]) == [{"id": "s001"}]
    assert await db.fetch_one("SELECT :word AS word, '12:30' AS t", {"word": "x"}) == {
        "word": "x",
        "t": "12:30",
    }
    assert await db.fetch_one("SELECT 1 WHERE false") is None
    for written in ("DELETE FROM sessions", "CREATE TABLE t (a int)", "UPDATE sessions SET name = 'x'"):
        with pytest.raises(StoreError) as caught:
            await db.fetch_all(written)
        assert isinstance(caught.value, ReadOnlyStoreError), caught.value
    assert len(await db.list_sessions()) == 4


@pytest.mark.parametrize(
    "key", ["\0", "a\0b", "\udcff", "\ud800", "x" * 100_000, "'; DROP TABLE sessions; --"]
)
async def test_any_text_may_be_asked_for(db: StateDB, key: str) -> None:
    assert await db.get_session(key) is None
    assert await db.get_progression(key) == []
    assert await db.list_sessions(project=key, text=key, status=[key]) == []
    assert await db.get_definition(key, key, version=2**70) is None


async def test_json_is_read_as_it_is_stored(postgres_url: str) -> None:
    engine = await make_schema(postgres_url)
    await fill(engine)
    async with engine.begin() as connection:
        for number, value in enumerate(
            ('{"a": 1, "a": 2}', "12345678901234567890123", "null", '{"b": [1.5]}')
        ):
            await connection.execute(
                text(f"UPDATE sessions SET node_metadata = CAST(:v AS json) WHERE id = 's00{number}'"),
                {"v": value},
            )
    await engine.dispose()
    async with StateDB(postgres_url) as db:
        rows = {row["id"]: row["node_metadata"] for row in await db.list_sessions()}
    assert isinstance(rows["s000"], Unreadable) and "twice" in rows["s000"].why
    assert isinstance(rows["s001"], Unreadable)
    assert rows["s002"] is None
    assert rows["s003"] == {"b": [1.5]}
