"""The tables of a profile as statements see them, and which of them carry an owner (ADR-0128 D2, D5)."""

from __future__ import annotations

from sqlalchemy import BindParameter, ColumnElement, TableClause, bindparam, column, table

from persistence.profiles.records import Profile, WriteRule, folded

__all__ = ["OWNER", "Shape", "given", "key"]

OWNER = "owner"
"""The parameter of every statement that carries the owner; it is bound by the handle, never by a caller."""

_NOTHING = WriteRule()


def given(name: str) -> BindParameter[object]:
    """The parameter a column's new value comes by: `v_` and its name."""
    return bindparam(f"v_{name}")


def key(name: str = "id") -> BindParameter[object]:
    """The parameter a row is found by: `k_` and its name."""
    return bindparam(f"k_{name}")


class Shape:
    """What a profile lets statements name: columns by table, and the owner's column where a table has one."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._rules = {folded(name): rule for name, rule in profile.writes.items()}
        self._owners: dict[str, str | None] = {}

    def updates(self, name: str) -> frozenset[str]:
        """The columns the profile lets an update write, folded; never the owner's."""
        owner = self.owner(name)
        may = {folded(column) for column in self._rules.get(folded(name), _NOTHING).update}
        return frozenset(may - ({folded(owner)} if owner is not None else set()))

    def owner(self, name: str) -> str | None:
        """The column that names the owner of the table's rows; None where the table has none."""
        if name not in self._owners:
            rule = self.profile.owner
            shape = None if rule is None else self.profile.closure.table(name)
            there = rule is not None and shape is not None and shape.column(rule.column) is not None
            self._owners[name] = rule.column if rule is not None and there else None
        return self._owners[name]

    def table(self, name: str, *columns: str) -> TableClause:
        """The table with its id, these columns and its owner's."""
        owner = self.owner(name)
        names = dict.fromkeys(("id", *columns, *([] if owner is None else [owner])))
        return table(name, *(column(one) for one in names))

    def mine(self, name: str, of: TableClause) -> list[ColumnElement[bool]]:
        """The owner term of a predicate, as a list of one or none."""
        owner = self.owner(name)
        return [] if owner is None else [of.c[owner] == bindparam(OWNER)]
