"""Pictures of Tables and of a value, at the sizes people have; drawn again by `--snapshot-update`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from inspector.app import InspectorApp
from persistence.location import locate
from tests.inspector.built import make_world
from tests.inspector.driving import settled
from tests.inspector.tables.stores import linked_store

pytestmark = pytest.mark.usefixtures("frozen_clock")

SIZES = [pytest.param((120, 40), id="wide"), pytest.param((80, 24), id="small")]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    return make_world(folder / "world.db")


@pytest.fixture(scope="module")
def boats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return linked_store(tmp_path_factory.mktemp("boats") / "boats.db")


@pytest.fixture
def on_store(
    built: Path, boats: Path, snap_compare: Any, frozen_clock: float, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., bool]:
    """Compares the application on a store, its path and sizes made the same everywhere, after some keys."""

    def compare(which: str, target: str | None, size: tuple[int, int], *keys: str) -> bool:
        store = {"world": built, "boats": boats}[which]
        monkeypatch.chdir(store.parent)
        app = InspectorApp(locate(store.name), start_place="tables", target=target)

        async def before(pilot: Pilot[Any]) -> None:
            await settled(pilot)
            for key in keys:
                await pilot.press(key)
                await settled(pilot)
            _same_everywhere(app)
            await pilot.pause()

        return bool(snap_compare(app, terminal_size=size, run_before=before))

    return compare


def _same_everywhere(app: InspectorApp) -> None:
    """What differs from machine to machine, and the places there are by now, are not drawn."""
    from textual.widget import Widget

    for screen in app.screen_stack:
        for line in screen.query("#store-line, #places-line").results(Widget):
            line.styles.visibility = "hidden"


@pytest.mark.parametrize("size", SIZES)
def test_the_list_of_tables(size: tuple[int, int], on_store: Callable[..., bool]) -> None:
    assert on_store("world", None, size, "j", "j")


@pytest.mark.parametrize("size", SIZES)
def test_rows_of_a_table(size: tuple[int, int], on_store: Callable[..., bool]) -> None:
    assert on_store("world", "messages", size, "j", "right")


@pytest.mark.parametrize("size", SIZES)
def test_the_structure_of_a_table(size: tuple[int, int], on_store: Callable[..., bool]) -> None:
    assert on_store("boats", "voyages", size, "v")


@pytest.mark.parametrize("size", SIZES)
def test_rows_that_name_a_row(size: tuple[int, int], on_store: Callable[..., bool]) -> None:
    assert on_store("boats", "boats", size, "j", "b")


@pytest.mark.parametrize("size", SIZES)
def test_a_value_as_a_tree(size: tuple[int, int], on_store: Callable[..., bool]) -> None:
    assert on_store("boats", "boats", size, "j", "right", "right", "right", "enter")


@pytest.mark.parametrize("size", SIZES)
def test_a_long_value(size: tuple[int, int], on_store: Callable[..., bool]) -> None:
    assert on_store("boats", "voyages", size, *["j"] * 5, *["right"] * 5, "space")


@pytest.mark.parametrize("size", SIZES)
def test_no_rows(size: tuple[int, int], on_store: Callable[..., bool]) -> None:
    assert on_store("boats", "empty_one", size)


@pytest.mark.parametrize("size", SIZES)
def test_no_such_table(size: tuple[int, int], on_store: Callable[..., bool]) -> None:
    assert on_store("boats", "not here", size)
