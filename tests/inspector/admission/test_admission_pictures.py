"""Pictures of the place Admission: choosing, admitted, each drifted store, and every view."""

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
from inspector.screens import admission as place
from persistence.profiles import AdmissionReport
from persistence.statedb import StateDB
from tests.inspector.admission.desks import CLOCK, DRIFTED, desk
from tests.inspector.driving import settled

SIZES = [(80, 24), (120, 40)]
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


def shot(
    compare: Callable[..., bool], name: str, size: tuple[int, int], *keys: str, theme: str | None = None
) -> None:
    app = InspectorApp(f"~/stores/{name}.db", start_place="admission")
    if theme is not None:
        app.theme = theme

    async def before(pilot: Pilot[Any]) -> None:
        await settled(pilot)
        for key in keys:
            await pilot.press(key)
            await settled(pilot)

    assert compare(app, terminal_size=size, run_before=before)


PLACES = {
    "none": ("desk",),
    "admitted": ("desk", *KIM),
    "priority": ("desk-priority", *KIM),
    "mail": ("desk-mail", *KIM),
    "follow-up": ("desk-follow-up", *KIM),
    "regrouped": ("desk-regrouped", *KIM),
    "rollback": ("desk-rollback", *KIM),
    "finding": ("desk-mail", *KIM, "enter"),
    "ceiling": ("desk-priority", *KIM, "tab", "G", "up", "right"),
    "links": ("desk-regrouped", *KIM, "tab", "tab"),
    "promises": ("desk", *KIM, "shift+tab"),
    "profile": ("desk", "p"),
    "owner": ("desk", "enter", "w"),
    "operations": ("desk", "enter", "a", "space"),
}


@pytest.mark.parametrize("size", SIZES, ids=["80x24", "120x40"])
@pytest.mark.parametrize("name", PLACES)
def test_admission(snap_compare: Callable[..., bool], home: Path, name: str, size: tuple[int, int]) -> None:
    store, *keys = PLACES[name]
    shot(snap_compare, store, size, *keys)


@pytest.mark.parametrize("theme", ["lion-light", "high-contrast", "mono"])
def test_themes(snap_compare: Callable[..., bool], home: Path, theme: str) -> None:
    shot(snap_compare, "desk-mail", (110, 34), *KIM, theme=theme)


def test_without_colour(
    snap_compare: Callable[..., bool], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    shot(snap_compare, "desk-mail", (110, 34), *KIM, "tab")
