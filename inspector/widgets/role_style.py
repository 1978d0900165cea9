"""What a role looks like: the screen's own component classes say, once for all widgets on it."""

from __future__ import annotations

from rich.style import Style
from textual.widget import Widget

__all__ = ["role_style"]


def role_style(widget: Widget, roles: str) -> Style:
    """The style of some roles (a space between two; none: no style) on the widget's screen, over its own.

    A widget with these classes of its own would have every one worked out again whenever it changed.
    """
    style = Style.null()
    for role in roles.split():
        style += widget.screen.get_component_rich_style(role, partial=True)
    return style
