"""Pictures of every screen of the application, at the two sizes people have."""

from __future__ import annotations

import dataclasses
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot

from inspector.app import InspectorApp
from inspector.opened import OpenedStore
from inspector.screens import PLACES
from inspector.store_session import StoreSession
from persistence.records import Notice, Route
from persistence.statedb import StateDB
from tests.inspector.built import CLOCK, REVIEW, make_world
from tests.inspector.driving import settled, typed
from tests.inspector.pictures import BOTH, Pictures, running, walked

KNOWN = ("overview", "found", "runs", "run", "tables", "open", "refused")
RUN = f"run/{REVIEW}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_world(tmp_path_factory.mktemp("built") / "state.db")


@pytest.fixture
def world(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frozen_clock: float) -> str:
    """The store at `~/stores/state.db`, with everything fixed that a machine or a moment decides."""
    assert frozen_clock == CLOCK
    # Later places change the line of places, not what these pictures are about.
    shown = tuple(place for place in PLACES if place.name in KNOWN)
    for module in ("inspector.navigator", "inspector.commands"):
        monkeypatch.setattr(f"{module}.PLACES", shown)
    home = tmp_path / "home"
    (home / "stores").mkdir(parents=True)
    (home / "stores" / "state.db").write_bytes(built.read_bytes())
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.40.1")
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 40, 1))
    facts = StateDB.facts

    async def fixed(db: StateDB) -> Any:
        found = await facts(db)
        files = tuple(dataclasses.replace(file, size=712_704 if file.exists else 0) for file in found.files)
        return dataclasses.replace(found, size=712_704, files=files)

    monkeypatch.setattr(StateDB, "facts", fixed)
    read = OpenedStore.read.fget  # type: ignore[attr-defined]

    def still(opened: OpenedStore) -> Any:
        found = read(opened)
        if found is None:
            return None
        return dataclasses.replace(found, at=CLOCK, kernel_held=True, route=Route.LIVE, notices=())

    monkeypatch.setattr(OpenedStore, "read", property(still))
    return "~/stores/state.db"


def on_store(place: str, store: str = "~/stores/state.db") -> InspectorApp:
    return InspectorApp(store, start_place=place)


async def write(pilot: Pilot[Any], words: str) -> None:
    await typed(pilot, words)
    if isinstance(pilot.app.screen, CommandPalette):
        await pilot.pause(0.3)
        while pilot.app.screen._show_busy or not pilot.app.screen._list_visible:
            await pilot.pause(0.05)


@pytest.mark.parametrize("place", ["overview", "found/broken-json"], ids=["overview", "found"])
async def test_places(pictures: Pictures, world: str, place: str) -> None:
    async with running(on_store(place)) as pilot:
        await pictures.both(pilot)


async def test_runs(pictures: Pictures, world: str) -> None:
    """As they are first, with what opens over them, and sorted."""
    async with running(on_store("runs")) as pilot:
        await pictures.both(pilot, "first")
        await walked(pilot, "t")
        await pictures.both(pilot, "themes")
        await walked(pilot, "escape", "e")
        await pictures.both(pilot, "export")
        await walked(pilot, "escape", "ctrl+p")
        await write(pilot, "night")
        await pictures.both(pilot, "palette")
        await walked(pilot, "escape", "l", "l", "l", "s")
        await pictures.both(pilot, "sorted")


async def test_runs_that_fit(pictures: Pictures, world: str) -> None:
    async with running(on_store("runs")) as pilot:
        await walked(pilot, "slash")
        await write(pilot, "status:failed agent:cl")
        await pictures.both(pilot, "filtered")
        await walked(pilot, "ctrl+u")
        await write(pilot, "status:failed stauts:x nobody")
        await walked(pilot, "enter")
        await pictures.both(pilot, "nothing")


async def test_run(pictures: Pictures, world: str) -> None:
    """Its conversation: first, under the help, at its end, and in the other ways to read it."""
    async with running(on_store(RUN)) as pilot:
        await pictures.both(pilot, "first")
        await walked(pilot, "question_mark")
        await pictures.both(pilot, "help")
        await walked(pilot, "escape", "G")
        await pictures.both(pilot, "end")
        await walked(pilot, "g", "Z")
        await pictures.both(pilot, "outline")
        await walked(pilot, "Z", "v", "v")
        await pictures.both(pilot, "json")
        await walked(pilot, "v", "ctrl+f")
        await write(pilot, "ci/log")
        await walked(pilot, "enter")
        await pictures.both(pilot, "search")


@pytest.mark.parametrize("size", BOTH, ids=["small", "wide"])
async def test_run_further(pictures: Pictures, world: str, size: tuple[int, int]) -> None:
    """What is in sight depends on the size it was gone down at."""
    async with running(on_store(RUN), size) as pilot:
        await walked(pilot, "j", "j", "j", "j")
        await pictures.both(pilot, sizes=[size])


async def test_run_views(pictures: Pictures, world: str) -> None:
    async with running(on_store(f"{RUN}/timeline")) as pilot:
        await walked(pilot, "j", "j")
        await pictures.both(pilot, "timeline")
        for view in ("branches", "signals", "history", "artifacts", "raw"):
            await walked(pilot, "tab")
            await pictures.both(pilot, view)


async def test_refused(pictures: Pictures, world: str) -> None:
    Path("stores/notes.db").write_text("not a database at all\n" * 20)
    async with running(on_store("runs", "~/stores/notes.db")) as pilot:
        await pictures.both(pilot)


async def test_standing_notices(pictures: Pictures, world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first stands below the places; the key shows all of them whole."""
    told = [
        Notice("second-name", "The file has 2 names. What was written under another may not be seen."),
        Notice("log-torn", "The write-ahead log ends in a transaction that never ended; that is not read."),
    ]
    monkeypatch.setattr(StoreSession, "notices", property(lambda session: told))
    async with running(on_store("runs")) as pilot:
        await pictures.both(pilot, "first")
        await walked(pilot, "i")
        await pictures.both(pilot, "all")


@pytest.mark.parametrize("place", ["overview", "runs", "run"])
async def test_themes(pictures: Pictures, world: str, place: str) -> None:
    async with running(on_store(RUN if place == "run" else place), (100, 30)) as pilot:
        for theme in ("lion-light", "high-contrast", "mono"):
            pilot.app.theme = theme
            await settled(pilot)
            await pictures.take(pilot, theme)


async def test_without_colour(pictures: Pictures, world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(on_store(RUN), (100, 30)) as pilot:
        await pictures.take(pilot, "100x30")


async def test_too_small(pictures: Pictures, world: str) -> None:
    async with running(on_store("runs"), (40, 12)) as pilot:
        await pictures.take(pilot, "40x12")
