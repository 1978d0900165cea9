"""A few damaged pages never make a whole table useless: good rows are shown, the others counted."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from persistence.errors import StoreError
from persistence.records import Order, Row, Unreadable
from tests.persistence.rows.support import all_rows, exported, make, measured, opened
from tests.persistence.stores import make_store, put, session

WORD = "w" * 300


def damaged(path: Path, *script: str, name: str = "t", which: float = 0.5, rows: int = 400) -> Path:
    """A table of which one leaf page (of the table, or of an index) is garbage."""
    make(
        path,
        *(script or ("CREATE TABLE t (id TEXT PRIMARY KEY, v TEXT)",)),
        rows=[("INSERT INTO t (id, v) VALUES (?, ?)", (f"{n:04}", WORD)) for n in range(rows)],
    )
    spoil(path, name, which)
    return path


def spoil(path: Path, name: str, which: float) -> None:
    with closing(sqlite3.connect(path)) as connection:
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        query = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path"
        pages = [row[0] for row in connection.execute(query, (name,))]
    data = bytearray(path.read_bytes())
    start = (pages[min(int(len(pages) * which), len(pages) - 1)] - 1) * size
    data[start : start + size] = b"\xa5" * size
    path.write_bytes(data)


def split(rows: list[Row]) -> tuple[list[Row], list[Row]]:
    bad = [row for row in rows if any(isinstance(cell, Unreadable) for cell in row.cells)]
    return [row for row in rows if row not in bad], bad


@pytest.mark.parametrize("which", [0.0, 0.5, 1.0])
async def test_by_key_with_an_index_that_has_all_rows(tmp_path: Path, which: float) -> None:
    async with opened(damaged(tmp_path / "t.db", which=which)) as db:
        source = db.rows("t")
        rows = await all_rows(source, 60)
        good, bad = split(rows)
        assert len(rows) == 400 and 0 < len(bad) < 30
        assert all(row.cells[1] == WORD for row in good)
        assert [row.key for row in rows] == [(n,) for n in range(1, 401)]
        extent = await measured(source)
        assert extent.part_of == f"damaged: {len(bad)} rows cannot be read"
        assert await source.position((200,)) == 199
        assert [row.key for row in await exported(db.rows("t"))] == [row.key for row in rows]
        assert (await source.window(-5, 5)).rows == tuple(rows[-5:])


async def test_by_key_without_any_index(tmp_path: Path) -> None:
    path = damaged(tmp_path / "t.db", "CREATE TABLE t (id, v)")
    async with opened(path) as db:
        source = db.rows("t")
        rows = await all_rows(source, 60)
        good, bad = split(rows)
        assert len(rows) == 400 and 0 < len(bad) < 30 and all(row.cells[1] == WORD for row in good)
        told = (await measured(source)).part_of
        assert told == f"damaged: at most {len(bad)} rows cannot be read"


async def test_measuring_comes_to_damage_that_windows_have_not_seen(tmp_path: Path) -> None:
    async with opened(damaged(tmp_path / "t.db", which=0.9)) as db:
        source = db.rows("t")
        assert len((await source.window(0, 20)).rows) == 20
        extent = await measured(source)
        assert extent.rows == 400 and extent.part_of is not None
        assert len(split(await all_rows(source, 100))[1]) > 0


async def test_an_export_goes_on_behind_the_damage(tmp_path: Path) -> None:
    async with opened(damaged(tmp_path / "t.db", which=0.9)) as db:
        rows = await exported(db.rows("t"))
        assert [row.key for row in rows] == [(n,) for n in range(1, 401)]
        assert 0 < len(split(rows)[1]) < 30


async def test_a_damaged_index_is_done_without(tmp_path: Path) -> None:
    script = ("CREATE TABLE t (id TEXT, v TEXT)", "CREATE INDEX i ON t (id)")
    async with opened(damaged(tmp_path / "t.db", *script, name="i", which=0.0, rows=2_000)) as db:
        rows = await all_rows(db.rows("t", order=Order("id", True)), 300)
        assert [row.cells[0] for row in rows] == [f"{n:04}" for n in range(1_999, -1, -1)]
        assert not split(rows)[1]


async def test_a_list_of_runs_with_damaged_rows(tmp_path: Path) -> None:
    path = make_store(tmp_path / "s.db")
    put(path, "sessions", *[session(n, name="run " * 30) for n in range(100)])
    spoil(path, "sessions", 0.5)
    async with opened(path) as db:
        rows = await all_rows(db.runs(), 30)
        good, bad = split(rows)
        assert len(rows) == 100 and 0 < len(bad) < 30
        assert all(row.key == (row.cells[20],) for row in good)


async def test_damage_that_leaves_no_way_is_said(tmp_path: Path) -> None:
    """A tree without its root has no rows to show; it is called damaged, and nothing is advised away."""
    path = damaged(tmp_path / "t.db", "CREATE TABLE t (id, v)")
    with closing(sqlite3.connect(path)) as connection:
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 't'").fetchone()[0]
    data = bytearray(path.read_bytes())
    data[(root - 1) * size : root * size] = b"\xa5" * size
    path.write_bytes(data)
    async with opened(path) as db:
        with pytest.raises(StoreError) as refused:
            await db.rows("t").window(0, 10)
        assert refused.value.code == "damaged"
        assert not any(
            word in (refused.value.remedy or "").lower() for word in ("delete", "rebuild", "remove")
        )
