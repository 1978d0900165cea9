"""What a store's own rows and names say, read in one go from an open connection (ADR-0128 D7).

Lineage and version are read by a full scan of the table itself, compared byte for byte: an index, a
collation or a type affinity of the table cannot hide or invent a row.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from persistence.engines.faults import quoting_error
from persistence.lineage.version import Value
from persistence.schema.known import OTHER_COMPONENT_TABLES, TABLES

__all__ = [
    "KNOWN",
    "META",
    "Ask",
    "MetaColumn",
    "MetaKind",
    "MetaRow",
    "Seen",
    "exact",
    "meta_values",
    "read_rows",
]

META = "schema_meta"
KNOWN = frozenset((*TABLES, *OTHER_COMPONENT_TABLES))
"""The names of the tables lionagi components create in the state file."""

LONGEST = 65_536  # characters or bytes of a lineage or version value that are read
_SHOWN = 4_096  # of any other value of schema_meta
_MOST_ROWS = 1_000
_MOST_ALIKE = 64  # rows of one key that are looked at


class MetaKind:
    """What stands under the name `schema_meta`."""

    ABSENT = "absent"
    TABLE = "table"
    VIEW = "view"
    VIRTUAL = "virtual table"
    OTHER_SPELLING = "other spelling"


class MetaColumn(NamedTuple):
    """A column: `generated` when its value is computed, `key` its place in the primary key (0: none)."""

    name: str
    generated: bool = False
    key: int = 0


class MetaRow(NamedTuple):
    """A row of schema_meta; `size` is the whole value's when `value` is only its beginning."""

    key: Value | None
    value: Value | None
    size: int | None = None


class Seen(NamedTuple):
    """What one read saw. `skipped` are tables it could not make sense of, with the reason."""

    tables: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    virtual: frozenset[str] = frozenset()
    meta: str = MetaKind.ABSENT
    meta_columns: tuple[MetaColumn, ...] = ()
    lineage: tuple[Value, ...] = ()
    version: tuple[Value, ...] = ()
    rows: tuple[MetaRow, ...] = ()
    columns: Mapping[str, tuple[MetaColumn, ...]] = {}
    skipped: tuple[tuple[str, str], ...] = ()

    @property
    def unknown(self) -> tuple[str, ...]:
        """The tables no lionagi component creates."""
        return tuple(name for name in self.tables if name not in KNOWN)

    @property
    def has_pair(self) -> bool:
        """Whether schema_meta is a table with real columns spelled `key` and `value`."""
        real = {column.name for column in self.meta_columns if not column.generated}
        return self.meta == MetaKind.TABLE and {"key", "value"} <= real

    @property
    def keyed(self) -> bool:
        """Whether `key` alone is schema_meta's primary key, as in every release's store."""
        return [column.name for column in self.meta_columns if column.key] == ["key"]

    @property
    def words(self) -> str:
        """One line for the trace."""
        if not self.tables and not self.views:
            return "no tables"
        said = [f"{len(self.tables)} table{'' if len(self.tables) == 1 else 's'}"]
        if self.views:
            said.append(f"{len(self.views)} view{'' if len(self.views) == 1 else 's'}")
        for key, values in (("lineage", self.lineage), ("version", self.version)):
            shown = ", ".join(_short(value) for value in values[:3])
            said.append(f"{key} {shown}" if values else f"no {key} row")
        if self.skipped:
            said.append(f"skipped {', '.join(name for name, _ in self.skipped)}")
        return "; ".join(said)


def _short(value: Value) -> str:
    return repr(value if not isinstance(value, (str, bytes)) or len(value) <= 60 else value[:60])


