"""Any table in any order: the windows put together are what a plain ORDER BY gives, row for row."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from persistence.reading import fences, sorting
from tests.persistence.rows.support import (
    all_rows,
    ask,
    exported,
    make,
    measured,
    opened,
    order,
    ordered,
    same_cells,
)
from tests.persistence.rows.support import run as run_loop

VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-3, 3),
    st.floats(allow_nan=False),
    st.sampled_from(["", "a", "A", "b", "1", "1.0", "é", "😀", "x" * 900, "a\0b", "%_'\"", "[/b]"]),
    st.text(max_size=6).filter(lambda text: not any(0xD800 <= ord(c) <= 0xDFFF for c in text)),
    st.binary(max_size=5),
    st.just(b"\xff" * 2_500),
)
TYPES = st.sampled_from(
    ["", "TEXT", "INTEGER", "REAL", "FLOAT", "JSON", "BLOB", "NUMERIC", "TEXT COLLATE NOCASE"]
)
TABLE = st.fixed_dictionaries(
    {
        "types": st.tuples(TYPES, TYPES),
        "rows": st.lists(st.tuples(VALUES, VALUES), max_size=40),
        "index": st.sampled_from(["", "a", "a DESC", "b", "a, b", "b, a", "a COLLATE NOCASE"]),
        "gaps": st.booleans(),
    }
)
ORDERS = st.tuples(st.sampled_from([None, "a", "b", "k"]), st.booleans())
SETTINGS = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fences, runs and blocks of a few rows, so that small tables have many."""
    for module, name, size in (
        (fences, "STEP", 4),
        (fences, "CHUNK", 16),
        (sorting, "RUN", 8),
        (sorting, "BLOCK", 4),
    ):
        monkeypatch.setattr(module, name, size)
    yield


def _make(folder: str, table: dict[str, Any], *, rowid: bool = True) -> Path:
    key = "k INTEGER PRIMARY KEY" if rowid else "k TEXT NOT NULL, PRIMARY KEY (k)"
    tail = "" if rowid else " WITHOUT ROWID"
    script = [f"CREATE TABLE t (a {table['types'][0]}, b {table['types'][1]}, {key}){tail}"]
    if table["index"]:
        script.append(f"CREATE INDEX i ON t ({table['index']})")
    step = 7 if table["gaps"] else 1
    names = [place * step if rowid else f"k{place * step:04}" for place in range(len(table["rows"]))]
    rows = [
        ("INSERT INTO t VALUES (?, ?, ?)", (*row, name))
        for row, name in zip(table["rows"], names, strict=True)
    ]
    return make(Path(folder, "t.db"), *script, rows=rows)


@SETTINGS
@given(table=TABLE, wanted=ORDERS, size=st.integers(1, 50), first=st.booleans(), rowid=st.booleans())
def test_windows_are_the_order(
    table: dict[str, Any], wanted: tuple[str | None, bool], size: int, first: bool, rowid: bool
) -> None:
    column, descending = wanted
    by = ordered(column, descending=descending and column is not None, key="k")

    async def check(path: Path) -> None:
        async with opened(path) as db:
            source = db.rows("t", order=order(column, descending))
            plain = ask(path, f"SELECT a, b, k FROM t {by}")
            if first:
                assert (await measured(source)).rows == len(plain)
            found = await all_rows(source, size)
            assert len(found) == len(plain)
            for row, stored in zip(found, plain, strict=True):
                assert same_cells(row.cells, stored)
            assert (await measured(source)).rows == len(plain)
            again = await all_rows(source, size)
            assert [row.key for row in again] == [row.key for row in found]
            for place, row in enumerate(found):
                assert await source.position(row.key) == place
            for last in (1, size, len(plain) + 1):
                window = await source.window(-last, last)
                assert [row.key for row in window.rows] == [row.key for row in found[-last:]]
                assert window.first == max(0, len(plain) - last)
            whole = await exported(source)
            assert [row.key for row in whole] == [row.key for row in found]
            assert [row.cells for row in whole] == plain
            if found:
                behind = found[len(found) // 2].key
                rest = await exported(source, after=behind)
                assert [row.key for row in rest] == [row.key for row in found[len(found) // 2 + 1 :]]

    with tempfile.TemporaryDirectory() as folder:
        path = _make(folder, table, rowid=rowid)
        run_loop(lambda: check(path))


@SETTINGS
@given(table=TABLE, wanted=ORDERS, value=VALUES)
def test_rows_that_equal_a_value(table: dict[str, Any], wanted: tuple[str | None, bool], value: Any) -> None:
    column, descending = wanted
    by = ordered(column, descending=descending and column is not None, key="k")

    async def check(path: Path) -> None:
        values = [value, *[row[0] for row in ask(path, "SELECT a FROM t LIMIT 3")]]
        async with opened(path) as db:
            for each in values:
                source = db.rows("t", order=order(column, descending), where={"a": each})
                plain = ask(path, f"SELECT a, b, k FROM t WHERE a IS ? {by}", each)
                found = await all_rows(source, 7)
                assert len(found) == len(plain)
                assert all(same_cells(row.cells, stored) for row, stored in zip(found, plain, strict=True))
                assert (await measured(source)).rows == len(plain)

    with tempfile.TemporaryDirectory() as folder:
        path = _make(folder, table)
        run_loop(lambda: check(path))
