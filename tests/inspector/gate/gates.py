"""Going to the gate as a person does, and what is done in the middle of a write."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from inspector.actions.plan import Call
from inspector.passage import Passage
from inspector.screens.actions import ActionsPlace
from tests.inspector.driving import screen_text, settled, typed

__all__ = ["KIM", "before_call", "ended", "passage_of", "place_of", "press", "through", "to_path"]

KIM = ("p", "enter", "w", "down", "down", "enter")
"""The profile made for acme-desk, and kim."""


async def press(pilot: Pilot[Any], *keys: str) -> str:
    for key in keys:
        await pilot.press(key)
        await settled(pilot, rounds=2)
    return screen_text(pilot)


def place_of(pilot: Pilot[Any]) -> ActionsPlace:
    place = pilot.app.screen
    assert isinstance(place, ActionsPlace), place
    return place


def passage_of(pilot: Pilot[Any]) -> Passage:
    passage = place_of(pilot).passage
    assert passage is not None
    return passage


async def to_path(pilot: Pilot[Any], path: Path) -> str:
    """A store or a file, put into the field of a chooser."""
    field = pilot.app.screen.query_one("#path", Input)
    if not field.has_focus:
        await press(pilot, "slash")
    field.value = str(path)
    return await press(pilot, "enter")


async def ended(pilot: Pilot[Any]) -> str:
    """Waits until nothing is written any more."""
    passage = pilot.app.session.passage  # type: ignore[attr-defined]
    await asyncio.wait_for(passage.ended(), 60)
    await settled(pilot)
    return screen_text(pilot)


async def through(pilot: Pilot[Any], lineage: str = "acme-desk") -> str:
    """Types the lineage, goes through, and waits until it is over."""
    await press(pilot, "tab")
    await typed(pilot, lineage)
    await pilot.press("enter")
    return await ended(pilot)


def before_call(
    monkeypatch: pytest.MonkeyPatch, number: int, does: Callable[[], Awaitable[None] | None]
) -> None:
    """Has something done right before so many calls of a plan."""
    run = Call.run
    seen = 0

    async def counted(call: Call, db: Any) -> Any:
        nonlocal seen
        seen += 1
        if seen == number and (waiting := does()) is not None:
            await waiting
        return await run(call, db)

    monkeypatch.setattr(Call, "run", counted)
