"""Reading a PostgreSQL store, on a real server: read-only, bounded, its errors told apart."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator
from typing import cast
from urllib.parse import urlsplit

import asyncpg
import pytest
from sqlalchemy import column, func, select, table

from persistence.engines import postgres
from persistence.engines.postgres import PostgresReader, _first_word
from persistence.engines.reader import open_reader
from persistence.engines.server import driver_url
from persistence.errors import (
    BusyError,
    DeadlineError,
    MissingTableError,
    ReadOnlyStoreError,
    StoreConnectionError,
    StoreError,
    StorePermissionError,
)
from persistence.location import locate
from persistence.records import Route

TABLE = table("t", column("a"), column("b"))
COUNT = select(func.count()).select_from(TABLE)


def reader_of(url: str) -> PostgresReader:
    return cast(PostgresReader, open_reader(locate(url)))


@pytest.fixture
async def owner(postgres_url: str) -> AsyncIterator[asyncpg.Connection]:
    """Somebody else's connection to the store, with its three rows."""
    connection = await asyncpg.connect(postgres_url)
    await connection.execute("CREATE TABLE t(a int PRIMARY KEY, b text)")
    await connection.execute("INSERT INTO t VALUES (1, 'one'), (2, 'Grüße: 世界'), (3, NULL)")
    yield connection
    await connection.close()


@pytest.fixture
async def reader(postgres_url: str, owner: asyncpg.Connection) -> AsyncIterator[PostgresReader]:
    reader = reader_of(postgres_url)
    yield reader
    await reader.close()


# -- reading -----------------------------------------------------------------------------------------


async def test_statements_of_core_and_of_text(reader: PostgresReader) -> None:
    async with reader.snapshot() as snapshot:
        assert await snapshot.scalar(COUNT) == 3
        assert await snapshot.rows(select(TABLE).where(TABLE.c.a > 1).order_by(TABLE.c.a)) == [
            (2, "Grüße: 世界"),
            (3, None),
        ]
        assert await snapshot.first("SELECT b FROM t WHERE a = :n", {"n": 1}) == ("one",)
        assert await snapshot.scalar("SELECT '12:30'") == "12:30"
        assert await snapshot.first("SELECT 1 WHERE false") is None
        assert snapshot.info.route is Route.SERVER and snapshot.dialect == reader.dialect == "postgresql"
        assert reader.server_version is not None
    assert reader.last == snapshot.info


async def test_one_snapshot_sees_one_state(reader: PostgresReader, owner: asyncpg.Connection) -> None:
    async with reader.snapshot() as snapshot:
        assert await snapshot.scalar(COUNT) == 3
        await owner.execute("INSERT INTO t VALUES (4, 'later')")
        assert await snapshot.scalar(COUNT) == 3 and snapshot.info.snapshots == 1
    async with reader.snapshot() as snapshot:
        assert await snapshot.scalar(COUNT) == 4


async def test_the_token_moves_with_commits_and_not_with_reads(
    reader: PostgresReader, owner: asyncpg.Connection
) -> None:
    first = await reader.token()
    async with reader.snapshot() as snapshot:
        await snapshot.scalar(COUNT)
        assert snapshot.info.token == first
    assert await reader.token() == first
    await owner.execute("UPDATE t SET b = 'changed' WHERE a = 1")
    assert await reader.token() != first


async def test_25_reads_at_once(reader: PostgresReader) -> None:
    async def read() -> int:
        async with reader.snapshot() as snapshot:
            return int(await snapshot.scalar(COUNT))

    assert await asyncio.gather(*(read() for _ in range(25))) == [3] * 25


async def test_no_statement_stays_prepared(reader: PostgresReader) -> None:
    """A pooler may give the next statement another connection, which knows nothing of it (#6467)."""
    async with reader.snapshot() as snapshot:
        for number in range(3):
            await snapshot.rows(select(TABLE).where(TABLE.c.a == number))
        left = await snapshot.rows("SELECT name, statement FROM pg_prepared_statements")
    assert [row for row in left if "pg_prepared_statements" not in row[1]] == []
    names = {postgres._unique_name() for _ in range(100)}
    assert len(names) == 100


