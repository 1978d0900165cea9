"""Pictures of the place Lineage, of a refusal's page, and of Open with what it remembers."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from inspector.app import InspectorApp
from inspector.opened import OpenedStore
from inspector.screens import lineage as place
from persistence.lineage import LineageReport
from tests.gallery import CLOCK, copied_gallery
from tests.inspector.driving import settled

SIZES = [(80, 24), (120, 40)]


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


def shot(
    compare: Callable[..., bool], name: str, size: tuple[int, int], *keys: str, theme: str | None = None
) -> None:
    app = InspectorApp(f"~/stores/{name}", start_place="lineage")
    if theme is not None:
        app.theme = theme

    async def before(pilot: Pilot[Any]) -> None:
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
            await settled(pilot)

    assert compare(app, terminal_size=size, run_before=before)


PLACES = {
    "own": ("harbour.db",),
    "managed": ("customs.db",),
    "too-new": ("tomorrow.db",),
    "unrecognized": ("tickets.db",),
    "hidden": ("power-cut.db",),
    "log": ("pilots.db",),
    "unreadable": ("logbook.db",),
    "further": ("takeover.db", "pagedown", "pagedown"),
    "page": ("customs.db", "enter"),
    "step": ("power-cut.db", "G", "enter"),
}


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
@pytest.mark.parametrize("name", PLACES)
def test_lineage(snap_compare: Callable[..., bool], home: Path, name: str, size: tuple[int, int]) -> None:
    store, *keys = PLACES[name]
    shot(snap_compare, store, size, *keys)


@pytest.mark.parametrize("theme", ["lion-light", "high-contrast", "mono"])
def test_themes(snap_compare: Callable[..., bool], home: Path, theme: str) -> None:
    shot(snap_compare, "power-cut.db", (110, 34), theme=theme)


def test_without_colour(
    snap_compare: Callable[..., bool], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    shot(snap_compare, "customs.db", (110, 34))
