"""The field a store's name is typed, pasted or dropped into; tab completes it as a shell would."""

from __future__ import annotations

import os
import shlex
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from inspector import safe
from inspector.choices import complete
from inspector.keys import bind
from inspector.loader import Loader
from inspector.messages import Loaded

__all__ = ["PathField", "unwrapped"]


def unwrapped(text: str) -> str:
    """A name as it was dropped or pasted, without what terminals put around it: quotes, escapes, line ends.

    What cannot be typed is left out: the field shows what it holds as it is.
    """
    text = "".join(character for character in text.strip() if character.isprintable())
    if os.path.lexists(os.path.expanduser(text)) or "://" in text:  # noqa: PTH111
        return text
    try:
        words = shlex.split(text)
    except ValueError:
        return text
    return words[0] if len(words) == 1 else text


class PathField(Vertical):
    """Posts `Chosen` with what was entered. Names that fit are shown below while typing."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("path.complete", "tab", "complete", "complete", "Complete the name as far as it is certain"),
        bind("path.leave", "escape,down", "leave", "to the list", "To the list", show=False),
    ]

    class Chosen(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """Back to the list."""

    def __init__(self, placeholder: str = "a file, or postgresql://…", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._placeholder = placeholder
        self._loads = Loader(self)
        self._certain = ""

    def compose(self) -> ComposeResult:
        yield Input(placeholder=self._placeholder, id="path", select_on_focus=False)
        yield Static(Content(""), id="path-names")

    @property
    def input(self) -> Input:
        return self.query_one("#path", Input)

    def enter(self, text: str | None = None) -> None:
        """Puts the cursor at the end of the field; with `text`, in place of what was there."""
        if text is not None:
            self.input.value = unwrapped(text)
        self.input.focus()
        self.input.cursor_position = len(self.input.value)

    def say(self, words: Content) -> None:
        """Something about what was entered, in place of the names."""
        self.query_one("#path-names", Static).update(words)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._look(event.value)

    def _look(self, text: str) -> None:
        import asyncio

        if not text or "://" in text:
            self._loads.cancel("names")
            self._certain = text
            self.say(Content(""))
            return
        self._loads.start("names", lambda: asyncio.to_thread(complete, text))

    def on_loaded(self, message: Loaded) -> None:
        if not self._loads.takes(message):
            return
        self._certain, names = message.value
        room = max(20, self.content_size.width - 4)
        shown: list[Content] = []
        for number, name in enumerate(names):
            word = safe.text(name)
            taken = sum(content.cell_length + 2 for content in shown)
            if taken + safe.width(word) + (10 if number + 1 < len(names) else 0) > room:
                shown.append(Content.styled(f"… {len(names) - number} more", ".quiet"))
                break
            shown.append(Content.styled(word, ".plain" if not name.endswith("/") else ".accent"))
        self.say(Content("  ").join(shown))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._loads.cancel("names")  # whatever is answered stands there instead
        text = unwrapped(event.value)
        if text:
            self.post_message(self.Chosen(text))

    def on_paste(self, event: events.Paste) -> None:
        """A whole name dropped on the empty field; anything else the field takes as typed."""
        if not self.input.value:
            event.stop()
            event.prevent_default()
            self.enter(event.text)

    def action_complete(self) -> None:
        if self._certain.startswith(self.input.value) and self._certain != self.input.value:
            self.enter(self._certain)

    def action_leave(self) -> None:
        self.post_message(self.Left())
