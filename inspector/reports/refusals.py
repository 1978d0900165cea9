"""A refusal in words: what, where, expected against observed, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from inspector import safe

if TYPE_CHECKING:
    from persistence.errors import StoreError

__all__ = ["refusal_lines"]

_PLAIN = ("no-such-store", "usage", "store-error")
"""What needs no page to be understood (it has one all the same)."""


def refusal_lines(error: StoreError) -> Iterator[str]:
    """The refusal as visible lines of plain text."""
    yield f"✗ {safe.text(error.message)}  ({error.code})"
    for label, said in (
        ("where", error.where),
        ("expected", error.expected),
        ("observed", error.observed),
        ("what to do", error.remedy),
        ("committed before", ", ".join(error.committed) or None),
        ("more", f"store-inspector explain {error.code}" if error.code not in _PLAIN else None),
    ):
        if said is not None:
            first, *more = safe.lines(said).split("\n")
            yield f"  {label:<11} {first}"
            for line in more:
                yield f"  {'':<11} {line}"
