"""The shapes of a PostgreSQL database's tables, from `pg_catalog`.

Tables the connection's search path reaches are listed, under their bare names; `StoreFacts.extra` says
how many there are in other schemas.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Literal

from persistence.records import ForeignKey, Index, TableColumn, TableShape

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot

__all__ = ["fingerprint", "shapes"]

_VISIBLE = """
    c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_table_is_visible(c.oid)
    AND c.relnamespace NOT IN (
        SELECT oid FROM pg_namespace WHERE nspname LIKE 'pg\\_%' OR nspname = 'information_schema')
"""

_FINGERPRINT = f"""
SELECT count(*), sum(hashtext(c.relname || '.' || a.attname || '.' || a.atttypid || a.attnotnull)::bigint),
       (SELECT count(*) FROM pg_index), (SELECT max(oid) FROM pg_constraint)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE {_VISIBLE}
"""  # noqa: S608 (constants only)

_COLUMNS = f"""
SELECT c.oid, c.relname, c.relkind, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod),
       a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attgenerated, a.attidentity,
       CASE WHEN a.attcollation <> t.typcollation THEN l.collname END
FROM pg_class c
LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
LEFT JOIN pg_collation l ON l.oid = a.attcollation
WHERE {_VISIBLE}
ORDER BY c.relname, a.attnum
"""  # noqa: S608

_CONSTRAINTS = f"""
SELECT x.conrelid, x.conname, x.contype, x.conkey, f.relname, x.confrelid, x.confkey,
       x.confdeltype, x.confupdtype,
       CASE WHEN x.contype = 'c' THEN pg_get_expr(x.conbin, x.conrelid, true) END
FROM pg_constraint x JOIN pg_class c ON c.oid = x.conrelid LEFT JOIN pg_class f ON f.oid = x.confrelid
WHERE x.contype IN ('p', 'u', 'f', 'c') AND {_VISIBLE}
ORDER BY x.conrelid, x.conname
"""  # noqa: S608

_INDEXES = f"""
SELECT i.indrelid, n.relname, i.indisunique, i.indisprimary, i.indkey::int2[], i.indoption::int2[],
       i.indnkeyatts, pg_get_expr(i.indpred, i.indrelid, true), pg_get_indexdef(i.indexrelid),
       EXISTS (SELECT 1 FROM pg_constraint x WHERE x.conindid = i.indexrelid AND x.contype = 'u')
FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class n ON n.oid = i.indexrelid
WHERE {_VISIBLE}
ORDER BY i.indrelid, n.relname
"""  # noqa: S608

_TRIGGERS = f"""
SELECT g.tgrelid, g.tgname, pg_get_triggerdef(g.oid)
FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
WHERE NOT g.tgisinternal AND {_VISIBLE}
ORDER BY g.tgrelid, g.tgname
"""  # noqa: S608

_ACTIONS = {"a": "NO ACTION", "r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"}
_KINDS: dict[str, Literal["table", "view", "virtual"]] = {
    "r": "table",
    "p": "table",
    "v": "view",
    "m": "view",
    "f": "virtual",
}


async def fingerprint(snapshot: Snapshot) -> object:
    row = await snapshot.first(_FINGERPRINT)
    return tuple(str(value) for value in row or ())


async def shapes(snapshot: Snapshot) -> list[TableShape]:
    """Every table and view on the search path."""
    tables: dict[int, tuple[str, str]] = {}
    columns: dict[int, dict[int, tuple[Any, ...]]] = defaultdict(dict)
    for oid, name, kind, number, *rest in await snapshot.rows(_COLUMNS):
        tables[oid] = (name, _char(kind))
        if number is not None:
            columns[oid][number] = tuple(rest)
    constraints = _by_table(await snapshot.rows(_CONSTRAINTS))
    indexes = _by_table(await snapshot.rows(_INDEXES))
    triggers = _by_table(await snapshot.rows(_TRIGGERS))
    names = {oid: {number: row[0] for number, row in columns[oid].items()} for oid in tables}
    return [
        _shape(name, kind, columns[oid], constraints[oid], indexes[oid], triggers[oid], names, names[oid])
        for oid, (name, kind) in tables.items()
    ]


def _char(value: Any) -> str:
    """PostgreSQL's "char" type, which a driver may hand over as bytes."""
    text = value.decode("ascii") if isinstance(value, bytes) else str(value or "")
    return text.strip("\0")


def _by_table(rows: list[Any]) -> dict[int, list[tuple[Any, ...]]]:
    out: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for oid, *rest in rows:
        out[oid].append(tuple(rest))
    return out


def _shape(
    name: str,
    kind: str,
    columns: dict[int, tuple[Any, ...]],
    constraints: list[tuple[Any, ...]],
    indexes: list[tuple[Any, ...]],
    triggers: list[tuple[Any, ...]],
    names: dict[int, dict[int, str]],
    own: dict[int, str],
) -> TableShape:
    primary: tuple[str, ...] = ()
    keys, checks = [], []
    for label, kind_of, numbers, table, parent, parent_numbers, deleted, updated, expression in constraints:
        local = tuple(own[number] for number in numbers or ())
        match _char(kind_of):
            case "p":
                primary = local
            case "f":
                theirs = names.get(parent, {})
                keys.append(
                    ForeignKey(
                        local,
                        table,
                        tuple(theirs[number] for number in parent_numbers or () if number in theirs),
                        _ACTIONS.get(_char(deleted), "NO ACTION"),
                        _ACTIONS.get(_char(updated), "NO ACTION"),
                        label,
                    )
                )
            case "c":
                checks.append(expression)
    found = tuple(_index(row, own) for row in indexes)
    return TableShape(
        name,
        _KINDS[kind],
        tuple(_column(row, primary) for _, row in sorted(columns.items())),
        primary_key=primary,
        unique=tuple(
            tuple(column for column in index.columns if column is not None)
            for index in found
            if index.unique and index.origin != "pk" and index.where is None and None not in index.columns
        ),
        foreign_keys=tuple(keys),
        checks=tuple(checks),
        indexes=found,
        triggers=tuple((label, sql) for label, sql in triggers),
        has_rowid=False,
    )


def _column(row: tuple[Any, ...], primary: tuple[str, ...]) -> TableColumn:
    name, kind, notnull, default, generated, identity, collation = row
    made = bool(_char(generated))
    if _char(identity):
        default = "identity"
    return TableColumn(
        name,
        kind,
        nullable=not notnull,
        default=None if made else default,
        primary_key=primary.index(name) + 1 if name in primary else 0,
        generated=default if made else None,
        collation=collation,
    )


def _index(row: tuple[Any, ...], own: dict[int, str]) -> Index:
    name, unique, primary, numbers, options, keyed, where, sql, constraint = row
    return Index(
        name,
        tuple(own.get(number) for number in list(numbers)[:keyed]),
        unique=unique,
        where=where,
        origin="pk" if primary else "u" if constraint else "c",
        descending=tuple(bool(option & 1) for option in list(options)[:keyed]),
        sql=sql,
    )
