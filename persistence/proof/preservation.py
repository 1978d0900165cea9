"""What a run changed of a store, row by row, by digest (ADR-0128 D8, item 3).

Two files at rest, before and after, are compared by key; no row is held longer than it takes to look at it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from persistence.lineage.rows import quoted
from persistence.profiles.records import Profile, folded

__all__ = ["Differences", "compare", "contents", "resting"]

_NAMED = 5
"""How many rows of a kind are named; all are counted."""


@dataclass(frozen=True, slots=True)
class Differences:
    """`failures` name what was touched that must not be; the rest are counts of rows."""

    tables: int
    rows: int
    added: int
    failures: tuple[str, ...]


def resting(path: Path) -> None:
    """Folds a scratch store's log into its file, as its managing application does when it leaves."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def compare(before: Path, after: Path, profile: Profile, owners: Sequence[str | None]) -> Differences:
    """Every row that was there is as it was, and every new one is one the profile lets `owners` add.

    Blocking. Both files must be at rest.
    """
    failures: list[str] = []
    with closing(sqlite3.connect(f"{before.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        connection.text_factory = bytes
        connection.create_function("digest_of", -1, _digest, deterministic=True)
        connection.execute("ATTACH ? AS later", (f"{after.as_uri()}?mode=ro&immutable=1",))
        if _schema(connection, "main") != _schema(connection, "later"):
            failures.append("the schema is not what it was")
        failures += _sound(connection)
        tables = rows = added = 0
        for table in _tables(connection):
            key = _key(connection, table)
            if key is None:
                failures.append(f"{table}: has no key to compare its rows by")
                continue
            tables += 1
            rows += connection.execute(f"SELECT count(*) FROM main.{quoted(table)}").fetchone()[0]
            failures += _touched(connection, table, key)
            more, wrong = _added(connection, table, key, profile, owners)
            added += more
            failures += wrong
    return Differences(tables, rows, added, tuple(failures))


def contents(path: Path) -> dict[str, str]:
    """A digest of every table's rows, and of the schema, of a store that may be in use. Blocking."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as connection:
        connection.text_factory = bytes
        connection.execute("BEGIN")
        found = {"": _digest(*_schema(connection, "main")).hex()}
        for table in _tables(connection):
            digest = blake2b(digest_size=16)
            for row in connection.execute(f"SELECT * FROM main.{quoted(table)}"):
                digest.update(_digest(*row))
            found[table] = digest.hexdigest()
        connection.execute("COMMIT")
    return found


def _digest(*values: object) -> bytes:
    found = blake2b(digest_size=16)
    for value in values:
        said = repr(value).encode()
        found.update(b"%d:" % len(said) + said)
    return found.digest()


def _text(value: object) -> str:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _schema(connection: sqlite3.Connection, side: str) -> list[tuple[object, ...]]:
    return connection.execute(
        f"SELECT type, name, tbl_name, sql FROM {side}.sqlite_schema ORDER BY type, name"
    ).fetchall()


def _sound(connection: sqlite3.Connection) -> Iterator[str]:
    before = {tuple(row) for row in connection.execute("PRAGMA main.foreign_key_check")}
    after = {tuple(row) for row in connection.execute("PRAGMA later.foreign_key_check")}
    for row in sorted(after - before, key=repr)[:_NAMED]:
        yield f"{_text(row[0])}: a link to {_text(row[2])} leads nowhere"
    said = [_text(row[0]) for row in connection.execute("PRAGMA later.integrity_check(3)")]
    if said != ["ok"]:
        yield f"SQLite's own check of the store says: {'; '.join(said)}"


def _tables(connection: sqlite3.Connection) -> list[str]:
    found = connection.execute(
        "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        " AND sql NOT LIKE 'create virtual%' ORDER BY name"
    )
    return [_text(row[0]) for row in found]


def _columns(connection: sqlite3.Connection, table: str) -> list[tuple[str, int]]:
    found = connection.execute(f"PRAGMA main.table_xinfo({quoted(table)})")
    return [(_text(row[1]), row[5]) for row in found]


def _key(connection: sqlite3.Connection, table: str) -> tuple[str, ...] | None:
    """The primary key's columns where all have a value always, else the row id."""
    named = [(place, name) for name, place in _columns(connection, table) if place]
    without = connection.execute(
        "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", (table,)
    ).fetchone()
    if without is not None and without[0]:
        return tuple(name for _, name in sorted(named)) or None
    taken = {folded(name) for name, _ in _columns(connection, table)}
    free = next((word for word in ("rowid", "_rowid_", "oid") if word not in taken), None)
    return None if free is None else (free,)


def _on(key: Sequence[str]) -> str:
    return " AND ".join(f"b.{quoted(name)} = a.{quoted(name)}" for name in key)


def _touched(connection: sqlite3.Connection, table: str, key: Sequence[str]) -> Iterator[str]:
    columns = [name for name, _ in _columns(connection, table)]
    before = ", ".join(f"b.{quoted(name)}" for name in columns)
    after = ", ".join(f"a.{quoted(name)}" for name in columns)
    first = quoted(key[0])
    found = connection.execute(
        f"SELECT {before}, a.{first} IS NULL FROM main.{quoted(table)} b"
        f" LEFT JOIN later.{quoted(table)} a ON {_on(key)}"
        f" WHERE a.{first} IS NULL OR digest_of({before}) IS NOT digest_of({after})"
    )
    number = 0
    for row in found:
        number += 1
        if number <= _NAMED:
            named = ", ".join(_text(value)[:40] for value in row[:1])
            yield f"{table}: the row {named} {'is gone' if row[-1] else 'was changed'}"
    if number > _NAMED:
        yield f"{table}: {number - _NAMED} more rows were changed or are gone"


def _added(
    connection: sqlite3.Connection,
    table: str,
    key: Sequence[str],
    profile: Profile,
    owners: Sequence[str | None],
) -> tuple[int, list[str]]:
    rule = next((rule for name, rule in profile.writes.items() if folded(name) == folded(table)), None)
    columns = [name for name, _ in _columns(connection, table)]
    first = quoted(key[0])
    name = quoted(table)
    new = f" FROM later.{name} a LEFT JOIN main.{name} b ON {_on(key)} WHERE b.{first} IS NULL"
    number = connection.execute(f"SELECT count(*){new}").fetchone()[0]
    if not number:
        return 0, []
    if rule is None or not rule.insert:
        return number, [f"{table}: {number} rows were added, and the profile inserts none"]
    owner = profile.owner
    column = next((name for name in columns if owner and folded(name) == folded(owner.column)), None)
    if owner is None or column is None:
        return number, []
    marks = ", ".join("?" for _ in owners)
    others = connection.execute(
        f"SELECT count(*){new} AND (a.{quoted(column)} IS NULL OR a.{quoted(column)} NOT IN ({marks}))",
        tuple(owners),
    ).fetchone()[0]
    return number, [f"{table}: {others} new rows carry another owner"] if others else []
