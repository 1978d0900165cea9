"""Rows taken over as they are: a history that happened elsewhere, or earlier (ADR-0055 D1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from persistence.engines.statements import Steps
from persistence.lineage.rows import META
from persistence.schema import metadata
from persistence.writing.native.group import Group
from persistence.writing.native.rows import insert_into
from persistence.writing.values import refuse

__all__ = ["ImportWrites"]

_Rows = tuple[str, list[dict[str, Any]]]


class ImportWrites(Group):
    """Many rows at once, with nothing made up beside them."""

    async def insert_rows(self, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        """Adds rows by table, as one: parents before children, those of a table in the order given.

        Nothing is filled in, counted or derived: a status comes with the transitions that are given beside
        it. ValueRefusedError, before anything is written, for a table or column that is none, for
        `schema_meta`, and for a value that would not read back equal; a taken key and a parent that is not
        there are integrity errors.
        """
        for name in rows:
            if name not in metadata.tables or name == META:
                refuse(name, f"Rows are not added to {name!r:.80}.", "a table of the schema", f"{name!r:.80}")
        encoded: list[_Rows] = [
            (table.name, [self._row(table.name, **row) for row in rows[table.name]])
            for table in metadata.sorted_tables
            if table.name in rows
        ]
        await self._run(_added, encoded)


def _added(tables: Sequence[_Rows]) -> Steps[None]:
    for name, rows in tables:
        for columns, alike in groupby(rows, key=tuple):
            yield insert_into(name, tuple(column[2:] for column in columns)).each(list(alike))
