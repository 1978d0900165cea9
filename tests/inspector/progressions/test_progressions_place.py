"""Progressions on a real store: the list with its marks, one position by position, the four bad words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.screens.cell import CellScreen
from inspector.screens.progression import ProgressionPlace
from inspector.screens.progressions import ProgressionsPlace
from inspector.screens.run import RunPlace
from inspector.values.json_sheet import JsonSheet
from tests.inspector.built import CLOCK, make_world
from tests.inspector.driving import CONTROLS, driven, screen_lines, screen_text, settled
from tests.persistence.stores import marks_of, put, run_sql

pytestmark = pytest.mark.usefixtures("frozen_clock")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = make_world(tmp_path_factory.mktemp("world") / "state.db")
    put(store, "progressions", {"id": "bad-json", "created_at": CLOCK + 9, "collection": "{no [b]json"},
        {"id": "bad-list", "created_at": CLOCK + 8, "collection": {"a": 1}},
        {"id": "bad-empty", "created_at": CLOCK + 7, "collection": []})  # fmt: skip
    run_sql(store, "UPDATE branches SET progression_id = 'p-main' WHERE id = 'b-side'")
    return store


@pytest.mark.adr("0055-D3-18")
async def test_the_list_says_what_is_wrong_with_each(built: Path) -> None:
    before = marks_of(built)
    async with driven(built, "progressions", size=(160, 40)) as pilot:
        said = {line.lstrip("▌ ").split()[0]: line for line in screen_lines(pilot)[3:] if line.strip("▌ ")}
        assert "not JSON" in said["bad-json"] and "not a list" in said["bad-list"]
        assert "empty" in said["bad-empty"]
        assert "1 missing" in said["p-main"] and "1 duplicate" in said["p-main"]
        source = pilot.app.screen.grid.source  # type: ignore[attr-defined]
        rows = (await source.complete(await source.window(0, 50))).rows
        (marks,) = (row.cells[2] for row in rows if row.key == ("p-main",))
        assert marks == "1 missing, 1 duplicate, 2 out of order, shared"
        assert "branch main, 1 more" in said["p-main"]
        assert "run nightly build review" in said["p-review"]
        assert not CONTROLS.search(screen_text(pilot).replace("\n", ""))
        await pilot.press("enter")
        await settled(pilot)
        assert isinstance(pilot.app.screen, ProgressionPlace)
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(pilot.app.screen, ProgressionsPlace)
    assert marks_of(built) == before


async def test_one_shows_its_positions_and_marks(built: Path) -> None:
    async with driven(built, "progressions/p-main", size=(140, 40)) as pilot:
        shown = screen_text(pilot)
        assert "14 positions" in shown and "▲ 1 missing" in shown and "▲ 1 duplicate" in shown
        assert "Why did the nightly build fail?" in shown and "duplicate of #5" in shown
        place: Any = pilot.app.screen
        (line,) = (line for line in screen_lines(pilot) if "You are a careful reviewer" in line)
        assert "shared" in line
        await pilot.press("n")
        assert place.grid.cursor_row == 5
        await pilot.press("n", "n", "N")
        assert place.grid.cursor_row in place.transcript.marked
        await pilot.press("G", "n")
        await settled(pilot)
        assert "no position with a mark below" in screen_text(pilot)


async def test_a_message_and_the_raw_list_are_shown_whole(built: Path) -> None:
    async with driven(built, "progressions/p-main") as pilot:
        await pilot.press("enter")
        await settled(pilot)
        assert isinstance(pilot.app.screen, CellScreen)
        await pilot.press("escape", "w")
        await settled(pilot)
        screen: Any = pilot.app.screen
        assert isinstance(screen, CellScreen) and isinstance(screen.value_view.sheet, JsonSheet)
        assert "4b1f09c2-gone" in screen_text(pilot)
        await pilot.press("escape", "c")
        await settled(pilot)
        assert isinstance(pilot.app.screen, RunPlace)


@pytest.mark.parametrize(
    ("target", "word"),
    [("nobody", "missing"), ("bad-empty", "empty"), ("bad-json", "not JSON"), ("bad-list", "not a list")],
)
async def test_four_words_for_four_things(built: Path, target: str, word: str) -> None:
    async with driven(built, f"progressions/{target}") as pilot:
        shown = screen_text(pilot)
        assert f"▲ {word}" in shown and f"This progression is {word}" in shown
        assert "used by nobody" in shown


async def test_positions_are_copied_and_exported(built: Path) -> None:
    async with driven(built, "progressions/p-main") as pilot:
        place: Any = pilot.app.screen
        source = place.exported().rows
        rows = [row async for row in source.everything()]
        assert [row.cells[0] for row in rows] == list(range(1, 15))
        assert [row.key async for row in source.everything(after=(11,))] == [(12,), (13,)]
        copy = await place.copied_row()
        assert copy is not None and '"position": 1' in copy.text
