"""Copying: through the terminal (OSC 52, so it works over ssh), and honest about what it cannot know."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from inspector import formats, safe

__all__ = ["MOST", "Copy", "hint"]

MOST = 100_000
"""Bytes a terminal is given; more is offered as a file (many terminals cut or drop it)."""


@dataclass(frozen=True, slots=True)
class Copy:
    """What is copied, in words (`message 118`), and its text, exactly as stored."""

    what: str
    text: str
    suffix: str = ".txt"

    @property
    def exact(self) -> str:
        return safe.exact(self.text)

    @property
    def size(self) -> int:
        return len(self.exact.encode())

    @property
    def fits(self) -> bool:
        return self.size <= MOST

    def said(self, environ: Mapping[str, str] | None = None) -> str:
        """What the toast says: what, how big, and what to set when it does not arrive."""
        sent = f"{self.what}, {formats.size(self.size)}, sent to the terminal's clipboard"
        return f"{sent}\n{hint(os.environ if environ is None else environ)}"


def hint(environ: Mapping[str, str]) -> str:
    """What a person can do when the text does not arrive: the terminal never says whether it took it."""
    if environ.get("TMUX"):
        return "in tmux it arrives with: set -g set-clipboard on"
    if environ.get("STY"):
        return "GNU screen does not pass it on"
    if environ.get("TERM_PROGRAM") == "Apple_Terminal":
        return "Apple Terminal does not take it; e writes a file"
    return "if it does not arrive, the terminal does not allow it (OSC 52)"