async def test_a_load(reader: PostgresReader) -> None:
    assert await reader.load(lambda snapshot: snapshot.scalar(COUNT)) == 3
    with pytest.raises(NotImplementedError):
        await reader.load(lambda snapshot: snapshot.on_driver(lambda driver: 1))


async def test_no_connection_is_kept_long(
    reader: PostgresReader, owner: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = (
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'store-inspector' "
        "AND datname = current_database()"
    )
    monkeypatch.setattr(postgres, "IDLE", 0.05)
    async with reader.snapshot() as snapshot:
        await snapshot.scalar(COUNT)
        assert await owner.fetchval(ours) == 1
    until = time.monotonic() + 10
    while await owner.fetchval(ours) and time.monotonic() < until:
        await asyncio.sleep(0.02)
    assert await owner.fetchval(ours) == 0
    async with reader.snapshot() as snapshot:
        assert await snapshot.scalar(COUNT) == 3


async def test_after_the_server_dropped_the_connection_the_next_read_connects_again(
    reader: PostgresReader, owner: asyncpg.Connection
) -> None:
    kill = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE application_name = 'store-inspector' AND datname = current_database()"
    )
    async with reader.snapshot() as snapshot:
        await snapshot.scalar(COUNT)
    assert await owner.fetchval(kill) == 1
    async with reader.snapshot() as snapshot:
        assert await snapshot.scalar(COUNT) == 3
    with pytest.raises(StoreConnectionError) as caught:
        async with reader.snapshot() as snapshot:
            await owner.fetchval(kill)
            await asyncio.sleep(0.05)
            await snapshot.scalar(COUNT)
    assert caught.value.code == "connection-lost"


# -- only reading ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM t",
        "INSERT INTO t VALUES (9, 'x')",
        "WITH d AS (DELETE FROM t RETURNING a) SELECT * FROM d",
        "CREATE TABLE x(a int)",
        "EXPLAIN ANALYZE DELETE FROM t",
        "SELECT nextval('s')",
        "SELECT setval('s', 5)",
        "COMMIT",
        "/* SELECT */ DROP TABLE t",
        "-- SELECT\nTRUNCATE t",
        "SET TRANSACTION READ WRITE",
        "VACUUM t",
    ],
)
async def test_whatever_is_typed_nothing_is_written(
    reader: PostgresReader, owner: asyncpg.Connection, statement: str
) -> None:
    await owner.execute("CREATE SEQUENCE s")
    before = await reader.token()
    with pytest.raises(ReadOnlyStoreError):
        async with reader.snapshot(generic=True) as snapshot:
            await snapshot.rows(statement)
    assert await owner.fetchval("SELECT count(*) FROM t") == 3
    assert await owner.fetchval("SELECT is_called FROM s") is False
    assert await reader.token() == before


async def test_a_read_only_transaction_cannot_be_talked_out_of_it(
    reader: PostgresReader, owner: asyncpg.Connection
) -> None:
    async with reader.snapshot(generic=True) as snapshot:
        with pytest.raises(StoreError):
            await snapshot.rows("SELECT set_config('transaction_read_only', 'off', false)")
        with pytest.raises(ReadOnlyStoreError):
            await snapshot.rows("DELETE FROM t")
        with pytest.raises(StoreError):
            await snapshot.rows("SELECT 1; DELETE FROM t")
        assert await snapshot.scalar("(SELECT count(*) FROM t)") == 3
        assert await snapshot.scalar("/* a /* nested */ comment */ SHOW transaction_read_only") == "on"


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("select 1", "select"),
        ("  -- one\n ( ( /* x /* y */ */ WITH a", "with"),
        ("/* never closed SELECT", ""),
        ("--SELECT", ""),
        ("", ""),
        (";;SELECT", "select"),
        ("SELECT'x'", "select"),
    ],
)
def test_the_first_word(statement: str, word: str) -> None:
    assert _first_word(statement) == word


