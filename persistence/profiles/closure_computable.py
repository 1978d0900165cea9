"""What a closure computes on a write, and whether SQLite can do so here: functions and collations of its own.

An application can give SQLite functions and collations that no other program has. A check, an index or a
trigger that needs one cannot be computed on a connection from here, so nobody can say what a write would do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from persistence.lineage.rows import Ask, quoted
from persistence.profiles.closure_mentions import mentions
from persistence.profiles.records import ClosureTable, IndexTerm, ObjectShape, Uninterpreted, folded
from persistence.profiles.tokens import KEYWORDS, Token, Untokenized, tokens

__all__ = ["lacking"]


class _Here:
    """What the library has."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._collates = {"binary": True, "nocase": True, "rtrim": True}
        self.functions = frozenset(folded(row[0]) for row in ask("PRAGMA function_list"))

    def collates(self, name: str) -> bool:
        """Asked by using it: SQLite lists one as soon as a schema names it."""
        key = folded(name)
        if key not in self._collates:
            try:
                self._ask(f"SELECT '' = '' COLLATE {quoted(name)}")
                self._collates[key] = True
            except (sqlite3.OperationalError, UnicodeEncodeError):
                self._collates[key] = False
        return self._collates[key]


def lacking(
    ask: Ask, tables: Iterable[ClosureTable], objects: Iterable[ObjectShape]
) -> Iterator[Uninterpreted]:
    """Each thing of the closure that needs a function or collation which is not here."""
    here = _Here(ask)
    names = []
    for table in tables:
        names.append(folded(table.name))
        for name, text in _texts(table):
            for lack in _lacks(text, here):
                yield Uninterpreted(table.name, name, lack)
        for name, collation in _collations(table):
            if not here.collates(collation):
                yield Uninterpreted(table.name, name, _said("collation", collation))
    for shape in objects:
        if shape.kind == "trigger" and folded(shape.table or "") in names:
            for lack in _lacks(shape.sql, here):
                yield Uninterpreted(shape.table, shape.name, lack)


def _texts(table: ClosureTable) -> Iterator[tuple[str, str]]:
    for column in table.columns:
        if column.default is not None:
            yield column.name, column.default
        if column.generated is not None:
            yield column.name, column.generated.expression
    for check in table.checks:
        yield check.name or table.name, check.expression
    for name, terms, predicate in _keys(table):
        if predicate is not None:
            yield name, predicate
        for term in terms:
            if term.expression is not None:
                yield name, term.expression


def _keys(table: ClosureTable) -> Iterator[tuple[str, Sequence[IndexTerm], str | None]]:
    if table.primary_key is not None:
        yield ", ".join(table.primary_key.columns), table.primary_key.terms, None
    for unique in table.uniques:
        yield unique.name or ", ".join(t.column or "?" for t in unique.terms), unique.terms, unique.predicate
    for index in table.indexes:
        yield index.name, index.terms, index.predicate


def _collations(table: ClosureTable) -> Iterator[tuple[str, str]]:
    for column in table.columns:
        if column.collation is not None:
            yield column.name, column.collation
    for name, terms, _ in _keys(table):
        for term in terms:
            if term.collation is not None:
                yield name, term.collation


def _lacks(text: str, here: _Here) -> Iterator[str]:
    try:
        found = tokens(text)
    except Untokenized:
        return  # listed already, by whoever reads this text
    for name in sorted(set(_called(found)) - here.functions):
        yield _said("function", f"{name}()")
    for at, token in enumerate(found[:-1]):
        if token.is_word("collate") and not here.collates(found[at + 1].text):
            yield _said("collation", found[at + 1].text)


def _called(found: Sequence[Token]) -> Iterator[str]:
    """Names before a parenthesis, but for tables and keywords; and the operators that call a function."""
    named = mentions(found)
    tables = {write.at for write in named.writes}
    for at, token in enumerate(found):
        if token.is_word("regexp", "match") and not (at + 1 < len(found) and found[at + 1].is_sign("(")):
            yield token.text
        if at + 1 == len(found) or not found[at + 1].is_sign("(") or token.kind not in "wdq":
            continue
        name = folded(token.text)
        if at in tables or name in named.reads or (token.kind == "w" and name in KEYWORDS):
            continue
        yield name


def _said(what: str, name: str) -> str:
    return f"it needs the {what} {name}, which is not part of SQLite here"
