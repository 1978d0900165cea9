"""A screen that has the classes of its size before it is first styled, and is not styled again to be shown.

Textual styles a new screen as it is mounted, once more when it is told its size (its breakpoints' classes
come then) and once more because it is on top now. Each is a pass over every widget of it, some 10 ms.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TypeVar

from textual import events
from textual.screen import Screen

__all__ = ["StyledOnce"]

Result = TypeVar("Result")


class StyledOnce(Screen[Result]):
    """The base of every screen here. A theme, a size, a class change its styles later as they ever do."""

    _styled_for: str | None = None  # the theme; None: not known, or shown before

    def __init__(self, *positional: Any, **named: Any) -> None:
        super().__init__(*positional, **named)
        with suppress(RuntimeError):  # made before there is an application: as Textual does it
            width, height = self.app.size
            for extent, points in ((width, self.HORIZONTAL_BREAKPOINTS), (height, self.VERTICAL_BREAKPOINTS)):
                reached = [name for least, name in sorted(points or ()) if extent >= least]
                self.add_class(*reached[-1:], update=False)
            self._styled_for = self.app.theme

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        event.refresh_styles = self._styled_for != self.app.theme
        self._styled_for = None
