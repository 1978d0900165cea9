"""Pictures of the gate shut: the refusal at each of its steps, and the one before there is a gate."""

from __future__ import annotations

import json
from pathlib import Path

from inspector import settings
from inspector.app import InspectorApp
from tests.inspector.driving import typed
from tests.inspector.gate.gates import KIM, place_of, to_path
from tests.inspector.gate.test_actions_pictures import PLACES_TOO, home, managed
from tests.inspector.gate.test_actions_pictures import to_copy as to_copy_of
from tests.inspector.pictures import Pictures, running, walked
from tests.persistence.stores import run_sql

__all__ = ["PLACES_TOO", "home"]


async def test_the_policy_forbids(pictures: Pictures, home: Path) -> None:
    """Step one; without the flag it is a picture of `test_actions_pictures`."""
    config = settings.load({"writes": {"forbid_exposed_sqlite": True}, "history": False})
    app = InspectorApp("~/managed.db", start_place="actions", allow_writes=True, config=config)
    async with running(app) as pilot:
        await walked(pilot, "enter", *KIM)
        await pictures.both(pilot)


async def test_a_profile_and_an_owner(pictures: Pictures, home: Path) -> None:
    """Steps two and three."""
    (home / "mine.toml").write_text('name = "mine"\nversion = "one"\n')
    async with running(managed()) as pilot:
        await walked(pilot, "enter", "p", "tab")
        await typed(pilot, "mine.toml")
        await walked(pilot, "enter")
        await pictures.both(pilot, "profile")
        await walked(pilot, "p", "enter", "w", "tab")
        await typed(pilot, "nobody")
        await walked(pilot, "enter")
        await pictures.both(pilot, "owner")


async def test_a_store_that_is_not_admitted(pictures: Pictures, home: Path) -> None:
    """Step four."""
    run_sql(home / "managed.db", "ALTER TABLE sessions ADD COLUMN mood TEXT NOT NULL DEFAULT ''")
    async with running(managed()) as pilot:
        await walked(pilot, "enter", *KIM)
        await pictures.both(pilot)


async def test_what_is_in_the_way(pictures: Pictures, home: Path) -> None:
    """Step five: of a copy, and all of it by name; and a line that is none."""
    order = json.dumps(["m0000", *(f"gone-{number}" for number in range(9)), "m0000"])
    run_sql(home / "state.db", f"UPDATE progressions SET collection = '{order}' WHERE id = 'pb1'")
    (home / "run.jsonl").write_text('{"kind": "session"}\n{"kind": "message", "role": 7}\n')
    async with running(managed()) as pilot:
        await walked(pilot, "j", "j", "enter")
        await to_copy_of(pilot)
        await pictures.both(pilot, "copy")
        place_of(pilot).listed.select("obstacle 1")
        await walked(pilot, "enter")
        await pictures.both(pilot, "named")
        await walked(pilot, "escape", "a", "G", "k", "enter")
        await to_path(pilot, Path("run.jsonl"))
        await pictures.both(pilot, "line")


async def test_a_source_that_is_gone(pictures: Pictures, home: Path) -> None:
    """Before there is a gate."""
    async with running(managed()) as pilot:
        await walked(pilot, "G", "k", "enter")
        await to_path(pilot, Path("none.jsonl"))
        await pictures.both(pilot)
