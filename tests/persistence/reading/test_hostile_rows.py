"""One bad row never hides the good ones, and nothing a cell holds is an exception."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from persistence import StateDB, UnreadableValueError
from persistence.records import Unreadable
from tests.persistence.stores import make_store, message, put, session

BROKEN = {
    "m0000": '{"fine": true}',
    "m0001": '{"cut',
    "m0002": '{"a": NaN}',
    "m0003": '{"a": 1, "a": 2}',
    "m0004": '{"n": 12345678901234567890123}',
    "m0005": "null",
    "m0006": "[" * 50_000,
    "m0007": "\x00\x1b[31m]0;title\x07",
    "m0008": "",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = make_store(tmp_path / "state.db")
    put(path, "messages", *(message(n) for n in range(12)))
    connection = sqlite3.connect(path)
    for key, text in BROKEN.items():
        connection.execute("UPDATE messages SET content = ? WHERE id = ?", (text, key))
    connection.execute("UPDATE messages SET content = x'7b2261223a22ff227d' WHERE id = 'm0009'")
    connection.execute("UPDATE messages SET content = CAST(x'ff' AS TEXT), role = x'00ff' WHERE id = 'm0010'")
    connection.execute("UPDATE messages SET created_at = 'not a time', embedding = 'text' WHERE id = 'm0011'")
    connection.execute("DROP INDEX idx_messages_created")
    connection.commit()
    connection.close()
    return path


async def test_every_row_comes_with_what_is_wrong_marked(path: Path) -> None:
    async with StateDB(path) as db:
        rows = {row["id"]: row for row in await db.list_messages()}
    assert len(rows) == 12
    assert rows["m0000"]["content"] == {"fine": True}
    assert rows["m0005"]["content"] is None
    assert rows["m0009"]["content"] == {"a": "\udcff"}
    assert rows["m0010"]["role"] == b"\x00\xff"
    assert rows["m0011"]["created_at"] == "not a time"
    assert rows["m0011"]["embedding"] == "text"
    for key in ("m0001", "m0002", "m0003", "m0004", "m0006", "m0007", "m0008", "m0010"):
        content = rows[key]["content"]
        assert isinstance(content, Unreadable), key
        assert content.why and content.raw is not None


async def test_a_message_with_a_broken_cell_is_still_got(path: Path) -> None:
    async with StateDB(path) as db:
        row = await db.get_message("m0003")
    assert row is not None and row["role"] == "assistant"
    assert isinstance(row["content"], Unreadable) and "twice" in row["content"].why


async def test_a_verification_that_says_both_is_not_read_as_passed(tmp_path: Path) -> None:
    path = make_store(tmp_path / "state.db")
    put(path, "sessions", session(1, artifact_verification_json='{"status":"passed","status":"failed"}'))
    async with StateDB(path) as db:
        found = await db.get_artifact_verification("s001")
    assert isinstance(found, Unreadable) and "'status' twice" in found.why


async def test_numbers_no_json_has(tmp_path: Path) -> None:
    """A JSON column's affinity makes numbers of numeric text: 1e400 is stored as infinity."""
    path = make_store(tmp_path / "state.db")
    put(path, "sessions", session(1, node_metadata="1e400", created_at=float("inf")))
    put(path, "sessions", session(2, node_metadata="12", created_at=-62135596801.0))
    async with StateDB(path) as db:
        second, first = await db.list_sessions()
    assert isinstance(first["node_metadata"], Unreadable)
    assert first["created_at"] == float("inf")
    assert second["node_metadata"] == 12 and second["created_at"] == -62135596801.0


@pytest.mark.parametrize("stored", ["{}", '"text"', "5", "[1", "NaN", "\udcff", b"\xff[", b"[]\xff"])
async def test_a_collection_that_is_no_list_is_said_not_called_empty(tmp_path: Path, stored: object) -> None:
    path = make_store(tmp_path / "state.db")
    connection = sqlite3.connect(path)
    raw = stored.encode("utf-8", "surrogateescape") if isinstance(stored, str) else stored
    connection.execute("INSERT INTO progressions VALUES ('p', 1.0, CAST(? AS TEXT))", (raw,))
    connection.commit()
    connection.close()
    async with StateDB(path) as db:
        with pytest.raises(UnreadableValueError):
            await db.get_progression("p")
        assert len(await db.list_progressions()) == 1


async def test_entries_that_are_no_text_stay_what_they_are(tmp_path: Path) -> None:
    path = make_store(tmp_path / "state.db")
    put(path, "progressions", {"id": "p", "created_at": 1.0, "collection": [5, "5", None, {"a": 1}]})
    put(path, "sessions", session(1, progression_id="p"))
    put(path, "branches", {"id": "b", "created_at": 1.0, "session_id": "s001", "progression_id": "p"})
    async with StateDB(path) as db:
        assert await db.get_progression("p") == [5, "5", None, {"a": 1}]
        assert await db.get_branch_messages("b") == []


@pytest.mark.parametrize(
    "key", ["\0", "a\0b", "'; DROP TABLE sessions; --", "\udcff", "\ud800", "x" * 100_000]
)
async def test_any_text_may_be_asked_for(path: Path, key: str) -> None:
    async with StateDB(path) as db:
        assert await db.get_session(key) is None
        assert await db.get_message(key) is None
        assert await db.get_progression(key) == []
        assert await db.list_sessions(project=key, text=key, status=[key]) == []
        assert await db.get_definition(key, key, version=1) is None
        assert await db.get_definition("agent", key, version=2**70) is None
        assert len(await db.list_messages()) == 12


async def test_a_50_mb_cell_is_read_when_it_is_asked_for(tmp_path: Path) -> None:
    path = make_store(tmp_path / "state.db")
    put(path, "messages", message(1, content={"assistant_response": "x" * 50_000_000}), message(2))
    async with StateDB(path) as db:
        row = await db.get_message("m0001")
        assert row is not None and len(row["content"]["assistant_response"]) == 50_000_000
