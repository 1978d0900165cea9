"""Schema application on PostgreSQL: new databases, older ones, and what a failure leaves."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from persistence import (
    ForeignLineageError,
    Mode,
    SchemaApplicationError,
    SchemaTooNewError,
    StateDB,
    StoreError,
    UnrecognizedStoreError,
)
from persistence.schema.known import MESSAGE_TYPES, TABLES
from persistence.writing.native import server
from persistence.writing.native.backfills import BACKFILLS
from tests.persistence.schema.facts import FACTS

COLUMNS = """
    SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid)
    FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
CONSTRAINTS = """
    SELECT conname, contype::text, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE conrelid = to_regclass($1) AND contype <> 'n' ORDER BY 1
"""


@pytest.fixture
async def connection(native_database: str) -> AsyncIterator[asyncpg.Connection]:
    opened = await asyncpg.connect(native_database)
    yield opened
    await opened.close()


async def schema(connection: asyncpg.Connection) -> dict[str, Any]:
    out = {}
    for table in TABLES:
        out[table] = (
            sorted(map(tuple, await connection.fetch(COLUMNS, table))),
            [tuple(row) for row in await connection.fetch(CONSTRAINTS, table)],
            sorted(
                row[0]
                for row in await connection.fetch(
                    "SELECT indexdef FROM pg_indexes WHERE tablename = $1", table
                )
            ),
        )
    return out


async def opened(url: str) -> Any:
    async with StateDB(url, mode=Mode.NATIVE) as db:
        return db.applied


def _fact(definition: str) -> str:
    return re.sub(r"\s+", " ", definition)


async def test_a_new_database_has_the_schema_0_36_0_makes(connection: asyncpg.Connection) -> None:
    facts = FACTS["postgresql"]["tables"]
    found = await schema(connection)
    assert set(found) == set(facts)
    for table, fact in facts.items():
        columns, constraints, indexes = found[table]
        assert columns == sorted(
            (column["name"], column["type"], column["notnull"], column["default"])
            for column in fact["columns"]
        ), table
        wanted = [
            (entry["name"], kind, _fact(entry["definition"]))
            for kind, key in (
                ("p", "primary_key"),
                ("u", "unique_constraints"),
                ("f", "foreign_keys"),
                ("c", "checks"),
            )
            for entry in fact[key]
        ]
        assert sorted((name, kind, _fact(text)) for name, kind, text in constraints) == sorted(wanted), table
        assert [_fact(text) for text in indexes] == sorted(
            _fact(one["definition"]) for one in fact["indexes"]
        ), table
    meta = {row["key"]: row["value"] for row in await connection.fetch("SELECT * FROM schema_meta")}
    assert set(meta) == {"version", "created_at", "lineage", *(backfill.key for backfill in BACKFILLS)}
    assert meta["lineage"] == "lionagi" and meta["version"] == "4"
    types = await connection.fetch("SELECT type_id, lion_class FROM message_types ORDER BY 1")
    assert [tuple(row) for row in types] == list(MESSAGE_TYPES)
    nextval = await connection.fetchval("SELECT nextval(pg_get_serial_sequence('message_types', 'type_id'))")
    assert nextval == len(MESSAGE_TYPES), "others number on behind the rows that are there"


async def test_a_current_database_is_left_as_it_is(
    native_database: str, connection: asyncpg.Connection
) -> None:
    before = await connection.fetchval("SELECT txid_current_snapshot()::text")
    assert not (await opened(native_database)).changed
    assert await connection.fetchval("SELECT txid_current_snapshot()::text") == before


OLD = (
    "UPDATE schema_meta SET value = '2' WHERE key = 'version'",
    "DELETE FROM schema_meta WHERE key LIKE 'migration.%' OR key = 'lineage'",
    "DROP TABLE terminal_deliveries, attention_disposition_history",
    "ALTER TABLE sessions DROP COLUMN user_label, DROP COLUMN ended_at_is_approximate",
    "ALTER TABLE engine_runs DROP COLUMN parent_session_id",
    "ALTER TABLE definitions DROP CONSTRAINT ck_definitions_kind",
    "ALTER TABLE definitions ADD CONSTRAINT ck_definitions_kind CHECK (kind IN ('agent', 'playbook'))",
    "ALTER TABLE plays ADD CONSTRAINT plays_old_check CHECK (status <> 'redoing')",
    "ALTER TABLE shows DROP CONSTRAINT ck_shows_status",
)
ROWS = (
    "INSERT INTO progressions VALUES ('p', 1, '[]')",
    "INSERT INTO sessions (id, created_at, progression_id, updated_at, status, last_message_at, source_kind, "
    "agent_name) VALUES ('s', 1, 'p', 5, 'completed', 7, 'imported_codex', 'user')",
    "INSERT INTO engine_runs (id, kind, spec_json, started_at, session_id) VALUES ('e', 'k', '{}', 1, 's')",
    "INSERT INTO schedule_runs (id, trigger_context, action_kind, action_args, fired_at, created_at) "
    "VALUES ('r', '{}', 'agent', '{}', 3, 1)",
)


