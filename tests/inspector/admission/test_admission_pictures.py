"""Pictures of the place Admission: choosing, admitted, each drifted store, and every view."""

from __future__ import annotations

import dataclasses
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from inspector.app import InspectorApp
from inspector.opened import OpenedStore
from inspector.screens import admission as place
from persistence.profiles import AdmissionReport
from persistence.statedb import StateDB
from tests.inspector.admission.desks import CLOCK, DRIFTED, desk
from tests.inspector.driving import settled
from tests.inspector.pictures import BOTH, Pictures, running, walked

PLACES_TOO = ("admission",)
KIM = ("enter", "w", "down", "down", "enter")
"""Chooses the first profile, and kim."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frozen_clock: float) -> Path:
    """The stores at `~/stores`, with everything fixed that a machine or a moment decides."""
    assert frozen_clock == CLOCK
    home = tmp_path / "home"
    (home / "stores").mkdir(parents=True)
    for name in ("desk", *DRIFTED):
        os.utime(desk(home / "stores", name), (CLOCK - 900, CLOCK - 900))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.40.1")
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 40, 1))
    asked = place.admitted

    async def still(*arguments: Any) -> AdmissionReport:
        found = await asked(*arguments)
        read = dataclasses.replace(found.read, at=CLOCK, kernel_held=True) if found.read is not None else None
        return dataclasses.replace(found, read=read)

    monkeypatch.setattr(place, "admitted", still)
    read = OpenedStore.read.fget  # type: ignore[attr-defined]

    def quiet(opened: OpenedStore) -> Any:
        found = read(opened)
        return None if found is None else dataclasses.replace(found, at=CLOCK, kernel_held=True)

    monkeypatch.setattr(OpenedStore, "read", property(quiet))
    facts = StateDB.facts

    async def sized(db: StateDB) -> Any:
        return dataclasses.replace(await facts(db), size=139_264)

    monkeypatch.setattr(StateDB, "facts", sized)
    return home


def on_store(name: str) -> InspectorApp:
    return InspectorApp(f"~/stores/{name}.db", start_place="admission")


PLACES: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "desk": [
        ("none", ()),
        ("profile", ("p",)),
        ("owner", ("enter", "w")),
        ("admitted", ("down", "down", "enter")),
        ("promises", ("shift+tab",)),
    ],
    "desk-priority": [("priority", KIM)],
    "desk-mail": [("mail", KIM), ("finding", ("enter",))],
    "desk-follow-up": [("follow-up", KIM)],
    "desk-regrouped": [("regrouped", KIM), ("links", ("tab", "tab"))],
    "desk-rollback": [("rollback", KIM)],
}
"""Of each store, what is gone on to from the last picture, and what that picture is of."""


@pytest.mark.parametrize("store", PLACES)
async def test_admission(pictures: Pictures, home: Path, store: str) -> None:
    async with running(on_store(store)) as pilot:
        for name, keys in PLACES[store]:
            await walked(pilot, *keys)
            await pictures.both(pilot, name)


@pytest.mark.parametrize("size", BOTH, ids=["small", "wide"])
async def test_ceiling(pictures: Pictures, home: Path, size: tuple[int, int]) -> None:
    """What is in sight depends on the size it was gone down at."""
    async with running(on_store("desk-priority"), size) as pilot:
        await walked(pilot, *KIM, "tab", "G", "up", "right")
        await pictures.both(pilot, sizes=[size])


async def test_operations(pictures: Pictures, home: Path) -> None:
    async with running(on_store("desk")) as pilot:
        await walked(pilot, "enter", "a", "space")
        await pictures.both(pilot)


async def test_themes(pictures: Pictures, home: Path) -> None:
    async with running(on_store("desk-mail"), (110, 34)) as pilot:
        await walked(pilot, *KIM)
        for theme in ("lion-light", "high-contrast", "mono"):
            pilot.app.theme = theme
            await settled(pilot)
            await pictures.take(pilot, theme)


async def test_without_colour(pictures: Pictures, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(on_store("desk-mail"), (110, 34)) as pilot:
        await walked(pilot, *KIM, "tab")
        await pictures.take(pilot, "110x34")
