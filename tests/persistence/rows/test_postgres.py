"""The same sources on PostgreSQL: orders, filters, positions, previews, runs, conversations and checks."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from persistence import StateDB
from persistence.errors import StoreError
from persistence.reading import fences, sorting
from persistence.reading.checks import CODES
from persistence.reading.firstpart import FIRST_PART
from persistence.records import Order, Preview, RunFilter
from tests.persistence.rows.support import all_rows, exported, measured
from tests.persistence.server import fill, make_schema
from tests.persistence.stores import make_filled

TABLES = """
CREATE TABLE t (k integer PRIMARY KEY, n integer, f double precision, s text, b bytea, j json, u uuid,
                at timestamp with time zone, flag boolean, num numeric);
INSERT INTO t SELECT i, CASE WHEN i % 5 = 0 THEN NULL ELSE (i * 7919) % 13 END,
    CASE i % 4 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN NULL ELSE i / 7.0 END,
    CASE i % 6 WHEN 0 THEN NULL ELSE chr(97 + (i * 31) % 26) END,
    decode(lpad(to_hex(i), 4, '0'), 'hex'), json_build_object('i', i), md5(i::text)::uuid,
    timestamptz '2025-10-09 08:00+00' + i * interval '1 hour', i % 2 = 0, i / 3.0
