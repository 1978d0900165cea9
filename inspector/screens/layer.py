"""What lies over a place: a panel with a title that `esc` closes; help, themes, export are made of it."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from inspector.keys import bind
from inspector.roles import ROLES
from inspector.screens.styled_once import StyledOnce

__all__ = ["Layer"]

Result = TypeVar("Result")


class Layer(ModalScreen[Result], StyledOnce[Result]):  # the first gives the style sheet
    """A subclass gives `compose_layer`; `heading` and `hint` stand above and below it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(ROLES)
    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("layer.close", "escape", "close", "close", "Close this layer"),
        bind("layer.quit", "q", "app.quit", "quit", "Leave; the store is as it was", show=False),
    ]
    heading: Content = Content("")
    hint: Content = Content("")

    def compose(self) -> ComposeResult:
        with Container(id="layer"):
            yield Static(self.heading, id="layer-heading")
            yield from self.compose_layer()
            yield Static(self.hint, id="layer-hint")

    def compose_layer(self) -> ComposeResult:
        yield from ()

    def on_mount(self) -> None:
        """What was said of the place beneath would lie over a corner of this."""
        self.app.clear_notifications()

    def action_close(self) -> None:
        self.dismiss(None)


def keys_hint(*pairs: tuple[str, str]) -> Content:
    """`enter keep   esc back` as content."""
    parts: list[Content | str | tuple[str, str]] = []
    for key, word in pairs:
        parts += [(key, ".key"), (f" {word}   ", ".quiet")]
    return Content.assemble(*parts)
