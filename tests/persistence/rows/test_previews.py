"""Cells as a list shows them, as they are asked for whole, and in parts: never loaded when long."""

from __future__ import annotations

import math
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from persistence.errors import StoreError
from persistence.reading import listing, previews
from persistence.reading.listing import Listing
from persistence.records import CellPart, Order, Preview, Unreadable
from tests.persistence.rows.support import cells, exported, make, opened

LONG = "ä" * 500 + "x" * 4_000
ODD: list[Any] = [
    None,
    0,
    -(2**63),
    2**63 - 1,
    math.inf,
    -math.inf,
    1e-300,
    "",
    b"",
    "a\0b",
    b"\0\xff",
    "é",
    LONG,
]


def odd_table(path: Path, tail: str = "", extra: str = "") -> Path:
    return make(
        path,
        f"CREATE TABLE t (k TEXT PRIMARY KEY, v{extra}){tail}",
        rows=[("INSERT INTO t (k, v) VALUES (?, ?)", (f"{n:02}", each)) for n, each in enumerate(ODD)],
    )


@pytest.mark.parametrize(
    ("tail", "extra"), [("", ""), (" WITHOUT ROWID", ""), ("", ", g AS (length(v)) STORED")]
)
async def test_odd_values_are_shown_for_what_they_are(tmp_path: Path, tail: str, extra: str) -> None:
    """With a row id, without one, and where cells cannot be opened (a generated column)."""
    async with opened(odd_table(tmp_path / "t.db", tail, extra)) as db:
        source = db.rows("t")
        window = await source.window(0, 50)
        shown = [row.cells[1] for row in window.rows]
        assert shown[:-1] == ODD[:-1]
        assert [type(cell) for cell in shown[:-1]] == [type(each) for each in ODD[:-1]]
        assert shown[-1] == Preview(LONG[:200], 5_000)
        whole = await exported(source)
        assert [row.cells[1] for row in whole] == ODD
        last = await source.cells(window.rows[-1].key)
        assert last is not None and last.cells[1] == LONG


async def test_text_that_is_not_utf8_keeps_its_bytes(tmp_path: Path) -> None:
    path = make(
        tmp_path / "t.db",
        "CREATE TABLE t (v TEXT)",
        "CREATE TABLE w (k INTEGER PRIMARY KEY, v TEXT) WITHOUT ROWID",
        "INSERT INTO t VALUES (CAST(x'61ff62' AS TEXT)), ('fine'), (CAST(x'80' AS TEXT))",
        "INSERT INTO w SELECT rowid, v FROM t",
        "CREATE INDEX i ON t (v)",
    )
    wanted = ["a\udcffb", "fine", "\udc80"]
    async with opened(path) as db:
        for name in ("t", "w"):
            window = await db.rows(name).window(0, 10)
            assert [row.cells[-1] for row in window.rows] == wanted
        found = await db.rows("t", where={"v": "a\udcffb"}).window(0, 10)
        assert cells(found.rows) == [("a\udcffb",)]

        source = db.rows("t", order=Order("v"))
        assert [row.cells[0] for row in (await source.window(0, 5)).rows] == ["a\udcffb", "fine", "\udc80"]
        first = (await source.window(0, 1)).rows[0].key
        assert [row.cells[0] for row in await exported(source, after=first)] == ["fine", "\udc80"]


async def test_a_key_that_is_not_utf8(tmp_path: Path) -> None:
    path = make(
        tmp_path / "t.db",
        "CREATE TABLE t (k TEXT PRIMARY KEY, v) WITHOUT ROWID",
        "INSERT INTO t VALUES (CAST(x'ff' AS TEXT), 1), ('a', 2), (CAST(x'fe41' AS TEXT), 3)",
    )
    async with opened(path) as db:
        source = db.rows("t")
        window = await source.window(0, 10)
        assert cells(window.rows) == [("a", 2), ("\udcfeA", 3), ("\udcff", 1)]
        assert await source.position(("\udcfeA",)) == 1
        assert [row.key for row in await exported(source, after=("\udcfeA",))] == [("\udcff",)]


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
async def test_every_encoding_of_a_database(tmp_path: Path, encoding: str) -> None:
    text = "Übung 😀 " * 300
    path = make(
        tmp_path / "t.db",
        f"PRAGMA encoding='{encoding}'",
        "CREATE TABLE t (k TEXT PRIMARY KEY, v TEXT)",
        "CREATE TABLE w (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID",
        rows=[
            (f"INSERT INTO {name} VALUES (?, ?)", pair) for name in "tw" for pair in (("é", "ü"), ("z", text))
        ],
    )
    async with opened(path) as db:
        for name in ("t", "w"):
            source = db.rows(name)
            rows = (await source.window(0, 5)).rows
            assert sorted(row.cells[0] for row in rows) == ["z", "é"]  # type: ignore[type-var]
            shown = {row.cells[0]: row.cells[1] for row in rows}
            assert shown["é"] == "ü"
            head = shown["z"]
            assert isinstance(head, Preview) and isinstance(head.head, str) and text.startswith(head.head)
            assert {row.cells[1] for row in await exported(source)} == {"ü", text}


