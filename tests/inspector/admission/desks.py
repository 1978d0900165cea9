"""acme-desk's store and its five drifted copies, as the demo makes them, for the place Admission."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from textual.pilot import Pilot

from inspector.demo.managed import BUILDERS
from inspector.screens.admission import AdmissionPlace
from tests.inspector.driving import screen_text, settled

__all__ = ["CLOCK", "DRIFTED", "admit", "changed", "desk", "place_of", "press", "states"]

CLOCK = 1_795_953_600.0

DRIFTED = {
    "desk-priority": ("column-extra", "sessions.priority", "no such column", "TEXT NOT NULL"),
    "desk-mail": ("check-changed", "sessions.source_kind", "'imported_fs',", "'mail',"),
    "desk-follow-up": ("trigger-extra", "sessions.session_ticket", "no such trigger", "CREATE TRIGGER"),
    "desk-regrouped": (
        "link-changed",
        "branches.session_id, owner_id",
        "(session_id, owner_id)",
        "(session_id)",
    ),
    "desk-rollback": ("journal-mode", "journal mode", "wal", "delete"),
}
"""What each drifted copy is refused for: code, object, and a piece of each side."""


@cache
def _made(name: str) -> Path:
    path = Path(mkdtemp(prefix="desks-")) / f"{name}.db"
    BUILDERS[name](path, path.parent, CLOCK)
    return path


def desk(folder: Path, name: str = "desk") -> Path:
    """A copy of one of them."""
    return Path(shutil.copy(_made(name), folder / f"{name}.db"))


def changed(folder: Path, *statements: str) -> Path:
    """A copy of the admitted one after these statements."""
    path = desk(folder)
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


def states(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Everything in a folder: content and time of change."""
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def place_of(pilot: Pilot[Any]) -> AdmissionPlace:
    place = pilot.app.screen
    assert isinstance(place, AdmissionPlace), place
    return place


async def admit(pilot: Pilot[Any], owner: str | None = "kim") -> AdmissionPlace:
    """Chooses the profile made for acme-desk (the first in the list) and an owner, by keys."""
    for key in ("enter", *(("w", *_down(owner), "enter") if owner is not None else ())):
        await pilot.press(key)
        await settled(pilot, rounds=2)
    return place_of(pilot)


def _down(owner: str) -> Iterator[str]:
    yield from ["down"] * (["acme-system", "kim", "lee"].index(owner) + 1)


async def press(pilot: Pilot[Any], *keys: str) -> str:
    """Presses keys, each when what the one before began is done; what is on the screen then."""
    for key in keys:
        await pilot.press(key)
        await settled(pilot, rounds=2)
    return screen_text(pilot)
