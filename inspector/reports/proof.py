"""What a proof of a profile found: a scorecard as lines, and as data (ADR-0128 D8)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from inspector import formats, safe
from inspector.reports.wrapped import wrapped

if TYPE_CHECKING:
    from persistence.proof.limits import Limits
    from persistence.proof.scorecard import Item, Scorecard

__all__ = ["document", "item_lines", "limits_lines", "scorecard_lines"]

_FAILURES = 10
"""How many failures of an item are told in lines; all of them are in the data."""


def document(card: Scorecard) -> str:
    """The whole answer as JSON text."""
    from inspector.reports import shapes

    text: str = shapes.document(proof=shapes.value(card.as_dict()))
    return text


def scorecard_lines(card: Scorecard) -> Iterator[str]:
    """The verdict, what was proved on what, and the items."""
    sign, word = ("✓", "proved") if card.held else ("✗", "not proved")
    failed = sum(not item.held for item in card.items)
    more = f": {failed} of {len(card.items)} items do not hold" if failed else ""
    yield f"{sign} {safe.text(card.profile)} is {word}{more}"
    for store in card.stores:
        yield f"  on a private copy of {safe.text(store)}"
    if card.owners:
        yield f"  for {' and '.join(safe.text(owner) for owner in card.owners)}"
    how = "by this library's own reading paths" if card.readback is None else f"by {safe.text(card.readback)}"
    yield f"  read back {how}, {formats.duration(card.seconds)} in all"
    yield ""
    for item in card.items:
        yield from item_lines(item)


def item_lines(item: Item) -> Iterator[str]:
    """One item: whether it held, its figures, and what did not hold."""
    yield f"{'✓' if item.held else '✗'} {item.number}  {item.name}"
    told = [
        f"{name.replace('_', ' ')} {_figure(figure)}"
        for name, figure in item.figures.items()
        if _told(figure)
    ]
    if told:
        yield from wrapped(", ".join(told), indent="     ")
    for failure in item.failures[:_FAILURES]:
        yield from wrapped(safe.text(failure), indent="       ", first="     ✗ ")
    if len(item.failures) > _FAILURES:
        yield f"       and {len(item.failures) - _FAILURES} more, in --json"
    for note in item.notes:
        yield from wrapped(safe.text(note), indent="       ", first="     · ")


def limits_lines(limits: Limits) -> Iterator[str]:
    """The limits a concurrency is held to, as the file that would declare them."""
    from dataclasses import fields

    yield "[limits]"
    for field in fields(limits):
        yield f"{field.name} = {getattr(limits, field.name)}"


def _told(figure: Any) -> bool:
    return not isinstance(figure, list | dict)


def _figure(figure: Any) -> str:
    if isinstance(figure, bool):
        return "yes" if figure else "no"
    if isinstance(figure, int):
        return f"{figure:,}"
    return safe.text(str(figure))
