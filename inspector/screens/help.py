"""Help for where one is: what the place is, the keys in force, its signs, and the words it uses."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from inspector import keys, safe
from inspector.glossary import WORDS
from inspector.keys import bind
from inspector.screens import place_info
from inspector.screens.layer import Layer, keys_hint

if TYPE_CHECKING:
    from inspector.screens.place import Place

__all__ = ["HelpScreen", "help_content"]

KEYS = 16
"""Cells the keys take before their words."""


class HelpText(Static):
    """The page at the width there is: words that need a second line stay beside their key."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._place = place

    def on_resize(self, event: Resize) -> None:
        self.update(help_content(self._place, event.size.width))


class HelpScreen(Layer[None]):
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("help.close", "question_mark,f1,enter", "close", "close", "Close the help", show=False),
        bind("help.down", "j", "scroll(1)", "down", "Scroll down", show=False),
        bind("help.up", "k", "scroll(-1)", "up", "Scroll up", show=False),
        bind("help.first", "g", "first", "first", "The beginning of the help", show=False),
        bind("help.last", "G", "last", "last", "The end of the help", show=False),
    ]
    hint = keys_hint(("esc", "close"), ("↑ ↓", "scroll"))

    def __init__(self, place: Place) -> None:
        super().__init__()
        info = place_info(place.NAME)
        self.heading = Content.styled(info.title if info is not None else place.NAME, ".heading")
        self._text = HelpText(place)

    def compose_layer(self) -> ComposeResult:
        with VerticalScroll(classes="layer-text", id="help"):
            yield self._text

    def on_mount(self) -> None:
        self.query_one("#help").focus()

    def action_scroll(self, step: int) -> None:
        self.query_one("#help", VerticalScroll).scroll_relative(y=step, animate=False)

    def action_first(self) -> None:
        self.query_one("#help", VerticalScroll).scroll_home(animate=False)

    def action_last(self) -> None:
        self.query_one("#help", VerticalScroll).scroll_end(animate=False)


def help_content(place: Place, width: int = 88) -> Content:
    """The page for a place as it is now, `width` cells wide; its keys are the bindings in force."""
    about = place.ABOUT
    parts = [Content(about.says)]
    here: list[keys.Shortcut] = []
    general: list[keys.Shortcut] = []
    focused = place.focused
    for shortcut in keys.shortcuts(place):
        (general if shortcut.id.startswith(("app.", "go.", "place.")) else here).append(shortcut)
    widget_help = getattr(focused, "HELP", None)
    if isinstance(widget_help, str) and widget_help:
        parts.append(safe.content(" ".join(widget_help.split())))
    for title, found in (("keys here", here), ("keys everywhere", general)):
        if found:
            parts.append(_section(title, [(" ".join(key.keys), key.tooltip) for key in found], width))
    if about.signs:
        parts.append(_section("signs", about.signs, width, ".accent"))
    words = [(word, WORDS[word]) for word in about.words if word in WORDS]
    if words:
        parts.append(_section("words", words, width, ".strong"))
    return Content("\n\n").join(parts)


def _section(
    title: str, rows: list[tuple[str, str]] | tuple[tuple[str, str], ...], width: int, style: str = ".key"
) -> Content:
    lines = [Content.styled(title, ".heading")]
    room = max(20, width - KEYS - 1)
    for name, words in rows:
        for number, line in enumerate(textwrap.wrap(words, room)):
            head = "" if number else name
            lines.append(Content.assemble((f"{head:<{KEYS}}", style), (f" {line}", ".plain")))
    return Content("\n").join(lines)
