"""Lines of runs: the form text has between the store and a line-drawing widget.

A run is visible text (it has passed `inspector.safe`) with roles, words separated by blanks that a
widget looks up as component classes: `code`, `strong quiet`. Widths are terminal cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from inspector import safe

__all__ = [
    "Line",
    "Run",
    "clipped",
    "fold",
    "highlighted",
    "line",
    "line_width",
    "prefixed",
    "visible",
    "wrap",
]

_LRM = "\u200e"
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_WORDS = re.compile(r"\s+|[^\s]+")


class Run(NamedTuple):
    text: str
    role: str = ""


Line: TypeAlias = tuple[Run, ...]


def line(*runs: Run | tuple[str, str] | str) -> Line:
    """A line of (text, role) pairs, as a convenience; the texts are ours or have passed the door."""
    return tuple(Run(run) if isinstance(run, str) else Run(*run) for run in runs)


def clipped(runs: Line, room: int) -> Line:
    """The line in at most `room` cells, ending in `…` when something is gone."""
    if line_width(runs) <= room:
        return runs
    out: list[Run] = []
    for run in runs:
        wide = safe.width(run.text)
        if wide >= room:
            out.append(Run(safe.clip(run.text + " ", room) if wide > room or room else "", run.role))
            break
        out.append(run)
        room -= wide
    return tuple(out)


def highlighted(runs: Line, words: str, role: str = "found") -> Line:
    """The line with `words` (in either case) set off wherever they stand in one run."""
    if not words:
        return runs
    out: list[Run] = []
    wanted = words.lower()
    for run in runs:
        rest, lowered = run.text, run.text.lower()
        if wanted not in lowered or len(lowered) != len(rest):
            out.append(run)
            continue
        while (at := lowered.find(wanted)) >= 0:
            if at:
                out.append(Run(rest[:at], run.role))
            out.append(Run(rest[at : at + len(words)], f"{run.role} {role}".strip()))
            rest, lowered = rest[at + len(words) :], lowered[at + len(words) :]
        if rest:
            out.append(Run(rest, run.role))
    return tuple(out)


def visible(value: object, *, limit: int = safe.TEXT_LIMIT) -> str:
    """A stored text made visible, with its line breaks; direction marks are put back line by line."""
    return safe.lines(value, limit=limit).replace(_LRM, "")


def line_width(runs: Iterable[Run]) -> int:
    return sum(safe.width(run.text) for run in runs)


def prefixed(prefix: Run | Sequence[Run], lines: Iterable[Line], *, first: Run | None = None) -> list[Line]:
    """Each line with something before it; `first` stands before the first one instead."""
    head = (prefix,) if isinstance(prefix, Run) else tuple(prefix)
    out = [(*head, *each) for each in lines]
    if first is not None and out:
        out[0] = (first, *out[0][len(head) :])
    return out


def wrap(runs: Iterable[Run], width: int) -> list[Line]:
    """Runs broken between words into lines of at most `width` cells; line breaks in them are kept.

    Blanks at a break are dropped, those at the start of a line stay (indentation says something). A word
    longer than a line is cut where the line ends. An empty text is one empty line.
    """
    width = max(1, width)
    out: list[Line] = []
    for paragraph in _paragraphs(runs):
        out += _wrapped(paragraph, width)
    return [_contained(each) for each in out]


def fold(runs: Iterable[Run], width: int) -> list[Line]:
    """As `wrap`, broken at the last cell of a line and nowhere else: code, where blanks mean something."""
    width = max(1, width)
    out: list[Line] = []
    for paragraph in _paragraphs(runs):
        cut: list[Run] = []
        room = width
        for run in paragraph:
            text = run.text
            while text:
                head, text = _split(text, room)
                if head:
                    cut.append(Run(head, run.role))
                    room -= safe.width(head)
                if text:
                    if not cut:  # a character wider than the whole line
                        cut.append(Run(text[0], run.role))
                        text = text[1:]
                    out.append(tuple(cut))
                    cut, room = [], width
        out.append(tuple(cut))
    return [_contained(each) for each in out]


def _paragraphs(runs: Iterable[Run]) -> list[list[Run]]:
    out: list[list[Run]] = [[]]
    for run in runs:
        first, *more = run.text.split("\n")
        if first:
            out[-1].append(Run(first, run.role))
        out.extend([Run(part, run.role)] if part else [] for part in more)
    return out


def _wrapped(paragraph: list[Run], width: int) -> list[Line]:
    lines: list[Line] = []
    row: list[Run] = []
    column = 0
    blank: Run | None = None  # blanks not yet known to stand inside a row

    def put(text: str, role: str) -> None:
        if row and row[-1].role == role:
            row[-1] = Run(row[-1].text + text, role)
        else:
            row.append(Run(text, role))

    for run in paragraph:
        for word in _WORDS.findall(run.text):
            if word.isspace():
                blank = Run(word, run.role) if blank is None else Run(blank.text + word, blank.role)
                continue
            size = safe.width(word)
            gap = safe.width(blank.text) if blank is not None else 0
            if column + gap + size > width and (row or gap >= width):
                if row:
                    lines.append(tuple(row))
                    row, column = [], 0
                blank, gap = None, 0
            if blank is not None:
                put(blank.text, blank.role)
                column += gap
                blank = None
            while column + size > width:
                head, word = _split(word, width - column)
                if not head:
                    if column:
                        lines.append(tuple(row))
                        row, column = [], 0
                        continue
                    head, word = word[0], word[1:]
                put(head, run.role)
                lines.append(tuple(row))
                row, column, size = [], 0, safe.width(word)
            if word:
                put(word, run.role)
                column += size
    lines.append(tuple(row))
    return lines


def _split(text: str, room: int) -> tuple[str, str]:
    """The text up to `room` cells, and the rest; never inside a character and its marks."""
    if room <= 0:
        return "", text
    if text.isascii():
        return text[:room], text[room:]
    # Cells of prefixes never shrink, so halving finds the cut; a cut before a combining mark moves back.
    low, high = 0, min(len(text), room * 16 + 16)
    if high == len(text) and safe.width(text) <= room:
        return text, ""
    while low < high:
        middle = (low + high + 1) // 2
        if safe.width(text[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    cut = low
    while 0 < cut < len(text) and safe.width(text[cut]) == 0:
        cut += 1
    if safe.width(text[:cut]) > room:
        cut = low
    return text[:cut], text[cut:]


def _contained(row: Line) -> Line:
    """Right-to-left writing keeps its direction to itself: what stands beside it is not turned over."""
    if not any(_RTL.search(run.text) for run in row):
        return row
    first, last = row[0], row[-1]
    if len(row) == 1:
        return (Run(f"{_LRM}{first.text}{_LRM}", first.role),)
    return (Run(_LRM + first.text, first.role), *row[1:-1], Run(last.text + _LRM, last.role))
