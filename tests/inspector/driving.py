"""Driving the application as a person would, without a terminal: open, wait, press, read the screen."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.worker import WorkerCancelled

from inspector.app import InspectorApp
from inspector.widgets.filter_bar import FilterBar
from tests.pace import drawn

__all__ = ["CONTROLS", "driven", "screen_lines", "screen_text", "settled", "typed"]

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What must never be on a screen."""


async def settled(pilot: Pilot[Any], *, rounds: int = 8) -> None:
    """Waits until nothing loads any more (following goes on by itself and is not waited for)."""
    idle = 0
    for _ in range(rounds):
        await pilot.pause()
        waiting = [
            worker
            for worker in pilot.app.workers
            if worker.group not in ("follow", "search") and not worker.is_finished
        ]
        idle = 0 if waiting else idle + 1
        if idle == 2:  # and nothing began in between
            break
        if waiting:
            with suppress(WorkerCancelled):
                await asyncio.wait_for(pilot.app.workers.wait_for_complete(waiting), 30)
    await pilot.pause()


async def typed(pilot: Pilot[Any], text: str) -> None:
    """Types text into what has the focus, and waits as long as a filter does."""
    names = {" ": "space", ":": "colon", "/": "slash", "-": "minus", "_": "underscore", ".": "full_stop"}
    names |= {'"': "quotation_mark", "[": "left_square_bracket", "]": "right_square_bracket"}
    for character in text:
        await pilot.press(names.get(character, character))
    for bar in pilot.app.screen.query(FilterBar):
        while bar._timer is not None:
            await asyncio.sleep(0.02)
    await settled(pilot)


@asynccontextmanager
async def driven(
    store: Path | str | None,
    place: str | None = None,
    *,
    size: tuple[int, int] = (120, 40),
    fault_ok: bool = False,
    **more: Any,
) -> AsyncIterator[Pilot[Any]]:
    """The application on a store, settled; at the end it must not have been at fault."""
    app = InspectorApp(None if store is None else str(store), start_place=place, **more)
    async with app.run_test(size=size, notifications=True, tooltips=True) as pilot:
        await settled(pilot)
        yield pilot
        await pilot.pause()
        drawn(pilot)  # what nobody looked at
        assert fault_ok or app.fault is None, app.fault


def screen_lines(pilot: Pilot[Any]) -> list[str]:
    """The lines on the screen, as text."""
    return [strip.text for strip in pilot.app.screen._compositor.render_strips()]


def screen_text(pilot: Pilot[Any]) -> str:
    return "\n".join(line.rstrip() for line in screen_lines(pilot))