FROM generate_series(1, 500) AS i;
CREATE INDEX t_n ON t (n);
CREATE TABLE two (a text COLLATE "C", b integer, v text, PRIMARY KEY (a, b));
INSERT INTO two SELECT chr(97 + i % 5), i, repeat('x', i * 20) FROM generate_series(1, 200) AS i;
CREATE TABLE nokey (v integer);
INSERT INTO nokey SELECT generate_series(1, 12000);
CREATE VIEW seen AS SELECT k, s FROM t;
CREATE TABLE long (id text PRIMARY KEY, t text, b bytea);
INSERT INTO long VALUES ('x', repeat('ä', 5000), decode(repeat('ff', 5000), 'hex'));
CREATE TABLE "odd ""name%" ("a b" integer PRIMARY KEY, "c:d" text);
INSERT INTO "odd ""name%" VALUES (1, 'one'), (2, NULL);
"""


async def _execute(server: str, statement: str) -> None:
    connection = await asyncpg.connect(server)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()


@pytest.fixture(scope="module")
def server(postgres_server: str) -> Iterator[str]:
    """One database with odd tables and the filled schema; none of the tests changes it."""
    name = f"rows_{secrets.token_hex(6)}"
    url = f"{postgres_server.rpartition('/')[0]}/{name}"

    async def make_all() -> None:
        await _execute(postgres_server, f'CREATE DATABASE "{name}" TEMPLATE template0')
        engine = await make_schema(url)
        await fill(engine)
        await engine.dispose()
        await _execute(url, TABLES)

    asyncio.run(make_all())
    yield url
    asyncio.run(_execute(postgres_server, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'))


@pytest.fixture
async def db(server: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[StateDB]:
    monkeypatch.setattr(fences, "STEP", 16)
    monkeypatch.setattr(fences, "CHUNK", 128)
    async with StateDB(server) as opened:
        yield opened


async def plain(server: str, query: str) -> list[tuple[Any, ...]]:
    connection = await asyncpg.connect(server)
    try:
        return [tuple(row) for row in await connection.fetch(query)]
    finally:
        await connection.close()


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("column", [None, "k", "n", "f", "s", "u", "at", "flag", "num"])
async def test_windows_are_the_order(db: StateDB, server: str, column: str | None, descending: bool) -> None:
    way = "DESC" if descending and column else "ASC"
    by = f"{column} {way} NULLS LAST, k {way}" if column else "k"
    wanted = await plain(server, f"SELECT k FROM t ORDER BY {by}")
    source = db.rows("t", order=Order(column, descending) if column else None)
    assert [row.key for row in await all_rows(source, 60)] == wanted
    assert (await measured(source)).rows == 500
    for first in (0, 17, 250, 499):
        assert [row.key for row in (await source.window(first, 9)).rows] == wanted[first : first + 9]
        assert await source.position(wanted[first]) == first
    assert [row.key for row in (await source.window(-4, 4)).rows] == wanted[-4:]
    behind = await exported(source, after=wanted[100])
    assert [row.key for row in behind] == wanted[101:]


async def test_json_is_sorted_as_text(db: StateDB, server: str) -> None:
    wanted = await plain(server, "SELECT k FROM t ORDER BY j::text, k")
    assert [row.key for row in await all_rows(db.rows("t", order=Order("j")), 100)] == wanted


async def test_keys_of_two_columns(db: StateDB, server: str) -> None:
    for by, order in (
        ("a, b", None),
        ("a DESC, b DESC", Order("a", True)),
        ("b, a", Order("b")),
        ("v, a, b", Order("v")),
    ):
        wanted = await plain(server, f"SELECT a, b FROM two ORDER BY {by}")
        source = db.rows("two", order=order)
        assert [row.key for row in await all_rows(source, 33)] == wanted
        assert (await measured(source)).rows == 200
        assert [row.key for row in await all_rows(source, 33)] == wanted
        assert await source.position(wanted[123]) == 123


async def test_filters(db: StateDB) -> None:
    found = await all_rows(db.rows("t", where={"n": 3}), 10)
    assert found and all(row.cells[1] == 3 for row in found)
    assert len(await all_rows(db.rows("t", where={"n": None}), 50)) == 100
    # A cell that is shown as text finds its row by that text (a link followed, `--where` on a command line).
    row = (await db.rows("t").window(6, 1)).rows[0]
    for name, place in (("k", 0), ("u", 6), ("at", 7), ("num", 9)):
        cell = row.cells[place]
        text = cell if isinstance(cell, str) else str(cell)
        assert [each.key for each in await all_rows(db.rows("t", where={name: text}), 5)] == [row.key]
    assert [row.key for row in await all_rows(db.rows("t", where={"s": "f", "flag": False}), 50)]


async def test_cells_of_every_kind(db: StateDB) -> None:
    row = (await db.rows("t").window(0, 1)).rows[0]
    k, n, f, s, b, j, u, at, flag, num = row.cells
    assert (k, n, s, b) == (1, 2, "f", b"\x00\x01")
    assert f == float("inf") and j == '{"i" : 1}' and flag == 0
    assert isinstance(u, str) and len(u) == 36 and isinstance(at, str) and at.startswith("2025-10-09")
    assert num == "0.33333333333333333333"
    long = (await db.rows("long").window(0, 1)).rows[0]
    assert long.cells == ("x", Preview("ä" * 200, 10_000), Preview(b"\xff" * 200, 5_000))
    whole = await db.rows("long").cells(("x",))
    assert whole is not None and whole.cells == ("x", "ä" * 5_000, b"\xff" * 5_000)
    part = await db.rows("long").cell(("x",), "t", 1, 2)  # type: ignore[attr-defined]
    assert (part.data, part.size, part.kind) == (b"\xa4\xc3", 10_000, "text")


async def test_names_that_need_quoting(db: StateDB) -> None:
    rows = await all_rows(db.rows('odd "name%', order=Order("c:d")), 5)
    assert [row.cells for row in rows] == [(1, "one"), (2, None)]


async def test_first_parts(db: StateDB) -> None:
    source = db.rows("nokey")
    assert len((await source.window(0, 20)).rows) == 20
    extent = await measured(source)
    assert extent.rows == FIRST_PART and extent.part_of is not None and "no key" in extent.part_of
    assert len((await source.window(-5, 5)).rows) == 5
    seen = db.rows("seen", order=Order("s", True))
    assert (await measured(seen)).part_of is None
    assert len(await all_rows(seen, 100)) == 500


async def test_more_rows_than_are_sorted(db: StateDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "KEYS_CAP", 100)
    with pytest.raises(StoreError) as refused:
        await measured(db.rows("t", order=Order("s")))
    assert refused.value.code == "too-many-to-sort"


def told(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if not key.startswith("json")}


async def test_runs_and_what_belongs_to_them_are_those_of_a_file(db: StateDB, tmp_path: Path) -> None:
    async with StateDB(make_filled(tmp_path / "state.db")) as file:
        for narrowed in (
            None,
            RunFilter(statuses=("failed", None)),
            RunFilter(text="TIDE"),
            RunFilter(project="har*"),
        ):
            for order in (None, Order("messages", True), Order("length"), Order("name")):
                both = []
                for store in (db, file):
                    source = store.runs(narrowed, order)
                    window = await source.complete(await source.window(0, 50))
                    await measured(source)
                    both.append([(row.key, row.cells) for row in window.rows])
                assert both[0] == both[1], (narrowed, order)
        assert await db.run_choices() == await file.run_choices()
        for session in ("s000", "s003"):
            one, other = await db.run(session), await file.run(session)
            assert one is not None and other is not None
            assert (one.name, one.messages, one.counts) == (other.name, other.messages, other.counts)
            assert one.metadata == other.metadata and one.contract == other.contract
            assert [(b.id, b.messages) for b in one.branches] == [(b.id, b.messages) for b in other.branches]
        assert await db.find_run("s003") == "s003" and await db.find_run("r0") == "s000"
        for progression in ("p000", "p001", "p002", "p003", "none"):
            one_, other_ = await db.transcript(progression), await file.transcript(progression)
            assert (one_.state, one_.length) == (other_.state, other_.length)
            entries = [await each.window(0, 10) for each in (one_, other_)]
            assert [(e.id, e.exists, e.role, e.parts) for e in entries[0]] == [
                (e.id, e.exists, e.role, e.parts) for e in entries[1]
            ]
            async for _ in one_.survey():
                pass
            found = [part.positions async for part in one_.search("M")]
            assert found == [part.positions async for part in other_.search("M")]
        assert await db.activity() is not None and await db.statuses() == await file.statuses()
        counts = {each.table: each.rows async for each in db.counts()}
        assert counts["sessions"] == 4 and counts["t"] == 500
        assert {each.table: each.size async for each in db.sizes()}["t"]
        for code in CODES:
            ours = [result async for result in db.checks(2e9).run(code)][-1]
            theirs = [result async for result in file.checks(2e9).run(code)][-1]
            if code != "broken-json":  # a server's json columns hold nothing else, and are not gone through
                assert (ours.count, ours.sentence) == (theirs.count, theirs.sentence)
            else:
                assert dict(ours.where) == {"progressions": 1}
            for name, rows in ours.where:
                assert len((await db.checks(2e9).rows(code, name).window(0, 50)).rows) == rows
