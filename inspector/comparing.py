"""Two texts compared line by line, with the words that differ, within bounds; or why they are not.

`compare` runs on a thread: it looks at `cancelled` and at its time in between, so that it never outlives the
person who asked. Texts too large, or too different to be lined up in `SECONDS`, are refused with their sizes.
"""

from __future__ import annotations

import difflib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from inspector import formats

__all__ = ["Comparison", "Difference", "NotCompared", "compare", "hunks", "unified"]

SECONDS = 2.0
MOST_BYTES = 2_000_000
MOST_LINES = 20_000
LONGEST_LINE = 2_000
"""Characters of a line whose words are compared."""
MOST_PAIRED = 400
"""Lines of a changed stretch whose words are compared."""
ALIKE = 0.4
"""How much of two lines must be the same for one to be called the other, changed."""

Sort = Literal["same", "changed", "removed", "added"]
Span = tuple[int, int]
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Difference:
    """A line of the one text beside its line of the other: numbers from 1, None where there is none.

    `old_marks` and `new_marks` are the stretches (from, to) of a changed line that are not in the other.
    """

    sort: Sort
    old_number: int | None
    new_number: int | None
    old: str = ""
    new: str = ""
    old_marks: tuple[Span, ...] = ()
    new_marks: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    lines: tuple[Difference, ...]
    added: int
    removed: int
    endings: bool = False
    """The texts are the same but for how their lines end."""

    @property
    def same(self) -> bool:
        return not (self.added or self.removed)


@dataclass(frozen=True, slots=True)
class NotCompared:
    """Why there is no comparison, in a sentence with the sizes of both texts."""

    why: str


class _GivenUp(Exception):
    pass


class _Matcher(difflib.SequenceMatcher[str]):
    """Gives up between two steps; a step is bounded by `autojunk` and the number of lines."""

    def __init__(self, old: Sequence[str], new: Sequence[str], enough: Callable[[], bool]) -> None:
        self._enough = enough
        super().__init__(None, old, new)

    def find_longest_match(self, *bounds: Any, **more: Any) -> difflib.Match:
        if self._enough():
            raise _GivenUp
        return super().find_longest_match(*bounds, **more)


def compare(
    old: str, new: str, *, cancelled: Callable[[], bool] = lambda: False, seconds: float = SECONDS
) -> Comparison | NotCompared:
    """The lines of both texts, lined up; `NotCompared` when that takes too much."""
    sizes = f"{_sizes(old)} against {_sizes(new)}"
    if max(len(old), len(new)) > MOST_BYTES:
        return NotCompared(f"too large to be compared: {sizes}")
    olds, news = _split(old), _split(new)
    if max(len(olds), len(news)) > MOST_LINES:
        return NotCompared(f"too many lines to be compared: {sizes}")
    until = time.monotonic() + seconds

    def enough() -> bool:
        return cancelled() or time.monotonic() > until

    try:
        lines = tuple(_lined_up(olds, news, enough))
    except _GivenUp:
        return NotCompared(f"too different to be lined up in {seconds:g} s: {sizes}")
    added = sum(line.sort in ("added", "changed") for line in lines)
    removed = sum(line.sort in ("removed", "changed") for line in lines)
    return Comparison(lines, added, removed, endings=old != new and not added and not removed)


def _split(text: str) -> list[str]:
    """The lines as every view here numbers them; a break at the end begins no line."""
    lines = text.replace("\r\n", "\n").split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _sizes(text: str) -> str:
    octets = len(text.encode("utf-8", "surrogatepass"))
    return f"{formats.size(octets)} in {formats.several(text.count(chr(10)) + 1, 'line')}"


def _lined_up(olds: list[str], news: list[str], enough: Callable[[], bool]) -> Iterator[Difference]:
    # What both begin and end with is no work: most versions of a text differ in a few lines.
    front = 0
    while front < min(len(olds), len(news)) and olds[front] == news[front]:
        front += 1
    back = 0
    while back < min(len(olds), len(news)) - front and olds[-1 - back] == news[-1 - back]:
        back += 1
    yield from _same(olds, news, 0, 0, front)
    a, b = olds[front : len(olds) - back], news[front : len(news) - back]
    for tag, a1, a2, b1, b2 in _Matcher(a, b, enough).get_opcodes():
        if tag == "equal":
            yield from _same(olds, news, front + a1, front + b1, a2 - a1)
        else:
            yield from _changed(a[a1:a2], b[b1:b2], front + a1, front + b1, enough)
    yield from _same(olds, news, len(olds) - back, len(news) - back, back)


