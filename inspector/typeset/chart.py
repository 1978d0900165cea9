"""Small charts in one line of text, and what they say in words."""

from __future__ import annotations

from collections.abc import Sequence

from inspector import formats

__all__ = ["bar", "share_bar", "spark", "spark_words"]

_HEIGHTS = "▁▂▃▄▅▆▇█"
_EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")


def spark(values: Sequence[float], width: int) -> str:
    """The values as bars of one line, `▁▂▅█`, the last at the right; none is a blank, a little is never none.

    More values than cells are added up in groups, so that no peak is lost; the oldest group may be shorter.
    """
    if width <= 0 or not values:
        return ""
    group = -(-len(values) // width)
    rest = len(values) % group
    starts = ([0] if rest else []) + list(range(rest, len(values), group))
    ends = [*starts[1:], len(values)]
    sums = [
        sum(max(0.0, value) for value in values[start:end]) for start, end in zip(starts, ends, strict=True)
    ]
    most = max(sums)
    if most <= 0:
        return " " * len(sums)
    return "".join(" " if value <= 0 else _HEIGHTS[min(7, int(value / most * 7.999))] for value in sums)


def spark_words(values: Sequence[float], unit: str = "day") -> str:
    """What the chart says, for those who do not see it: `412 in 60 days, at most 31 a day`."""
    if not values:
        return "nothing"
    total, most = round(sum(values)), round(max(values))
    days = formats.several(len(values), unit)
    return (
        f"{formats.count(total)} in {days}, at most {formats.count(most)} a {unit}"
        if total
        else f"none in {days}"
    )


def bar(value: float, most: float, width: int) -> str:
    """A horizontal bar of `value` where `most` fills `width` cells, to an eighth of a cell; never longer."""
    if width <= 0 or most <= 0 or value <= 0:
        return ""
    eighths = max(1, min(width * 8, round(value / most * width * 8)))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8]


def share_bar(parts: Sequence[float], width: int) -> list[int]:
    """How many of `width` cells each part gets, their sum exactly; a part that is not none gets at least one
    while there is room."""
    total = sum(max(0.0, part) for part in parts)
    if width <= 0 or total <= 0:
        return [0] * len(parts)
    cells = [0 if part <= 0 else max(1, int(part / total * width)) for part in parts]
    order = sorted(range(len(parts)), key=lambda at: (-(parts[at] / total * width - cells[at]), at))
    at = 0
    while sum(cells) < width:
        if parts[order[at % len(order)]] > 0:
            cells[order[at % len(order)]] += 1
        at += 1
    while sum(cells) > width:
        cells[max(range(len(cells)), key=lambda index: cells[index])] -= 1
    return cells
