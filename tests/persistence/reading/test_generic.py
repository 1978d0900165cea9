"""Reading by SQL text: parameters, decoding, and an authorizer that denies what is no read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persistence import MissingTableError, ReadOnlyStoreError, StateDB, StoreError
from persistence.reading.generic import named
from persistence.reading.values import decode_json
from tests.persistence.stores import make_filled, marks_of


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[StateDB]:
    path = make_filled(tmp_path / "state.db")
    before = marks_of(path)
    async with StateDB(path) as opened:
        yield opened
    assert marks_of(path) == before


@pytest.mark.adr("0055-P1-34")
async def test_rows_by_name(db: StateDB) -> None:
    rows = await db.fetch_all("SELECT id, status FROM sessions WHERE project = ? ORDER BY id", ["harbour"])
    assert rows == [{"id": "s000", "status": "running"}, {"id": "s001", "status": "completed"}]
    assert await db.fetch_one("SELECT :a + :b AS sum", {"a": 1, "b": 2}) == {"sum": 3}
    assert await db.fetch_one("SELECT '?' AS \"what?\", ':x' AS y -- ? :z\n, ? AS v /* ? */", (7,)) == {
        "what?": "?",
        "y": ":x",
        "v": 7,
    }


async def test_json_comes_as_stored_and_the_decoder_takes_it(db: StateDB) -> None:
    row = await db.fetch_one("SELECT content FROM messages WHERE id = 'm0000'")
    assert row is not None and isinstance(row["content"], str)
    message = await db.get_message("m0000")
    assert message is not None and decode_json(row["content"]) == message["content"]


async def test_no_row(db: StateDB) -> None:
    assert await db.fetch_one("SELECT 1 FROM sessions WHERE id = 'none'") is None
    assert await db.fetch_all("SELECT 1 FROM sessions WHERE id = 'none'") == []


@pytest.mark.adr("0055-P1-34")
@pytest.mark.parametrize(
    ("sql", "parameters"),
    [
        ("SELECT ?", None),
        ("SELECT ?", []),
        ("SELECT ?", [1, 2]),
        ("SELECT 1", [1]),
        ("SELECT '?'", ["x"]),
        ("SELECT ?, :a", {"a": 1}),
    ],
)
async def test_a_count_that_does_not_match(db: StateDB, sql: str, parameters: object) -> None:
    with pytest.raises(ValueError, match=r"\?"):
        await db.fetch_all(sql, parameters)  # type: ignore[arg-type]


async def test_a_text_is_not_a_sequence_of_parameters(db: StateDB) -> None:
    with pytest.raises(TypeError):
        await db.fetch_all("SELECT ?", "x")


READS = [
    "SELECT count(*) FROM sessions",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT max(i) FROM n",
    "SELECT value FROM json_each('[1, 2]')",
    "SELECT name FROM pragma_table_info('sessions')",
    "PRAGMA table_xinfo(sessions)",
    "PRAGMA user_version",
    "EXPLAIN QUERY PLAN SELECT * FROM sessions",
    "VALUES (1), (2)",
]
WRITES = [
    "DELETE FROM sessions",
    "UPDATE sessions SET name = 'x'",
    "INSERT INTO run_tags VALUES ('s001', 'x', 1)",
    "INSERT OR REPLACE INTO run_tags VALUES ('s001', 'x', 1) RETURNING tag",
    "WITH x AS (SELECT 1) DELETE FROM sessions",
    "CREATE TABLE t (a)",
    "CREATE TEMP TABLE t (a)",
    "CREATE TEMP VIEW v AS SELECT 1",
    "DROP TABLE sessions",
    "ALTER TABLE sessions ADD COLUMN x",
    "ATTACH ':memory:' AS other",
    "PRAGMA user_version = 5",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA wal_checkpoint",
    "PRAGMA query_only = 0",
    "PRAGMA writable_schema = ON",
    "SELECT load_extension('x')",
    "COMMIT",
    "SAVEPOINT x",
    "REINDEX",
    "ANALYZE",
    "VACUUM",
    "VACUUM INTO '{folder}/copy.db'",
]


@pytest.mark.parametrize("sql", READS)
async def test_reads_pass(db: StateDB, sql: str) -> None:
    assert await db.fetch_all(sql)


@pytest.mark.parametrize("sql", WRITES)
async def test_writes_are_refused(db: StateDB, tmp_path: Path, sql: str) -> None:
    with pytest.raises(StoreError) as caught:
        await db.fetch_all(sql.format(folder=tmp_path))
    if not sql.startswith(("VACUUM", "SELECT")):  # SQLite itself has other words for these
        assert isinstance(caught.value, ReadOnlyStoreError)
    # The handle goes on reading, and its own statements are not bound by what the last one was.
    assert len(await db.list_sessions()) == 4
    assert await db.fetch_one("SELECT 1 AS one") == {"one": 1}


async def test_a_snapshot_is_one_view_and_survives_a_refusal(db: StateDB) -> None:
    async with db.read_snapshot() as view:
        assert (await view.fetch_one("SELECT count(*) AS n FROM sessions") or {})["n"] == 4
        with pytest.raises(ReadOnlyStoreError):
            await view.fetch_all("DELETE FROM sessions")
        assert len(await view.fetch_all("SELECT id FROM sessions")) == 4
        assert view.read.route


async def test_what_the_store_lacks_is_a_typed_error(db: StateDB) -> None:
    with pytest.raises(MissingTableError):
        await db.fetch_all("SELECT * FROM principals")
    with pytest.raises(StoreError):
        await db.fetch_all("SELEC nothing")


@given(st.text(st.sampled_from("?:'\"`[]-/*\nax1 "), max_size=30))
def test_parameters_are_counted_in_any_text(sql: str) -> None:
    statement, values = named(sql, None) if "?" not in sql else _tried(sql)
    assert values is not None
    # What is bound is what stands in the text as a parameter, nothing in quotes or comments.
    assert str(statement).replace("\\:", ":") is not None


def _tried(sql: str) -> tuple[object, dict[str, object]]:
    for count in range(len(sql) + 1):
        try:
            return named(sql, [0] * count)
        except ValueError:
            continue
    raise AssertionError(sql)
