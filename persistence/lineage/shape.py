"""Whether tables with lionagi's names have shapes some lionagi release made (DECISIONS 10).

A name alone proves nothing: another application may call its tables `sessions` and `messages` as well, and
a migration would add its columns to them.
"""

from __future__ import annotations

from typing import NamedTuple

from persistence.lineage.rows import META, Seen
from persistence.schema.known import TABLES, columns_of, ever_had, since

__all__ = ["Misfit", "misfits"]


class Misfit(NamedTuple):
    """A table, and the column (None: the whole table) that no release made so."""

    table: str
    column: str | None
    expected: str
    observed: str

    @property
    def words(self) -> str:
        where = self.table if self.column is None else f"{self.table}.{self.column}"
        return f"{where}: {self.observed}"


def misfits(seen: Seen) -> tuple[Misfit, ...]:
    """Every way in which the known tables differ from what any release made, in the schema's order."""
    found: list[Misfit] = []
    for table in TABLES:
        if table in seen.views or table in seen.virtual:
            kind = "a view" if table in seen.views else "a virtual table"
            found.append(Misfit(table, None, "a table, as every release made it", f"is {kind}"))
        elif table in seen.tables:
            found += _of_table(table, seen)
    if seen.has_pair and not seen.keyed:
        found.append(Misfit(META, "key", "its primary key, as in every release", "is not its primary key"))
    return tuple(found)


def _of_table(table: str, seen: Seen) -> list[Misfit]:
    first = since(table)
    if first is None or table not in seen.columns:
        return []
    columns = seen.columns[table]
    there = {column.name for column in columns}
    known = ever_had(table)
    found: list[Misfit] = []
    for column in columns:
        if column.name not in known:
            found.append(Misfit(table, column.name, "no such column", "is there, and no release had it"))
        elif column.generated:
            found.append(Misfit(table, column.name, "a stored column", "is a generated column"))
    for name in sorted(columns_of(table, first) - there):
        said = f"there since {first}, the first release with {table}"
        found.append(Misfit(table, name, said, "is missing"))
    return found
