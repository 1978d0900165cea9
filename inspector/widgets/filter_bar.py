"""The filter line over a list: typed as one goes, with what it cannot use said beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.suggester import Suggester
from textual.timer import Timer
from textual.widgets import Input, Static

from inspector import safe
from inspector.keys import bind

__all__ = ["FilterBar"]

PAUSE = 0.15
"""Seconds without a key before the list follows what was typed."""


class _Completion(Suggester):
    def __init__(self, complete: Callable[[str], str | None]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._complete = complete

    async def get_suggestion(self, value: str) -> str | None:
        return self._complete(value)


class FilterBar(Horizontal):
    """`complete` says what a line may become (accepted with → or tab); it is shown behind the cursor."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("filter.leave", "escape", "leave", "to the list", "Leave the filter as it is"),
        bind("filter.list", "down", "leave", "to the list", "To the list", show=False),
        bind("filter.complete", "tab", "complete", "complete", "Take what is suggested", show=False),
    ]

    class Changed(Message):
        """The line has stood still for a moment, or was entered."""

        def __init__(self, bar: FilterBar, text: str) -> None:
            super().__init__()
            self.bar = bar
            self.text = text

    class Left(Message):
        """Back to the list."""

    def __init__(self, complete: Callable[[str], str | None], *, placeholder: str, id: str) -> None:
        super().__init__(id=id)
        self._complete = complete
        self._placeholder = placeholder
        self._timer: Timer | None = None
        self._said = ""

    def compose(self) -> ComposeResult:
        yield Static(Content.styled("/", ".key"), classes="filter-sign")
        yield Input(
            placeholder=self._placeholder, suggester=_Completion(self._complete), classes="filter-input"
        )
        yield Static(Content(""), classes="filter-problem")

    @property
    def input(self) -> Input:
        return self.query_one(Input)

    @property
    def text(self) -> str:
        return self.input.value if self.is_mounted and self.query(Input) else ""

    def enter(self) -> None:
        """Puts the cursor into the line."""
        self.display = True
        self.input.focus()

    def clear(self) -> bool:
        """Empties the line; whether there was anything in it."""
        had = bool(self.text)
        self.input.value = ""
        self._send()
        return had

    def set_text(self, text: str) -> None:
        """Fills the line in, as if typed and entered."""
        self.input.value = text
        self._send()

    def say(self, problem: str) -> None:
        """What of the line is not used, and why; empty: nothing."""
        said = self.query_one(".filter-problem", Static)
        said.update(
            Content.assemble(("▲ ", ".notice"), safe.content(problem, ".notice")) if problem else Content("")
        )
        said.display = bool(problem)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(PAUSE, self._send)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._send()
        self.post_message(self.Left())

    def _send(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        text = self.text.strip()
        if text != self._said:
            self._said = text
            self.post_message(self.Changed(self, text))

    def action_leave(self) -> None:
        self._send()
        self.post_message(self.Left())

    def action_complete(self) -> None:
        line = self.input
        suggested = self._complete(line.value)
        if suggested is not None:
            line.value = suggested
            line.cursor_position = len(suggested)
