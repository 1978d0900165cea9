"""What only the text of a CREATE TABLE holds: checks, collations, conflict clauses, computed columns.

Read by tokens, after SQLite's own grammar of the statement. The names, types and keys themselves come from
PRAGMAs; `persistence.profiles.closure` holds both against each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from persistence.profiles.records import CheckShape, Generated, folded
from persistence.profiles.tokens import Token, tokens

__all__ = ["Declared", "DeclaredColumn", "DeclaredLink", "DeclaredUnique", "Unparsed", "declared"]


class Unparsed(Exception):
    """The statement is not one this reader understands; the message says where it stopped."""


@dataclass(slots=True)
class DeclaredColumn:
    """Of one column, what its text says beside name, type and default."""

    name: str
    collation: str | None = None
    conflict: str | None = None
    generated: Generated | None = None


@dataclass(slots=True)
class DeclaredUnique:
    """A UNIQUE or PRIMARY KEY: folded column names, and how a clash is resolved."""

    columns: tuple[str, ...]
    conflict: str | None
    name: str | None


@dataclass(slots=True)
class DeclaredLink:
    """A foreign key: folded columns, folded parent, whether its check waits for the commit."""

    columns: tuple[str, ...]
    table: str
    deferred: bool = False


@dataclass(slots=True)
class Declared:
    """All of it; `links` in the order of the text."""

    columns: list[DeclaredColumn] = field(default_factory=list)
    key_conflict: str | None = None
    autoincrement: bool = False
    uniques: list[DeclaredUnique] = field(default_factory=list)
    checks: list[CheckShape] = field(default_factory=list)
    links: list[DeclaredLink] = field(default_factory=list)
    strict: bool = False
    without_rowid: bool = False


_KEPT_LENGTH = 10_000  # a longer text is read anew each time: a store decides how long one is


def declared(sql: str) -> Declared:
    """Reads the text of a table. Raises Unparsed, and Untokenized for what are no tokens.

    A store is admitted again and again: what was read is remembered, and not to be changed.
    """
    return _read_once(sql) if len(sql) <= _KEPT_LENGTH else _read(sql)


def _read(sql: str) -> Declared:
    return _Reader(sql, tokens(sql)).table()


_read_once = lru_cache(maxsize=256)(_read)


_STARTS = (
    "constraint",
    "primary",
    "not",
    "null",
    "unique",
    "check",
    "default",
    "collate",
    "references",
    "as",
)
_TABLE_STARTS = ("constraint", "primary", "unique", "check", "foreign")


class _Reader:
    """Goes through the tokens once."""

    def __init__(self, sql: str, found: Sequence[Token]) -> None:
        self._sql = sql
        self._found = found
        self._at = 0
        self._all = Declared()
        self._name: str | None = None  # of the constraint that comes

    # -- steps ----------------------------------------------------------------------------------------

    def _peek(self, ahead: int = 0) -> Token | None:
        at = self._at + ahead
        return self._found[at] if at < len(self._found) else None

    def _next(self) -> Token:
        token = self._peek()
        if token is None:
            raise Unparsed("the text ends early")
        self._at += 1
        return token

    def _word(self, *words: str) -> bool:
        """Takes these words if they come next, one after the other."""
        for ahead, word in enumerate(words):
            token = self._peek(ahead)
            if token is None or not token.is_word(word):
                return False
        self._at += len(words)
        return True

    def _sign(self, sign: str) -> bool:
        token = self._peek()
        if token is None or not token.is_sign(sign):
            return False
        self._at += 1
        return True

    def _need(self, taken: bool, what: str) -> None:
        if not taken:
            token = self._peek()
            found = "the end" if token is None else repr(self._sql[token.start : token.end][:20])
            raise Unparsed(f"{what} expected, {found} found")

    def _identifier(self) -> str:
        token = self._next()
        if token.name is None:
            raise Unparsed(f"a name expected, {self._sql[token.start : token.end][:20]!r} found")
        return token.text

    def _group(self) -> str:
        """The text between parentheses, which are taken."""
        self._need(self._sign("("), "(")
        start = self._found[self._at - 1].end
        depth = 1
        while depth:
            token = self._next()
            depth += token.is_sign("(") - token.is_sign(")")
        return self._sql[start : self._found[self._at - 1].start].strip()

    # -- the statement --------------------------------------------------------------------------------

    def table(self) -> Declared:
        self._need(self._word("create"), "CREATE")
        self._need(self._word("table"), "a plain CREATE TABLE")
        self._word("if", "not", "exists")
        self._identifier()
        if self._sign("."):
            self._identifier()
        self._need(self._sign("("), "(")
        self._column()
        while self._sign(","):
            token = self._peek()
            if token is not None and token.is_word(*_TABLE_STARTS):
                break
            self._column()
        while not self._sign(")"):
            self._table_constraint()
            self._sign(",")
        self._options()
        return self._all

    def _options(self) -> None:
        while self._peek() is not None:
            if self._word("strict"):
                self._all.strict = True
            else:
                self._need(self._word("without", "rowid"), "STRICT or WITHOUT ROWID")
                self._all.without_rowid = True
            if self._peek() is not None:
                self._need(self._sign(","), ",")

    def _column(self) -> None:
        column = DeclaredColumn(self._identifier())
        self._all.columns.append(column)
        self._name = None
        self._skip_type()
        while True:
            token = self._peek()
            if token is None or token.is_sign(",") or token.is_sign(")"):
                return
            self._column_constraint(column)

    def _skip_type(self) -> None:
        while True:
            token = self._peek()
            if token is None or (token.kind == "o" and token.text in ",)"):
                return
            if token.is_word(*_STARTS) or self._computed():
                return
            if token.is_sign("("):
                self._group()
            else:
                self._next()

    def _computed(self) -> bool:
        """Whether `GENERATED ALWAYS` comes, which the name of a type may also begin with."""
        first, second = self._peek(), self._peek(1)
        return bool(first and second and first.is_word("generated") and second.is_word("always"))

    def _column_constraint(self, column: DeclaredColumn) -> None:
        every = self._all
        if self._named():
            return
        if self._word("primary", "key"):
            _ = self._word("asc") or self._word("desc")
            every.key_conflict = self._conflict() or every.key_conflict
            every.autoincrement = self._word("autoincrement") or every.autoincrement
        elif self._word("not", "null"):
            column.conflict = self._conflict() or column.conflict
        elif self._word("null"):
            self._conflict()
        elif self._word("unique"):
            every.uniques.append(DeclaredUnique((folded(column.name),), self._conflict(), self._take_name()))
        elif self._word("check"):
            every.checks.append(CheckShape(self._group(), self._take_name()))
        elif self._word("default"):
            self._default()
        elif self._word("collate"):
            column.collation = self._identifier()
        elif self._word("references"):
            every.links.append(self._reference((folded(column.name),)))
        elif self._deferral():
            pass
        elif self._computed() or self._word("as"):
            if self._computed():
                self._at += 2
                self._need(self._word("as"), "AS")
            expression = self._group()
            stored = self._word("stored")
            if not stored:
                self._word("virtual")
            column.generated = Generated(expression, stored)
        else:
            self._need(False, "a column constraint")
        self._name = None

    def _default(self) -> None:
        token = self._peek()
        if token is not None and token.is_sign("("):
            self._group()
            return
        _ = self._sign("-") or self._sign("+")
        self._next()

    def _table_constraint(self) -> None:
        every = self._all
        if self._named():
            return
        if self._word("primary", "key"):
            _, every.autoincrement = self._columns(every.autoincrement)
            every.key_conflict = self._conflict() or every.key_conflict
        elif self._word("unique"):
            columns, _ = self._columns(False)
            every.uniques.append(DeclaredUnique(columns, self._conflict(), self._take_name()))
        elif self._word("check"):
            every.checks.append(CheckShape(self._group(), self._take_name()))
            self._conflict()  # the grammar takes it; SQLite does not heed it
        elif self._word("foreign", "key"):
            columns, _ = self._columns(False)
            self._need(self._word("references"), "REFERENCES")
            every.links.append(self._reference(columns))
        elif self._deferral():
            pass
        else:
            self._need(False, "a table constraint")
        self._name = None

    # -- parts ----------------------------------------------------------------------------------------

    def _named(self) -> bool:
        if not self._word("constraint"):
            return False
        self._name = self._identifier()
        return True

    def _take_name(self) -> str | None:
        name, self._name = self._name, None
        return name

    def _conflict(self) -> str | None:
        """The clause after ON CONFLICT; None for none and for ABORT, which is the same."""
        if not self._word("on", "conflict"):
            return None
        how = self._identifier().upper()
        return None if how == "ABORT" else how

    def _columns(self, autoincrement: bool) -> tuple[tuple[str, ...], bool]:
        self._need(self._sign("("), "(")
        columns: list[str] = []
        while not self._sign(")"):
            columns.append(folded(self._identifier()))
            if self._word("collate"):
                self._identifier()
            _ = self._word("asc") or self._word("desc")
            autoincrement = self._word("autoincrement") or autoincrement
            token = self._peek()
            if token is None or not token.is_sign(")"):
                self._need(self._sign(","), ",")
        return tuple(columns), autoincrement

    def _reference(self, columns: tuple[str, ...]) -> DeclaredLink:
        link = DeclaredLink(columns, folded(self._identifier()))
        token = self._peek()
        if token is not None and token.is_sign("("):
            self._columns(False)
        while True:
            if self._word("match"):
                self._identifier()
            elif self._word("on"):
                self._need(self._word("delete") or self._word("update") or self._word("insert"), "an action")
                first = self._identifier()
                if folded(first) in ("set", "no"):
                    self._identifier()
            else:
                break
        self._deferral(link)
        return link

    def _deferral(self, link: DeclaredLink | None = None) -> bool:
        """[NOT] DEFERRABLE [INITIALLY x], which SQLite applies to the last link before it."""
        negated = self._word("not", "deferrable")
        if not negated and not self._word("deferrable"):
            return False
        deferred = False
        if self._word("initially"):
            deferred = folded(self._identifier()) == "deferred"
        last = link or (self._all.links[-1] if self._all.links else None)
        if last is not None:
            last.deferred = deferred and not negated
        return True
