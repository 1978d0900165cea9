"""The owner a configuration names: that it is a principal of the store, exactly (ADR-0128 D5)."""

from __future__ import annotations

import sqlite3

from persistence.lineage.rows import exact, quoted
from persistence.profiles.records import Closure, OwnerRule

__all__ = ["is_principal"]

_MOST = 64  # rows that compare as equal to the owner and are looked at


def is_principal(
    connection: sqlite3.Connection, owner: str | None, rule: OwnerRule | None, closure: Closure
) -> bool | None:
    """Whether the principals hold this owner, compared exactly whatever the column's collation.

    None when it cannot be asked: no owner, no rule, or no such table or column. Raises sqlite3.Error.
    """
    if owner is None or rule is None:
        return None
    table = closure.table(rule.principals)
    key = table.column(rule.key) if table is not None else None
    if table is None or key is None:
        return None
    try:
        owner.encode("utf-8")
    except UnicodeEncodeError:
        return False
    name = quoted(key.name)
    statement = f"SELECT {name} FROM main.{quoted(table.name)} WHERE {name} = ? LIMIT {_MOST}"  # noqa: S608
    with exact(connection) as ask:
        rows = ask(statement, (owner,))
    # An integer key is named by its digits; anything else has to be the text itself.
    return any(value == owner or (isinstance(value, int) and str(value) == owner) for (value,) in rows)
