"""The shapes of a SQLite file's tables, by its own PRAGMAs and CREATE statements.

Runs on the driver's thread, all of it in one hop: some four milliseconds for the operational schema.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from persistence.lineage.rows import quoted
from persistence.reading.sqltext import ColumnText, index_predicate, table_text, tokens
from persistence.records import ForeignKey, Index, TableColumn, TableShape

__all__ = ["fingerprint", "shapes"]

Kind = Literal["table", "view", "virtual", "shadow"]
_KINDS: dict[str, Kind] = {"table": "table", "view": "view", "virtual": "virtual", "shadow": "shadow"}
_ROWID_NAMES = {"rowid", "_rowid_", "oid"}


def fingerprint(connection: sqlite3.Connection) -> object:
    # The cookie alone would be the same for two files that trade places under one name.
    cookie = connection.execute("PRAGMA schema_version").fetchone()
    entries = connection.execute(
        "SELECT count(*), total(length(sql)), total(rootpage), total(length(name)) FROM sqlite_master"
    ).fetchone()
    return (*cookie, *entries)


def shapes(connection: sqlite3.Connection) -> list[TableShape]:
    """Every table and view of the main database but SQLite's own (`sqlite_...`)."""
    texts: dict[str, str | None] = {}
    made: dict[str, str] = {}
    indexes: dict[str, str | None] = {}
    triggers: dict[str, list[tuple[str, str]]] = {}
    for kind, name, table, sql in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"):
        if kind in ("table", "view"):
            texts[name], made[name] = sql, kind
        elif kind == "index":
            indexes[name] = sql
        elif kind == "trigger":
            triggers.setdefault(str(table).lower(), []).append((name, sql or ""))
    listed = _table_list(connection)
    out = []
    for name in made:
        if name.lower().startswith("sqlite_"):
            continue
        kind, without_rowid, strict = listed.get(name) or _by_text(made[name], texts[name])
        try:
            shape = _shape(connection, name, kind, without_rowid, strict, texts[name], indexes)
        except (sqlite3.DatabaseError, ValueError) as error:
            shape = TableShape(name, kind, (), has_rowid=False, sql=texts[name], unreadable=_why(error))
        if name.lower() in triggers:
            shape = replace(shape, triggers=tuple(triggers[name.lower()]))
        out.append(shape)
    return out


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__


def _table_list(connection: sqlite3.Connection) -> dict[str, tuple[Kind, bool, bool]]:
    """Kind, WITHOUT ROWID and STRICT by name; empty where the library is older than 3.37."""
    found = connection.execute("PRAGMA main.table_list").fetchall()
    return {
        row[1]: (_KINDS.get(row[2], "table"), bool(row[4]), bool(row[5])) for row in found if row[0] == "main"
    }


def _by_text(kind: str, sql: str | None) -> tuple[Kind, bool, bool]:
    if kind == "view":
        return "view", False, False
    words = [token.word() or token.text for token in tokens(sql or "") if token.depth == 0]
    if "VIRTUAL" in words[:3]:
        return "virtual", False, False
    tail = words[words.index(")") :] if ")" in words else []
    return "table", "WITHOUT" in tail, "STRICT" in tail


def _prepare(connection: sqlite3.Connection, name: str) -> None:
    """Compiles a query over the table or view, so that SQLite says what is wrong with it."""
    connection.execute(f"SELECT * FROM main.{quoted(name)} LIMIT 0")  # noqa: S608 (quoted)


def _shape(
    connection: sqlite3.Connection,
    name: str,
    kind: Kind,
    without_rowid: bool,
    strict: bool,
    sql: str | None,
    index_sql: dict[str, str | None],
) -> TableShape:
    info = connection.execute(f"PRAGMA main.table_xinfo({quoted(name)})").fetchall()
    text = table_text(sql if kind in ("table", "shadow") else None)
    columns = tuple(_column(row, text.columns) for row in info)
    if not columns:
        # A view whose query no longer compiles, a virtual table without its module: say why.
        _prepare(connection, name)
    primary = sorted((column.primary_key, column.name) for column in columns if column.primary_key)
    if kind == "view":
        _prepare(connection, name)
        return TableShape(name, kind, columns, has_rowid=False, sql=sql)
    indexes = tuple(
        _index(connection, row, index_sql)
        for row in connection.execute(f"PRAGMA main.index_list({quoted(name)})").fetchall()
    )
    taken = {column.name.lower() for column in columns}
    return TableShape(
        name,
        kind,
        columns,
        primary_key=tuple(column for _, column in primary),
        unique=tuple(
            tuple(column for column in index.columns if column is not None)
            for index in indexes
            if index.unique and index.origin != "pk" and index.where is None and None not in index.columns
        ),
        foreign_keys=_foreign_keys(connection, name),
        checks=text.checks,
        indexes=indexes,
        has_rowid=not without_rowid and not taken >= _ROWID_NAMES,
        without_rowid=without_rowid,
        strict=strict,
        sql=sql,
    )


def _column(row: tuple[Any, ...], texts: Mapping[str, ColumnText]) -> TableColumn:
    _, name, declared, notnull, default, key, hidden = row
    text = texts.get(name.lower())
    generated = None
    if hidden in (2, 3):
        generated = (text.generated if text else None) or ""
    return TableColumn(
        name,
        declared or "",
        nullable=not notnull,
        default=default,
        primary_key=key,
        generated=generated,
        hidden=hidden == 1,
        collation=text.collation if text else None,
    )


def _index(connection: sqlite3.Connection, row: tuple[Any, ...], index_sql: dict[str, str | None]) -> Index:
    _, name, unique, origin, partial = row
    parts = [
        (column, cid, descending)
        for _, cid, column, descending, _, key in connection.execute(
            f"PRAGMA main.index_xinfo({quoted(name)})"
        )
        if key
    ]
    sql = index_sql.get(name)
    return Index(
        name,
        tuple("rowid" if cid == -1 else column for column, cid, _ in parts),
        unique=bool(unique),
        where=(index_predicate(sql) or "") if partial else None,
        origin=origin,
        descending=tuple(bool(descending) for _, _, descending in parts),
        sql=sql,
    )


def _foreign_keys(connection: sqlite3.Connection, name: str) -> tuple[ForeignKey, ...]:
    found: dict[int, list[tuple[Any, ...]]] = {}
    for row in connection.execute(f"PRAGMA main.foreign_key_list({quoted(name)})"):
        found.setdefault(row[0], []).append(row)
    out = []
    for _, rows in sorted(found.items()):
        rows.sort(key=lambda row: row[1])
        to = tuple(row[4] for row in rows)
        out.append(
            ForeignKey(
                tuple(row[3] for row in rows),
                rows[0][2],
                () if None in to else to,
                on_delete=rows[0][6],
                on_update=rows[0][5],
            )
        )
    return tuple(out)
