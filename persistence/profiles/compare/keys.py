"""Primary keys: what tells rows apart, whether it is the row id, and how a clash is resolved."""

from __future__ import annotations

from persistence.profiles.codes import finding
from persistence.profiles.compare.text import Outcome, conflicts_alike, shown_terms, terms_alike
from persistence.profiles.records import ClosureTable, Finding, KeyShape

__all__ = ["keys"]


def keys(declared: ClosureTable, live: ClosureTable) -> Outcome:
    """The primary key, its place in the row id, AUTOINCREMENT and its conflict clause."""
    expected, observed = declared.primary_key, live.primary_key
    found: list[Finding] = []
    name = ", ".join(expected.columns) if expected is not None else "primary key"
    if not _alike(expected, observed):
        found.append(
            finding(
                "primary-key",
                table=declared.name,
                object=name,
                expected=_shown(expected),
                observed=_shown(observed),
            )
        )
    before, after = (key.conflict if key is not None else None for key in (expected, observed))
    if not conflicts_alike(before, after):
        found.append(
            finding(
                "conflict-clause",
                table=declared.name,
                object=name,
                expected=f"PRIMARY KEY ON CONFLICT {before or 'ABORT'}",
                observed=f"PRIMARY KEY ON CONFLICT {after or 'ABORT'}",
            )
        )
    return Outcome(tuple(found), int(expected is not None and not found))


def _alike(expected: KeyShape | None, observed: KeyShape | None) -> bool:
    if expected is None or observed is None:
        return expected is observed
    if (expected.rowid, expected.autoincrement) != (observed.rowid, observed.autoincrement):
        return False
    return terms_alike(expected.terms, observed.terms)


def _shown(key: KeyShape | None) -> str:
    if key is None:
        return "no primary key"
    words = f"PRIMARY KEY {shown_terms(key.terms)}"
    if key.rowid:
        words += ", which is the row id"
    return f"{words} AUTOINCREMENT" if key.autoincrement else words