# -- errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "kind", "code"),
    [
        ("SELECT * FROM absent", MissingTableError, "no-such-table"),
        ("SELECT * FROM absent.t", MissingTableError, "no-such-table"),
        ("SELECT absent FROM t", MissingTableError, "no-such-column"),
        ("SELEC", StoreError, "bad-query"),
        ("DELETE FROM t", ReadOnlyStoreError, "read-only"),
        ("SELECT 'x'::int", StoreError, "bad-parameter"),
        ("SELECT pg_sleep(30)", DeadlineError, "deadline"),
    ],
)
async def test_errors_are_told_apart_and_do_not_end_the_snapshot(
    reader: PostgresReader, statement: str, kind: type[StoreError], code: str
) -> None:
    async with reader.snapshot(deadline=0.5) as snapshot:
        with pytest.raises(kind) as caught:
            await snapshot.rows(statement)
        assert caught.value.code == code and caught.value.where == reader.location.display
        assert await snapshot.scalar(COUNT) == 3


async def test_a_nul_is_refused_before_the_server_sees_it(reader: PostgresReader) -> None:
    """TEXT holds no NUL; the error used to come from deep inside a pipeline (LightRAG #884)."""
    with pytest.raises(StoreError) as caught:
        async with reader.snapshot() as snapshot:
            await snapshot.rows(select(TABLE).where(TABLE.c.b == "a\0b"))
    assert caught.value.code == "bad-parameter"
    with pytest.raises(StoreError) as caught:
        async with reader.snapshot() as snapshot:
            await snapshot.rows("SELECT * FROM t WHERE a = :a", {"a": "no number"})
    assert caught.value.code == "bad-parameter"


async def test_what_somebody_locked_is_busy(reader: PostgresReader, owner: asyncpg.Connection) -> None:
    async with owner.transaction():
        await owner.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(BusyError):
            async with reader.snapshot(deadline=0.3) as snapshot:
                await snapshot.scalar(COUNT)
    async with reader.snapshot(deadline=5) as snapshot:
        assert await snapshot.scalar(COUNT) == 3


async def test_a_user_without_the_right(postgres_url: str, owner: asyncpg.Connection) -> None:
    name = "reader_" + urlsplit(postgres_url).path.strip("/")
    await owner.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'p@ss/w#rd%'")
    parts = urlsplit(postgres_url)
    reader = reader_of(f"postgresql://{name}:p%40ss%2Fw%23rd%25@{parts.hostname}:{parts.port}{parts.path}")
    with pytest.raises(StorePermissionError):
        async with reader.snapshot() as snapshot:
            await snapshot.scalar(COUNT)
    await reader.close()
    await owner.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")


async def test_a_wrong_password_a_missing_database_nobody_there(postgres_server: str) -> None:
    parts = urlsplit(postgres_server)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        cases = {
            f"postgresql://postgres:secret-word@127.0.0.1:{parts.port}/postgres": "authentication",
            f"{postgres_server.rpartition('/')[0]}/absent": "no-such-database",
            f"postgresql://u:secret-word@127.0.0.1:{unused.getsockname()[1]}/d": "no-connection",
            "postgresql://u:secret-word@host.invalid/d": "no-connection",
            f"{postgres_server}?sslmode=require": "no-connection",
            f"{postgres_server}?sslmode=nonsense": "bad-connection-options",
        }
        for url, code in cases.items():
            reader = reader_of(url)
            with pytest.raises(StoreConnectionError) as caught:
                async with reader.snapshot():
                    raise AssertionError
            said = str(caught.value.as_dict())
            assert caught.value.code == code, (url, said)
            assert caught.value.exit_status == 4
            assert "secret-word" not in said and (parts.password or "?") not in said
            await reader.close()


