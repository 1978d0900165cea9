"""Windows at any place: before and after measuring, from the end, and while somebody writes."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from persistence.reading import fences
from persistence.reading.listing import Listing
from persistence.records import Order
from tests.persistence.rows.support import all_rows, ask, exported, make, measured, opened


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(fences, "STEP", 8)
    monkeypatch.setattr(fences, "CHUNK", 64)
    yield


def table(path: Path, rows: int = 1_000) -> Path:
    return make(
        path,
        "CREATE TABLE t (id INTEGER PRIMARY KEY, at REAL, word TEXT)",
        f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) "
        "INSERT INTO t SELECT i * 3, i % 17, 'word ' || i FROM n",
        "CREATE INDEX by_time ON t (at)",
    )


async def test_a_deep_window_does_not_wait_for_measuring(tmp_path: Path) -> None:
    async with opened(table(tmp_path / "t.db")) as db:
        source = db.rows("t")
        window = await source.window(900, 10)
        assert [row.key for row in window.rows] == [(n * 3,) for n in range(901, 911)]
        assert window.first == 900
        assert not source.extent.complete and source.extent.rows >= 910


async def test_the_end_is_reached_without_the_way_there(tmp_path: Path) -> None:
    async with opened(table(tmp_path / "t.db")) as db:
        source = db.rows("t", order=Order("at", True))
        window = await source.window(-5, 5)
        assert window.first == -5  # how many rows come before is not known yet
        plain = ask(tmp_path / "t.db", "SELECT id FROM t ORDER BY at DESC, id DESC")
        assert [row.key for row in window.rows] == plain[-5:]
        await measured(source)
        assert (await source.window(-5, 3)).first == 995
        assert [row.key for row in (await source.window(-5, 3)).rows] == plain[-5:-2]


async def test_what_is_known_of_the_extent_grows(tmp_path: Path) -> None:
    async with opened(table(tmp_path / "t.db")) as db:
        source = db.rows("t")
        assert (source.extent.rows, source.extent.complete) == (0, False)
        await source.window(0, 20)
        assert (source.extent.rows, source.extent.complete) == (20, False)
        assert source.extent.estimate == 2_998  # by the ends of the row ids
        await source.window(990, 20)
        assert (source.extent.rows, source.extent.complete) == (1_000, True)


async def test_measuring_tells_how_far_it_is_and_can_be_left(tmp_path: Path) -> None:
    async with opened(table(tmp_path / "t.db")) as db:
        source = db.rows("t")
        await source.window(0, 1)
        seen = []
        async for extent in source.measure():
            seen.append(extent)
            if len(seen) == 3:
                break
        assert [extent.rows for extent in seen] == [64, 128, 192]
        assert all(extent.progress is not None and extent.progress.total == 2_998 for extent in seen)
        assert (await measured(source)).rows == 1_000  # goes on from there


async def test_positions_are_found_by_key(tmp_path: Path) -> None:
    path = table(tmp_path / "t.db")
    async with opened(path) as db:
        source = db.rows("t", order=Order("at"))
        plain = ask(path, "SELECT id FROM t ORDER BY at, id")
        for place in (0, 1, 7, 8, 9, 400, 999):
            assert await source.position(plain[place]) == place
        assert await source.position((1,)) is None
        await measured(source)
        for place in range(0, 1_000, 37):
            assert await source.position(plain[place]) == place


async def test_a_source_stays_itself_until_the_store_moves(tmp_path: Path) -> None:
    path = table(tmp_path / "t.db")
    async with opened(path) as db:
        source = db.rows("t")
        await source.window(0, 5)
        assert await source.refreshed() is source
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("INSERT INTO t VALUES (2, 1.0, 'new')")
            connection.commit()
        again = await source.refreshed()
        assert again is not source and again.order == source.order
        assert [row.key for row in (await again.window(0, 3)).rows] == [(2,), (3,), (6,)]
        assert list(again.columns) == list(source.columns)


async def test_a_refreshed_source_reaches_deep_with_the_fences_it_had(tmp_path: Path) -> None:
    path = table(tmp_path / "t.db")
    async with opened(path) as db:
        source = db.rows("t")
        await source.window(0, 5)
        await measured(source)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("INSERT INTO t SELECT id + 10000, at, word FROM t WHERE id < 100")
            connection.commit()
        again = await source.refreshed()
        assert isinstance(again, Listing)
        window = await again.window(900, 10)
        assert [row.key for row in window.rows] == [(n * 3,) for n in range(901, 911)]
        assert not again.extent.complete and again.extent.rows == 1_000
        assert (await measured(again)).rows == 1_033


async def test_rows_inserted_and_deleted_under_it_never_double_in_a_window(tmp_path: Path) -> None:
    """Fences of before lead to right rows, each once and in order, whatever happened meanwhile."""
    path = table(tmp_path / "t.db")
    async with opened(path) as db:
        source = db.rows("t", order=Order("at", True))
        await source.window(0, 5)
        await measured(source)
        with closing(sqlite3.connect(path)) as writer:
            for step in range(5):
                writer.execute(
                    "INSERT INTO t (at, word) SELECT at + 0.5, word FROM t WHERE id % 3 = ?", (step,)
                )
                writer.execute("DELETE FROM t WHERE id % 7 = ?", (step,))
                writer.commit()
                plain = ask(path, "SELECT id FROM t ORDER BY at DESC, id DESC")
                places = {key: place for place, key in enumerate(plain)}
                for first in (0, 3, 64, 500, 996):
                    window = await source.window(first, 40)
                    found = [places[row.key] for row in window.rows]
                    assert found == list(range(found[0], found[0] + len(found))) if found else first >= 500


async def test_rows_arriving_while_it_is_measured(tmp_path: Path) -> None:
    path = table(tmp_path / "t.db")
    async with opened(path) as db:
        source = db.rows("t")
        await source.window(0, 5)
        with closing(sqlite3.connect(path)) as writer:
            extents = []
            async for extent in source.measure():
                extents.append(extent)
                if len(extents) < 5:
                    writer.execute("INSERT INTO t (at, word) VALUES (1.0, 'late')")
                    writer.commit()
        assert extents[-1].complete and extents[-1].rows == 1_004
        assert extents[-1].snapshots > 1  # and it says that it spans several states of the store
        assert len(await all_rows(source, 100)) == 1_004


async def test_values_too_long_to_keep_are_sorted_instead(tmp_path: Path) -> None:
    path = make(
        tmp_path / "long.db",
        "CREATE TABLE t (long TEXT)",
        "CREATE INDEX by_long ON t (long)",
        rows=[("INSERT INTO t VALUES (?)", (f"{n % 10}" * 3_000,)) for n in range(100)],
    )
    async with opened(path) as db:
        source = db.rows("t", order=Order("long"))
        plain = ask(path, "SELECT rowid FROM t ORDER BY long, rowid")
        assert (await measured(source)).rows == 100
        assert [row.key for row in await all_rows(source, 7)] == plain
        assert await source.position(plain[50]) == 50
        assert [row.key for row in await exported(source)] == plain


async def test_where_a_filter_leaves_nothing(tmp_path: Path) -> None:
    async with opened(table(tmp_path / "t.db")) as db:
        for source in (db.rows("t", where={"word": "none"}), db.rows("t", where={"at": 99.0})):
            window = await source.window(0, 10)
            assert window.rows == () and source.extent.rows == 0 and source.extent.complete
            assert (await source.window(-3, 3)).rows == ()
            assert await exported(source) == []


async def test_a_table_that_is_empty(tmp_path: Path) -> None:
    path = make(tmp_path / "empty.db", "CREATE TABLE t (a)")
    async with opened(path) as db:
        source = db.rows("t")
        assert (await source.window(0, 10)).rows == ()
        assert (await measured(source)).rows == 0
        assert (await source.window(100, 10)).rows == ()
        assert await source.position((1,)) is None and await source.cells((1,)) is None


async def test_costly_fences_are_not_gathered_at_every_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that moves every second must not keep a processor busy with measuring it."""
    path = table(tmp_path / "t.db")
    monkeypatch.setattr(fences, "CHEAP", 0.0)
    monkeypatch.setattr(fences, "PAUSE", 1e9)
    async with opened(path) as db:
        source = db.rows("t")
        await measured(source)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("INSERT INTO t VALUES (1, 1.0, 'new')")
            connection.commit()
        again = await source.refreshed()
        extents = [extent async for extent in again.measure()]
        assert [(extent.rows, extent.complete) for extent in extents] == [(1_000, False)]
        assert [row.key for row in (await again.window(990, 20)).rows][-1] == (3_000,)
        monkeypatch.setattr(fences, "PAUSE", 0.0)
        assert (await measured(again)).rows == 1_001


async def test_a_store_another_process_is_writing_shows_its_new_rows(tmp_path: Path) -> None:
    path = table(tmp_path / "t.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("PRAGMA wal_autocheckpoint=0")
        writer.execute("INSERT INTO t VALUES (9000, 99.0, 'first')")
        async with opened(path) as db:
            source = db.rows("t", order=Order("at", True))
            assert (await source.window(0, 1)).rows[0].key == (9_000,)
            for number in range(3):
                writer.execute("INSERT INTO t VALUES (?, ?, 'next')", (9_001 + number, 100.0 + number))
                source = await source.refreshed()
                assert (await source.window(0, 1)).rows[0].key == (9_001 + number,)
                assert (await measured(source)).rows == 1_002 + number


async def test_a_read_without_an_end_is_left_when_it_is_cancelled(tmp_path: Path) -> None:
    path = make(
        table(tmp_path / "t.db"),
        "CREATE VIEW never AS SELECT count(*) AS n FROM t a, t b, t c, t d",
    )
    async with opened(path) as db:
        task = asyncio.create_task(db.rows("never").window(0, 1))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len((await db.rows("t").window(0, 5)).rows) == 5
