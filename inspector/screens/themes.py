"""Choosing the colours: each theme is shown as it would be while the cursor is on it."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

import themes
from inspector import safe, settings
from inspector.keys import bind
from inspector.screens.layer import Layer, keys_hint

__all__ = ["ThemeChooser"]


class ThemeChooser(Layer[None]):
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("themes.down", "j", "move(1)", "down", "The next theme", show=False),
        bind("themes.up", "k", "move(-1)", "up", "The theme before", show=False),
    ]
    heading = Content.styled("colours", ".heading")
    hint = keys_hint(("enter", "keep"), ("esc", "as before"))

    def __init__(self) -> None:
        super().__init__()
        self._before = ""

    def compose_layer(self) -> ComposeResult:
        self._before = self.app.theme
        ours = themes.names()
        others = sorted(set(self.app.available_themes) - set(ours) - {"textual-ansi"})
        options = [Option(Content(label), id=name) for name, label in ours.items()]
        options += [Option(Content(name), id=name) for name in others]
        choices = OptionList(*options, id="themes")
        yield choices

    def on_mount(self) -> None:
        choices = self.query_one("#themes", OptionList)
        choices.highlighted = choices.get_option_index(self._before)
        choices.focus()

    @on(OptionList.OptionHighlighted)
    def _show(self, event: OptionList.OptionHighlighted) -> None:
        if event.option.id is not None:
            self.app.theme = event.option.id

    @on(OptionList.OptionSelected)
    def _keep(self, event: OptionList.OptionSelected) -> None:
        problem = settings.save_theme(event.option.id or themes.DEFAULT)
        if problem is not None:
            self.app.notify(safe.text(problem), severity="warning", markup=False)
        self.dismiss(None)

    def action_close(self) -> None:
        self.app.theme = self._before
        self.dismiss(None)

    def action_move(self, step: int) -> None:
        choices = self.query_one("#themes", OptionList)
        if step > 0:
            choices.action_cursor_down()
        else:
            choices.action_cursor_up()
