"""SQL text as SQLite's own tokens: what only text holds is compared by them (DESIGN 4).

The characters are read by sqlglot's tokenizer in SQLite's dialect, cut down to SQLite's operators (its words,
commands and comments of other databases would hide what a trigger writes). What it splits or joins otherwise
than SQLite does is put right here, and whatever is then not a token of SQLite's is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from persistence.profiles.records import folded

if TYPE_CHECKING:
    from sqlglot.tokens import Tokenizer

__all__ = ["KEYWORDS", "Token", "Untokenized", "alike", "tokens", "unwrapped"]

LONGEST = 1_000_000
"""Characters of one text that are tokenized; SQLite's own limit for a statement."""


class Untokenized(Exception):
    """The text holds something that is not a token of SQLite's; the message says what, and where."""


class Token(NamedTuple):
    """One token: `text` is what it means, `start` and `end` where it stands in the text.

    Kinds: `w` a bare word, `q` a name in brackets or backticks, `d` in double quotes (a name, or a string
    where there is no such name), `s` a string, `n` a number, `b` a blob, `o` an operator.
    """

    kind: str
    text: str
    start: int
    end: int

    @property
    def name(self) -> str | None:
        """The folded name, where the token can be one (SQLite takes a string for a name as well)."""
        return folded(self.text) if self.kind in "wqds" else None

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these bare words, given in lower case."""
        return self.kind == "w" and self.text in words

    def is_sign(self, sign: str) -> bool:
        return self.kind == "o" and self.text == sign


_WORDS = (
    "abort add after all alter always analyze and any as asc attach autoincrement before begin between by "
    "cascade case cast check collate commit conflict constraint create cross current current_date "
    "current_time current_timestamp default deferrable deferred delete desc detach distinct do drop each "
    "else end escape except exclude exclusive exists explain fail false filter first following for foreign "
    "from full generated glob group groups having if ignore immediate in index indexed initially inner "
    "insert instead intersect into is isnull join last left like limit match materialized natural no not "
    "nothing notnull null nulls of offset on or order others outer over partition pragma preceding primary "
    "raise range recursive references regexp reindex release rename replace restrict returning right "
    "rollback row rows savepoint select set temp temporary then ties to transaction trigger true unbounded "
    "union unique update using vacuum values virtual when where window with within without"
)
KEYWORDS = frozenset(_WORDS.split())
"""Words whose quotes change what they mean. (`key`, `action`, `view` and such are names in quotes or not.)"""

_SPACE = re.compile(r"(?:[ \t\n\f\r]+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*")
_NUMBER = re.compile(r"(?:0[xX][0-9A-Fa-f_]+|(?:\d[\d_]*\.?(?:\d[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?)")
_BLOB = re.compile(r"[xX]'(?:[0-9A-Fa-f]{2})*'")
_OPERATORS = {
    sign: {"==": "=", "<>": "!="}.get(sign, sign)
    for sign in [
        "+",
        "-",
        "*",
        "/",
        "%",
        "(",
        ")",
        ",",
        ";",
        ".",
        "=",
        "==",
        "<",
        "<=",
        "<>",
        "!=",
        ">",
        ">=",
        "<<",
        ">>",
        "|",
        "||",
        "&",
        "~",
        "->",
        "->>",
    ]
}


@cache
def _tokenizer() -> Tokenizer:
    """Loaded on first use: sqlglot takes a tenth of a second."""
    from sqlglot import TokenType
    from sqlglot.dialects.sqlite import SQLite

    class Narrow(SQLite.Tokenizer):
        COMMANDS: ClassVar[set[TokenType]] = set()
        COMMAND_PREFIX_TOKENS: ClassVar[set[TokenType]] = set()
        NESTED_COMMENTS = False
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            "==": TokenType.EQ,
            "<>": TokenType.NEQ,
            "!=": TokenType.NEQ,
            "<=": TokenType.LTE,
            ">=": TokenType.GTE,
            "||": TokenType.DPIPE,
            "->": TokenType.ARROW,
            "->>": TokenType.DARROW,
        }

    return Narrow()


def tokens(sql: str) -> tuple[Token, ...]:
    """The tokens of a text; comments and spacing are gone. Raises Untokenized."""
    if len(sql) > LONGEST:
        raise Untokenized(f"a text of {len(sql)} characters")
    return _kept(sql) if len(sql) <= _KEPT else _tokens(sql)


_KEPT = 32_768
"""Characters of a text whose tokens are kept for the next admission."""


def _tokens(sql: str) -> tuple[Token, ...]:
    if "\ufeff" in sql or "\x00" in sql:
        raise Untokenized("a byte order mark or NUL")
    from sqlglot.errors import TokenError

    try:
        raw = _tokenizer().tokenize(sql)
    except TokenError as error:
        raise Untokenized("an unfinished string, name or comment") from error
    return _checked(sql, [(token.start, token.end + 1) for token in raw])


_kept = lru_cache(maxsize=1024)(_tokens)


def _checked(sql: str, spans: Sequence[tuple[int, int]]) -> tuple[Token, ...]:
    found: list[Token] = []
    at = index = 0
    while index < len(spans):
        start, end = spans[index]
        _spacing(sql, at, start)
        index += 1
        while index < len(spans) and spans[index][0] == end and _joins(sql[start:end], sql[end]):
            end = spans[index][1]
            index += 1
        found.append(_token(sql, start, end))
        at = end
    _spacing(sql, at, len(sql))
    return tuple(found)


def _spacing(sql: str, start: int, end: int) -> None:
    if start != end and _SPACE.fullmatch(sql, start, end) is None:
        raise Untokenized(f"{sql[start:end][:20]!r} at character {start}")


def _joins(left: str, right: str) -> bool:
    """Whether SQLite reads on where the tokenizer cut: `<<`, `.5`, `1_000` (and what is none: `12abc`)."""
    if left in ("<", ">"):
        return right == left
    if left == ".":
        return right.isdigit()
    return left[0].isdigit() or (left[0] == "." and len(left) > 1) if _WORD.match(right) else False


def _token(sql: str, start: int, end: int) -> Token:
    raw = sql[start:end]
    first = raw[0]
    if first == "'":
        return Token("s", raw[1:-1].replace("''", "'"), start, end)
    if first == '"':
        return Token("d", raw[1:-1].replace('""', '"'), start, end)
    if first == "`":
        return Token("q", raw[1:-1].replace("``", "`"), start, end)
    if first == "[" and len(raw) > 1 and raw.index("]") == len(raw) - 1:
        return Token("q", raw[1:-1], start, end)
    if _WORD.fullmatch(raw):
        return Token("w", folded(raw), start, end)
    if raw in _OPERATORS:
        return Token("o", _OPERATORS[raw], start, end)
    if _NUMBER.fullmatch(raw):
        return Token("n", raw.lower(), start, end)
    if _BLOB.fullmatch(raw):
        return Token("b", raw[2:-1].lower(), start, end)
    raise Untokenized(f"{raw[:20]!r} at character {start}")


def alike(left: Sequence[Token], right: Sequence[Token], names: frozenset[str] = frozenset()) -> bool:
    """Whether two texts of tokens mean the same.

    A name means the same in quotes or not, unless it is a keyword. In double quotes two texts that differ in
    case may be strings, so they count as the same only when they are among `names` (folded).
    """
    return len(left) == len(right) and all(_same(a, b, names) for a, b in zip(left, right, strict=True))


def _same(left: Token, right: Token, names: frozenset[str]) -> bool:
    if left.kind == right.kind and left.text == right.text:
        return True
    if left.kind not in "wqd" or right.kind not in "wqd":
        return False
    name = folded(left.text)
    if name != folded(right.text):
        return False
    if left.kind == right.kind:
        return left.kind == "q" or name in names
    # One is bare (or in brackets), so here it has to be a name, and the other stands in the same place.
    return name not in KEYWORDS or "w" not in (left.kind, right.kind)


def unwrapped(found: Sequence[Token]) -> Sequence[Token]:
    """The tokens without parentheses around all of them, which mean nothing."""
    while len(found) > 2 and found[0].is_sign("(") and _closes(found) == len(found) - 1:
        found = found[1:-1]
    return found


def _closes(found: Sequence[Token]) -> int:
    depth = 0
    for index, token in enumerate(found):
        if token.is_sign("("):
            depth += 1
        elif token.is_sign(")"):
            depth -= 1
            if depth == 0:
                return index
    return -1
