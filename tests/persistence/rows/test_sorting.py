"""Orders that had to be built: in runs, merged, with progress, cancelled, capped, and old by now."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from persistence.errors import StoreError
from persistence.reading import fences, sorting
from persistence.records import Order, Unreadable
from tests.persistence.rows.support import all_rows, ask, exported, make, measured, opened

MIXED: list[Any] = [None, 3, 2.5, "b", "a", b"\x01", "", b"", None, -1, 1e300, "é", "B", 3, "a"]


def table(path: Path, rows: int = 600) -> Path:
    return make(
        path,
        "CREATE TABLE t (a, b TEXT COLLATE NOCASE)",
        rows=[
            ("INSERT INTO t VALUES (?, ?)", (MIXED[n * 7 % len(MIXED)], f"{'aAbB'[n % 4]}{n % 5}"))
            for n in range(rows)
        ],
    )


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("column", ["a", "b"])
@pytest.mark.parametrize(("run", "block"), [(10_000, 10_000), (64, 16), (50, 200), (7, 3)])
async def test_runs_are_merged_as_the_database_compares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: int, block: int, column: str, descending: bool
) -> None:
    monkeypatch.setattr(sorting, "RUN", run)
    monkeypatch.setattr(sorting, "BLOCK", block)
    path = table(tmp_path / "t.db")
    way = "DESC" if descending else "ASC"
    plain = ask(path, f"SELECT rowid FROM t ORDER BY {column} {way} NULLS LAST, rowid {way}")
    async with opened(path) as db:
        source = db.rows("t", order=Order(column, descending))
        assert (await measured(source)).rows == len(plain)
        assert [row.key for row in await all_rows(source, 100)] == plain


async def test_the_first_page_does_not_wait_for_the_order(tmp_path: Path) -> None:
    path = table(tmp_path / "t.db")
    async with opened(path) as db:
        source = db.rows("t", order=Order("a"))
        window = await source.window(0, 20)
        assert [row.key for row in window.rows] == ask(
            path, "SELECT rowid FROM t ORDER BY a NULLS LAST, rowid LIMIT 20"
        )
        assert (source.extent.rows, source.extent.complete) == (20, False)


async def test_one_built_order_serves_both_directions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = table(tmp_path / "t.db")
    async with opened(path) as db:
        source = db.rows("t", order=Order("a"))
        await measured(source)
        monkeypatch.setattr(sorting.Sorting, "build", None)  # would fail if it were asked again
        falling = source.ordered(Order("a", True))
        assert (await measured(falling)).rows == 600
        rising = await all_rows(source, 50)
        down = await all_rows(falling, 50)
        plain = ask(path, "SELECT rowid FROM t ORDER BY a DESC NULLS LAST, rowid DESC")
        assert [row.key for row in down] == plain
        assert sorted(row.key for row in rising) == sorted(plain)


async def test_progress_is_told_while_it_sorts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "RUN", 100)
    monkeypatch.setattr(sorting, "BLOCK", 50)
    path = table(tmp_path / "t.db")
    async with opened(path) as db:
        told = [extent.progress async for extent in db.rows("t", order=Order("a")).measure()]
        merged = [each for each in told if each is not None and each.what == "rows merged"]
        assert merged and [each.done for each in merged] == sorted(each.done for each in merged)
        assert merged[-1].total is not None and merged[-1].done <= merged[-1].total


async def test_a_pass_over_many_rows_says_where_it_is(tmp_path: Path) -> None:
    path = make(
        tmp_path / "t.db",
        "CREATE TABLE t (a)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 140000) "
        "INSERT INTO t SELECT i % 100 FROM n",
    )
    async with opened(path) as db:
        told = [extent.progress async for extent in db.rows("t", order=Order("a")).measure()]
        done = [each.done for each in told if each is not None]
        assert 65_535 in done and 131_071 in done


async def test_a_run_that_would_hold_a_live_store_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With no patience at all every run is given up and cut, down to the size that is always let through."""
    monkeypatch.setattr(sorting, "PATIENCE", 0.0)
    monkeypatch.setattr(sorting, "BLOCK", 30_000)
    path = make(
        tmp_path / "t.db",
        "CREATE TABLE t (a)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 140000) "
        "INSERT INTO t SELECT (i * 7919) % 1000 FROM n",
    )
    async with opened(path) as db:
        source = db.rows("t", order=Order("a"))
        assert (await measured(source)).rows == 140_000
        plain = ask(path, "SELECT rowid FROM t ORDER BY a, rowid LIMIT 5 OFFSET 70000")
        assert [row.key for row in (await source.window(70_000, 5)).rows] == plain


