"""Unique keys: a constraint and a unique index are the same thing, and their names mean nothing."""

from __future__ import annotations

from collections.abc import Sequence

from persistence.profiles.codes import finding
from persistence.profiles.compare.pairs import paired
from persistence.profiles.compare.text import (
    Outcome,
    conflicts_alike,
    names_of,
    same_text,
    shown_terms,
    terms_alike,
)
from persistence.profiles.records import ClosureTable, Finding, UniqueShape, folded

__all__ = ["uniques"]


def uniques(declared: ClosureTable, live: ClosureTable) -> Outcome:
    """The unique keys beside the primary one. Their columns count in order, with collation and direction."""
    names = names_of(declared, live)

    def keyed(left: UniqueShape, right: UniqueShape) -> bool:
        return terms_alike(left.terms, right.terms, names) and same_text(
            left.predicate, right.predicate, names
        )

    def same(left: UniqueShape, right: UniqueShape) -> bool:
        return keyed(left, right) and conflicts_alike(left.conflict, right.conflict)

    def named(left: UniqueShape, right: UniqueShape) -> bool:
        return left.name is not None and right.name is not None and folded(left.name) == folded(right.name)

    held, changed, missing, extra = paired(
        _beside_key(declared), _beside_key(live), same, keyed, _over_same, named
    )
    found = [
        *(
            _found("conflict-clause" if keyed(*pair) else "unique-changed", declared, *pair)
            for pair in changed
        ),
        *(_found("unique-missing", declared, shape, None) for shape in missing),
        *(_found("unique-extra", declared, None, shape) for shape in extra),
    ]
    return Outcome(tuple(found), held)


def _beside_key(table: ClosureTable) -> Sequence[UniqueShape]:
    """Without those that only say the primary key again."""
    key = table.primary_key
    return [
        shape
        for shape in table.uniques
        if key is None or shape.predicate or shape.conflict or not terms_alike(shape.terms, key.terms)
    ]


def _over_same(left: UniqueShape, right: UniqueShape) -> bool:
    def over(shape: UniqueShape) -> set[str | None]:
        return {term.column and folded(term.column) for term in shape.terms}

    return over(left) == over(right)


def _found(
    code: str, table: ClosureTable, expected: UniqueShape | None, observed: UniqueShape | None
) -> Finding:
    return finding(
        code,
        table=table.name,
        object=_name(expected or observed),
        expected=_shown(expected),
        observed=_shown(observed),
    )


def _name(shape: UniqueShape | None) -> str | None:
    if shape is None:
        return None
    return shape.name or ", ".join(term.column or term.expression or "?" for term in shape.terms)


def _shown(shape: UniqueShape | None) -> str:
    if shape is None:
        return "no such key"
    words = f"UNIQUE {shown_terms(shape.terms)}"
    if shape.predicate is not None:
        words += f" WHERE {shape.predicate}"
    return f"{words} ON CONFLICT {shape.conflict}" if shape.conflict else words
