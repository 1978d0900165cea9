"""Plain indexes: they only decide how fast rows are found, unless computing them can fail."""

from __future__ import annotations

from persistence.profiles.codes import finding
from persistence.profiles.compare.text import Outcome, names_of, same_text, shown_terms, terms_alike
from persistence.profiles.records import ClosureTable, Finding, IndexShape

__all__ = ["indexes"]

_BUILT_IN = (None, "BINARY", "NOCASE", "RTRIM")


def indexes(declared: ClosureTable, live: ClosureTable) -> Outcome:
    """Indexes that are not unique.

    One that is new refuses when it computes something from each row (an expression, a condition) or needs a
    collation that only the managing application has: writing a row can then fail. All else is a notice.
    """
    names = names_of(declared, live)

    def same(left: IndexShape, right: IndexShape) -> bool:
        return terms_alike(left.terms, right.terms, names) and same_text(
            left.predicate, right.predicate, names
        )

    found: list[Finding] = []
    held = 0
    for expected in declared.indexes:
        if any(same(expected, observed) for observed in live.indexes):
            held += 1
        else:
            found.append(
                finding(
                    "index-plain",
                    table=declared.name,
                    object=expected.name,
                    expected=_shown(expected),
                    observed="no such index",
                )
            )
    for observed in live.indexes:
        if not any(same(expected, observed) for expected in declared.indexes):
            code = "index-computed" if _computes(observed) else "index-plain"
            found.append(
                finding(
                    code,
                    table=declared.name,
                    object=observed.name,
                    expected="no such index",
                    observed=_shown(observed),
                )
            )
    return Outcome(tuple(found), held)


def _computes(index: IndexShape) -> bool:
    if index.predicate is not None:
        return True
    return any(term.expression is not None or term.collation not in _BUILT_IN for term in index.terms)


def _shown(index: IndexShape) -> str:
    condition = f" WHERE {index.predicate}" if index.predicate is not None else ""
    return f"INDEX {shown_terms(index.terms)}{condition}"