@pytest.mark.parametrize("tail", ["", " WITHOUT ROWID"])
async def test_more_rows_than_are_sorted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tail: str) -> None:
    monkeypatch.setattr(sorting, "CAP", 50)
    monkeypatch.setattr(sorting, "KEYS_CAP", 50)
    path = make(
        tmp_path / "t.db",
        f"CREATE TABLE t (k TEXT PRIMARY KEY, a){tail}",
        rows=[("INSERT INTO t VALUES (?, ?)", (f"{n:03}", n % 3)) for n in range(60)],
    )
    async with opened(path) as db:
        source = db.rows("t", order=Order("a"))
        assert len((await source.window(0, 10)).rows) == 10  # the first page is had all the same
        with pytest.raises(StoreError) as refused:
            await measured(source)
        assert refused.value.code == "too-many-to-sort"
        assert refused.value.remedy is not None and "index" in refused.value.remedy
        assert len(await exported(db.rows("t"))) == 60


async def test_leaving_the_measuring_stops_the_sort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "RUN", 20)
    monkeypatch.setattr(sorting, "BLOCK", 10)
    path = table(tmp_path / "t.db")
    async with opened(path) as db:
        source = db.rows("t", order=Order("a"))
        steps = source.measure()
        await anext(steps)
        await steps.aclose()  # type: ignore[attr-defined]
        assert not source.extent.complete
        running = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert not running
        assert (await measured(source)).rows == 600


async def test_two_that_wait_for_an_order_build_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = table(tmp_path / "t.db")
    built = 0
    build = sorting.Sorting.build

    async def counted(self: sorting.Sorting, *arguments: Any) -> sorting.Built:
        nonlocal built
        built += 1
        return await build(self, *arguments)

    monkeypatch.setattr(sorting.Sorting, "build", counted)
    async with opened(path) as db:
        source = db.rows("t", order=Order("a"))
        await source.window(0, 1)
        await asyncio.gather(measured(source), source.window(-5, 5), source.position((1,)))
        assert built == 1


async def test_a_row_that_is_gone_keeps_its_place(tmp_path: Path) -> None:
    path = table(tmp_path / "t.db", 30)
    async with opened(path) as db:
        source = db.rows("t", order=Order("a"))
        await measured(source)
        before = (await source.window(0, 30)).rows
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("DELETE FROM t WHERE rowid = ?", before[3].key)
            connection.commit()
        after = (await source.window(0, 30)).rows
        assert [row.key for row in after] == [row.key for row in before]
        assert all(isinstance(cell, Unreadable) for cell in after[3].cells)
        assert after[4] == before[4]
        again = await source.refreshed()
        assert len((await again.window(0, 30)).rows) == 29


async def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    async with opened(table(tmp_path / "t.db")) as db:
        with pytest.raises(StoreError) as refused:
            await db.rows("t", order=Order("nope")).window(0, 1)
        assert refused.value.code == "no-such-order" and "a, b" in (refused.value.expected or "")
        with pytest.raises(StoreError) as missing:
            await db.rows("t", where={"nope": 1}).window(0, 1)
        assert missing.value.code == "no-such-column"
        with pytest.raises(StoreError) as absent:
            await db.rows("nope").window(0, 1)
        assert absent.value.code == "no-such-table"


async def test_a_costly_order_is_kept_for_a_while_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fences, "CHEAP", 0.0)
    monkeypatch.setattr(fences, "PAUSE", 1e9)
    path = table(tmp_path / "t.db", 40)
    async with opened(path) as db:
        source = db.rows("t", order=Order("a"))
        assert (await measured(source)).part_of is None
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("INSERT INTO t VALUES (-99, 'new')")
            connection.commit()
        again = await source.refreshed()
        extent = await measured(again)
        assert extent.rows == 40 and extent.part_of is not None and "before the store moved" in extent.part_of
        assert await again.refreshed() is again
        # A while later it is sorted anew, though the store has not moved again.
        monkeypatch.setattr(fences, "PAUSE", 0.0)
        later = await again.refreshed()
        extent = await measured(later)
        assert later is not again and extent.rows == 41 and extent.part_of is None
        assert (await later.window(0, 1)).rows[0].cells[0] == -99
