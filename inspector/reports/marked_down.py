"""Visible text as Markdown that shows it and means nothing else: as prose, as code, as a block of code."""

from __future__ import annotations

from inspector import safe

__all__ = ["code", "fenced", "prose"]

_SIGNS = "\\`*_[]<>|#~&!"


def prose(text: str) -> str:
    """Text that went through `safe`, with every sign of Markdown escaped."""
    return "".join(f"\\{letter}" if letter in _SIGNS else letter for letter in text)


def code(text: str) -> str:
    """Any text, made visible, as code within a line; its backticks stay what they are."""
    shown = safe.text(text)
    ticks = "`" * (_longest_run(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}" if shown else "` `"


def fenced(visible: str, language: str = "") -> list[str]:
    """The lines of a block of code whose fence is longer than any run of backticks in it."""
    fence = "`" * max(3, _longest_run(visible) + 1)
    return [f"{fence}{language}", *visible.split("\n"), fence]


def _longest_run(text: str) -> int:
    longest = run = 0
    for letter in text:
        run = run + 1 if letter == "`" else 0
        longest = max(longest, run)
    return longest
