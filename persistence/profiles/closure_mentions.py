"""Which tables a trigger or view names, found by where names stand, not by what strings or columns say.

A name stands for a table after FROM, JOIN, INTO, UPDATE, IN and after a comma within FROM. SQLite takes a
string there for a name too. A common table expression under a table's name counts as the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from persistence.profiles.tokens import Token

__all__ = ["Mentions", "Write", "mentions"]

_ENDS_FROM = (
    "where",
    "group",
    "having",
    "window",
    "order",
    "limit",
    "union",
    "except",
    "intersect",
    "returning",
    "set",
    "select",
    "values",
)


class Write(NamedTuple):
    """A statement that writes: its verb, the folded table, and where the table's name stands (an index)."""

    verb: str
    table: str
    at: int


class Mentions(NamedTuple):
    """Folded names of the tables read, and the statements that write."""

    reads: frozenset[str]
    writes: tuple[Write, ...]

    @property
    def names(self) -> frozenset[str]:
        return self.reads | {write.table for write in self.writes}


def mentions(found: Sequence[Token]) -> Mentions:
    """What the statements in these tokens name."""
    reads: set[str] = set()
    writes: list[Write] = []
    levels = [_Level()]
    for index, token in enumerate(found):
        level = levels[-1]
        if token.is_sign("("):
            levels.append(_Level(level.expects and not _is_query(found, index + 1)))
            level.expects = False
        elif token.is_sign(")"):
            if len(levels) > 1:
                levels.pop()
        elif token.is_sign(";"):
            levels = [_Level()]
        elif token.is_sign(","):
            level.expects = level.inside
        elif level.expects and token.name is not None:
            level.expects = False
            reads.add(_table(found, index)[0])
        elif token.kind == "w":
            _word(found, index, level, reads, writes)
    return Mentions(frozenset(reads), tuple(writes))


class _Level:
    """One depth of parentheses: whether it is within FROM, and whether a table's name comes next."""

    __slots__ = ("expects", "inside")

    def __init__(self, inside: bool = False) -> None:
        self.inside = self.expects = inside


def _word(found: Sequence[Token], index: int, level: _Level, reads: set[str], writes: list[Write]) -> None:
    word = found[index].text
    before = found[index - 1] if index else None
    if word == "from":
        if before is not None and before.is_word("delete"):
            _write(found, index + 1, "delete", writes)
        elif not _is_distinct_from(found, index):
            level.inside = level.expects = True
    elif word == "join":
        level.inside = level.expects = True
    elif word == "into":
        _write(found, index + 1, "insert", writes)
    elif word == "update":
        at = index + (3 if _at(found, index + 1).is_word("or") else 1)
        if not _at(found, at).is_word("set", "of", "on"):
            _write(found, at, "update", writes)
    elif word == "in":
        if _at(found, index + 1).name is not None:
            reads.add(_table(found, index + 1)[0])
    elif word in _ENDS_FROM:
        level.inside = level.expects = False


def _write(found: Sequence[Token], index: int, verb: str, writes: list[Write]) -> None:
    if _at(found, index).name is not None:
        name, at = _table(found, index)
        writes.append(Write(verb, name, at))


_NOTHING = Token("o", "", 0, 0)


def _at(found: Sequence[Token], index: int) -> Token:
    return found[index] if index < len(found) else _NOTHING


def _table(found: Sequence[Token], index: int) -> tuple[str, int]:
    """The folded table named at this place, behind its schema's name if there is one."""
    if _at(found, index + 1).is_sign(".") and _at(found, index + 2).name is not None:
        index += 2
    return found[index].name or "", index


def _is_query(found: Sequence[Token], index: int) -> bool:
    return _at(found, index).is_word("select", "values", "with")


def _is_distinct_from(found: Sequence[Token], index: int) -> bool:
    """`a IS [NOT] DISTINCT FROM b` compares; `SELECT DISTINCT FROM` is no SQL."""
    return index > 1 and found[index - 1].is_word("distinct") and found[index - 2].is_word("is", "not")
