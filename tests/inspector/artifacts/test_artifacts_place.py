"""Artifacts on a real store: by key shape, their paths now, their content, a run's expected files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.screens.artifacts import ArtifactsPlace
from inspector.screens.cell import CellScreen
from inspector.screens.expected_files import ExpectedFilesPlace
from inspector.screens.run import RunPlace
from inspector.values.json_sheet import JsonSheet
from tests.inspector.artifacts.recorded import SESSION, make_artifacts
from tests.inspector.driving import CONTROLS, driven, screen_lines, screen_text, settled
from tests.persistence.stores import make_store, marks_of, put

pytestmark = pytest.mark.usefixtures("frozen_clock")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return make_artifacts(tmp_path)


@pytest.mark.adr("0055-D4-08")
async def test_rows_say_their_key_and_what_is_at_their_path(store: Path) -> None:
    before = marks_of(store)
    async with driven(store, "artifacts", size=(200, 40)) as pilot:
        lines = [line for line in screen_lines(pilot) if "report " in line]
        said = {
            "both": ("both", "gone"),
            "by session": ("session", "present, 12 B"),
            "led out": ("session", "cannot tell: a link"),
            "by invocation": ("invocation", "gone"),
            "evil": ("none", "cannot tell: the path"),
        }
        for name, words in said.items():
            (line,) = (line for line in lines if line.lstrip("▌ ").startswith(name))
            assert all(word in line for word in words), line
        assert not CONTROLS.search(screen_text(pilot).replace("\n", ""))
    assert marks_of(store) == before


async def test_v_goes_through_the_key_shapes(store: Path) -> None:
    async with driven(store, "artifacts") as pilot:
        place: Any = pilot.app.screen
        counts = {}
        for _ in range(6):
            counts[place.view] = place.grid.row_count
            await pilot.press("v")
            await settled(pilot)
        assert counts == {"all": 5, "invocation": 1, "session": 2, "both": 1, "none": 1, "contracts": 1}
        assert place.view == "all"


async def test_each_view_has_an_address(store: Path) -> None:
    async with driven(store, "artifacts//session") as pilot:
        place: Any = pilot.app.screen
        assert place.view == "session" and place.grid.row_count == 2
        await pilot.press("v")
        await settled(pilot)
        assert str(place.address()) == "artifacts//both"
        await pilot.press("4", "left_square_bracket")
        await settled(pilot)
        assert pilot.app.screen is place and place.view == "both"


async def test_enter_shows_the_content_as_a_tree(store: Path) -> None:
    async with driven(store, "artifacts") as pilot:
        await pilot.press("enter")
        await settled(pilot)
        screen: Any = pilot.app.screen
        assert isinstance(screen, CellScreen) and isinstance(screen.value_view.sheet, JsonSheet)
        assert "tides" in screen_text(pilot)


async def test_expected_files_then_and_now(store: Path) -> None:
    before = marks_of(store)
    async with driven(store, "artifacts") as pilot:
        await pilot.press("c")
        await settled(pilot)
        assert isinstance(pilot.app.screen, ExpectedFilesPlace)
        shown = screen_text(pilot)
        assert "✓ passed" in shown and "✗ failed" in shown and "an observation, not evidence" in shown
        lines = {
            line.split()[0].lstrip("▌"): line
            for line in screen_lines(pilot)
            if "ired" in line or "ional" in line
        }
        assert (
            "present, 9,120 B" in lines["data.csv"]
            and "missing" in lines["data.csv"]
            and "gone" in lines["data.csv"]
        )
        assert "does not count: a link leads out" in lines["link"]
        assert "present, 10 B" in shown and "10 B before" in shown and "came" in shown
        await pilot.press("c")
        await settled(pilot)
        assert isinstance(pilot.app.screen, RunPlace)
    assert marks_of(store) == before


async def test_looking_again_sees_what_changed(store: Path) -> None:
    async with driven(store, f"artifacts/{SESSION}") as pilot:
        place: Any = pilot.app.screen
        assert place.found.now.result["status"] == "failed"
        (store.parents[1] / "out" / "data.csv").write_text("1,2")
        await pilot.press("r")
        await settled(pilot)
        assert place.found.now.result["status"] == "warning"
        await pilot.press("escape")
        await settled(pilot)
        assert isinstance(pilot.app.screen, ArtifactsPlace)


async def test_what_has_no_expected_files_says_so(store: Path) -> None:
    async with driven(store, "artifacts") as pilot:
        await pilot.press("G", "c")
        await settled(pilot)
        assert "names no session" in screen_text(pilot)
    put(store, "sessions", {"id": "bare", "created_at": 1.0, "updated_at": 1.0, "progression_id": "p"})
    async with driven(store, "artifacts/bare") as pilot:
        shown = screen_text(pilot)
        assert "No file was expected" in shown and "no contract is recorded" in shown
    async with driven(store, "artifacts/nobody") as pilot:
        assert "There is no such run" in screen_text(pilot)


@pytest.mark.parametrize(
    ("contract", "root", "words"),
    [
        ("{broken", "/x", "not readable"),
        ('{"expected": 7}', "/x", "not a mapping with a list"),
        ('{"expected": [{"id": "a", "path": "a"}]}', "out", "no absolute path"),
        ('{"expected": [{"id": "a", "path": "a"}]}', "/nowhere/at/all", "does not exist"),
    ],
)
async def test_what_cannot_be_looked_at_says_why(
    tmp_path: Path, contract: str, root: str, words: str
) -> None:
    store = make_store(tmp_path / "odd.db")
    put(store, "progressions", {"id": "p", "created_at": 1.0, "collection": []})
    put(store, "sessions", {"id": "s", "created_at": 1.0, "updated_at": 1.0, "progression_id": "p",
                            "artifacts_path": root, "artifact_contract_json": contract})  # fmt: skip
    async with driven(store, "artifacts/s") as pilot:
        assert words in screen_text(pilot)


async def test_a_store_without_any_says_so(tmp_path: Path) -> None:
    async with driven(make_store(tmp_path / "empty.db"), "artifacts") as pilot:
        assert "There are no artifacts in this store." in screen_text(pilot)


async def test_what_is_shown_is_copied_and_exported(store: Path) -> None:
    async with driven(store, "artifacts") as pilot:
        place: Any = pilot.app.screen
        copy = await place.copied()
        assert copy is not None and copy.text == "both"
        assert place.exported().rows is place.grid.source
    async with driven(store, f"artifacts/{SESSION}") as pilot:
        place = pilot.app.screen
        row = await place.copied_row()
        assert row is not None and '"path": "report.md"' in row.text
        assert "observation" in place.exported().what
