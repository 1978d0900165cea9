"""One entry of the journal, whole: what was meant, what was committed, and why it was refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.actions.journal import Unread
from inspector.clipboard import Copy
from inspector.reports.journal import entry_lines
from inspector.screens.whole import WholeScreen
from inspector.typeset.lines import Line, Run, prefixed, wrap
from inspector.typeset.lines import visible as made_visible
from inspector.widgets.section_list import Build

if TYPE_CHECKING:
    from inspector.actions.journal import Entry

__all__ = ["entry_screen"]

LABEL = 15
"""Cells the names of the fields take, as `entry_lines` writes them."""


def entry_screen(entry: Entry | Unread) -> WholeScreen:
    """Its page. A line that is no entry is shown as the text it is."""
    if isinstance(entry, Unread):
        shown = made_visible(entry.text)
        return WholeScreen(
            f"a line that is no entry: {entry.why}", _torn(shown), Copy("the line", entry.text)
        )
    rows = list(entry_lines([entry]))
    return WholeScreen("an entry of the journal", _fields(rows), Copy("the entry", "\n".join(rows) + "\n"))


def _torn(shown: str) -> Build:
    return lambda room: list(wrap([Run(shown, "code")], room))


def _fields(rows: list[str]) -> Build:
    def build(room: int) -> list[Line]:
        out: list[Line] = [(Run(rows[0], "strong"),), ()]
        for row in rows[1:]:
            label, words = row[:LABEL], row[LABEL:]
            role = {"message": "refuse", "remedy": "ok", "left": "notice"}.get(label.strip(), "plain")
            out += prefixed(
                Run(" " * LABEL), wrap([Run(words, role)], room - LABEL), first=Run(label, "quiet")
            )
        return out

    return build
