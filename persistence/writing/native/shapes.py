"""What a SQLite store's schema lacks of the operational one, table by table and index by index.

The measure is the schema itself, made once in memory and read by the same PRAGMAs as the store. A store of
an older version is brought to it whole; one that is current keeps the small differences that the releases'
own migrations leave (types spelled REAL, nullable keys), since no rule depends on them.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import cache

from sqlalchemy import Table
from sqlalchemy.schema import CreateIndex, CreateTable

from persistence.engines.statements import dialect_of
from persistence.reading.catalogue_sqlite import shapes
from persistence.reading.sqltext import tokens
from persistence.records import Index, TableShape
from persistence.schema import metadata

__all__ = ["LEFT_BEHIND", "Plan", "create_index", "create_table", "plan_for", "targets"]

LEFT_BEHIND = frozenset(("idx_branches_session", "idx_def_unique_version", "idx_plays_show_name"))
"""Indexes older releases made that the schema no longer has, or has as a constraint."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done: tables to create and to rebuild, indexes to drop and to create (as SQL)."""

    create: tuple[str, ...] = ()
    rebuild: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()  # table.column, that rebuilding adds
    drop_indexes: tuple[str, ...] = ()
    create_indexes: tuple[tuple[str, str], ...] = ()  # (name, SQL)

    def __bool__(self) -> bool:
        return bool(self.create or self.rebuild or self.drop_indexes or self.create_indexes)


def create_table(table: Table) -> str:
    return str(CreateTable(table).compile(dialect=dialect_of("sqlite"))).strip()


@cache
def create_index(name: str) -> str:
    """The statement of one of the schema's indexes."""
    index = next(i for table in metadata.tables.values() for i in table.indexes if i.name == name)
    return str(CreateIndex(index).compile(dialect=dialect_of("sqlite"))).strip()


@cache
def _made() -> tuple[dict[str, TableShape], dict[str, str]]:
    connection = sqlite3.connect(":memory:")
    try:
        for table in metadata.sorted_tables:
            connection.execute(create_table(table))
            for name in sorted(str(index.name) for index in table.indexes):  # the same file every time
                connection.execute(create_index(name))
        return {shape.name: shape for shape in shapes(connection)}, _texts(connection)
    finally:
        connection.close()


def targets() -> dict[str, TableShape]:
    """The schema's tables as SQLite sees them."""
    return _made()[0]


def _texts(connection: sqlite3.Connection) -> dict[str, str]:
    """The statement of every table and index that has one, by name."""
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'index')")
    return {name: sql for name, sql in found if sql is not None}


def plan_for(connection: sqlite3.Connection, *, whole: bool) -> Plan:
    """What this store lacks. `whole`: it is of an older version, and is brought to the schema exactly."""
    texts = _texts(connection)
    if all(texts.get(name) == sql for name, sql in _made()[1].items()) and not LEFT_BEHIND & texts.keys():
        return Plan()  # made here: most stores, and the short way
    there = {shape.name: shape for shape in shapes(connection)}
    create, rebuild, columns = [], [], []
    drop: list[str] = []
    make: list[tuple[str, str]] = []
    for table in metadata.sorted_tables:
        name = table.name
        target, live = targets()[name], there.get(name)
        if live is None:
            create.append(name)
            make += [(index.name, create_index(index.name)) for index in _explicit(target)]
            continue
        known = {column.name for column in live.columns}
        added = [column.name for column in target.columns if column.name not in known]
        again = _exactly(live) != _exactly(target) if whole else _rules(live) != _rules(target) or bool(added)
        if again:
            rebuild.append(name)
            columns += [f"{name}.{column}" for column in added]
        dropped, made = _indexes(live, target, rebuilt=again, whole=whole)
        drop += dropped
        make += made
    return Plan(tuple(create), tuple(rebuild), tuple(columns), tuple(drop), tuple(make))


def _exactly(shape: TableShape) -> object:
    """Everything that makes two tables the same to SQLite, but how their text is spaced."""
    columns = [(c.name, c.type.upper(), c.nullable, c.default, c.primary_key) for c in shape.columns]
    unique = sorted(index.columns for index in shape.indexes if index.origin == "u")
    keys = sorted((k.columns, k.table, k.references, k.on_delete, k.on_update) for k in shape.foreign_keys)
    return columns, unique, keys, _rules(shape), shape.strict, shape.has_rowid


def _rules(shape: TableShape) -> object:
    """The checks, by meaning: an older one would refuse rows of today."""
    return sorted(_words(check) for check in shape.checks)


def _words(sql: str) -> tuple[str, ...]:
    return tuple(token.word() or token.text for token in tokens(sql))


def _explicit(shape: TableShape) -> list[Index]:
    return [index for index in shape.indexes if index.origin == "c"]


def _indexes(
    live: TableShape, target: TableShape, *, rebuilt: bool, whole: bool
) -> tuple[list[str], list[tuple[str, str]]]:
    """The indexes to drop, and those to create. A rebuild drops all of a table's by itself."""
    wanted = {index.name: index for index in _explicit(target)}
    drop, make, kept = [], [], set()
    for index in _explicit(live):
        ours = wanted.get(index.name)
        if ours is None:
            gone = whole and index.name in LEFT_BEHIND
            if gone and not rebuilt:
                drop.append(index.name)
            elif rebuilt and not gone and index.sql:
                make.append((index.name, index.sql))  # somebody's own: it stays
        elif not rebuilt and (not whole or _same(index, ours)):
            kept.add(index.name)
        elif not rebuilt:
            drop.append(index.name)
    make += [(name, create_index(name)) for name in wanted if name not in kept]
    return drop, make


def _same(live: Index, target: Index) -> bool:
    return (live.unique, live.columns, live.descending, _words(live.where or "")) == (
        target.unique,
        target.columns,
        target.descending,
        _words(target.where or ""),
    )
