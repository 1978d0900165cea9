"""Pictures of Definitions, at the sizes people have; drawn again by `--snapshot-update`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widget import Widget

from inspector.app import InspectorApp
from persistence.location import locate
from tests.inspector.definitions.authored import make_definitions
from tests.inspector.driving import settled

pytestmark = pytest.mark.usefixtures("frozen_clock")

SIZES = [pytest.param((120, 40), id="wide"), pytest.param((80, 24), id="small")]


@pytest.fixture
def pictured(tmp_path: Path, snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., bool]:
    """Compares a place on the store of definitions; paths and places there are by now are not drawn."""

    def compare(at: str, size: tuple[int, int], *keys: str) -> bool:
        store = make_definitions(tmp_path)
        monkeypatch.chdir(tmp_path)
        app = InspectorApp(locate(store.name), start_place=at)

        async def before(pilot: Pilot[Any]) -> None:
            await settled(pilot)
            for key in keys:
                await pilot.press(key)
                await settled(pilot)
            for line in app.screen.query("#store-line, #places-line, #definition-line").results(Widget):
                line.styles.visibility = "hidden"
            await pilot.pause()

        return bool(snap_compare(app, terminal_size=size, run_before=before))

    return compare


@pytest.mark.parametrize("size", SIZES)
def test_the_list(size: tuple[int, int], pictured: Callable[..., bool]) -> None:
    assert pictured("definitions", size, "j")


@pytest.mark.parametrize("size", SIZES)
def test_a_version(size: tuple[int, int], pictured: Callable[..., bool]) -> None:
    assert pictured("definitions/agent%2Fclerk", size)


@pytest.mark.parametrize("size", SIZES)
def test_what_changed(size: tuple[int, int], pictured: Callable[..., bool]) -> None:
    assert pictured("definitions/agent%2Fclerk", size, "G", "m", "g", "v")


@pytest.mark.parametrize("size", SIZES)
def test_the_file_now(size: tuple[int, int], pictured: Callable[..., bool]) -> None:
    assert pictured("definitions/agent%2Fclerk/file", size)
