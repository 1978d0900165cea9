"""Native databases on PostgreSQL, shared both ways with the real lionagi 0.36.0."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import asyncpg
import pytest

from persistence import Mode, StateDB
from persistence.schema.known import TABLES
from tests.interop.natively import call, fill, run_calls
from tests.persistence.writing.test_application_server import schema


@pytest.fixture
def driver(tmp_path: Path) -> dict[str, str]:
    """The PostgreSQL driver alone, lent to the other program's Python."""
    lent = tmp_path / "lent"
    lent.mkdir()
    (lent / "asyncpg").symlink_to(Path(asyncpg.__file__).parent)
    return {"PYTHONPATH": str(lent)}


async def everything(url: str) -> dict[str, Any]:
    connection = await asyncpg.connect(url)
    try:
        rows = {
            table: sorted(map(str, await connection.fetch(f"SELECT t::text FROM {table} t")))
            for table in TABLES
        }
        return {"schema": await schema(connection), "rows": rows}
    finally:
        await connection.close()


async def test_they_open_a_database_we_made_and_migrate_nothing(
    native_database: str, lionagi_python: str, driver: dict[str, str], tmp_path: Path
) -> None:
    async with StateDB(native_database, mode=Mode.NATIVE) as db:
        await fill(db)
    before = await everything(native_database)
    calls = [
        call("schema_version"),
        call("get_progression", "pb2"),
        call("get_message", "s0-m1"),
        call("get_definition", "agent", "clerk"),
        call("get_session", "s1"),
    ]
    version, order, message, definition, session = run_calls(
        lionagi_python, tmp_path, native_database, calls, **driver
    )
    assert await everything(native_database) == before
    assert version == "4"
    async with StateDB(native_database) as db:
        assert order == await db.get_progression("pb2")
        assert message["content"] == (await db.get_message("s0-m1") or {})["content"]
        assert definition["content"] == (await db.get_definition("agent", "clerk") or {})["content"]
        assert session["node_metadata"] == (await db.get_session("s1") or {})["node_metadata"]


async def test_each_adds_to_what_the_other_wrote(
    native_database: str, lionagi_python: str, driver: dict[str, str], tmp_path: Path
) -> None:
    async with StateDB(native_database, mode=Mode.NATIVE) as db:
        await fill(db)
        (artifact,) = [
            row for row in await db.list_artifacts_for_session("s1") if row["invocation_id"] is None
        ]
        answers = run_calls(
            lionagi_python,
            tmp_path,
            native_database,
            [
                call(
                    "insert_message",
                    {
                        "id": "theirs",
                        "created_at": 50.0,
                        "content": {"a": "潮"},
                        "role": "user",
                        "node_metadata": {"lion_class": "acme.custom.New"},
                    },
                ),
                call("append_to_progression", "pb1", "theirs"),
                call("append_to_progression", "pb1", "s1-m0"),
                call("save_definition", kind="agent", name="clerk", path="c.md", content="theirs"),
                call("insert_artifact", kind="report", name="board", content={"v": 2}, session_id="s1"),
                call("insert_session_signal", session_id="s1", kind="op", ts=9.0, payload={}),
                call(
                    "update_status", "session", "s2", new_status="failed", reason_code="run.failed.exception"
                ),
            ],
            **driver,
        )
        assert answers[3:7] == [4, artifact["id"], 4, True]
        assert (await db.get_progression("pb1"))[-1] == "theirs" and len(await db.get_progression("pb1")) == 7
        message = await db.get_message("theirs")
        assert message is not None and message["lion_class_str"] == "acme.custom.New"
        assert await db.save_definition(kind="agent", name="clerk", path="c.md", content="mine") == 5
        await db.insert_message(
            {"id": "ours", "content": {}, "role": "user", "lion_class": "acme.custom.Newer"}
        )
        assert (await db.get_message("ours") or {})["lion_class"] == message["lion_class"] + 1


async def test_we_open_a_database_they_made_and_migrate_nothing(
    postgres_url: str, native_database: str, lionagi_python: str, driver: dict[str, str], tmp_path: Path
) -> None:
    run_calls(
        lionagi_python,
        tmp_path,
        postgres_url,
        [
            call("create_progression", "p", ["a", "b"]),
            call("create_session", {"id": "s", "progression_id": "p", "status": "running", "name": "theirs"}),
            call("save_definition", kind="agent", name="n", path="p", content="c"),
        ],
        **driver,
    )
    before = await everything(postgres_url)
    assert before["schema"] == (await everything(native_database))["schema"], "object by object what we make"
    async with StateDB(postgres_url, mode=Mode.NATIVE) as db:
        assert db.applied is not None and not db.applied.changed
        assert await everything(postgres_url) == before
        await db.append_to_progression("p", "c")
        assert await db.save_definition(kind="agent", name="n", path="p", content="ours") == 2
        assert await db.update_status("session", "s", new_status="failed", reason_code="run.failed.exception")
    answers = run_calls(
        lionagi_python,
        tmp_path,
        postgres_url,
        [call("get_progression", "p"), call("get_session", "s"), call("get_definition", "agent", "n")],
        **driver,
    )
    assert answers[0] == ["a", "b", "c"]
    assert (answers[1]["status"], answers[1]["name"], answers[2]["version"]) == ("failed", "theirs", 2)