def quoted(name: str) -> str:
    """An identifier as SQL has it."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def meta_values(connection: sqlite3.Connection) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """The values of every `lineage` row and of every `version` row that are not NULL, in this order.

    schema_meta must be a table with `key` and `value`. Raises sqlite3.Error.
    """
    with exact(connection) as ask:
        return _values(ask)


def _values(ask: Ask) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    found: dict[str, list[Value]] = {"lineage": [], "version": []}
    # `+` and COLLATE keep the comparison from using an index, an affinity or a collation of the table.
    statement = (
        "SELECT key, CASE WHEN typeof(value) IN ('text', 'blob') THEN substr(value, 1, ?) ELSE value END "
        "FROM main.schema_meta NOT INDEXED "
        "WHERE typeof(key) = 'text' AND +key COLLATE BINARY = ? AND value IS NOT NULL LIMIT ?"
    )
    for key, values in found.items():
        values += [row[1] for row in ask(statement, (LONGEST, key, _MOST_ALIKE))]
    return tuple(found["lineage"]), tuple(found["version"])


def read_rows(connection: sqlite3.Connection, *, tolerant: bool = False) -> Seen:
    """The names, columns and rows a connection sees. Raises sqlite3.Error.

    `tolerant` skips what an interrupted transaction left half-written instead (the first read of D7).
    """
    with exact(connection) as ask:
        if tolerant:
            # Lets SQLite go on behind an entry of the schema that it cannot parse; changes nothing.
            ask("PRAGMA writable_schema=1")
        return _read(ask, tolerant)


Ask = Callable[..., list[tuple[Any, ...]]]


@contextmanager
def exact(connection: sqlite3.Connection) -> Iterator[Ask]:
    """Questions to a connection whose rows are tuples and whose text is exact, whatever its owner set."""
    before = connection.text_factory
    connection.text_factory = _text

    def ask(statement: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        cursor = connection.cursor()
        cursor.row_factory = None
        try:
            return cursor.execute(statement, parameters).fetchall()
        except UnicodeDecodeError as error:
            raise quoting_error(error) from error

    try:
        yield ask
    finally:
        connection.text_factory = before


def _read(ask: Ask, tolerant: bool) -> Seen:
    names = ask("SELECT type, substr(name, 1, 1024), substr(sql, 1, 64) FROM main.sqlite_master")
    tables: list[str] = []
    views: list[str] = []
    virtual: set[str] = set()
    for kind, name, sql in names:
        if not isinstance(name, str) or name.startswith("sqlite_"):
            continue
        if kind == "table":
            tables.append(name)
            if isinstance(sql, str) and sql.lstrip()[:30].upper().split()[:2] == ["CREATE", "VIRTUAL"]:
                virtual.add(name)
        elif kind == "view":
            views.append(name)
    skipped: list[tuple[str, str]] = []
    columns: dict[str, tuple[MetaColumn, ...]] = {}
    for name in (*tables, *views):
        if name not in KNOWN or (name in virtual):
            continue
        try:
            columns[name] = _columns(ask, name)
        except sqlite3.DatabaseError as error:
            if not tolerant:
                raise
            skipped.append((name, str(error)))
    seen = Seen(
        tuple(tables),
        tuple(views),
        frozenset(virtual),
        _meta_kind(tables, views, virtual),
        columns.get(META, ()),
        columns=columns,
    )
    if seen.has_pair:
        try:
            lineage, version = _values(ask)
            seen = seen._replace(lineage=lineage, version=version, rows=_meta_rows(ask))
        except sqlite3.DatabaseError as error:
            if not tolerant:
                raise
            skipped.append((META, str(error)))
    return seen._replace(skipped=tuple(skipped))


def _meta_kind(tables: list[str], views: list[str], virtual: set[str]) -> str:
    if META in virtual:
        return MetaKind.VIRTUAL
    if META in tables:
        return MetaKind.TABLE
    if META in views:
        return MetaKind.VIEW
    # SQLite takes names without regard to case, so this one stands in the way of schema_meta.
    if any(name.lower() == META for name in (*tables, *views)):
        return MetaKind.OTHER_SPELLING
    return MetaKind.ABSENT


def _columns(ask: Ask, table: str) -> tuple[MetaColumn, ...]:
    rows = ask(f"PRAGMA main.table_xinfo({quoted(table)})")
    return tuple(MetaColumn(row[1], row[6] != 0, row[5]) for row in rows)


def _meta_rows(ask: Ask) -> tuple[MetaRow, ...]:
    def part(column: str) -> str:
        return (
            f"CASE WHEN typeof({column}) IN ('text', 'blob') THEN substr({column}, 1, {_SHOWN}) "
            f"ELSE {column} END, length({column})"
        )

    rows = ask(
        f"SELECT {part('key')}, {part('value')} FROM main.schema_meta NOT INDEXED LIMIT {_MOST_ROWS}"  # noqa: S608
    )
    found = [MetaRow(key, value, size if size and size > _SHOWN else None) for key, _, value, size in rows]
    return tuple(sorted(found, key=lambda row: (str(row.key), str(row.value))))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
