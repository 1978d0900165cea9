"""What a value view draws: numbered entries, each some lines at a given width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from inspector.typeset.lines import Line

__all__ = ["Sheet"]


class Sheet(Protocol):
    """Entries `0 … count - 1`; nothing of an entry is worked out before it is in sight."""

    @property
    def count(self) -> int: ...

    @property
    def says(self) -> str:
        """What is shown, in a few words: `214 lines`, `1,048,576 bytes`."""

    def lines(self, index: int, width: int) -> Sequence[Line]:
        """The lines of an entry in at most `width` cells; at least one."""

    def find(self, needle: str) -> list[int]:
        """The entries that have it in them, in order, at most `FINDS`; letters' case does not matter."""


FINDS = 10_000