def _same(olds: list[str], news: list[str], a: int, b: int, count: int) -> Iterator[Difference]:
    for step in range(count):
        yield Difference("same", a + step + 1, b + step + 1, olds[a + step], news[b + step])


def _changed(
    olds: list[str], news: list[str], a: int, b: int, enough: Callable[[], bool]
) -> Iterator[Difference]:
    """A stretch that was replaced: lines that are alike side by side, in order; the rest alone."""
    at = 0
    paired = len(olds) <= MOST_PAIRED and len(news) <= MOST_PAIRED
    for number, old in enumerate(olds):
        mate = None
        for place in range(at, min(len(news), at + 8) if paired else 0):
            if enough():
                raise _GivenUp
            marks = _marks(old, news[place])
            if marks is not None:
                mate = place, marks
                break
        if mate is None:
            yield Difference("removed", a + number + 1, None, old)
            continue
        place, (old_marks, new_marks) = mate
        yield from _added(news, b, at, place)
        yield Difference("changed", a + number + 1, b + place + 1, old, news[place], old_marks, new_marks)
        at = place + 1
    yield from _added(news, b, at, len(news))


def _added(news: list[str], b: int, first: int, last: int) -> Iterator[Difference]:
    for place in range(first, last):
        yield Difference("added", None, b + place + 1, new=news[place])


def _marks(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]] | None:
    """What of each line is not in the other; None when they have too little in common."""
    if max(len(old), len(new)) > LONGEST_LINE:
        return None
    a, b = _WORD.findall(old), _WORD.findall(new)
    matcher = difflib.SequenceMatcher(None, a, b)
    if matcher.real_quick_ratio() < ALIKE or matcher.quick_ratio() < ALIKE:
        return None
    blocks = matcher.get_opcodes()
    kept = sum(len("".join(a[a1:a2]).strip()) for tag, a1, a2, _, _ in blocks if tag == "equal")
    if kept < ALIKE * max(1, min(len(old.strip()), len(new.strip()))):
        return None
    ends_a, ends_b = _ends(a), _ends(b)
    olds = [(ends_a[a1], ends_a[a2]) for tag, a1, a2, _, _ in blocks if tag != "equal" and a2 > a1]
    news = [(ends_b[b1], ends_b[b2]) for tag, _, _, b1, b2 in blocks if tag != "equal" and b2 > b1]
    return tuple(olds), tuple(news)


def _ends(words: list[str]) -> list[int]:
    out = [0]
    for word in words:
        out.append(out[-1] + len(word))
    return out


def unified(found: Comparison, old_name: str, new_name: str, *, context: int = 3) -> Iterator[str]:
    """The comparison as people send it to each other: `---`, `+++`, `@@`, with lines around each change."""
    if found.same:
        return
    yield f"--- {old_name}"
    yield f"+++ {new_name}"
    for first, last in hunks(found.lines, context):
        part = found.lines[first:last]
        olds = [line.old_number for line in part if line.old_number is not None]
        news = [line.new_number for line in part if line.new_number is not None]
        before = found.lines[:first]
        yield f"@@ -{_range(olds, _last(before, 'old'))} +{_range(news, _last(before, 'new'))} @@"
        yield from _written(part)


def _last(lines: Sequence[Difference], side: str) -> int:
    for line in reversed(lines):
        number: int | None = getattr(line, f"{side}_number")
        if number is not None:
            return number
    return 0


def _range(numbers: list[int], before: int) -> str:
    return f"{numbers[0] if numbers else before},{len(numbers)}"


def _written(part: Sequence[Difference]) -> Iterator[str]:
    came: list[str] = []
    for line in part:
        if line.sort == "same":
            yield from came
            came = []
            yield f" {line.old}"
        if line.sort in ("removed", "changed"):
            yield f"-{line.old}"
        if line.sort in ("added", "changed"):
            came.append(f"+{line.new}")
    yield from came


def hunks(lines: Sequence[Difference], context: int) -> list[Span]:
    """The stretches (from, to) that are shown: every change with `context` lines around it."""
    out: list[Span] = []
    for at, line in enumerate(lines):
        if line.sort == "same":
            continue
        first, last = max(0, at - context), min(len(lines), at + context + 1)
        if out and first <= out[-1][1]:
            out[-1] = (out[-1][0], last)
        else:
            out.append((first, last))
    return out