@pytest.mark.parametrize("mode", ["disable", "allow", "prefer"])
async def test_sslmode_means_what_libpq_means(
    postgres_url: str, owner: asyncpg.Connection, mode: str
) -> None:
    reader = reader_of(f"{postgres_url}?sslmode={mode}&connect_timeout=5&channel_binding=prefer")
    async with reader.snapshot() as snapshot:
        assert await snapshot.scalar(COUNT) == 3
        assert [notice.code for notice in snapshot.info.notices] == ["url-option"] * 2
    await reader.close()


def test_what_a_url_says_reaches_the_driver() -> None:
    dsn, taken, notices = driver_url(
        "postgresql+asyncpg://u:p@h:1/d?sslmode=require&gssencmode=disable&application_name=x"
    )
    assert dsn == "postgresql://u:p@h:1/d?application_name=x"
    assert taken == {"sslmode": "require"}
    assert [notice.text.split()[0] for notice in notices] == ["gssencmode"]
    assert driver_url("postgresql+asyncpg://h/d?") == ("postgresql://h/d", {}, ())


# -- ending in time ----------------------------------------------------------------------------------


async def test_a_running_query_is_cancelled_on_the_server(
    reader: PostgresReader, owner: asyncpg.Connection
) -> None:
    async def run() -> None:
        async with reader.snapshot(deadline=None) as snapshot:
            await snapshot.rows("SELECT pg_sleep(60)")

    running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)%' AND state = 'active'"
    running += " AND pid <> pg_backend_pid() AND datname = current_database()"
    task = asyncio.ensure_future(run())
    while not await owner.fetchval(running):
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 20)
    while await owner.fetchval(running):
        await asyncio.sleep(0.02)
    async with reader.snapshot() as snapshot:
        assert await snapshot.scalar(COUNT) == 3


class SilentProxy:
    """A server that answers until it is told to fall silent: connections stay open, nothing comes back."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self.silent = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> SilentProxy:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.silent.is_set():
            await asyncio.sleep(60)
            return
        there, back = await asyncio.open_connection(*self._target)
        for source, sink in ((reader, back), (there, writer)):
            task = asyncio.ensure_future(self._pump(source, sink))
            self._tasks.add(task)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65536):
            if self.silent.is_set():
                continue
            sink.write(data)
            await sink.drain()


async def test_a_server_that_falls_silent_does_not_hold_us(
    postgres_url: str, owner: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelling opens a second connection, which had no time limit: it hung for ever (asyncpg #1326)."""
    monkeypatch.setattr(postgres, "PATIENCE", 0.2)
    monkeypatch.setattr(postgres, "_GRACE", 0.2)
    parts = urlsplit(postgres_url)
    assert parts.hostname and parts.port
    async with SilentProxy(parts.hostname, parts.port) as proxy:
        reader = reader_of(postgres_url.replace(f":{parts.port}/", f":{proxy.port}/"))

        async def run(deadline: float | None) -> None:
            async with reader.snapshot(deadline=deadline) as snapshot:
                assert await snapshot.scalar(COUNT) == 3
                proxy.silent.set()
                await snapshot.scalar(COUNT)

        task = asyncio.ensure_future(run(None))
        await proxy.silent.wait()
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 5)
        proxy.silent.clear()
        with pytest.raises(StoreConnectionError) as caught:
            await asyncio.wait_for(run(0.3), 10)
        assert caught.value.code == "no-answer"
        with pytest.raises(StoreConnectionError):
            await asyncio.wait_for(run(0.1), 10)
        await asyncio.wait_for(reader.close(), 5)


async def test_a_cancelled_connect_leaves_no_connection(
    reader: PostgresReader, owner: asyncpg.Connection
) -> None:
    async def read() -> int:
        async with reader.snapshot() as snapshot:
            return int(await snapshot.scalar(COUNT))

    for steps in range(0, 30, 2):
        task = asyncio.ensure_future(read())
        for _ in range(steps):
            await asyncio.sleep(0.0005)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            assert await task == 3
    assert reader._used == 0 and reader._engine.pool.checkedout() == 0  # type: ignore[attr-defined]
    assert await read() == 3