async def test_a_cut_never_goes_through_a_character(tmp_path: Path) -> None:
    rows = [("INSERT INTO t VALUES (?)", ("a" * shift + "😀" * 400,)) for shift in range(4)]
    async with opened(make(tmp_path / "t.db", "CREATE TABLE t (v TEXT)", rows=rows)) as db:
        for shift, row in enumerate((await db.rows("t").window(0, 4)).rows):
            cell = row.cells[0]
            assert isinstance(cell, Preview)
            assert cell.head == ("a" * shift + "😀" * 400)[:200] and cell.size == shift + 1_600


async def test_long_cells_are_not_loaded(tmp_path: Path) -> None:
    """A page of fifty cells of 2 MB costs neither the memory nor the time of 100 MB."""
    path = make(
        tmp_path / "t.db",
        "CREATE TABLE t (t TEXT, b BLOB)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25) "
        "INSERT INTO t SELECT printf('%.*c', 2000000, 'x'), zeroblob(2000000) FROM n",
    )
    async with opened(path) as db:
        source = db.rows("t")
        await source.window(0, 1)
        tracemalloc.start()
        window = await source.window(0, 25)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(window.rows) == 25
        assert window.rows[0].cells == (Preview("x" * 200, 2_000_000), Preview(bytes(200), 2_000_000))
        assert peak < 1_000_000


async def test_the_viewer_pages_through_a_cell(tmp_path: Path) -> None:
    blob = bytes(range(256)) * 40
    for tail in ("", " WITHOUT ROWID"):
        path = make(
            tmp_path / f"t{len(tail)}.db",
            f"CREATE TABLE t (k TEXT PRIMARY KEY, b BLOB, t TEXT, n, z){tail}",
            rows=[("INSERT INTO t VALUES ('k', ?, ?, 12345, NULL)", (blob, LONG))],
        )
        async with opened(path) as db:
            source = db.rows("t")
            assert isinstance(source, Listing)
            key = (await source.window(0, 1)).rows[0].key
            part = await source.cell(key, "b", 300, 16)
            assert part == CellPart(blob[300:316], 300, len(blob), "blob")
            text = LONG.encode()
            assert await source.cell(key, "t", 1, 10) == CellPart(text[1:11], 1, len(text), "text")
            assert await source.cell(key, "t", len(text) - 3) == CellPart(
                text[-3:], len(text) - 3, len(text), "text"
            )
            assert await source.cell(key, "b", len(blob) + 5, 10) == CellPart(
                b"", len(blob) + 5, len(blob), "blob"
            )
            number = await source.cell(key, "n")
            assert number is not None and (number.data, number.kind) == (b"12345", "value")
            assert await source.cell(key, "z") is None
            assert await source.cell(("gone",) if tail else (99,), "b") is None


async def test_a_cell_past_the_most_that_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (previews, listing):
        monkeypatch.setattr(module, "LONGEST", 3_000)
    async with opened(odd_table(tmp_path / "t.db")) as db:
        source = db.rows("t")
        last = (await source.window(len(ODD) - 1, 1)).rows[0]
        row = await source.cells(last.key)
        assert row is not None and isinstance(row.cells[1], Preview) and row.cells[1].size == 5_000


async def test_an_export_of_long_cells_goes_in_small_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "_BYTES_AT_ONCE", 10_000)
    path = make(
        tmp_path / "t.db",
        "CREATE TABLE t (v TEXT, n INTEGER)",
        rows=[("INSERT INTO t VALUES (?, ?)", ("y" * 4_000, n % 3)) for n in range(40)],
    )

    async with opened(path) as db:
        for order in (None, Order("n")):
            rows = await exported(db.rows("t", order=order))
            assert len({row.key for row in rows}) == 40
            assert all(row.cells[0] == "y" * 4_000 for row in rows)
        assert len(await exported(db.rows("t"), limit=7)) == 7


async def test_a_cursor_whose_row_is_gone(tmp_path: Path) -> None:
    path = odd_table(tmp_path / "t.db")

    async with opened(path) as db:
        # By key its place is still known; in another order it is not.
        assert (await exported(db.rows("t"), after=(0,)))[0].key == (1,)
        with pytest.raises(StoreError) as refused:
            await exported(db.rows("t", order=Order("v")), after=(99,))
        assert refused.value.code == "cursor-gone"


async def test_a_damaged_row_does_not_hide_the_others(tmp_path: Path) -> None:
    """The rows a damaged page held are marked, by an order that does not need the page."""
    path = make(
        tmp_path / "t.db",
        "CREATE TABLE t (id TEXT PRIMARY KEY, v TEXT)",
        rows=[("INSERT INTO t VALUES (?, ?)", (f"{n:04}", "w" * 300)) for n in range(400)],
    )
    with closing(sqlite3.connect(path)) as connection:
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        pages = [
            row[0]
            for row in connection.execute(
                "SELECT pageno FROM dbstat WHERE name = 't' AND pagetype = 'leaf' ORDER BY pageno"
            )
        ]
    data = bytearray(path.read_bytes())
    start = (pages[len(pages) // 2] - 1) * size
    data[start : start + size] = b"\xa5" * size
    path.write_bytes(data)

    async with opened(path) as db:
        source = db.rows("t", order=Order("id"))
        rows = [*(await source.window(0, 200)).rows, *(await source.window(200, 200)).rows]
        assert len(rows) == 400
        bad = [row for row in rows if any(isinstance(cell, Unreadable) for cell in row.cells)]
        assert 0 < len(bad) < 30
        assert sum(row.cells[1] == "w" * 300 for row in rows) == 400 - len(bad)
