"""Bytes as people read them: where, in hexadecimal, and as letters."""

from __future__ import annotations

from collections.abc import Sequence

from inspector import formats
from inspector.typeset.lines import Line, Run
from inspector.values.sheet import FINDS

__all__ = ["HexSheet"]

ROW = 16


class HexSheet:
    """Sixteen bytes an entry, eight where the window is narrow (then an entry is two lines)."""

    def __init__(self, data: bytes, *, size: int | None = None) -> None:
        self.data = data
        self._size = len(data) if size is None else size
        self._digits = max(4, len(f"{max(0, len(data) - 1):x}"))

    @property
    def count(self) -> int:
        return max(1, -(-len(self.data) // ROW))

    @property
    def says(self) -> str:
        if self._size != len(self.data):
            return f"the first {formats.count(len(self.data))} of {formats.count(self._size)} bytes"
        return formats.several(self._size, "byte")

    def lines(self, index: int, width: int) -> Sequence[Line]:
        room = width - self._digits - 4
        step = next((step for step in (16, 8, 4) if step * 4 + 1 <= room), 2)
        start = index * ROW
        return [
            self._line(at, step)
            for at in range(start, max(start + 1, min(start + ROW, len(self.data))), step)
        ]

    def find(self, needle: str) -> list[int]:
        """By letters (UTF-8), or by hexadecimal digits after `0x`."""
        wanted = needle.encode("utf-8", "surrogateescape")
        if needle[:2].lower() == "0x":
            try:
                wanted = bytes.fromhex(needle[2:])
            except ValueError:
                return []
        found: list[int] = []
        at = self.data.find(wanted) if wanted else -1
        while at >= 0 and len(found) < FINDS:
            if not found or found[-1] != at // ROW:
                found.append(at // ROW)
            at = self.data.find(wanted, at + 1)
        return found

    def _line(self, start: int, step: int) -> Line:
        piece = self.data[start : start + step]
        half = step // 2
        digits = piece[:half].hex(" ").ljust(half * 3) + " " + piece[half:].hex(" ").ljust(half * 3)
        letters = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in piece)
        return (
            Run(f"{start:0{self._digits}x}  ", "quiet"),
            Run(digits.ljust(step * 3 + 1), "code"),
            Run(f" {letters}", "plain"),
        )
