"""The live shape of every table and view a store has, whoever made it (SQLite and PostgreSQL)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from persistence.records import ForeignKey, TableShape
from persistence.schema.known import group_of

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot

__all__ = ["fingerprint", "read_shapes"]


async def fingerprint(snapshot: Snapshot) -> object:
    """A value that stays the same while no table, column, index, view or trigger changes. Cheap."""
    if snapshot.dialect == "sqlite":
        from persistence.reading.catalogue_sqlite import fingerprint as of_sqlite

        return await snapshot.on_driver(of_sqlite)
    from persistence.reading.catalogue_postgres import fingerprint as of_postgres

    return await of_postgres(snapshot)


async def read_shapes(snapshot: Snapshot) -> tuple[TableShape, ...]:
    """Every table and view by name. One whose shape cannot be read is there, with `unreadable`."""
    if snapshot.dialect == "sqlite":
        from persistence.reading.catalogue_sqlite import shapes as of_sqlite

        found = await snapshot.on_driver(of_sqlite)
    else:
        from persistence.reading.catalogue_postgres import shapes as of_postgres

        found = await of_postgres(snapshot)
    return _linked(found)


def _linked(shapes: list[TableShape]) -> tuple[TableShape, ...]:
    """The shapes with implied parent columns filled in, incoming keys added, groups named."""
    by_name = {shape.name.lower(): shape for shape in shapes}
    incoming: dict[str, list[tuple[str, ForeignKey]]] = {}
    outgoing: dict[str, tuple[ForeignKey, ...]] = {}
    for shape in shapes:
        keys = []
        for key in shape.foreign_keys:
            parent = by_name.get(key.table.lower())
            if parent is not None:
                references = key.references or (
                    parent.primary_key if len(parent.primary_key) == len(key.columns) else ()
                )
                key = replace(key, table=parent.name, references=references)
                incoming.setdefault(parent.name, []).append((shape.name, key))
            keys.append(key)
        outgoing[shape.name] = tuple(keys)
    return tuple(
        replace(
            shape,
            foreign_keys=outgoing[shape.name],
            referenced_by=tuple(incoming.get(shape.name, ())),
            group=group_of(shape.name) if shape.kind == "table" else None,
        )
        for shape in sorted(shapes, key=lambda shape: shape.name.lower())
    )
