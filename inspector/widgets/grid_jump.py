"""Asks which row to go to: a number, a share of all, or a step."""

from __future__ import annotations

import re
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from inspector import formats
from inspector.keys import bind

__all__ = ["JumpCard", "target_row"]

_WANTED = re.compile(r"([+-]?)([0-9][0-9,._ ]*)(%?)", re.ASCII)


def target_row(wanted: str, current: int, rows: int) -> int | None:
    """The position (from 0) that `123`, `40%`, `+500` or `-20` means; None: it means nothing.

    Rows are counted from 1, as people do. Past the end is the end.
    """
    match = _WANTED.fullmatch(wanted.strip())
    if match is None or rows <= 0:
        return None
    sign, digits, share = match.groups()
    number = int(re.sub(r"[^0-9]", "", digits)[:18])
    if share:
        if sign:
            return None
        position = rows * min(number, 100) // 100
    elif sign:
        position = current + (number if sign == "+" else -number)
    else:
        position = number - 1
    return max(0, min(position, rows - 1))


class JumpCard(ModalScreen["int | None"]):
    """Answers with a position, or None when it was left."""

    BINDINGS: ClassVar[list[Binding | tuple[str, str] | tuple[str, str, str]]] = [
        bind("jump.leave", "escape", "leave", "leave", "Stay where you are"),
    ]
    DEFAULT_CSS = """
    JumpCard { align: center top; }
    JumpCard > Vertical { width: 46; margin-top: 4; }
    """

    def __init__(self, current: int, rows: int, complete: bool) -> None:
        super().__init__()
        self._current = current
        self._rows = rows
        self._complete = complete

    def compose(self) -> ComposeResult:
        total = formats.several(self._rows, "row", complete=self._complete)
        with Vertical(classes="card"):
            yield Static(Content(f"Go to a row of {total}"), classes="heading")
            yield Input(placeholder="1200   40%   +500   -20", restrict=r"[-+0-9,._ %]*", id="jump-to")
            yield Static(Content("enter goes there, esc stays here"), classes="quiet", id="jump-said")

    @on(Input.Submitted)
    def _go(self, event: Input.Submitted) -> None:
        event.stop()
        position = target_row(event.value, self._current, self._rows)
        if position is None:
            self.query_one("#jump-said", Static).update(
                Content("a number, a share like 40%, or a step like +500")
            )
        else:
            self.dismiss(position)

    def action_leave(self) -> None:
        self.dismiss(None)
