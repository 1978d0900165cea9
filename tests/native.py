"""Native stores for tests, on SQLite and on PostgreSQL: every facade test runs on both.

A plugin that conftest registers. `native` is an open store of each kind, `native_again` opens further handles
on it, `native_session` puts a running session into it.
"""

from __future__ import annotations

import asyncio
import secrets
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from persistence import Mode, StateDB
from persistence.location import StoreLocation, locate
from tests.postgres import create_database, drop_database

BACKENDS = ("sqlite", "postgresql")


@dataclass(frozen=True)
class Backend:
    """A kind of store, and how a new, complete and empty one is had."""

    name: str
    location: StoreLocation

    @property
    def sqlite(self) -> bool:
        return self.name == "sqlite"


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Runs to the end, also where a loop is running already: on a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()


async def _make(store: str | Path) -> None:
    async with StateDB(store, mode=Mode.NATIVE):
        pass


@pytest.fixture(scope="session")
def native_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new store as a native open leaves it; copied for each test."""
    path = tmp_path_factory.mktemp("native") / "state.db"
    _run(_make(path))
    return path


@pytest.fixture(scope="session")
def native_template(postgres_server: str) -> Iterator[str]:
    """The name of a database as a native open leaves it; the template of each test's."""
    name = f"native_{secrets.token_hex(6)}"
    _run(create_database(postgres_server, name))
    _run(_make(_named(postgres_server, name)))
    yield name
    _run(drop_database(postgres_server, name))


def _named(server: str, database: str) -> str:
    return f"{server.rpartition('/')[0]}/{database}"


@pytest.fixture
async def native_database(postgres_server: str, native_template: str) -> AsyncIterator[str]:
    """The URL of a complete and empty native database of this test's own."""
    name = f"t_{secrets.token_hex(6)}"
    await create_database(postgres_server, name, native_template)
    yield _named(postgres_server, name)
    await drop_database(postgres_server, name)


@pytest.fixture(params=BACKENDS)
def native_backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    """An empty native store of each kind, in its place and closed."""
    if request.param == "sqlite":
        path = tmp_path / "state.db"
        shutil.copy(request.getfixturevalue("native_file"), path)
        return Backend("sqlite", locate(path))
    return Backend("postgresql", locate(request.getfixturevalue("native_database")))


@pytest.fixture
async def native(native_backend: Backend) -> AsyncIterator[StateDB]:
    """A native store, open."""
    async with StateDB(native_backend.location, mode=Mode.NATIVE) as opened:
        yield opened


@pytest.fixture
async def native_again(native_backend: Backend) -> AsyncIterator[Callable[[], Awaitable[StateDB]]]:
    """Opens further handles on the same store; they are closed at the end."""
    async with AsyncExitStack() as stack:

        async def open_again() -> StateDB:
            return await stack.enter_async_context(StateDB(native_backend.location, mode=Mode.NATIVE))

        yield open_again


@pytest.fixture
async def native_session(native: StateDB) -> str:
    """A running session with a branch, and a progression for each: `s`, `b`, `ps`, `pb`."""
    await native.create_progression("ps")
    await native.create_progression("pb")
    await native.create_session({"id": "s", "progression_id": "ps", "status": "running"})
    await native.create_branch({"id": "b", "session_id": "s", "progression_id": "pb"})
    return "s"


async def one(db: StateDB, sql: str, *values: Any) -> Any:
    """The first column of the first row."""
    found = await db.fetch_one(sql, values)
    return None if found is None else next(iter(found.values()))


async def count(db: StateDB, table: str) -> int:
    return int(await one(db, f"SELECT count(*) FROM {table}"))
