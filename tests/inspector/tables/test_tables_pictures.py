"""Pictures of Tables and of a value, at the sizes people have; drawn again by `--snapshot-update`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from inspector.app import InspectorApp
from persistence.location import locate
from tests.inspector.built import make_world
from tests.inspector.pictures import BOTH, Pictures, hidden, running, walked
from tests.inspector.tables.stores import linked_store

pytestmark = pytest.mark.usefixtures("frozen_clock")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    return make_world(folder / "world.db")


@pytest.fixture(scope="module")
def boats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return linked_store(tmp_path_factory.mktemp("boats") / "boats.db")


Compare = Callable[..., Awaitable[None]]


@pytest.fixture
def on_store(
    built: Path, boats: Path, pictures: Pictures, frozen_clock: float, monkeypatch: pytest.MonkeyPatch
) -> Compare:
    """Compares the application on a store, its path and sizes made the same everywhere, after some keys."""

    async def compare(which: str, target: str | None, *keys: str) -> None:
        store = {"world": built, "boats": boats}[which]
        monkeypatch.chdir(store.parent)
        app = InspectorApp(locate(store.name), start_place="tables", target=target)
        async with running(app, BOTH[1]) as pilot:
            await walked(pilot, *keys)
            await hidden(pilot)
            await pictures.both(pilot)

    return compare


async def test_the_list_of_tables(on_store: Compare) -> None:
    await on_store("world", None, "j", "j")


async def test_rows_of_a_table(on_store: Compare) -> None:
    await on_store("world", "messages", "j", "right")


async def test_the_structure_of_a_table(on_store: Compare) -> None:
    await on_store("boats", "voyages", "v")


async def test_rows_that_name_a_row(on_store: Compare) -> None:
    await on_store("boats", "boats", "j", "b")


async def test_a_value_as_a_tree(on_store: Compare) -> None:
    await on_store("boats", "boats", "j", "right", "right", "right", "enter")


async def test_a_long_value(on_store: Compare) -> None:
    await on_store("boats", "voyages", *["j"] * 5, *["right"] * 5, "space")


async def test_no_rows(on_store: Compare) -> None:
    await on_store("boats", "empty_one")


async def test_no_such_table(on_store: Compare) -> None:
    await on_store("boats", "not here")
