"""What the application shows of a place, as text."""

from __future__ import annotations

import html
import re
from contextlib import suppress
from pathlib import Path

from textual.worker import WorkerCancelled

from inspector.app import InspectorApp

__all__ = ["shown"]


async def shown(path: Path, place: str, *keys: str, size: tuple[int, int] = (140, 44)) -> str:
    """The screen of a place of this store, after these keys, its pieces one a line."""
    app = InspectorApp(str(path), start_place=place)
    async with app.run_test(size=size) as pilot:
        for key in ("", *keys):
            if key:
                await pilot.press(key)
            for _ in range(4):
                with suppress(WorkerCancelled):
                    await app.workers.wait_for_complete()
                await pilot.pause()
        drawn = app.export_screenshot()
        assert app.fault is None
    pieces = re.findall(r"<text[^>]*>(.*?)</text>", drawn)
    return "\n".join(html.unescape(piece).replace("\xa0", " ").strip() for piece in pieces)
