"""A line to search with, at the foot of what is searched; `enter` finds, `n` and `N` go on."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from inspector import safe
from inspector.keys import bind

__all__ = ["SearchLine"]


class SearchLine(Horizontal):
    """Hidden until `enter`. Posts `Asked` for new words and `Left` when the line is left."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("search.leave", "escape", "leave", "leave", "Leave the search"),
        bind("search.list", "down", "to_list", "to the list", "Back to the list", show=False),
    ]

    class Asked(Message):
        """Words to look for."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """Back to what is searched; `closed`: the search is over."""

        def __init__(self, closed: bool) -> None:
            super().__init__()
            self.closed = closed

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.display = False

    def compose(self) -> ComposeResult:
        yield Static(Content.styled("find", ".key"), classes="search-sign")
        yield Input(classes="search-input")
        yield Static(Content(""), classes="search-said")

    def enter(self) -> None:
        """Shows the line with the cursor in it."""
        self.display = True
        line = self.query_one(Input)
        line.focus()
        line.action_select_all()

    @property
    def text(self) -> str:
        return self.query_one(Input).value.strip()

    def say(self, words: str, role: str = "quiet") -> None:
        self.query_one(".search-said", Static).update(safe.content(words, f".{role}"))

    def close(self) -> bool:
        """Ends the search; whether there was one."""
        if not self.display:
            return False
        self.display = False
        self.say("")
        self.post_message(self.Left(True))
        return True

    @on(Input.Submitted)
    def _asked(self, event: Input.Submitted) -> None:
        event.stop()
        if self.text:
            self.post_message(self.Asked(self.text))
        self.post_message(self.Left(False))

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.say("enter finds")

    def action_leave(self) -> None:
        self.close()

    def action_to_list(self) -> None:
        self.post_message(self.Left(False))
