"""What is taken a picture of: each a store, a place, some keys, a size and a theme."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["SHOTS", "Shot", "take"]

WIDE = (120, 40)
SMALL = (80, 24)
FERRY = "6e944a5e-96c5-4138-a0c6-d60eb66535b3"


@dataclass(frozen=True)
class Shot:
    """`at` is an address as `--at` takes it; `keys` are pressed there, `~` among them waits for loads."""

    name: str
    store: str | None = "harbour.db"
    at: str | None = None
    keys: Sequence[str] = field(default_factory=tuple)
    size: tuple[int, int] = WIDE
    theme: str = "lion-dark"


SHOTS: tuple[Shot, ...] = (
    Shot("open", store=None),
    Shot("runs", at="runs"),
    Shot("run-conversation", at=f"run/{FERRY}"),
)


async def settled(pilot: Any) -> None:
    from textual.worker import WorkerCancelled

    for _ in range(4):
        with suppress(WorkerCancelled):
            await pilot.app.workers.wait_for_complete()
        await pilot.pause(0.05)


CELL = 12.2  # units of the export a cell is wide
_TEXT = re.compile(r'textLength="[\d.]+"([^>]*>)([^<]*)</text>')


def straight(svg: str) -> str:
    """The export with each text as long as its cells; Rich counts characters and squeezes wide ones."""
    from rich.cells import cell_len

    def corrected(found: re.Match[str]) -> str:
        length = CELL * cell_len(html.unescape(found[2]))
        return f'textLength="{length:.1f}"{found[1]}{found[2]}</text>'

    return _TEXT.sub(corrected, svg)


async def take(shot: Shot, stores: Path) -> str:
    """The application's own export of what a shot shows."""
    from inspector import settings
    from inspector.app import InspectorApp
    from inspector.formats import at_time
    from screenshots.make import CLOCK

    location = None if shot.store is None else f"{stores}/{shot.store}"
    config = settings.load({"theme": shot.theme, "history": False})
    with at_time(CLOCK):
        app = InspectorApp(location, start_place=shot.at, config=config, gallery=stores)
        async with app.run_test(size=shot.size, notifications=True) as pilot:
            await settled(pilot)
            for key in shot.keys:
                await (settled(pilot) if key == "~" else pilot.press(key))
            await settled(pilot)
            svg = straight(app.export_screenshot(title="Store Inspector"))
        if app.fault is not None:
            raise app.fault
    return svg
