"""Columns: there, in order, and of the same type, nullability, default, computation and collation."""

from __future__ import annotations

from collections.abc import Iterator

from persistence.profiles.codes import finding
from persistence.profiles.compare.text import (
    Outcome,
    collations_alike,
    conflicts_alike,
    literal,
    names_of,
    same_text,
)
from persistence.profiles.records import ClosureTable, ColumnShape, Finding, Generated, folded
from persistence.profiles.tokens import Untokenized, alike, tokens

__all__ = ["affinity", "columns"]


def columns(declared: ClosureTable, live: ClosureTable) -> Outcome:
    """Every declared column against the live one of the same name, and every live one nobody declared."""
    found: list[Finding] = []
    holds = 0
    theirs = {folded(column.name): column for column in live.columns}
    for expected in declared.columns:
        observed = theirs.get(folded(expected.name))
        if observed is None:
            found.append(
                finding(
                    "column-missing",
                    table=declared.name,
                    object=expected.name,
                    expected=shown(expected),
                    observed="no such column",
                )
            )
            continue
        differences = tuple(_differences(declared, live, expected, observed))
        found += differences
        holds += not any(difference.refuses for difference in differences)
    ours = {folded(column.name) for column in declared.columns}
    for name, observed in theirs.items():
        if name not in ours:
            found.append(
                finding(
                    "column-extra",
                    table=declared.name,
                    object=observed.name,
                    expected="no such column",
                    observed=shown(observed),
                )
            )
    found += _order(declared, [name for name in theirs if name in ours])
    return Outcome(tuple(found), holds)


def _order(declared: ClosureTable, observed: list[str]) -> Iterator[Finding]:
    """`observed`: the declared columns that are there, in the live order."""
    there = set(observed)
    expected = [name for name in (folded(column.name) for column in declared.columns) if name in there]
    if expected == observed:
        return
    first = next(at for at, pair in enumerate(zip(expected, observed, strict=True)) if pair[0] != pair[1])
    yield finding(
        "column-order",
        table=declared.name,
        object=expected[first],
        expected=", ".join(expected[first:]),
        observed=", ".join(observed[first:]),
    )


def _differences(
    declared: ClosureTable, live: ClosureTable, expected: ColumnShape, observed: ColumnShape
) -> Iterator[Finding]:
    def differ(code: str, before: str, after: str) -> Finding:
        return finding(code, table=declared.name, object=expected.name, expected=before, observed=after)

    rowid = _is_rowid(declared, expected.name) and _is_rowid(live, observed.name)
    if not rowid:
        yield from _type(declared, live, expected, observed)
        if expected.nullable != observed.nullable:
            yield differ("column-null", _null(expected), _null(observed))
        if not _defaults_alike(expected.default, observed.default):
            yield differ("column-default", _default(expected), _default(observed))
    if not _computed_alike(declared, live, expected.generated, observed.generated):
        yield differ("column-generated", _computed(expected), _computed(observed))
    if not collations_alike(expected.collation, observed.collation):
        yield differ(
            "column-collation", f"COLLATE {_word(expected.collation)}", f"COLLATE {_word(observed.collation)}"
        )
    if not conflicts_alike(expected.conflict, observed.conflict):
        yield differ(
            "conflict-clause",
            f"NOT NULL ON CONFLICT {expected.conflict or 'ABORT'}",
            f"NOT NULL ON CONFLICT {observed.conflict or 'ABORT'}",
        )


def _is_rowid(table: ClosureTable, column: str) -> bool:
    key = table.primary_key
    return key is not None and key.rowid and [folded(name) for name in key.columns] == [folded(column)]


def _type(
    declared: ClosureTable, live: ClosureTable, expected: ColumnShape, observed: ColumnShape
) -> Iterator[Finding]:
    before, after = _words(expected.type), _words(observed.type)
    if before == after:
        return
    strict = declared.strict or live.strict
    code = "column-type"
    if not strict and affinity(expected.type) == affinity(observed.type):
        code = "column-type-spelling"
    yield finding(
        code,
        table=declared.name,
        object=expected.name,
        expected=expected.type or "no type",
        observed=observed.type or "no type",
    )


def _words(kind: str) -> str:
    return "".join(folded(kind).split())


def affinity(kind: str) -> str:
    """How SQLite keeps values of a column of this type (its rules of column affinity, in their order)."""
    name = folded(kind)
    if "int" in name:
        return "INTEGER"
    if any(part in name for part in ("char", "clob", "text")):
        return "TEXT"
    if "blob" in name or not name.strip():
        return "BLOB"
    if any(part in name for part in ("real", "floa", "doub")):
        return "REAL"
    return "NUMERIC"


def _defaults_alike(left: str | None, right: str | None) -> bool:
    if left == right:
        return True
    try:
        before, after = (literal(tokens(text if text is not None else "NULL")) for text in (left, right))
    except Untokenized:
        return False
    return alike(before, after)


def _computed_alike(
    declared: ClosureTable, live: ClosureTable, before: Generated | None, after: Generated | None
) -> bool:
    if before is None or after is None:
        return before is after
    names = names_of(declared, live)
    return before.stored == after.stored and same_text(before.expression, after.expression, names)


def _null(column: ColumnShape) -> str:
    return "may be NULL" if column.nullable else "NOT NULL"


def _default(column: ColumnShape) -> str:
    return "no default" if column.default is None else f"DEFAULT {column.default}"


def _computed(column: ColumnShape) -> str:
    if column.generated is None:
        return "a stored value"
    how = "STORED" if column.generated.stored else "VIRTUAL"
    return f"AS ({column.generated.expression}) {how}"


def _word(collation: str | None) -> str:
    return collation or "BINARY"


def shown(column: ColumnShape) -> str:
    """A column in one line of SQL, for people."""
    words = [column.type or "no type"]
    if not column.nullable:
        words.append("NOT NULL")
    if column.default is not None:
        words.append(f"DEFAULT {column.default}")
    if column.generated is not None:
        words.append(_computed(column))
    if column.collation is not None:
        words.append(f"COLLATE {column.collation}")
    return " ".join(words)
