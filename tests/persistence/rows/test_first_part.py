"""What has no key to page by shows its first part, and says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from persistence.errors import StoreError
from persistence.reading import firstpart
from persistence.records import Order
from tests.persistence.rows.support import all_rows, ask, cells, exported, make, measured, opened


@pytest.fixture(autouse=True)
def a_small_part(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(firstpart, "FIRST_PART", 30)
    yield


def stores(path: Path) -> Path:
    return make(
        path,
        "CREATE TABLE t (n INTEGER PRIMARY KEY, word TEXT)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) "
        "INSERT INTO t SELECT i, CASE WHEN i % 4 THEN 'w' || (i % 7) END FROM n",
        "CREATE VIEW seen AS SELECT n, word FROM t",
        "CREATE VIEW few AS SELECT n, word FROM t WHERE n <= 10",
        "CREATE VIEW broken AS SELECT * FROM gone",
        "CREATE VIRTUAL TABLE texts USING fts5 (body)",
        "INSERT INTO texts SELECT 'body ' || n FROM t",
        # All three names of the row id are taken, and there is no other key.
        "CREATE TABLE hidden (rowid, _rowid_, oid)",
        "INSERT INTO hidden SELECT n, n, n FROM t",
    )


@pytest.mark.parametrize(
    ("name", "why"), [("seen", "a view"), ("texts", "a virtual table"), ("hidden", "no key to page by")]
)
async def test_a_first_part_says_that_it_is_one(tmp_path: Path, name: str, why: str) -> None:
    async with opened(stores(tmp_path / "t.db")) as db:
        source = db.rows(name)
        rows = await all_rows(source, 8)
        assert len(rows) == 30 and len({row.key for row in rows}) == 30
        extent = await measured(source)
        assert extent.rows == 30 and extent.complete
        assert extent.part_of is not None and "first part" in extent.part_of and why in extent.part_of
        assert (await source.window(-4, 4)).first == 26
        assert (await source.window(28, 10)).rows == tuple(rows[28:])
        assert await source.position(rows[5].key) == 5
        whole = await source.cells(rows[5].key)
        assert whole is not None and whole.cells == rows[5].cells
        assert cells(await exported(source)) == cells(rows)
        assert cells(await exported(source, after=rows[20].key)) == cells(rows[21:])


async def test_a_short_view_is_all_there_is(tmp_path: Path) -> None:
    async with opened(stores(tmp_path / "t.db")) as db:
        source = db.rows("few")
        assert len((await source.window(0, 20)).rows) == 10
        assert source.extent.complete and source.extent.part_of is None
        assert (await measured(source)).rows == 10


@pytest.mark.parametrize("descending", [False, True])
async def test_a_part_is_sorted_as_a_part(tmp_path: Path, descending: bool) -> None:
    path = stores(tmp_path / "t.db")
    way = "DESC" if descending else "ASC"
    # The second LIMIT is not for nothing: without it SQLite takes the first one to come after the order.
    part = "SELECT * FROM seen LIMIT 30"
    plain = ask(path, f"SELECT * FROM ({part}) ORDER BY word {way} NULLS LAST LIMIT 1000")
    async with opened(path) as db:
        source = db.rows("seen", order=Order("word", descending))
        rows = await all_rows(source, 30)
        assert [row.cells[1] for row in rows] == [row[1] for row in plain]
        said = (await measured(source)).part_of
        assert said is not None and "sorted" in said


async def test_a_filter_comes_before_the_part(tmp_path: Path) -> None:
    async with opened(stores(tmp_path / "t.db")) as db:
        rows = await all_rows(db.rows("seen", where={"word": "w1"}), 10)
        assert [row.cells[0] for row in rows] == [1, 15, 22, 29, 43, 50]


async def test_a_view_that_no_longer_works(tmp_path: Path) -> None:
    async with opened(stores(tmp_path / "t.db")) as db:
        with pytest.raises(StoreError) as refused:
            await db.rows("broken").window(0, 5)
        assert refused.value.code == "unreadable-table" and "gone" in refused.value.message


async def test_a_view_is_never_run_through_on_the_way_to_its_first_rows(tmp_path: Path) -> None:
    """The view would have ten thousand million rows; its first are there at once."""
    path = make(
        tmp_path / "t.db",
        "CREATE TABLE t (n)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) "
        "INSERT INTO t SELECT i FROM n",
        "CREATE VIEW huge AS SELECT a.n FROM t a, t b, t c, t d, t e",
    )
    async with opened(path) as db:
        source = db.rows("huge")
        assert len((await source.window(0, 20)).rows) == 20
        assert (await measured(source)).rows == 30
        assert {found.table: (found.rows, found.complete) async for found in db.counts()}["huge"] == (
            10_000,
            False,
        )
