"""The triggers, views and virtual tables that touch a closure, through views of views and shadow tables.

An object touches the closure when it stands on one of its tables, or a statement in it names one, a view
that reads one, or a virtual table built on one. Text that is no tokens counts where it holds such a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from persistence.profiles.closure_mentions import Mentions, mentions
from persistence.profiles.records import ObjectShape, Uninterpreted, folded
from persistence.profiles.tokens import Token, Untokenized, tokens

if TYPE_CHECKING:
    from persistence.profiles.closure import Entry

__all__ = ["touching"]

_SEARCH = ("fts3", "fts4", "fts5")
_APART = (
    "rtree",
    "rtree_i32",
    "geopoly",
    "dbstat",
    "sqlite_stmt",
    "json_each",
    "json_tree",
    "zipfile",
    "csv",
)
"""Modules whose arguments name columns or files, and no table."""


def touching(
    entries: Sequence[Entry], closure: frozenset[str]
) -> tuple[tuple[ObjectShape, ...], tuple[Uninterpreted, ...]]:
    """The objects that touch the tables of `closure` (folded), and those that may and are not understood."""
    sources = _Sources(entries)
    reach = {name: frozenset((name,)) for name in closure}
    touched: dict[_Source, frozenset[str]] = {}
    changed = list(closure)
    while changed:  # through views of views, until nothing more is reached
        name = changed.pop()
        for source in sources.naming(name, stands=name in closure):
            before = touched.get(source, frozenset())
            touched[source] = before | reach[name]
            if touched[source] == before or source.entry.kind == "trigger":
                continue
            for reached in (folded(source.entry.name), *_shadows(entries, source.entry)):
                if reached not in closure:
                    reach[reached] = touched[source]
                    changed.append(reached)
    objects = [source.shape(tables) for source, tables in touched.items()]
    objects.sort(key=lambda found: (found.kind, folded(found.name)))
    doubts = [
        Uninterpreted(min(tables), source.entry.name, source.doubt)
        for source, tables in touched.items()
        if source.doubt is not None
    ]
    return tuple(objects), tuple(doubts)


class _Sources:
    """The views, virtual tables and triggers of a store, by the words in their text."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._all = [_Source(entry) for entry in entries if entry.kind in ("view", "virtual", "trigger")]
        self._by_word: dict[str, list[_Source]] = {}
        for source in self._all:
            for word in set(_WORD.findall(source.text)):
                self._by_word.setdefault(word, []).append(source)

    def naming(self, name: str, *, stands: bool) -> list[_Source]:
        """Those that name a table or view; with `stands`, also the triggers on it."""
        found = [source for source in self._all if stands and source.table == name]
        plain = _WORD.fullmatch(name) is not None
        for source in self._by_word.get(name, ()) if plain else self._all:
            if (plain or _may_hold(source.text, name)) and source not in found and source.names(name):
                found.append(source)
        return found


_WORD = re.compile(r"[\w$]+")


class _Source:
    """One of them; its text is tokenized only when a name of interest is in it."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.table = folded(entry.table) if entry.kind == "trigger" else None
        self.text = folded(entry.sql)
        self.doubt: str | None = None
        self._mentions: Mentions | None = None

    def names(self, name: str) -> bool:
        """Whether it names this table. What is not understood may name whatever is in it."""
        found = self._read()
        return name != folded(self.entry.name) if found is None else name in found.names

    def _read(self) -> Mentions | None:
        if self._mentions is None and self.doubt is None:
            try:
                found = tokens(self.entry.sql)
            except Untokenized as error:
                self.doubt = f"its text is not understood: {error}"
            else:
                self._mentions = _arguments(found) if self.entry.kind == "virtual" else mentions(found)
        return self._mentions

    def shape(self, touched: frozenset[str]) -> ObjectShape:
        entry, found = self.entry, self._read()
        return ObjectShape(
            entry.kind,  # type: ignore[arg-type]
            entry.name,
            entry.table if entry.kind == "trigger" else None,
            entry.sql,
            tuple(sorted(touched)),
            tuple(sorted({write.table for write in found.writes})) if found is not None else (),
        )


def _may_hold(text: str, name: str) -> bool:
    """Whether the text can name it at all; a quote within a name is written twice."""
    return name in text or any(mark in name and name.replace(mark, mark * 2) in text for mark in "\"'`")


def _shadows(entries: Iterable[Entry], virtual: Entry) -> list[str]:
    if virtual.kind != "virtual":
        return []
    start = f"{folded(virtual.name)}_"
    return [folded(e.name) for e in entries if e.kind == "shadow" and folded(e.name).startswith(start)]


def _arguments(found: Sequence[Token]) -> Mentions:
    """The tables a virtual table stands on, by what its module makes of its arguments."""
    using = next((at for at, token in enumerate(found) if token.is_word("using")), len(found))
    module = found[using + 1].name if using + 1 < len(found) else None
    rest = found[using + 2 :]
    if module in _APART:
        return Mentions(frozenset(), ())
    if module in _SEARCH:
        values = (
            rest[at + 2]
            for at in range(len(rest) - 2)
            if rest[at].is_word("content") and rest[at + 1].is_sign("=")
        )
        return Mentions(frozenset(token.name for token in values if token.name), ())
    # Any other module: whatever in its arguments can be read as a name, within strings too.
    names: set[str] = set()
    for token in rest:
        if token.name is None:
            continue
        names.add(token.name)
        if token.kind == "s":
            try:
                names |= {inner.name for inner in tokens(token.text) if inner.name}
            except Untokenized:
                names |= set(token.name.split())
    return Mentions(frozenset(names), ())
