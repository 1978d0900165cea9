"""Pictures of Progressions, at the sizes people have; drawn again by `--snapshot-update`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widget import Widget

from inspector.app import InspectorApp
from persistence.location import locate
from tests.inspector.built import make_world
from tests.inspector.driving import settled

pytestmark = pytest.mark.usefixtures("frozen_clock")

SIZES = [pytest.param((120, 40), id="wide"), pytest.param((80, 24), id="small")]


@pytest.fixture
def pictured(tmp_path: Path, snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., bool]:
    """Compares a place on the store with a story; what differs from machine to machine is not drawn."""

    def compare(at: str, size: tuple[int, int], *keys: str) -> bool:
        store = make_world(tmp_path / "state.db")
        monkeypatch.chdir(store.parent)
        app = InspectorApp(locate(store.name), start_place=at)

        async def before(pilot: Pilot[Any]) -> None:
            await settled(pilot)
            for key in keys:
                await pilot.press(key)
                await settled(pilot)
            for line in app.screen.query("#store-line, #places-line").results(Widget):
                line.styles.visibility = "hidden"
            await pilot.pause()

        return bool(snap_compare(app, terminal_size=size, run_before=before))

    return compare


@pytest.mark.parametrize("size", SIZES)
def test_the_list(size: tuple[int, int], pictured: Callable[..., bool]) -> None:
    assert pictured("progressions", size, "j")


@pytest.mark.parametrize("size", SIZES)
def test_positions(size: tuple[int, int], pictured: Callable[..., bool]) -> None:
    assert pictured("progressions/p-main", size, "n")


@pytest.mark.parametrize("size", SIZES)
def test_one_that_is_not_there(size: tuple[int, int], pictured: Callable[..., bool]) -> None:
    assert pictured("progressions/nobody", size)
