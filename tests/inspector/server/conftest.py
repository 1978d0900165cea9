"""The same rows in a SQLite file and in a PostgreSQL database, both written by the native writer.

They are written in the order of their keys: without an order of its own, or where rows are equal by it, a
file's rows come in the order they were added, which a server does not keep; there it is the key.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from inspector.demo.harbour import told
from inspector.demo.ids import uuid
from inspector.demo.store import StoreWriter
from persistence import Mode, StateDB
from persistence.schema import metadata

CLOCK = 1_795_953_600.0

NAMES = ("zeta", "Zeta", "ZETA", "alpha", "Alpha", "ä", "Ä", "ae", "日誌", "ÿ", "\U0001f6a2", "", " ",
         "a_b%c", None, "tab\there", "\x1b[7mhostile \u202e[b]")  # fmt: skip
"""Case, scripts, blanks and what must not be read as anything; each twice, so that there are ties."""

VALUES: tuple[Any, ...] = (
    {"b": 1, "a": [1.5, -0.0, 2**63 - 1, -(2**63)], "": {}},
    {"text": "ä\u2028\U0001f600", "n": None, "t": True},
    {"deep": [[[[]]]], "big": 1e300, "small": 5e-324},
    {},
    None,
)


@dataclass(frozen=True)
class Twins:
    """`file` and `url` name two stores that hold the same."""

    file: str
    url: str

    @property
    def secret(self) -> str:
        """The password of the server's URL."""
        return self.url.split("@")[0].rpartition(":")[2]


@pytest.fixture(scope="session")
def twins(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twins]:
    folder = tmp_path_factory.mktemp("twins")
    path, name = folder / "state.db", f"twin_{secrets.token_hex(6)}"
    url = f"{postgres_server.rpartition('/')[0]}/{name}"

    async def make() -> None:
        await _execute(postgres_server, f'CREATE DATABASE "{name}" TEMPLATE template0')
        store, _ = told(folder / "files", CLOCK)
        _odd_rows(store)
        for table, rows in store.rows.items():
            by = [column.name for column in metadata.tables[table].primary_key]
            rows.sort(key=lambda row: tuple(row[name] for name in by))
        for each in (path, url):
            async with StateDB(each, mode=Mode.NATIVE) as db:
                await store.write(db)
                await db.execute("UPDATE schema_meta SET value = '1795000000' WHERE key = 'created_at'")
        await _execute(url, "ANALYZE")

    _run(make())
    yield Twins(str(path), url)
    _run(_execute(postgres_server, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'))


def _run(work: Any) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()


async def _execute(server: str, statement: str) -> None:
    import asyncpg

    connection = await asyncpg.connect(server)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


def _odd_rows(store: StoreWriter) -> None:
    for number, name in enumerate(NAMES * 2):
        key, odd = f"odd-{number:03}", VALUES[number % len(VALUES)]
        listed = [] if number % 3 else [f"m-{key}", "gone", f"m-{key}"]
        store.progression(f"p-{key}", CLOCK - number // 4, listed)
        store.add(
            "sessions",
            id=key,
            created_at=CLOCK - number // 4,
            updated_at=CLOCK - number // 5,
            last_message_at=CLOCK - number // 5,
            progression_id=f"p-{key}",
            name=name,
            agent_name=NAMES[-number % len(NAMES)],
            model=None if number % 2 else "model-3",
            status=("completed", None, "failed")[number % 3],
            node_metadata=odd,
            input_tokens=None if number % 4 else number // 8,
        )
        if listed:
            store.add(
                "messages",
                id=f"m-{key}",
                created_at=CLOCK - number,
                role="assistant",
                lion_class=3,
                content={"assistant_response": name},
                node_metadata=odd,
                embedding=b"\x00\x01\xff" if number % 2 else None,
            )
        store.add(
            "artifacts",
            id=f"{number:012x}",
            created_at=CLOCK,
            updated_at=CLOCK - number // 6,
            kind="odd",
            name=f"{name} {number}",
            content={"v": odd},
            session_id=key if number % 4 else None,
            invocation_id=uuid("invocation", 0) if number % 4 == 0 else None,
        )
