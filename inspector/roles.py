"""The roles text has on the screen: what is written in a style string is `.quiet`, never a colour.

Each is a component class every screen of ours has, so that a style sheet (and with it a theme, `mono`
too) decides between colour, weight and reverse: `Content.styled("3 runs", ".quiet")`.
"""

from __future__ import annotations

__all__ = ["ROLES", "STATUS_SIGNS", "status_sign"]

ROLES: frozenset[str] = frozenset(
    {
        "strong",  # what a person reads first
        "bold",  # weight alone, over another role
        "plain",
        "quiet",
        "dimmed",  # there, but nothing to be had from it
        "code",
        "accent",
        "key",  # a key to press
        "heading",
        "ok",
        "refuse",
        "notice",
        "live",
        "writes",
        "line",  # rules and separators
        "badge",
        "badge-writes",
        "here",  # the current place, the current tab
        "found",  # a search hit
        # What Markdown and JSON are made of.
        "em",
        "struck",
        "underlined",
        "json-key",
        "json-text",
        "json-number",
        "json-word",
    }
)

STATUS_SIGNS: dict[str, tuple[str, str]] = {
    "running": ("●", "live"),
    "active": ("●", "live"),
    "pending": ("·", "quiet"),
    "queued": ("·", "quiet"),
    "completed": ("✓", "ok"),
    "passed": ("✓", "ok"),
    "completed_empty": ("∅", "quiet"),
    "failed": ("✗", "refuse"),
    "timed_out": ("⧗", "notice"),
    "aborted": ("!", "notice"),
    "cancelled": ("○", "quiet"),
    "warning": ("▲", "notice"),
}
"""A glyph of width one and a role for each status; the word always stands beside it (SCREENS)."""


def status_sign(status: str | None) -> tuple[str, str, str]:
    """(glyph, word, role) for a status; one this program does not know keeps its own word."""
    if status is None or status == "":
        return "·", "none", "quiet"
    glyph, role = STATUS_SIGNS.get(status, ("·", "plain"))
    words = {"completed_empty": "empty", "timed_out": "timed out"}
    return glyph, words.get(status, status), role
