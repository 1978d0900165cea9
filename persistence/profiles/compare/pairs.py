"""Telling a changed thing from one that went and another that came: shapes without a lasting name, paired."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

__all__ = ["paired"]

T = TypeVar("T")


def paired(
    expected: Iterable[T],
    observed: Iterable[T],
    same: Callable[[T, T], bool],
    *akin: Callable[[T, T], bool],
) -> tuple[int, list[tuple[T, T]], list[T], list[T]]:
    """How many are the same, which changed into which, which are missing and which are extra.

    What is said twice counts once. `akin` are asked in turn whether one may have become the other.
    """
    left, right = _once(expected, same), _once(observed, same)
    missing = [shape for shape in left if not any(same(shape, other) for other in right)]
    extra = [shape for shape in right if not any(same(other, shape) for other in left)]
    held = len(left) - len(missing)
    changed: list[tuple[T, T]] = []
    for related in akin:
        for shape in tuple(missing):
            other = next((candidate for candidate in extra if related(shape, candidate)), None)
            if other is not None:
                changed.append((shape, other))
                missing.remove(shape)
                extra.remove(other)
    return held, changed, missing, extra


def _once(shapes: Iterable[T], same: Callable[[T, T], bool]) -> list[T]:
    kept: list[T] = []
    for shape in shapes:
        if not any(same(shape, other) for other in kept):
            kept.append(shape)
    return kept
