"""Check constraints: by their tokens, wherever they stand and whatever they are called."""

from __future__ import annotations

from persistence.profiles.codes import finding
from persistence.profiles.compare.pairs import paired
from persistence.profiles.compare.text import Outcome, columns_in, names_of, same_text
from persistence.profiles.records import CheckShape, ClosureTable, Finding, folded

__all__ = ["checks"]


def checks(declared: ClosureTable, live: ClosureTable) -> Outcome:
    """The checks of a table, those of its columns included."""
    names = names_of(declared, live)

    def same(left: CheckShape, right: CheckShape) -> bool:
        return same_text(left.expression, right.expression, names)

    def named(left: CheckShape, right: CheckShape) -> bool:
        return left.name is not None and right.name is not None and folded(left.name) == folded(right.name)

    def over_same(left: CheckShape, right: CheckShape) -> bool:
        return columns_in(left.expression, declared) == columns_in(right.expression, declared)

    held, changed, missing, extra = paired(declared.checks, live.checks, same, named, over_same)
    found = [
        *(_found("check-changed", declared, before, after) for before, after in changed),
        *(_found("check-missing", declared, shape, None) for shape in missing),
        *(_found("check-extra", live, None, shape) for shape in extra),
    ]
    return Outcome(tuple(found), held)


def _found(
    code: str, table: ClosureTable, expected: CheckShape | None, observed: CheckShape | None
) -> Finding:
    """A finding about a check, named by the columns it is about."""
    shape = expected or observed
    return finding(
        code,
        table=table.name,
        object=columns_in(shape.expression, table) if shape is not None else None,
        expected=_shown(expected),
        observed=_shown(observed),
    )


def _shown(shape: CheckShape | None) -> str:
    return "no such check" if shape is None else f"CHECK ({shape.expression})"
