"""Table options: STRICT and WITHOUT ROWID."""

from __future__ import annotations

from persistence.profiles.codes import finding
from persistence.profiles.compare.text import Outcome
from persistence.profiles.records import ClosureTable

__all__ = ["options"]


def options(declared: ClosureTable, live: ClosureTable) -> Outcome:
    """The options of one table, one finding each."""
    found = []
    for name, expected, observed in (
        ("STRICT", declared.strict, live.strict),
        ("WITHOUT ROWID", declared.without_rowid, live.without_rowid),
    ):
        if expected != observed:
            found.append(
                finding(
                    "table-option",
                    table=declared.name,
                    object=name,
                    expected=name if expected else f"not {name}",
                    observed=name if observed else f"not {name}",
                )
            )
    return Outcome(tuple(found), 2 - len(found))
