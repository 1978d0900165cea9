"""The standing notices, whole."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from inspector import safe
from inspector.screens.layer import Layer, keys_hint
from persistence.records import Notice

__all__ = ["NoticesScreen"]


class NoticesScreen(Layer[None]):
    heading = Content.styled("what to know about this store", ".heading")
    hint = keys_hint(("esc", "close"))

    def __init__(self, notices: Sequence[Notice]) -> None:
        super().__init__()
        self._notices = notices

    def compose_layer(self) -> ComposeResult:
        with VerticalScroll(classes="layer-text"):
            for notice in self._notices:
                yield Static(Content.assemble(("▲ ", ".notice"), safe.content(notice.text, multiline=True)))
