"""An application around one widget, and how to wait for it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget
from textual.worker import WorkerCancelled

import themes
from inspector.widgets.grid import Grid
from persistence.reading.source import RowSource


class Host(App[None]):
    """Shows one widget under our themes and keeps the messages that bubble up from it."""

    CSS_PATH = themes.style_sheets("base")

    def __init__(self, make: Callable[[], Widget]) -> None:
        super().__init__()
        self._make = make
        self.heard: list[Message] = []
        for theme in themes.load():
            self.register_theme(theme)
        self.theme = themes.DEFAULT

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.role_defaults()

    def compose(self) -> ComposeResult:
        yield self._make()

    async def _on_message(self, message: Message) -> None:
        if type(message).__module__.startswith("inspector."):
            self.heard.append(message)
        await super()._on_message(message)

    def heard_of(self, kind: type[Message]) -> list[Any]:
        return [message for message in self.heard if isinstance(message, kind)]


def grid_host(source: RowSource | None = None, **options: Any) -> Host:
    """A windowed table on a screen of its own, showing a source."""

    class Shown(Host):
        def on_mount(self) -> None:
            if source is not None:
                self.query_one(Grid).show(source)

    return Shown(lambda: Grid(id="rows", **options))


def grid_of(pilot: Pilot[None]) -> Grid:
    return pilot.app.query_one(Grid)


async def settled(pilot: Pilot[None]) -> None:
    """Waits until nothing is being loaded any more."""
    for _ in range(4):
        await pilot.pause()
        with suppress(WorkerCancelled):
            await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def picture(app: App[Any]) -> list[str]:
    """The screen's lines as text."""
    return [strip.text for strip in app.screen._compositor.render_strips()]
