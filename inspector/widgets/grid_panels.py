"""What the windowed table shows instead of rows: that it is loading, that there are none, or why not."""

from __future__ import annotations

from textwrap import wrap

from inspector import safe
from inspector.widgets.grid_cells import Painted
from persistence.errors import StoreError

__all__ = ["empty_lines", "error_lines", "loading_lines"]


def loading_lines() -> tuple[Painted, ...]:
    return (Painted("loading …", "quiet"),)


def empty_lines(title: str, hint: str = "") -> tuple[Painted, ...]:
    """One line saying what there is not, and one saying what a person can do."""
    lines = [Painted(safe.text(title), "heading")]
    if hint:
        lines.append(Painted(safe.text(hint), "quiet"))
    return tuple(lines)


def error_lines(error: StoreError, width: int) -> tuple[Painted, ...]:
    """What happened and what to do, wrapped to `width` cells."""
    lines = [Painted("✗ could not be read", "refuse"), *_wrapped(error.message, width, "plain")]
    if error.observed:
        lines += _wrapped(f"observed: {error.observed}", width, "quiet")
    if error.remedy:
        lines += [Painted(""), *_wrapped(error.remedy, width, "ok")]
    lines += [Painted(""), Painted("r tries again", "quiet")]
    return tuple(lines)


def _wrapped(text: str, width: int, role: str) -> list[Painted]:
    return [Painted(line, role) for line in wrap(safe.text(text), max(10, width))]
