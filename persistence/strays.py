"""Frames of a log that do not carry its salts: an earlier generation's, which is normal, or damaged ones.

A log that is begun anew is written over from its start, so frames of the generation before stay behind the
new ones. They are told from damage by what is true of real frames alone: salts just before the log's own, or
a checksum that goes on from the frame before. https://www.sqlite.org/fileformat2.html, section 4.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import unpack, unpack_from

__all__ = ["Strays", "sums"]

_WORDS = 0xFFFFFFFF
_NEAR = 65_536  # restarts: each adds one to the first salt
_TRIES = 4_096  # frames of one run whose checksum is tried


def sums(order: str, data: bytes, first: int, second: int) -> tuple[int, int]:
    """The log's checksum, gone on with over `data`; `order` is `<` or `>`."""
    data = data[: len(data) & ~7]  # a file that was cut just now may give less than a page
    words = iter(unpack(f"{order}{len(data) // 4}I", data))
    for one, other in zip(words, words, strict=False):
        first = (first + one + second) & _WORDS
        second = (second + other + first) & _WORDS
    return first, second


class Strays:
    """Counts the commit marks on frames that neither belong to the log nor to a generation before it."""

    def __init__(self, order: str, salts: bytes) -> None:
        self._order = order
        self._log_salt = unpack_from(">I", salts)[0]
        self._commits = 0
        self._salts = b""
        self._sums = (0, 0)
        self._marks = 0
        self._genuine = True
        self._tries = 0

    def add(self, frame: bytes, page: Callable[[], bytes], *, after: tuple[int, int] | None = None) -> None:
        """The next frame's header (24 bytes) and a way to its page.

        `after` is the checksum of the log's last sound frame, for the frame right behind it: one that goes
        on from there is the log's own, whatever its salts have become.
        """
        salts = frame[8:16]
        if salts != self._salts:
            self._end_run()
            self._salts, self._marks, self._tries = salts, 0, 0
            age = (self._log_salt - unpack_from(">I", salts)[0]) & _WORDS
            self._genuine = 0 < age < _NEAR
            if after is not None and self._goes_on(frame, page, after):
                self._genuine, self._tries = False, _TRIES
        elif not self._genuine and self._tries < _TRIES:
            self._tries += 1
            self._genuine = self._goes_on(frame, page, self._sums)
        self._marks += frame[4:8] != b"\0\0\0\0"
        self._sums = unpack(">II", frame[16:24])

    def gap(self) -> None:
        """A frame with the log's own salts lies between."""
        self._end_run()
        self._salts = b""

    def commits(self) -> int:
        """The commit marks found, the last run's included."""
        self.gap()
        return self._commits

    def _end_run(self) -> None:
        if self._salts and not self._genuine:
            self._commits += self._marks
        self._marks = 0

    def _goes_on(self, frame: bytes, page: Callable[[], bytes], before: tuple[int, int]) -> bool:
        after = sums(self._order, page(), *sums(self._order, frame[:8], *before))
        return after == unpack(">II", frame[16:24])
