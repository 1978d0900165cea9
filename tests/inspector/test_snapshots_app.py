"""Pictures of every screen of the application, at the two sizes people have."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot

from inspector.app import InspectorApp
from inspector.opened import OpenedStore
from inspector.screens import PLACES
from persistence.records import Route
from persistence.statedb import StateDB
from tests.inspector.built import CLOCK, REVIEW, make_world
from tests.inspector.driving import settled, typed

SIZES = [(80, 24), (120, 40)]
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


def shot(
    compare: Callable[..., bool],
    store: str | None,
    place: str,
    size: tuple[int, int],
    *keys: str,
    theme: str | None = None,
) -> None:
    """`type:` types words; other keys are pressed."""
    app = InspectorApp(store, start_place=place)
    if theme is not None:
        app.theme = theme

    async def before(pilot: Pilot[Any]) -> None:
        await settled(pilot)
        for key in keys:
            if key.startswith("type:"):
                await typed(pilot, key.removeprefix("type:"))
            else:
                await pilot.press(key)
            await settled(pilot)
        if isinstance(pilot.app.screen, CommandPalette):
            await pilot.pause(0.3)
            while pilot.app.screen._show_busy or not pilot.app.screen._list_visible:
                await pilot.pause(0.05)

    assert compare(app, terminal_size=size, run_before=before)


SHOTS = {
    "overview": ("overview",),
    "runs": ("runs",),
    "runs-filtered": ("runs", "slash", "type:status:failed agent:cl"),
    "runs-nothing": ("runs", "slash", "type:status:failed stauts:x nobody", "enter"),
    "runs-sorted": ("runs", "l", "l", "l", "s"),
    "run": (RUN,),
    "run-further": (RUN, "j", "j", "j", "j"),
    "run-end": (RUN, "G"),
    "run-outline": (RUN, "Z"),
    "run-json": (RUN, "v", "v"),
    "run-search": (RUN, "ctrl+f", "type:ci/log", "enter"),
    "run-timeline": (f"{RUN}/timeline", "j", "j"),
    "run-branches": (f"{RUN}/branches",),
    "run-signals": (f"{RUN}/signals",),
    "run-history": (f"{RUN}/history",),
    "run-artifacts": (f"{RUN}/artifacts",),
    "run-raw": (f"{RUN}/raw",),
    "found": ("found/broken-json",),
    "help": (RUN, "question_mark"),
    "palette": ("runs", "ctrl+p", "type:night"),
    "themes": ("runs", "t"),
    "export": ("runs", "e"),
}


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
@pytest.mark.parametrize("name", SHOTS)
def test_places(snap_compare: Callable[..., bool], world: str, name: str, size: tuple[int, int]) -> None:
    place, *keys = SHOTS[name]
    shot(snap_compare, world, place, size, *keys)


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
def test_refused(snap_compare: Callable[..., bool], world: str, size: tuple[int, int]) -> None:
    Path("stores/notes.db").write_text("not a database at all\n" * 20)
    shot(snap_compare, "~/stores/notes.db", "runs", size)


@pytest.mark.parametrize("place", ["overview", "runs", "run"])
@pytest.mark.parametrize("theme", ["lion-light", "high-contrast", "mono"])
def test_themes(snap_compare: Callable[..., bool], world: str, theme: str, place: str) -> None:
    shot(snap_compare, world, RUN if place == "run" else place, (100, 30), theme=theme)


def test_without_colour(
    snap_compare: Callable[..., bool], world: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    shot(snap_compare, world, RUN, (100, 30))


def test_too_small(snap_compare: Callable[..., bool], world: str) -> None:
    shot(snap_compare, world, "runs", (40, 12))
