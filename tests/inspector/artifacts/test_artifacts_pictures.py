"""Pictures of Artifacts, at the sizes people have; drawn again by `--snapshot-update`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widget import Widget

from inspector.app import InspectorApp
from persistence.location import locate
from tests.inspector.artifacts.recorded import SESSION, make_artifacts
from tests.inspector.driving import settled

pytestmark = pytest.mark.usefixtures("frozen_clock")

SIZES = [pytest.param((120, 40), id="wide"), pytest.param((80, 24), id="small")]


@pytest.fixture
def pictured(tmp_path: Path, snap_compare: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., bool]:
    """Compares a place on the store of artifacts; what differs from machine to machine is not drawn."""

    def compare(at: str, size: tuple[int, int], *keys: str) -> bool:
        store = make_artifacts(tmp_path, "/srv/tide-board")
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
def test_the_rows(size: tuple[int, int], pictured: Callable[..., bool]) -> None:
    assert pictured("artifacts", size, "j")


@pytest.mark.parametrize("size", SIZES)
def test_one_key_shape(size: tuple[int, int], pictured: Callable[..., bool]) -> None:
    assert pictured("artifacts", size, "v", "v")


@pytest.mark.parametrize("size", SIZES)
def test_expected_files(
    size: tuple[int, int], pictured: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("persistence.artifacts.time.time", lambda: 1_795_953_600.0)
    assert pictured(f"artifacts/{SESSION}", size, "j")
