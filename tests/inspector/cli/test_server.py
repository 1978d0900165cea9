"""The same commands on a PostgreSQL store."""

from __future__ import annotations

from typing import Any

import asyncpg
import pytest


@pytest.fixture
async def server_store(native_database: str) -> str:
    """A native store on a server with one run in it; the URL carries a password."""
    connection = await asyncpg.connect(native_database.replace("postgresql+asyncpg", "postgresql"))
    try:
        await connection.execute(
            "INSERT INTO progressions (id, created_at, collection) VALUES ('p', 1, '[\"m\"]')"
        )
        await connection.execute(
            "INSERT INTO messages (id, created_at, content, role, lion_class) VALUES"
            " ('m', 1, '{\"assistant_response\": \"Ebb until nine.\"}', 'assistant', 3)"
        )
        await connection.execute(
            "INSERT INTO sessions (id, created_at, updated_at, name, status, progression_id) VALUES"
            " ('s-1', 1, 2, 'Tide board', 'completed', 'p')"
        )
    finally:
        await connection.close()
    return native_database


def test_commands_on_a_server(command: Any, server_store: str) -> None:
    password = server_store.split("@")[0].rsplit(":", 1)[1]
    said = []
    done = command("doctor", server_store, "--json")
    assert done.status == 0 and done.json["store"]["backend"] == "postgresql"
    assert done.json["store"]["route"] == "server" and done.json["store"]["lineage"] == "lionagi"
    said.append(done)
    said.append(command("doctor", server_store))
    done = command("runs", server_store, "--json")
    assert [row["name"] for row in done.json["rows"]] == ["Tide board"]
    said.append(done)
    done = command("run", server_store, "s-1", "--json")
    assert done.json["rows"][0]["content"] == {"assistant_response": "Ebb until nine."}
    said.append(done)
    done = command("tables", server_store, "sessions", "--where", "id=s-1", "--json")
    assert [row["status"] for row in done.json["rows"]] == ["completed"]
    said += [done, command("tables", server_store), command("tables", server_store, "sessions", "--shape")]
    for done in said:
        assert done.status == 0, done.err
        assert password not in done.out + done.err
