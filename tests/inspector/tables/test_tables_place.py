"""Tables on a real SQLite file: the list, rows, structure, links there and back, values, what is written."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from inspector.app import InspectorApp
from inspector.screens.cell import CellScreen
from inspector.screens.table import TablePlace
from inspector.screens.tables import TablesPlace
from inspector.values.json_sheet import JsonSheet
from inspector.widgets.grid import Grid
from tests.inspector.tables.stores import EVIL, linked_store
from tests.inspector.widgets.hosting import picture, settled

pytestmark = pytest.mark.usefixtures("frozen_clock")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    folder.mkdir()
    return linked_store(folder / "boats.db")


def app_on(store: Path, table: str | None = None) -> InspectorApp:
    return InspectorApp(str(store), start_place="tables", target=table)


async def ready(pilot: Pilot[None]) -> None:
    for _ in range(60):
        await settled(pilot)
        place = pilot.app.screen
        if isinstance(place, TablesPlace) and place.shapes:
            return
        if isinstance(place, TablePlace) and place.grid.source is not None and place.shapes:
            await settled(pilot)
            return
    raise AssertionError("the table never came")


def place(pilot: Pilot[None]) -> Any:
    return pilot.app.screen


def grid(pilot: Pilot[None]) -> Grid:
    return place(pilot).grid  # type: ignore[no-any-return]


def text(pilot: Pilot[None]) -> str:
    return "\n".join(picture(pilot.app))


async def column(pilot: Pilot[None], name: str) -> None:
    """Moves the cursor into a column."""
    shown = grid(pilot)
    names = [shown.plan.columns[placed.index].name for placed in shown.plan.placed]
    shown.go(shown.cursor_row, names.index(name))
    await pilot.pause()


async def test_every_table_is_listed_with_its_count_and_kind(store: Path) -> None:
    async with app_on(store).run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        listed = [line[:33].replace("┃", " ").split() for line in picture(pilot.app)]
        assert ["voyages", "300"] in listed
        assert ["boats", "40"] in [words[-2:] for words in listed]
        shown = text(pilot)
        assert "other tables" in shown
        assert "views" in shown
        assert "virtual tables and their parts" in shown
        assert "words_data" in shown
        assert 'odd "name" [b]x[/b] ␛' in shown


async def test_the_structure_under_the_cursor_is_shown_beside_the_list(store: Path) -> None:
    async with app_on(store).run_test(size=(120, 50)) as pilot:
        await ready(pilot)
        await pilot.press("slash", *"voyages", "enter")
        await settled(pilot)
        shown = text(pilot)
        assert "7 columns" in shown
        assert "→ boats.id" in shown
        assert "on delete cascade" in shown
        assert "voyages_by_boat  (boat_id, begun desc)" in shown
        assert "begun >= 0" in shown
        await pilot.press("escape")
        assert "empty_one" in text(pilot)


async def test_a_table_opens_with_its_rows_and_shows_its_structure(store: Path) -> None:
    async with app_on(store).run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        place(pilot).tables.select("voyages")
        await pilot.press("enter")
        await ready(pilot)
        assert grid(pilot).has_focus
        assert grid(pilot).words == "1 of 300"
        await pilot.press("v")
        assert "CREATE" not in text(pilot) or "foreign key" in text(pilot).lower()
        assert "columns" in text(pilot)
        await pilot.press("escape")
        assert grid(pilot).display
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(pilot.app.screen, TablesPlace)


async def test_a_link_is_followed_to_its_row_and_come_back_from(store: Path) -> None:
    async with app_on(store, "voyages").run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        grid(pilot).go(33)
        await settled(pilot)
        await column(pilot, "boat_id")
        await pilot.press("enter")
        await ready(pilot)
        await settled(pilot)
        assert place(pilot).target == "boats"
        assert grid(pilot).row is not None
        assert grid(pilot).row.cells[0] == "boat-33"  # type: ignore[union-attr]
        await pilot.press("backspace")
        await settled(pilot)
        assert place(pilot).target == "voyages"
        assert grid(pilot).cursor_row == 33
        assert grid(pilot).column.name == "boat_id"  # type: ignore[union-attr]


@pytest.mark.parametrize(("name", "target"), [("code", "ports"), ("country", "ports"), ("mark", "marks")])
async def test_links_of_several_columns_and_of_bytes(store: Path, name: str, target: str) -> None:
    async with app_on(store, "voyages").run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        await column(pilot, name)
        await pilot.press("enter")
        await ready(pilot)
        assert place(pilot).target == target
        assert grid(pilot).row_count == 1


async def test_a_link_to_nothing_says_so(store: Path) -> None:
    async with app_on(store, "voyages").run_test(size=(120, 40), notifications=True) as pilot:
        await ready(pilot)
        grid(pilot).go(7)
        await settled(pilot)
        await column(pilot, "boat_id")
        await pilot.press("enter")
        await ready(pilot)
        await settled(pilot)
        assert "no row of boats has id = boat-none" in text(pilot)


async def test_a_link_to_a_table_that_is_not_there_stays_here(store: Path) -> None:
    async with app_on(store, "lost").run_test(size=(120, 40), notifications=True) as pilot:
        await ready(pilot)
        await column(pilot, "gone_id")
        await pilot.press("enter")
        await settled(pilot)
        assert place(pilot).target == "lost"
        assert "this store has no table nowhere" in text(pilot)


async def test_rows_that_name_a_row(store: Path) -> None:
    async with app_on(store, "boats").run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        grid(pilot).go(3)
        await settled(pilot)
        await pilot.press("b")
        await pilot.pause()
        options = pilot.app.screen.query_one("#links", OptionList)
        assert options.option_count == 2
        shown = text(pilot)
        assert "voyages" in shown
        options.highlighted = 1 if "voyages" in str(options.get_option_at_index(1).prompt) else 0
        await pilot.press("enter")
        await ready(pilot)
        assert place(pilot).target == "voyages"
        assert grid(pilot).row_count == 8
        assert "only boat_id = boat-3" in text(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert grid(pilot).row_count == 300


async def test_the_filter_narrows_and_says_what_it_cannot_use(store: Path) -> None:
    async with app_on(store, "voyages").run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        await pilot.press("slash")
        line = place(pilot).bar.input
        line.value = "boat_id=boat-4 nothing=1"
        await pilot.pause(0.3)
        assert "there is no column nothing" in text(pilot)
        line.value = "boat_id=boat-4"
        await pilot.pause(0.3)
        await settled(pilot)
        assert grid(pilot).row_count == 8
        line.value = "boat_id=NULL"
        await pilot.pause(0.3)
        await settled(pilot)
        assert "No row has boat_id = NULL." in text(pilot)
        await pilot.press("enter", "escape")
        await settled(pilot)
        assert grid(pilot).row_count == 300


async def test_a_value_opens_whole_and_json_as_a_tree(store: Path) -> None:
    async with app_on(store, "boats").run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        grid(pilot).go(1)
        await settled(pilot)
        await column(pilot, "note")
        await pilot.press("enter")
        await settled(pilot)
        assert isinstance(pilot.app.screen, CellScreen)
        assert isinstance(pilot.app.screen.value_view.sheet, JsonSheet)
        assert "boats.note" in text(pilot)


async def test_a_long_value_waits_and_is_then_read_whole(store: Path) -> None:
    async with app_on(store, "voyages").run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        grid(pilot).go(5)
        await settled(pilot)
        await column(pilot, "log")
        await pilot.press("space")
        await settled(pilot)
        assert "the first part of 3.0 MB" in text(pilot)
        await pilot.press("a")
        await settled(pilot)
        assert "first part" not in text(pilot)
        assert pilot.app.screen.value_view.sheet.count == 750  # type: ignore[attr-defined]


async def test_sorting_a_table_by_any_column(store: Path) -> None:
    async with app_on(store, "voyages").run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        await column(pilot, "begun")
        await pilot.press("S")
        await settled(pilot)
        assert grid(pilot).row is not None
        assert grid(pilot).row.cells[0] == 299  # type: ignore[union-attr]


async def test_copying_a_cell_a_row_and_the_structure(store: Path) -> None:
    async with app_on(store, "boats").run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        await column(pilot, "name")
        await pilot.press("y")
        await settled(pilot)
        assert pilot.app.clipboard == "Boat 0"
        await pilot.press("Y")
        await settled(pilot)
        assert json.loads(pilot.app.clipboard)["built"] == 1900
        await pilot.press("v", "y")
        await settled(pilot)
        assert "create table boats" in pilot.app.clipboard.lower()


async def test_writing_what_is_shown(store: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    async with app_on(store, "boats").run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        await pilot.press("e")
        await settled(pilot)
        pilot.app.screen.query_one("#export-path", Input).value = str(target)
        pilot.app.screen.query_one("#export-path", Input).focus()
        await pilot.press("enter")
        await settled(pilot)
    assert len(target.read_text().splitlines()) == 41


async def test_hostile_names_and_values_stay_what_they_are(store: Path) -> None:
    async with app_on(store, EVIL).run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        shown = text(pilot)
        assert "[@click=app.quit]" in shown
        assert "b [/red]" in shown
        assert "\x1b" not in shown
        assert "\x07" not in shown
        await pilot.press("v", "escape", "slash", "escape")
        await settled(pilot)


@pytest.mark.parametrize(
    "table", ["long_voyages", "words", "words_data", "empty_one", "ports", "no such table"]
)
async def test_every_kind_of_table_opens_or_says_why_not(store: Path, table: str) -> None:
    async with app_on(store, table).run_test(size=(80, 24)) as pilot:
        for _ in range(30):
            await settled(pilot)
            if grid(pilot).source is not None or grid(pilot).error is not None:
                break
        await settled(pilot)
        shown = text(pilot)
        expected = {
            "long_voyages": "first part" if grid(pilot).extent.part_of else "of 1",
            "words": "no rows",
            "empty_one": "There are no rows in this table.",
            "ports": "Bergen",
            "no such table": "There is no table or view",
        }
        assert expected.get(table, "1 of") in shown or table == "words"
        for key in ("j", "v", "v", "b", "enter", "escape"):
            await pilot.press(key)


@pytest.mark.parametrize("size", [(80, 24), (60, 14), (41, 13), (40, 12), (120, 40)])
async def test_narrow_windows_stack_the_list_and_the_table(store: Path, size: tuple[int, int]) -> None:
    async with app_on(store).run_test(size=size) as pilot:
        await ready(pilot)
        wide = size[0] >= 100
        assert place(pilot).query_one("#table").is_on_screen == (wide and size[0] > 40)
        place(pilot).tables.select("boats")
        await pilot.press("enter")
        await ready(pilot)
        if size[0] > 40 and size[1] > 12:
            assert "Boat 0" in text(pilot)
            assert place(pilot).tables.is_on_screen == wide


@pytest.mark.parametrize("release", ["0.26.0", "0.36.0"])
async def test_tables_of_a_real_store_open(release: str, shared_stores: Path, tmp_path: Path) -> None:
    real = shared_stores / f"lionagi-{release}.db"
    if not real.is_file():
        pytest.skip(f"no store of {release} here")
    (tmp_path / "real").mkdir()
    store = tmp_path / "real" / "state.db"
    shutil.copyfile(real, store)
    async with app_on(store).run_test(size=(100, 30)) as pilot:
        await ready(pilot)
        names = list(place(pilot).shapes)
        assert "sessions" in names
        for name in ("sessions", "messages", names[-1]):
            place(pilot).go("tables", name)
            await ready(pilot)
            assert place(pilot).target == name
            assert grid(pilot).error is None
            assert place(pilot).query_one("#failure").display is False
    assert [path.name for path in store.parent.iterdir()] == ["state.db"]


async def test_nothing_of_the_store_changes(store: Path) -> None:
    def state() -> list[tuple[str, int, str]]:
        return [
            (path.name, path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
            for path in sorted(store.parent.iterdir())
        ]

    before = state()
    async with app_on(store, "voyages").run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        await column(pilot, "boat_id")
        await pilot.press("G", "enter")
        await ready(pilot)
        await pilot.press("v", "r", "b", "escape")
        await settled(pilot)
    assert state() == before


async def test_the_head_counts_what_is_shown_while_the_store_grows(store: Path) -> None:
    async with app_on(store, "boats").run_test(size=(120, 40)) as pilot:
        await ready(pilot)
        rows = grid(pilot)
        before = rows.row_count
        with closing(sqlite3.connect(store)) as connection:
            connection.execute("INSERT INTO boats VALUES ('new', 'Latecomer', 1999, NULL)")
            connection.commit()
        source = rows.source
        assert source is not None
        place(pilot).loads.start("rows", source.refreshed)  # as following does
        await ready(pilot)
        assert rows.row_count == before + 1
        assert f"{before + 1} rows" in text(pilot) and f"of {before + 1}" in text(pilot)
        (other,) = [line for line in text(pilot).splitlines() if line.lstrip().startswith("voyages ")]
        assert other.split("\u2595")[0].split()[1] == "300"
