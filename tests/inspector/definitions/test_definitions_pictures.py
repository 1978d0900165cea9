"""Pictures of Definitions, at the sizes people have; drawn again by `--snapshot-update`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from inspector.app import InspectorApp
from persistence.location import locate
from tests.inspector.definitions.authored import make_definitions
from tests.inspector.pictures import BOTH, Pictures, hidden, running, walked

pytestmark = pytest.mark.usefixtures("frozen_clock")


Compare = Callable[..., Awaitable[None]]


@pytest.fixture
def pictured(tmp_path: Path, pictures: Pictures, monkeypatch: pytest.MonkeyPatch) -> Compare:
    """Compares a place on the store of definitions; paths and places there are by now are not drawn."""

    async def compare(at: str, *keys: str) -> None:
        store = make_definitions(tmp_path)
        monkeypatch.chdir(tmp_path)
        async with running(InspectorApp(locate(store.name), start_place=at), BOTH[1]) as pilot:
            await walked(pilot, *keys)
            await hidden(pilot, "#store-line, #places-line, #definition-line")
            await pictures.both(pilot)

    return compare


async def test_the_list(pictured: Compare) -> None:
    await pictured("definitions", "j")


async def test_a_version(pictured: Compare) -> None:
    await pictured("definitions/agent%2Fclerk")


async def test_what_changed(pictured: Compare) -> None:
    await pictured("definitions/agent%2Fclerk", "G", "m", "g", "v")


async def test_the_file_now(pictured: Compare) -> None:
    await pictured("definitions/agent%2Fclerk/file")
