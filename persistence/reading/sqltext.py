"""Reading SQLite's own CREATE statements: tokens, and the few things no PRAGMA tells.

Best effort: what cannot be understood is left out, never an error. Only the statement's structure is
read; nothing is evaluated.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

__all__ = ["ColumnText", "TableText", "Token", "index_predicate", "table_text", "tokens", "unquote", "writes"]


_WRITES = frozenset(
    (
        "ALTER", "ANALYZE", "ATTACH", "BEGIN", "COMMIT", "CREATE", "DELETE", "DETACH", "DROP", "END",
        "INSERT", "REINDEX", "RELEASE", "REPLACE", "ROLLBACK", "SAVEPOINT", "UPDATE", "VACUUM",
    )
)  # fmt: skip
_AFTER_WITH = frozenset(("DELETE", "INSERT", "INTO", "UPDATE"))  # REPLACE alone is a function too


class Token(NamedTuple):
    """`kind` is name, string, number, blank (spaces and comments) or sign; `depth` counts open brackets."""

    kind: str
    text: str
    start: int
    end: int
    depth: int

    def word(self) -> str:
        """The keyword this could be, in capitals; "" for quoted names, strings and signs."""
        return self.text.upper() if self.kind == "name" and self.text[:1] not in '"[`' else ""


_TOKEN = re.compile(
    r"""(?P<blank>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))
      | (?P<string>[xX]?'(?:[^']|'')*(?:'|\Z))
      | (?P<name>"(?:[^"]|"")*(?:"|\Z)|`(?:[^`]|``)*(?:`|\Z)|\[[^\]]*(?:\]|\Z)|[^\W\d][\w$]*)
      | (?P<number>\d[\w.]*|\.\d[\w.]*)
      | (?P<sign>\|\||<>|!=|<=|>=|==|<<|>>|->>|->|.)""",
    re.VERBOSE | re.DOTALL,
)


def tokens(sql: str) -> Iterator[Token]:
    """Every token of the text, blanks left out."""
    depth = 0
    for match in _TOKEN.finditer(sql):
        kind = match.lastgroup or "sign"
        if kind == "blank":
            continue
        text = match.group()
        if text == ")":
            depth = max(0, depth - 1)
        yield Token(kind, text, match.start(), match.end(), depth)
        if text == "(":
            depth += 1


def writes(sql: str) -> bool:
    """Whether a statement says by its verb that it does more than read. What it names need not exist.

    A first answer in clear words: what decides is the database itself, on a connection that only reads.
    """
    words = (token for token in tokens(sql) if token.depth == 0 and token.text != ";")
    first = next(words, None)
    if first is None or first.word() != "WITH":
        return first is not None and first.word() in _WRITES
    return any(token.word() in _AFTER_WITH for token in words)


def unquote(name: str) -> str:
    """The name a quoted or plain identifier stands for."""
    head = name[:1]
    if head in "\"`'" and name.endswith(head) and len(name) > 1:
        return name[1:-1].replace(head * 2, head)
    if head == "[" and name.endswith("]"):
        return name[1:-1]
    return name


def _closing(found: Sequence[Token], opening: int) -> int | None:
    """The index of the bracket that closes the one at `opening`."""
    depth = found[opening].depth
    for index in range(opening + 1, len(found)):
        if found[index].text == ")" and found[index].depth == depth:
            return index
    return None


def _inside(sql: str, found: Sequence[Token], opening: int) -> tuple[str, int] | None:
    """The text between a bracket and the one that closes it, and where that one is."""
    closing = _closing(found, opening)
    if closing is None:
        return None
    return sql[found[opening].end : found[closing].start].strip(), closing


def index_predicate(sql: str | None) -> str | None:
    """The expression after WHERE of a partial index."""
    if not sql:
        return None
    for token in tokens(sql):
        if token.word() == "WHERE" and token.depth == 0:
            return sql[token.end :].strip().rstrip(";").strip() or None
    return None


class ColumnText(NamedTuple):
    """What only the text of a column's definition tells."""

    collation: str | None
    generated: str | None


_TABLE_CONSTRAINTS = {"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"}


class TableText(NamedTuple):
    """What only the text of a CREATE TABLE tells. `columns` is by lower-case name."""

    columns: Mapping[str, ColumnText]
    checks: tuple[str, ...]


_NOTHING = TableText({}, ())
_KEPT_LENGTH = 10_000  # a longer text is read anew each time: a store decides how long one is


def table_text(sql: str | None) -> TableText:
    """Collation and generating expression of the columns, and the expressions of every CHECK, column and
    table constraints alike, in order. Stores have the same tables: what was read is remembered."""
    if not sql:
        return _NOTHING
    return _read_once(sql) if len(sql) <= _KEPT_LENGTH else _read(sql)


def _read(sql: str) -> TableText:
    found = list(tokens(sql))
    return TableText(_columns(sql, found), _checks(sql, found))


_read_once = functools.lru_cache(maxsize=256)(_read)


def _checks(sql: str, found: Sequence[Token]) -> tuple[str, ...]:
    out = []
    for index, token in enumerate(found[:-1]):
        if token.depth == 1 and token.word() == "CHECK" and found[index + 1].text == "(":
            inside = _inside(sql, found, index + 1)
            if inside is not None:
                out.append(inside[0])
    return tuple(out)


def _columns(sql: str, found: Sequence[Token]) -> dict[str, ColumnText]:
    opening = next((i for i, token in enumerate(found) if token.text == "(" and token.depth == 0), None)
    if opening is None or any(token.word() == "AS" for token in found[:opening]):
        return {}
    closing = _closing(found, opening)
    out: dict[str, ColumnText] = {}
    start = opening + 1
    for index in range(opening + 1, len(found)):
        if index == closing or (found[index].text == "," and found[index].depth == 1):
            part = found[start:index]
            if part and (part[0].word() not in _TABLE_CONSTRAINTS):
                out[unquote(part[0].text).lower()] = _column_text(sql, part)
            start = index + 1
        if index == closing:
            break
    return out


def _column_text(sql: str, part: Sequence[Token]) -> ColumnText:
    collation = generated = None
    for index, token in enumerate(part[:-1]):
        if token.depth != 1:
            continue
        if token.word() == "COLLATE":
            collation = unquote(part[index + 1].text)
        elif token.word() == "AS" and part[index + 1].text == "(":
            inside = _inside(sql, part, index + 1)
            generated = inside[0] if inside else None
    return ColumnText(collation, generated)