async def test_an_older_database_is_brought_up_with_every_row_kept(
    native_database: str, connection: asyncpg.Connection
) -> None:
    whole = await schema(connection)
    for statement in (*OLD, *ROWS):
        await connection.execute(statement)
    applied = await opened(native_database)
    assert applied.from_version == "2" and applied.stamped and applied.backup is None
    assert set(applied.tables_added) == {"terminal_deliveries", "attention_disposition_history"}
    assert set(applied.columns_added) == {
        "sessions.user_label",
        "sessions.ended_at_is_approximate",
        "engine_runs.parent_session_id",
    }
    assert set(applied.tables_rebuilt) == {"definitions", "plays", "shows"}
    assert await schema(connection) == whole
    session = await connection.fetchrow("SELECT * FROM sessions")
    assert (session["ended_at"], session["ended_at_is_approximate"], session["agent_name"]) == (7, 1, None)
    assert await connection.fetchval("SELECT parent_session_id FROM engine_runs") == "s"
    assert await connection.fetchval("SELECT dispatched_at FROM schedule_runs") == 3
    assert len(applied.backfilled) == 4
    assert not (await opened(native_database)).changed


async def test_a_failure_leaves_the_database_as_it_was(
    native_database: str, connection: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for statement in (*OLD, *ROWS):
        await connection.execute(statement)
    before = await schema(connection)
    for step in ("_renew_checks", "_backfill", "_seed", "_stamp"):
        with monkeypatch.context() as patched:
            patched.setattr(
                server._Work, step, lambda self: self._connection.exec_driver_sql("SELECT no_such()")
            )
            with pytest.raises(SchemaApplicationError, match="as it was"):
                await opened(native_database)
        assert await schema(connection) == before
        assert await connection.fetchval("SELECT value FROM schema_meta WHERE key = 'version'") == "2"
    assert (await opened(native_database)).stamped


async def test_many_opens_at_once_apply_it_once(postgres_url: str) -> None:
    applied = await asyncio.gather(*(opened(postgres_url) for _ in range(6)))
    assert sum(one.created for one in applied) == 1


async def test_another_application_s_tables_beside_ours(postgres_url: str) -> None:
    connection = await asyncpg.connect(postgres_url)
    try:
        await connection.execute(
            "CREATE TABLE customers (id int); CREATE SCHEMA app; CREATE TABLE app.sessions (x int)"
        )
        assert (await opened(postgres_url)).created
        await connection.execute("INSERT INTO customers VALUES (1); INSERT INTO app.sessions VALUES (1)")
        assert not (await opened(postgres_url)).changed
    finally:
        await connection.close()


@pytest.mark.parametrize(
    ("statement", "refusal"),
    [
        ("CREATE TABLE sessions (id text, owner_id text)", UnrecognizedStoreError),
        ("CREATE TABLE schema_meta (name text)", UnrecognizedStoreError),
        ("CREATE TABLE schema_meta (key text PRIMARY KEY, value text)", UnrecognizedStoreError),
    ],
)
async def test_tables_no_release_made_are_never_changed(
    postgres_url: str, statement: str, refusal: type[StoreError]
) -> None:
    connection = await asyncpg.connect(postgres_url)
    try:
        await connection.execute(statement)
        with pytest.raises(refusal):
            await opened(postgres_url)
        tables = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        assert len(tables) == 1
    finally:
        await connection.close()


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ("UPDATE schema_meta SET value = 'acme-desk' WHERE key = 'lineage'", ForeignLineageError),
        ("UPDATE schema_meta SET value = '5' WHERE key = 'version'", SchemaTooNewError),
        ("DELETE FROM schema_meta WHERE key IN ('lineage', 'version')", UnrecognizedStoreError),
    ],
)
async def test_a_database_is_admitted_by_its_rows(
    native_database: str, connection: asyncpg.Connection, change: str, refusal: type[StoreError]
) -> None:
    await connection.execute(change)
    rows = await connection.fetch("SELECT * FROM schema_meta ORDER BY 1")
    with pytest.raises(refusal):
        await opened(native_database)
    assert await connection.fetch("SELECT * FROM schema_meta ORDER BY 1") == rows


async def test_a_database_that_became_another_s_takes_no_further_write(
    native_database: str, connection: asyncpg.Connection
) -> None:
    async with StateDB(native_database, mode=Mode.NATIVE) as db:
        await db.create_progression("mine")
        await connection.execute("UPDATE schema_meta SET value = 'acme-desk' WHERE key = 'lineage'")
        for write in (
            lambda: db.create_progression("theirs"),
            lambda: db.execute("DELETE FROM progressions"),
            db.vacuum,
        ):
            with pytest.raises(ForeignLineageError):
                await write()
        assert await connection.fetchval("SELECT count(*) FROM progressions") == 1


async def test_who_may_not_write_is_told(postgres_server: str, native_database: str) -> None:
    connection = await asyncpg.connect(native_database)
    try:
        await connection.execute(
            "CREATE ROLE looker LOGIN PASSWORD 'pw'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO looker"
        )
        url = re.sub(r"//[^@]*@", "//looker:pw@", native_database)
        async with StateDB(url, mode=Mode.NATIVE) as db:
            with pytest.raises(StoreError) as refused:
                await db.create_progression("p")
        assert refused.value.code == "no-permission"
        assert "pw@" not in f"{refused.value} {refused.value.as_dict()} {db!r}"
    finally:
        await connection.execute("DROP OWNED BY looker; DROP ROLE looker")
        await connection.close()


async def test_a_server_that_is_not_there_is_said_without_the_password() -> None:
    with pytest.raises(StoreError) as refused:
        await StateDB("postgresql://kim:hidden@127.0.0.1:9/none", mode=Mode.NATIVE).open()
    assert refused.value.exit_status == 4
    assert "hidden" not in f"{refused.value} {refused.value.as_dict()} {refused.value.__cause__}"
