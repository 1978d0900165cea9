"""Pages by key: nothing twice, nothing left out, NULLs last, cursors that say what they are."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from persistence import StateDB
from persistence.reading import query
from persistence.reading.page import Page, read_cursor, write_cursor
from tests.persistence.stores import make_store, put, run_sql, session


async def walk(method: Any, limit: int, **filters: Any) -> list[str]:
    out: list[str] = []
    after = None
    while True:
        page = await method(limit=limit, after=after, **filters)
        assert len(page) <= limit
        assert page.complete is (page.next is None)
        out += [row["id"] for row in page]
        if page.next is None:
            return out
        assert len(page) == limit
        after = page.next


# A schedule's name is unique, so shows carry the ties, and a table made here the NULLs.
VALUES = st.sampled_from([None, 0.0, -1.5, 3.0, 3.0, 1e300])


@given(st.lists(VALUES, max_size=12), st.integers(1, 5))
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_page_size_gives_the_whole_order(
    tmp_path_factory: pytest.TempPathFactory, values: list[float | None], limit: int
) -> None:
    path = tmp_path_factory.mktemp("pages") / "state.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, updated_at REAL)")
    connection.execute("CREATE TABLE plays (id TEXT PRIMARY KEY, sort_order INT, created_at REAL)")
    for number, value in enumerate(values):
        connection.execute("INSERT INTO sessions VALUES (?, ?)", (f"s{number:02}", value))
        connection.execute("INSERT INTO plays VALUES (?, ?, ?)", (f"s{number:02}", number % 2 or None, value))
    connection.commit()
    connection.close()
    named = [(f"s{number:02}", value) for number, value in enumerate(values)]

    def down(row: tuple[str, float | None]) -> tuple[bool, float]:
        return row[1] is None, -(row[1] or 0.0)

    expected = [name for name, _ in sorted(sorted(named, reverse=True), key=down)]

    def up(row: tuple[str, float | None]) -> tuple[bool, bool, float, str]:
        return int(row[0][1:]) % 2 == 0, row[1] is None, row[1] or 0.0, row[0]

    async with StateDB(path) as db:
        assert await walk(db.list_sessions, limit) == expected
        assert [row["id"] for row in await db.list_sessions()] == expected
        assert await walk(db.list_plays, limit) == [name for name, _ in sorted(named, key=up)]


async def test_everything_comes_in_chunks_and_says_across_how_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_store(tmp_path / "state.db")
    put(path, "sessions", *(session(n) for n in range(25)))
    monkeypatch.setattr(query, "_CHUNK", 10)
    async with StateDB(path) as db:
        page = await db.list_sessions()
        assert [row["id"] for row in page] == [f"s{n:03}" for n in reversed(range(25))]
        assert page.complete and page.read is not None and page.read.snapshots == 1
        twelve = await db.list_sessions(limit=12)
        assert len(twelve) == 12 and twelve.next is not None
        rest = await db.list_sessions(after=twelve.next)
        assert [*twelve, *rest] == list(page)
        exactly = await db.list_sessions(limit=25)
        assert exactly.complete


async def test_rows_added_between_pages_neither_repeat_nor_hide_others(tmp_path: Path) -> None:
    path = make_store(tmp_path / "state.db")
    put(path, "sessions", *(session(n) for n in range(6)))
    async with StateDB(path) as db:
        first = await db.list_sessions(limit=3)
        put(path, "sessions", session(99))
        rest = await db.list_sessions(after=first.next)
        assert [row["id"] for row in [*first, *rest]] == [f"s{n:03}" for n in reversed(range(6))]


@pytest.mark.parametrize("limit", [0, -1])
async def test_a_limit_below_one_is_a_mistake(tmp_path: Path, limit: int) -> None:
    async with StateDB(make_store(tmp_path / "state.db")) as db:
        with pytest.raises(ValueError, match="at least 1"):
            await db.list_sessions(limit=limit)


async def test_a_cursor_of_another_list_is_a_mistake(tmp_path: Path) -> None:
    path = make_store(tmp_path / "state.db")
    put(path, "sessions", *(session(n) for n in range(3)))
    async with StateDB(path) as db:
        cursor = (await db.list_sessions(limit=1)).next
        assert cursor is not None
        with pytest.raises(ValueError, match="another list"):
            await db.list_shows(after=cursor)
        for nonsense in ("", "x", "!!", "é", cursor[:-6], cursor + "AAAA"):
            with pytest.raises(ValueError, match="cursor"):
                await db.list_sessions(after=nonsense)


@given(
    st.lists(
        st.none()
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats(allow_nan=False)
        | st.text(st.characters())
        | st.binary(),
        max_size=4,
    )
)
def test_cursors_carry_values_exactly(values: list[Any]) -> None:
    cursor = write_cursor("rows", tuple(values))
    assert cursor.isascii() and "=" not in cursor
    back = read_cursor("rows", cursor, len(values))
    assert list(map(repr, back)) == list(map(repr, values))


async def test_odd_keys_are_walked_and_found(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE messages (id PRIMARY KEY, created_at REAL NOT NULL)")
    for value in ("'plain'", "CAST(x'62ff' AS TEXT)", "x'00ff'", "7", "2.5", "'a' || char(0) || 'b'", "''"):
        connection.execute(f"INSERT INTO messages VALUES ({value}, 1.0)")
    connection.commit()
    connection.close()
    async with StateDB(path) as db:
        found = await walk(db.list_messages, 1)
        assert found == [2.5, 7, "", "a\0b", "b\udcff", "plain", b"\x00\xff"]
        for key in found:
            message = await db.get_message(key)
            assert message is not None and message["id"] == key
        assert await db.get_message("\ud800") is None


async def test_a_table_without_its_key_is_walked_by_row_id(tmp_path: Path) -> None:
    run_sql(
        tmp_path / "state.db",
        "CREATE TABLE run_tags (rowid TEXT, note TEXT)",
        "INSERT INTO run_tags VALUES ('x', 'b'), ('x', 'a'), ('x', 'c')",
    )
    async with StateDB(tmp_path / "state.db") as db:
        first = await db.list_run_tags(limit=2)
        assert [row["note"] for row in first] == ["b", "a"]
        assert set(first[0]) == {"rowid", "note"}
        assert first.missing.columns == ("created_at", "session_id", "tag")
        assert [row["note"] for row in await db.list_run_tags(after=first.next)] == ["c"]


async def test_a_view_gives_its_first_part_and_says_so(tmp_path: Path) -> None:
    run_sql(
        tmp_path / "state.db",
        "CREATE TABLE t (note TEXT)",
        "INSERT INTO t VALUES ('a'), ('b'), ('c')",
        "CREATE VIEW run_tags AS SELECT note FROM t",
    )
    async with StateDB(tmp_path / "state.db") as db:
        assert (await db.list_run_tags()).complete
        part = await db.list_run_tags(limit=2)
        assert len(part) == 2 and part.next is None and not part.complete
        assert part.part_of is not None and "first 2 rows" in part.part_of
        cursor = write_cursor("run_tags", (1,))
        with pytest.raises(ValueError, match="no cursor"):
            await db.list_run_tags(after=cursor)


def test_a_page_is_a_list() -> None:
    page = Page([{"a": 1}])
    assert page == [{"a": 1}] and isinstance(page, list) and page.complete
    assert not Page().missing
