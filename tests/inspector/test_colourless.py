"""Under NO_COLOR everything is drawn in the terminal's own colours, whatever theme it began with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.app import App

from inspector.fault import FaultApp
from tests.inspector.built import make_world
from tests.inspector.driving import driven, settled


def colours(app: App[Any]) -> set[tuple[str, str]]:
    """The colours of what is drawn, as the terminal gets them: (foreground, background)."""
    found = set()
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            if segment.text.strip() and segment.style is not None:
                ink, ground = segment.style.color, segment.style.bgcolor
                found.add((str(ink and ink.name), str(ground and ground.name)))
    return found


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return make_world(tmp_path / "state.db")


async def test_every_layer_is_drawn_in_the_terminals_colours(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with driven(world, "runs") as pilot:
        assert pilot.app.theme == "mono" and colours(pilot.app) == {("default", "default")}
        for key in ("question_mark", "escape", "t"):
            await pilot.press(key)
            await settled(pilot)
            assert colours(pilot.app) == {("default", "default")}, key


async def test_another_theme_may_be_chosen_and_is_grey(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with driven(world, "runs") as pilot:
        pilot.app.theme = "lion-dark"
        await settled(pilot)
        drawn = colours(pilot.app)
        assert drawn and all(ink != ground for ink, ground in drawn), drawn
        for ink, ground in drawn:
            assert len({ink[1:3], ink[3:5], ink[5:7]}) == 1 == len({ground[1:3], ground[3:5], ground[5:7]})


async def test_so_is_the_page_for_a_fault() -> None:
    page = FaultApp(RuntimeError("made up"), no_color=True)
    async with page.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert page.theme == "mono" and colours(page) == {("default", "default")}
