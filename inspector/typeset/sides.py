"""Two texts beside each other, what differs in each marked: what was expected, and what was observed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspector.comparing import NotCompared, Span, compare
from inspector.typeset.lines import Line, Run, clipped, line_width, visible, wrap

__all__ = ["LEAST", "sides"]

LEAST = 24
"""Cells each side needs to stand beside the other; with less they stand one under the other."""
LONGEST = 4_000
"""Characters of each text that are laid out."""
NOTHING = "nothing"
_BETWEEN = " │ "


def sides(expected: str | None, observed: str | None, room: int) -> list[Line]:
    """Both texts in `room` cells, under the words `expected` and `observed`. None: there is nothing."""
    half = (room - len(_BETWEEN)) // 2
    stacked = half < LEAST
    width = room if stacked else half
    pairs = [
        (_cell(old, old_marks, "ok", width), _cell(new, new_marks, "refuse", width))
        for old, new, old_marks, new_marks in _paired(expected, observed)
    ]
    heads: tuple[Line, Line] = ((Run("expected", "quiet"),), (Run("observed", "quiet"),))
    if stacked:
        left = [row for one, _ in pairs for row in one]
        right = [row for _, other in pairs for row in other]
        return [clipped(heads[0], room), *left, clipped(heads[1], room), *right]
    out = [_beside(*heads, half)]
    for one, other in pairs:
        height = max(len(one), len(other))
        one, other = [*one, *[()] * (height - len(one))], [*other, *[()] * (height - len(other))]
        out += [_beside(a, b, half) for a, b in zip(one, other, strict=True)]
    return out


def _beside(one: Line, other: Line, half: int) -> Line:
    return (*one, Run(" " * max(0, half - line_width(one))), Run(_BETWEEN, "line"), *other)


_Row = tuple[str | None, str | None, Sequence[Span], Sequence[Span]]


def _paired(expected: str | None, observed: str | None) -> Iterator[_Row]:
    """Lines that stand beside each other; a stretch that is in one alone is marked whole."""
    if not expected or not observed:
        yield expected or NOTHING, observed or NOTHING, _whole(expected), _whole(observed)
        return
    found = compare(expected[:LONGEST], observed[:LONGEST], seconds=0.2)
    if isinstance(found, NotCompared) or found.same:
        yield expected[:LONGEST], observed[:LONGEST], (), ()
        return
    went: list[str] = []
    came: list[str] = []
    for line in found.lines:
        if line.sort == "removed":
            went.append(line.old)
        elif line.sort == "added":
            came.append(line.new)
        else:
            yield from _alone(went, came)
            went, came = [], []
            yield line.old, line.new, line.old_marks, line.new_marks
    yield from _alone(went, came)


def _alone(went: Sequence[str], came: Sequence[str]) -> Iterator[_Row]:
    for at in range(max(len(went), len(came))):
        old = went[at] if at < len(went) else None
        new = came[at] if at < len(came) else None
        yield old, new, _whole(old), _whole(new)


def _whole(text: str | None) -> tuple[Span, ...]:
    return ((0, len(text)),) if text else ()


def _cell(text: str | None, marks: Sequence[Span], role: str, width: int) -> list[Line]:
    if text is None:
        return [()]
    if text == NOTHING and not marks:
        return [(Run(NOTHING, "quiet"),)]
    runs, at = [], 0
    # Where all of it differs there is nothing to set off, and a long text would only be loud.
    how = role if tuple(marks) == _whole(text) else f"{role} bold underlined"
    for start, end in _words(text, marks):
        runs += [Run(_shown(text[at:start]), "plain"), Run(_shown(text[start:end]), how)]
        at = end
    runs.append(Run(_shown(text[at:]), "plain"))
    return wrap([run for run in runs if run.text], width) or [()]


def _words(text: str, marks: Sequence[Span]) -> Iterator[Span]:
    """The marks, each over whole words: a line is broken between words, not inside one that is marked."""
    done = 0
    for start, end in marks:
        while start > done and not text[start - 1].isspace():
            start -= 1
        while end < len(text) and not text[end].isspace():
            end += 1
        if end > done:
            yield max(start, done), end
            done = end


def _shown(text: str) -> str:
    return visible(text, limit=LONGEST)
