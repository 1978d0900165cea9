"""Sentences in lines of a terminal's width, without what a typesetter would load."""

from __future__ import annotations

from collections.abc import Iterator

from inspector import safe

__all__ = ["WIDTH", "wrapped"]

WIDTH = 96


def wrapped(text: str, width: int = WIDTH, indent: str = "  ", first: str | None = None) -> Iterator[str]:
    """Visible text broken between words; `first` stands before the first line in place of the indent.

    A word longer than a line is left whole: a path or a name is there to be copied.
    """
    row, empty = indent if first is None else first, True
    for word in text.split():
        if not empty and safe.width(row) + 1 + safe.width(word) > width:
            yield row
            row, empty = indent, True
        row += word if empty else f" {word}"
        empty = False
    yield row
