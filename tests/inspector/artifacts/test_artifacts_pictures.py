"""Pictures of Artifacts, at the sizes people have; drawn again by `--snapshot-update`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from inspector.app import InspectorApp
from persistence.location import locate
from tests.inspector.artifacts.recorded import SESSION, make_artifacts
from tests.inspector.pictures import BOTH, Pictures, hidden, running, walked

pytestmark = pytest.mark.usefixtures("frozen_clock")


Compare = Callable[..., Awaitable[None]]


@pytest.fixture
def pictured(tmp_path: Path, pictures: Pictures, monkeypatch: pytest.MonkeyPatch) -> Compare:
    """Compares a place on the store of artifacts; what differs from machine to machine is not drawn."""

    async def compare(at: str, *keys: str) -> None:
        store = make_artifacts(tmp_path, "/srv/tide-board")
        monkeypatch.chdir(store.parent)
        async with running(InspectorApp(locate(store.name), start_place=at), BOTH[1]) as pilot:
            await walked(pilot, *keys)
            await hidden(pilot)
            await pictures.both(pilot)

    return compare


async def test_the_rows(pictured: Compare) -> None:
    await pictured("artifacts", "j")


async def test_one_key_shape(pictured: Compare) -> None:
    await pictured("artifacts", "v", "v")


async def test_expected_files(pictured: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("persistence.artifacts.time.time", lambda: 1_795_953_600.0)
    await pictured(f"artifacts/{SESSION}", "j")
