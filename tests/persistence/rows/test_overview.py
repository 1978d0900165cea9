"""Numbers about a store: rows and sizes by table, runs a day, sessions by status."""

from __future__ import annotations

from pathlib import Path

import pytest

from persistence.errors import DeadlineError
from persistence.reading import overview
from tests.persistence.rows.support import make, opened
from tests.persistence.stores import make_store, put, session

DAY = 86_400.0


async def test_rows_arrive_table_by_table(tmp_path: Path) -> None:
    path = make(
        tmp_path / "t.db",
        "CREATE TABLE a (x)",
        "CREATE TABLE b (x PRIMARY KEY) WITHOUT ROWID",
        "CREATE VIEW v AS SELECT x FROM a",
        "CREATE VIEW broken AS SELECT * FROM gone",
        "CREATE VIRTUAL TABLE f USING fts5 (x)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) "
        "INSERT INTO a SELECT i FROM n",
        "INSERT INTO b VALUES (1), (2)",
    )
    async with opened(path) as db:
        found = [each async for each in db.counts()]
        by_name = {each.table: each for each in found}
        assert (by_name["a"].rows, by_name["a"].complete) == (12_000, True)
        assert by_name["b"].rows == 2
        assert (by_name["v"].rows, by_name["v"].complete) == (10_000, False)
        assert by_name["broken"].rows is None and "gone" in (by_name["broken"].why or "")
        assert by_name["f"].rows == 0
        assert [each.table for each in found] == [shape.name for shape in await db.catalogue()]


async def test_a_table_that_takes_too_long_to_count_is_not_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def late(*_: object) -> None:
        raise DeadlineError("too long")

    async with opened(make(tmp_path / "t.db", "CREATE TABLE a (x)")) as db:
        monkeypatch.setattr(overview, "_count", late)
        assert [(each.rows, each.complete) async for each in db.counts()] == [(None, False)]


async def test_sizes(tmp_path: Path) -> None:
    path = make(
        tmp_path / "t.db",
        "CREATE TABLE a (x)",
        "CREATE INDEX i ON a (x)",
        "CREATE TABLE b (x PRIMARY KEY) WITHOUT ROWID",
        "CREATE VIEW v AS SELECT x FROM a",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
        "INSERT INTO a SELECT i FROM n",
        "INSERT INTO b SELECT x FROM a",
    )
    async with opened(path) as db:
        found = {each.table: each async for each in db.sizes()}
        assert set(found) == {"a", "b"}
        total = sum(each.size or 0 for each in found.values())
        page = 4_096
        assert total == path.stat().st_size - page  # all but the page of the schema
        assert found["a"].indexes and not found["b"].indexes


async def test_runs_a_day(tmp_path: Path) -> None:
    path = make_store(tmp_path / "s.db")
    noon = 20_000 * DAY + DAY / 2
    days = [0, 0, 1, 5, 59, 60]
    put(path, "sessions", *[session(n, created_at=noon - day * DAY) for n, day in enumerate(days)])
    put(path, "sessions", session(90, created_at="never"))
    async with opened(path) as db:
        found = await db.activity()
        assert found.last == noon and len(found.days) == 60
        assert found.first == 19_941 * DAY
        counts = {59 - place: count for place, count in enumerate(found.days) if count}
        assert counts == {0: 2, 1: 1, 5: 1, 59: 1}
        # Thirteen hours to the east that noon is the next day, but so are all the others.
        east = await db.activity(days=3, east=13 * 3600.0)
        assert east.days == (0, 1, 2) and east.first == 19_999 * DAY - 13 * 3600.0


async def test_no_runs_no_activity(tmp_path: Path) -> None:
    async with opened(make_store(tmp_path / "s.db")) as db:
        found = await db.activity()
        assert found.last is None and set(found.days) == {0}
        assert await db.statuses() == ()


async def test_statuses(tmp_path: Path) -> None:
    path = make_store(tmp_path / "s.db")
    for n, status in enumerate(["failed", "failed", None, "completed", "odd \x1b[7m"]):
        with_check = status if status != "odd \x1b[7m" else "completed"
        put(path, "sessions", session(n, status=with_check))
    async with opened(path) as db:
        assert await db.statuses() == (("completed", 2), ("failed", 2), (None, 1))
