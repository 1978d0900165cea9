"""The closure of a live store: its tables as they are, and everything that touches them (ADR-0128 D2).

Names, types, keys and links come from PRAGMAs, the rest from the text in `sqlite_schema`; where both speak
they have to agree. What cannot be interpreted is listed, and refuses.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from persistence.lineage.rows import Ask, exact, quoted
from persistence.profiles import closure_computable, closure_objects
from persistence.profiles.closure_table import Declared, DeclaredLink, Unparsed, declared
from persistence.profiles.records import (
    Closure,
    ClosureTable,
    ColumnShape,
    Incoming,
    IndexShape,
    IndexTerm,
    KeyShape,
    LinkShape,
    Uninterpreted,
    UniqueShape,
    folded,
)
from persistence.profiles.tokens import Token, Untokenized, tokens

__all__ = ["Entry", "read"]


class Entry(NamedTuple):
    """A row of `sqlite_schema`. `kind` is table, virtual, shadow, view, trigger or index."""

    kind: str
    name: str
    table: str
    sql: str


def read(connection: sqlite3.Connection, tables: Iterable[str]) -> Closure:
    """The closure over these tables (any spelling of their names). Raises sqlite3.Error.

    Everything is read in one go; give it a transaction, so that it is one state.
    """
    with exact(connection) as ask:
        entries = _entries(ask)
        reader = _Reader(ask, entries)
        return reader.closure({folded(name): name for name in tables})


def _entries(ask: Ask) -> tuple[Entry, ...]:
    shadows = {folded(row[1]) for row in ask("PRAGMA main.table_list") if row[2] == "shadow"}
    found = []
    for kind, name, table, sql in ask("SELECT type, name, tbl_name, sql FROM main.sqlite_master"):
        text = sql if isinstance(sql, str) else ""
        if kind == "table" and folded(text.lstrip()[:40]).split()[:2] == ["create", "virtual"]:
            kind = "virtual"
        elif kind == "table" and folded(str(name)) in shadows:
            kind = "shadow"
        found.append(Entry(str(kind), str(name), str(table), text))
    return tuple(found)


class _Reader:
    """One reading; gathers what cannot be interpreted on the way."""

    def __init__(self, ask: Ask, entries: Sequence[Entry]) -> None:
        self._ask = ask
        self._entries = entries
        self._doubts: list[Uninterpreted] = []
        self._indexes: dict[str, Entry] = {e.name: e for e in entries if e.kind == "index"}

    def closure(self, wanted: Mapping[str, str]) -> Closure:
        places = {
            folded(entry.name): entry for entry in self._entries if entry.kind not in ("index", "trigger")
        }
        tables: dict[str, ClosureTable] = {}
        missing: dict[str, str | None] = {}
        for key in wanted:
            entry = places.get(key)
            if entry is None or entry.kind != "table":
                missing[key] = (
                    None if entry is None else _STANDS.get(entry.kind, "something that is no table")
                )
                continue
            table = self._table(entry)
            if table is not None:
                tables[key] = table
        incoming = self._incoming(wanted)
        objects, doubts = closure_objects.touching(self._entries, frozenset(wanted))
        lacks = closure_computable.lacking(self._ask, tables.values(), objects)
        return Closure(tables, incoming, objects, (*self._doubts, *doubts, *lacks), missing)

    def _facts(self, pragma: str, name: str) -> list[tuple[Any, ...]]:
        """What a PRAGMA says of a table or index."""
        try:
            return self._ask(f"PRAGMA main.{pragma}({quoted(name)})")
        except UnicodeEncodeError:  # a name that is not UTF-8 can only be handed over as bytes
            exactly = name.encode("utf-8", "surrogateescape")
            statement = f"SELECT * FROM pragma_{pragma}(CAST(? AS TEXT), 'main')"  # noqa: S608
            return self._ask(statement, (exactly,))

    # -- one table ------------------------------------------------------------------------------------

    def _doubt(self, table: str | None, name: str, why: str) -> None:
        self._doubts.append(Uninterpreted(table, name, why))

    def _declared(self, table: str | None, entry: Entry) -> Declared | None:
        try:
            return declared(entry.sql)
        except (Unparsed, Untokenized) as error:
            self._doubt(table, entry.name, f"its CREATE TABLE is not understood: {error}")
            return None

    def _table(self, entry: Entry) -> ClosureTable | None:
        said = self._declared(entry.name, entry)
        if said is None:
            return None
        rows = self._facts("table_xinfo", entry.name)
        if [folded(row[1]) for row in rows] != [folded(column.name) for column in said.columns]:
            self._doubt(entry.name, entry.name, "its text and SQLite's own account name other columns")
            return None
        columns = tuple(_column(row, told) for row, told in zip(rows, said.columns, strict=True))
        key, uniques, indexes = self._keys(entry.name, rows, said)
        return ClosureTable(
            entry.name,
            columns,
            key,
            uniques,
            tuple(said.checks),
            self._links(entry, said),
            indexes,
            said.strict,
            said.without_rowid,
        )

    def _keys(
        self, table: str, rows: Sequence[tuple[Any, ...]], said: Declared
    ) -> tuple[KeyShape | None, tuple[UniqueShape, ...], tuple[IndexShape, ...]]:
        named = [row[1] for row in sorted(rows, key=lambda row: int(row[5])) if row[5]]
        terms = tuple(IndexTerm(name) for name in named)
        rowid = bool(named)
        uniques: list[UniqueShape] = []
        plain: list[IndexShape] = []
        for _, name, unique, origin, partial in self._facts("index_list", table):
            if origin == "pk":
                terms, rowid = self._terms(table, name, ()), False
                continue
            texts, predicate = self._texts(table, name) if origin == "c" else ((), None)
            if predicate is None and partial:
                self._doubt(table, name, "the condition of a partial index was not found in its text")
            found = self._terms(table, name, texts)
            if origin == "u":
                uniques.append(self._constraint(table, name, found, said))
            elif unique:
                uniques.append(UniqueShape(found, predicate, None, name))
            else:
                plain.append(IndexShape(name, found, predicate))
        key = KeyShape(terms, rowid, said.autoincrement, said.key_conflict) if named else None
        uniques.sort(key=lambda shape: (shape.name or "", [term.column or "" for term in shape.terms]))
        plain.sort(key=lambda shape: shape.name)
        return key, tuple(uniques), tuple(plain)

    def _constraint(self, table: str, name: str, terms: tuple[IndexTerm, ...], said: Declared) -> UniqueShape:
        columns = tuple(folded(term.column or "") for term in terms)
        alike = [found for found in said.uniques if found.columns == columns]
        if not alike:
            self._doubt(table, name, "SQLite keeps a unique key that the table's text does not have")
        conflict = next((found.conflict for found in alike if found.conflict), None)
        return UniqueShape(terms, None, conflict, next((found.name for found in alike), None))

    def _terms(self, table: str, index: str, texts: Sequence[str]) -> tuple[IndexTerm, ...]:
        found = []
        for number, cid, name, descending, collation, key in self._facts("index_xinfo", index):
            if not key:
                continue
            expression = None
            if cid == -2:
                expression = texts[number] if number < len(texts) else None
                if expression is None:
                    self._doubt(table, index, "an expression of this index was not found in its text")
            elif cid == -1:
                name = "rowid"
            found.append(IndexTerm(name, expression, _collation(collation), bool(descending)))
        return tuple(found)

    def _texts(self, table: str, index: str) -> tuple[tuple[str, ...], str | None]:
        """Of a CREATE INDEX: the text of each term without its collation and direction, and the condition."""
        entry = self._indexes.get(index)
        try:
            return _index_texts(entry.sql if entry is not None else "")
        except (Unparsed, Untokenized) as error:
            self._doubt(table, index, f"its CREATE INDEX is not understood: {error}")
            return (), None

    # -- links ----------------------------------------------------------------------------------------

    def _links(self, entry: Entry, said: Declared) -> tuple[LinkShape, ...]:
        grouped = _grouped(self._facts("foreign_key_list", entry.name))
        # SQLite counts from the last one of the text to the first.
        pairs = list(zip(reversed(grouped), said.links, strict=False))
        if len(grouped) != len(said.links) or not all(_agree(link, told) for link, told in pairs):
            self._doubt(entry.name, entry.name, "its text and SQLite's own account name other foreign keys")
            return tuple(grouped)
        return tuple(
            LinkShape(
                link.columns,
                link.table,
                link.parent_columns,
                link.on_update,
                link.on_delete,
                link.match,
                told.deferred,
            )
            for link, told in pairs
        )

    def _incoming(self, wanted: Mapping[str, str]) -> tuple[Incoming, ...]:
        found: list[Incoming] = []
        for entry in self._entries:
            if entry.kind != "table" or folded(entry.name) in wanted or "references" not in folded(entry.sql):
                continue
            grouped = _grouped(self._facts("foreign_key_list", entry.name))
            into = next((link.table for link in grouped if folded(link.table) in wanted), None)
            if into is None:
                continue
            said = self._declared(into, entry)
            links = self._links(entry, said) if said is not None else tuple(grouped)
            found += [Incoming(entry.name, link) for link in links if folded(link.table) in wanted]
        return tuple(found)


_STANDS = {"view": "a view", "virtual": "a virtual table", "shadow": "a shadow table of a virtual table"}


def _column(row: tuple[Any, ...], told: Any) -> ColumnShape:
    _, name, kind, required, default, *_ = row
    return ColumnShape(
        name, kind, not required, default, told.generated, _collation(told.collation), told.conflict
    )


def _collation(name: str | None) -> str | None:
    return None if name is None or name.upper() == "BINARY" else name.upper()


def _grouped(rows: Sequence[tuple[Any, ...]]) -> list[LinkShape]:
    """`PRAGMA foreign_key_list` by constraint, in SQLite's order."""
    by_id: dict[int, list[tuple[Any, ...]]] = {}
    for row in rows:
        by_id.setdefault(row[0], []).append(row)
    links = []
    for _, group in sorted(by_id.items()):
        group.sort(key=lambda row: int(row[1]))
        _, _, table, _, _, on_update, on_delete, match = group[0]
        parents = tuple(row[4] for row in group if row[4] is not None)
        links.append(LinkShape(tuple(row[3] for row in group), table, parents, on_update, on_delete, match))
    return links


