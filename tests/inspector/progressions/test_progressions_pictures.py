"""Pictures of Progressions, at the sizes people have; drawn again by `--snapshot-update`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from inspector.app import InspectorApp
from persistence.location import locate
from tests.inspector.built import make_world
from tests.inspector.pictures import BOTH, Pictures, hidden, running, walked

pytestmark = pytest.mark.usefixtures("frozen_clock")


Compare = Callable[..., Awaitable[None]]


@pytest.fixture
def pictured(tmp_path: Path, pictures: Pictures, monkeypatch: pytest.MonkeyPatch) -> Compare:
    """Compares a place on the store with a story; what differs from machine to machine is not drawn."""

    async def compare(at: str, *keys: str) -> None:
        store = make_world(tmp_path / "state.db")
        monkeypatch.chdir(store.parent)
        async with running(InspectorApp(locate(store.name), start_place=at), BOTH[1]) as pilot:
            await walked(pilot, *keys)
            await hidden(pilot)
            await pictures.both(pilot)

    return compare


async def test_the_list(pictured: Compare) -> None:
    await pictured("progressions", "j")


async def test_positions(pictured: Compare) -> None:
    await pictured("progressions/p-main", "n")


async def test_one_that_is_not_there(pictured: Compare) -> None:
    await pictured("progressions/nobody")
