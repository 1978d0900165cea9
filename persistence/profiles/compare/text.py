"""Comparing SQL fragments by meaning, and naming what they are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from persistence.profiles.records import ClosureTable, Finding, IndexTerm, folded
from persistence.profiles.tokens import Token, Untokenized, alike, tokens, unwrapped

__all__ = ["Outcome", "columns_in", "same_text", "shown_terms", "terms_alike"]


class Outcome(NamedTuple):
    """What one comparator says of one table: its findings, and how many declared facts hold."""

    findings: tuple[Finding, ...] = ()
    holds: int = 0


def same_text(left: str | None, right: str | None, names: frozenset[str] = frozenset()) -> bool:
    """Whether two expressions (None: there is none) mean the same; what cannot be tokenized is its text."""
    if left is None or right is None or left == right:
        return left == right
    try:
        return alike(unwrapped(tokens(left)), unwrapped(tokens(right)), names)
    except Untokenized:
        return False


def names_of(*tables: ClosureTable) -> frozenset[str]:
    """The folded names that stand for something within a table's expressions."""
    return frozenset(folded(column.name) for table in tables for column in table.columns)


def columns_in(expression: str, table: ClosureTable) -> str:
    """The table's columns an expression names, in the table's order, for people; the expression if none."""
    try:
        found = {token.name for token in tokens(expression) if token.kind != "s"}
    except Untokenized:
        return expression
    named = [column.name for column in table.columns if folded(column.name) in found]
    return ", ".join(named) or expression


def terms_alike(
    left: Sequence[IndexTerm], right: Sequence[IndexTerm], names: frozenset[str] = frozenset()
) -> bool:
    """Whether two keys compare the same things in the same order, collation and direction."""
    return len(left) == len(right) and all(
        _key(a) == _key(b) and same_text(a.expression, b.expression, names)
        for a, b in zip(left, right, strict=True)
    )


def _key(term: IndexTerm) -> tuple[str | None, str | None, bool]:
    return None if term.column is None else folded(term.column), _plain(term.collation), term.descending


def _plain(collation: str | None) -> str | None:
    return None if collation is None or folded(collation) == "binary" else folded(collation)


def collations_alike(left: str | None, right: str | None) -> bool:
    return _plain(left) == _plain(right)


def conflicts_alike(left: str | None, right: str | None) -> bool:
    return _conflict(left) == _conflict(right)


def _conflict(clause: str | None) -> str | None:
    return None if clause is None or clause.upper() == "ABORT" else clause.upper()


def shown_terms(terms: Sequence[IndexTerm]) -> str:
    """`(a, b COLLATE NOCASE DESC)`."""

    def one(term: IndexTerm) -> str:
        words = [term.column or term.expression or "?"]
        if _plain(term.collation) is not None:
            words.append(f"COLLATE {term.collation}")
        if term.descending:
            words.append("DESC")
        return " ".join(words)

    return f"({', '.join(map(one, terms))})"


def literal(found: Sequence[Token]) -> Sequence[Token]:
    """A default's tokens: a bare or quoted word that is not a constant's is a string to SQLite there."""
    found = unwrapped(found)
    if len(found) == 1 and found[0].kind in "wqd" and not found[0].is_word(*_CONSTANTS):
        return (found[0]._replace(kind="s"),)
    return found


_CONSTANTS = ("null", "true", "false", "current_time", "current_date", "current_timestamp")
