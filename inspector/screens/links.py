"""Which table to follow a row to: those whose rows may name it."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from inspector import safe
from inspector.screens.layer import Layer, keys_hint
from inspector.table_views import Link, where_words

__all__ = ["LinksScreen"]


class LinksScreen(Layer["Link | None"]):
    """Answers with the link that was chosen."""

    heading = Content.styled("rows that name this one", ".heading")
    hint = keys_hint(("enter", "show them"), ("esc", "back"))

    def __init__(self, links: Sequence[Link]) -> None:
        super().__init__()
        self._links = list(links)

    def compose_layer(self) -> ComposeResult:
        yield OptionList(*(Option(_words(link)) for link in self._links), id="links")

    def on_mount(self) -> None:
        self.query_one("#links", OptionList).focus()

    @on(OptionList.OptionSelected, "#links")
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._links[event.option_index])


def _words(link: Link) -> Content:
    where = safe.clip(where_words(link.pairs), 60)
    return Content.assemble(
        (safe.text(link.table, limit=80), "bold"), ("  where ", ".quiet"), (where, ".code")
    )
