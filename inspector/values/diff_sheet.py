"""A comparison as something to read: unified, or side by side; unchanged stretches are folded away."""

from __future__ import annotations

from collections.abc import Sequence

from inspector import formats, safe
from inspector.comparing import Comparison, Difference, hunks
from inspector.typeset.lines import Line, Run, line_width, visible, wrap
from inspector.values.sheet import FINDS

__all__ = ["DiffSheet"]

CONTEXT = 3
ROLES = {"old": "refuse", "new": "ok"}


class DiffSheet:
    """See `Sheet`. `beside`: two columns; otherwise one, with `-` and `+` before what went and came."""

    def __init__(self, found: Comparison, *, beside: bool) -> None:
        self.found = found
        self.beside = beside
        self._entries: list[tuple[Difference, str] | int] = []  # a line and its side, or how many are folded
        last = 0
        for first, end in hunks(found.lines, CONTEXT):
            if first > last:
                self._entries.append(first - last)
            self._entries += self._sides(found.lines[first:end])
            last = end
        if last < len(found.lines) and self._entries:
            self._entries.append(len(found.lines) - last)
        widest = max((max(d.old_number or 0, d.new_number or 0) for d in found.lines), default=0)
        self._gutter = len(str(widest))

    def _sides(self, lines: Sequence[Difference]) -> list[tuple[Difference, str]]:
        """In one column what went stands before what came, a stretch at a time."""
        if self.beside:
            return [(line, "both") for line in lines]
        out: list[tuple[Difference, str]] = []
        came: list[tuple[Difference, str]] = []
        for line in lines:
            if line.sort == "same":
                out += [*came, (line, "both")]
                came = []
                continue
            if line.old_number is not None:
                out.append((line, "old"))
            if line.new_number is not None:
                came.append((line, "new"))
        return out + came

    @property
    def count(self) -> int:
        return len(self._entries)

    @property
    def says(self) -> str:
        return f"{formats.several(self.found.added, 'line')} came, {formats.count(self.found.removed)} went"

    def lines(self, index: int, width: int) -> Sequence[Line]:
        entry = self._entries[index]
        if isinstance(entry, int):
            return [(Run(f"┄ {formats.several(entry, 'line')} the same", "quiet"),)]
        line, side = entry
        if self.beside:
            return self._two(line, width)
        if side == "both":
            return self._one(line.new_number, " ", line.new, (), "plain", width)
        if side == "old":
            return self._one(line.old_number, "-", line.old, line.old_marks, ROLES["old"], width)
        return self._one(line.new_number, "+", line.new, line.new_marks, ROLES["new"], width)

    def _two(self, line: Difference, width: int) -> list[Line]:
        half = max(8, (width - 3) // 2)
        quiet = line.sort == "same"
        signs = (" ", " ") if quiet else ("-", "+")
        roles = ("plain", "plain") if quiet else (ROLES["old"], ROLES["new"])
        left = self._one(line.old_number, signs[0], line.old, line.old_marks, roles[0], half)
        right = self._one(line.new_number, signs[1], line.new, line.new_marks, roles[1], half)
        out: list[Line] = []
        for at in range(max(len(left), len(right))):
            one = left[at] if at < len(left) else ()
            pad = Run(" " * max(0, half - line_width(one)))
            out.append((*one, pad, Run(" │ ", "line"), *(right[at] if at < len(right) else ())))
        return out

    def _one(
        self,
        number: int | None,
        sign: str,
        text: str,
        marks: Sequence[tuple[int, int]],
        role: str,
        width: int,
    ) -> list[Line]:
        if number is None:
            return [()]
        head = f"{number:>{self._gutter}} {sign} "
        runs = []
        at = 0
        for start, end in marks:
            runs += [
                Run(_shown(text[at:start]), role),
                Run(_shown(text[start:end]), f"{role} bold underlined"),
            ]
            at = end
        runs.append(Run(_shown(text[at:]), role))
        rows = wrap([run for run in runs if run.text], max(4, width - len(head))) or [()]
        first: Line = (Run(head[: self._gutter], "quiet"), Run(head[self._gutter :], role), *rows[0])
        blank = Run(" " * len(head))
        return [first, *((blank, *row) for row in rows[1:])]

    def find(self, needle: str) -> list[int]:
        wanted = safe.text(needle).casefold()
        found = []
        for at, entry in enumerate(self._entries):
            if isinstance(entry, int) or not wanted:
                continue
            line, side = entry
            texts = [line.old] * (side != "new") + [line.new] * (side != "old")
            if any(wanted in _shown(text).casefold() for text in texts):
                found.append(at)
        return found[:FINDS]


def _shown(text: str) -> str:
    return visible(text, limit=4_000).replace("\n", " ")
