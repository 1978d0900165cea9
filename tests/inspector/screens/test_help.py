"""The help layer: every word of it can be read at any width, and it scrolls to both ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.inspector.built import make_world
from tests.inspector.driving import driven, screen_lines, screen_text, settled


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_world(tmp_path_factory.mktemp("world") / "state.db")


@pytest.mark.parametrize("size", [(60, 24), (80, 24), (140, 40)])
async def test_no_word_is_cut_at_the_edge_of_the_panel(world: Path, size: tuple[int, int]) -> None:
    async with driven(world, size=size) as pilot:
        await pilot.press("question_mark")
        await settled(pilot)
        layer = pilot.app.screen.query_one("#layer")
        page = pilot.app.screen.query_one("#help > Static")
        assert page.region.right < layer.region.right - 1
        inner = [line[layer.region.x + 1 : layer.region.right - 1] for line in screen_lines(pilot)]
        told = " ".join(" ".join(inner).replace("┃", " ").split())
        assert "Enter opens one: its conversation, its timeline, its history." in told


async def test_what_takes_a_second_line_stays_beside_its_key(world: Path) -> None:
    async with driven(world, size=(60, 24)) as pilot:
        await pilot.press("question_mark")
        await settled(pilot)
        await pilot.press("G")
        await settled(pilot)
        last = [line for line in screen_lines(pilot) if "has a progression of" in line]
        assert len(last) == 1
        edge = pilot.app.screen.query_one("#help > Static").region.x
        assert last[0][edge : edge + 16].strip() == ""
        await pilot.press("g")
        await settled(pilot)
        assert "Every run of the store" in screen_text(pilot)
