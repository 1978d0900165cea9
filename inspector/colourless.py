"""Drawing without colour (`NO_COLOR`).

Textual decides at the start, by the theme it starts with, how colours are taken away: it greys them. The
colours of a theme that leaves them to the terminal have no grey, and came out black on black (8.2.8).
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.filter import LineFilter, Monochrome, NoColor

__all__ = ["colourless"]

_PLAIN = NoColor()


def colourless(filters: Sequence[LineFilter], *, terminals: bool) -> Sequence[LineFilter]:
    """The filters to draw through; `terminals`: the theme in force uses the terminal's own colours."""
    if not terminals:
        return filters
    return [_PLAIN if isinstance(each, Monochrome) else each for each in filters]
