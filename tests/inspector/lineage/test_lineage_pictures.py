"""Pictures of the place Lineage, of a refusal's page, and of Open with what it remembers."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from inspector.app import InspectorApp
from inspector.opened import OpenedStore
from inspector.screens import lineage as place
from persistence.lineage import LineageReport
from tests.gallery import CLOCK, copied_gallery
from tests.inspector.driving import settled
from tests.inspector.pictures import BOTH, Pictures, running, walked


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copied_gallery(tmp_path_factory, tmp_path_factory.mktemp("gallery") / "stores")
    for path in folder.iterdir():
        os.utime(path, (CLOCK - 900, CLOCK - 900))
    return folder


@pytest.fixture
def home(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frozen_clock: float) -> Path:
    """The gallery at `~/stores`, with everything fixed that a machine or a moment decides."""
    assert frozen_clock == CLOCK
    home = tmp_path / "home"
    home.mkdir()
    (home / "stores").symlink_to(built)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.40.1")
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 40, 1))
    asked = place.examined

    async def still(*arguments: Any) -> LineageReport:
        found = await asked(*arguments)
        # This process's own reader may hold the log just then, which is told as well.
        reads = tuple(
            _with(step, way="check", answer="5 frames, 2 commits, sound") if "in use" in step.answer else step
            for step in found.reads
        )
        fixed: LineageReport = _with(
            found, at=CLOCK, reads=reads, kernel_held=True, openers=(), library="SQLite 3.40.1"
        )
        return fixed

    monkeypatch.setattr(place, "examined", still)
    read = OpenedStore.read.fget  # type: ignore[attr-defined]

    def quiet(opened: OpenedStore) -> Any:
        found = read(opened)
        return None if found is None else dataclasses.replace(found, at=CLOCK, kernel_held=True)

    monkeypatch.setattr(OpenedStore, "read", property(quiet))
    return home


def _with(record: Any, **changes: Any) -> Any:
    return record._replace(**changes) if isinstance(record, tuple) else dataclasses.replace(record, **changes)


def on_store(name: str) -> InspectorApp:
    return InspectorApp(f"~/stores/{name}", start_place="lineage")


PLACES: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "harbour.db": [("own", ())],
    "customs.db": [("managed", ()), ("page", ("enter",))],
    "tomorrow.db": [("too-new", ())],
    "tickets.db": [("unrecognized", ())],
    "power-cut.db": [("hidden", ())],
    "pilots.db": [("log", ())],
    "logbook.db": [("unreadable", ())],
}
"""Of each store, what is gone on to from the last picture, and what that picture is of."""


@pytest.mark.parametrize("store", PLACES)
async def test_lineage(pictures: Pictures, home: Path, store: str) -> None:
    async with running(on_store(store)) as pilot:
        for name, keys in PLACES[store]:
            await walked(pilot, *keys)
            await pictures.both(pilot, name)


@pytest.mark.parametrize("size", BOTH, ids=["small", "wide"])
@pytest.mark.parametrize(
    ("store", "keys"),
    [("takeover.db", ("pagedown", "pagedown")), ("power-cut.db", ("G", "enter"))],
    ids=["further", "step"],
)
async def test_further(
    pictures: Pictures, home: Path, store: str, keys: tuple[str, ...], size: tuple[int, int]
) -> None:
    """What is in sight, and what it leads to, depends on the size it was gone down at."""
    async with running(on_store(store), size) as pilot:
        await walked(pilot, *keys)
        await pictures.both(pilot, sizes=[size])


async def test_themes(pictures: Pictures, home: Path) -> None:
    async with running(on_store("power-cut.db"), (110, 34)) as pilot:
        for theme in ("lion-light", "high-contrast", "mono"):
            pilot.app.theme = theme
            await settled(pilot)
            await pictures.take(pilot, theme)


async def test_without_colour(pictures: Pictures, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(on_store("customs.db"), (110, 34)) as pilot:
        await pictures.take(pilot, "110x34")