def _agree(link: LinkShape, told: DeclaredLink) -> bool:
    return folded(link.table) == told.table and tuple(folded(name) for name in link.columns) == told.columns


def _index_texts(sql: str) -> tuple[tuple[str, ...], str | None]:
    found = tokens(sql)
    start = next((at for at, token in enumerate(found) if token.is_sign("(")), None)
    if start is None:
        raise Unparsed("no columns")
    depth, begin, texts = 0, start + 1, []
    for at in range(start, len(found)):
        token = found[at]
        depth += token.is_sign("(") - token.is_sign(")")
        if depth == 0 or (depth == 1 and token.is_sign(",")):
            texts.append(_term_text(sql, found[begin:at]))
            begin = at + 1
        if depth == 0:
            rest = found[at + 1 :]
            if not rest:
                return tuple(texts), None
            if not rest[0].is_word("where") or len(rest) == 1:
                raise Unparsed("something other than WHERE after the columns")
            return tuple(texts), sql[rest[1].start : rest[-1].end]
    raise Unparsed("the text ends early")


def _term_text(sql: str, term: Sequence[Token]) -> str:
    if term and term[-1].is_word("asc", "desc"):
        term = term[:-1]
    if len(term) > 2 and term[-2].is_word("collate"):
        term = term[:-2]
    return sql[term[0].start : term[-1].end] if term else ""
