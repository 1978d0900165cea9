"""The export dialog: what is shown goes to a file, in the form that is chosen, and nowhere near the store."""

from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input
from textual.worker import WorkerCancelled

from inspector.app import InspectorApp
from inspector.screens.export import ExportScreen


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "out").mkdir()
    (tmp_path / "store").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    path = tmp_path / "store" / "state.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?)", [(1, "=1+1"), (2, None), (3, ""), (4, "caf\u00e9")]
        )
    connection.close()
    return path


async def settled(pilot: Pilot[Any]) -> None:
    for _ in range(3):
        with suppress(WorkerCancelled):
            await pilot.app.workers.wait_for_complete()
        await pilot.pause()


async def exported(store: Path, *downs: str) -> Path:
    """Presses `e` on the rows, goes down to a form, and keeps the name that is suggested."""
    before = set(Path.cwd().iterdir())
    app = InspectorApp(str(store), start_place="tables/t")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("e")
        await settled(pilot)
        assert isinstance(app.screen, ExportScreen)
        await pilot.press(*downs, "enter", "enter")
        await settled(pilot)
        assert not isinstance(app.screen, ExportScreen)
    (made,) = set(Path.cwd().iterdir()) - before
    return made


@pytest.mark.parametrize(
    ("downs", "first"), [((), "=1+1"), (("down",), "'=1+1")], ids=["exact", "spreadsheet"]
)
async def test_csv_exact_or_for_a_spreadsheet(store: Path, downs: tuple[str, ...], first: str) -> None:
    made = await exported(store, *downs)
    rows = list(csv.reader(made.open(newline="")))
    assert made.name == "t.csv" and rows == [
        ["id", "v"],
        ["1", first],
        ["2", ""],
        ["3", ""],
        ["4", "caf\u00e9"],
    ]
    assert '3,""' in made.read_text() and "2,\n" in made.read_text()


async def test_json_says_where_it_comes_from(store: Path) -> None:
    made = await exported(store, "down", "down")
    body = json.loads(made.read_bytes())
    assert body["store"]["display"].endswith("state.db") and body["store"]["route"] == "live"
    assert body["count"] == 4 and body["complete"] is True and body["rows"][0] == {"id": 1, "v": "=1+1"}


async def test_it_says_what_enter_does_next(store: Path) -> None:
    app = InspectorApp(str(store), start_place="tables/t")
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("e")
        await settled(pilot)
        hint = app.screen.query_one("#layer-hint")
        assert "enter take this form" in str(hint.render()) and not list(Path.cwd().iterdir())
        await pilot.press("enter")
        await settled(pilot)
        assert "enter write" in str(hint.render()) and not list(Path.cwd().iterdir())
        await pilot.press("shift+tab")
        await settled(pilot)
        assert "enter take this form" in str(hint.render())


async def test_a_name_that_belongs_to_the_store_is_refused(store: Path) -> None:
    before = store.read_bytes()
    app = InspectorApp(str(store), start_place="tables/t")
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        await pilot.press("e")
        await settled(pilot)
        field = app.screen.query_one("#export-path", Input)
        for name in (store, f"{store}-wal", f"{store}-journal"):
            field.value = str(name)
            field.focus()
            await pilot.press("enter")
            await settled(pilot)
            await pilot.press("enter")
            await settled(pilot)
            assert "belongs to a store" in str(app.screen.query_one("#export-said").render())
    assert store.read_bytes() == before and [path.name for path in store.parent.iterdir()] == ["state.db"]
