"""The triggers, views and virtual tables that touch a closure, through views of views and shadow tables.

An object touches the closure when it stands on one of its tables, or a statement in it names one, a view
that reads one, or a virtual table built on one. Text that is no tokens counts where it holds such a name.
"""

from __future__ import annotations

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
    reach: dict[str, frozenset[str]] = {name: frozenset((name,)) for name in closure}
    sources = [_Source(entry) for entry in entries if entry.kind in ("view", "virtual")]
    while True:  # views of views: until nothing more is reached
        grown = False
        for source in sources:
            if folded(source.entry.name) in reach:
                continue
            touched = source.touches(reach)
            if touched:
                grown = True
                reach[folded(source.entry.name)] = touched
                for shadow in _shadows(entries, source.entry):
                    reach.setdefault(shadow, touched)
        if not grown:
            break
    sources += [_Source(entry) for entry in entries if entry.kind == "trigger"]
    objects: list[ObjectShape] = []
    doubts: list[Uninterpreted] = []
    for source in sources:
        touched = source.touches(reach)
        if not touched:
            continue
        if source.doubt is not None:
            doubts.append(Uninterpreted(min(touched), source.entry.name, source.doubt))
        objects.append(source.shape(touched))
    objects.sort(key=lambda found: (found.kind, folded(found.name)))
    return tuple(objects), tuple(doubts)


class _Source:
    """A view, virtual table or trigger; its text is tokenized only where a name of interest is in it."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.doubt: str | None = None
        self._text = folded(entry.sql)
        self._mentions: Mentions | None = None

    def touches(self, reach: dict[str, frozenset[str]]) -> frozenset[str]:
        """The closure's tables it touches, given what each name leads to."""
        found: set[str] = set()
        if self.entry.kind == "trigger":
            found |= reach.get(folded(self.entry.table), frozenset()) if self._on_table(reach) else set()
        within = [name for name in reach if _may_hold(self._text, name) and name != folded(self.entry.name)]
        if within:
            named = self._named()
            # What is not understood touches whatever it may name.
            found |= {table for name in within if named is None or name in named for table in reach[name]}
        return frozenset(found)

    def _on_table(self, reach: dict[str, frozenset[str]]) -> bool:
        """Whether a trigger stands on a table of the closure itself, not on a view."""
        table = folded(self.entry.table)
        return reach.get(table) == frozenset((table,))

    def _named(self) -> frozenset[str] | None:
        if self.doubt is not None:
            return None
        if self._mentions is None:
            try:
                found = tokens(self.entry.sql)
                self._mentions = _arguments(found) if self.entry.kind == "virtual" else mentions(found)
            except Untokenized as error:
                self.doubt = f"its text is not understood: {error}"
                return None
        return self._mentions.names

    def shape(self, touched: frozenset[str]) -> ObjectShape:
        entry = self.entry
        self._named()
        writes = self._mentions.writes if self._mentions is not None else ()
        return ObjectShape(
            entry.kind,  # type: ignore[arg-type]
            entry.name,
            entry.table if entry.kind == "trigger" else None,
            entry.sql,
            tuple(sorted(touched)),
            tuple(sorted({write.table for write in writes})),
        )


def _may_hold(text: str, name: str) -> bool:
    """Whether the text can name it at all: as a word of its own; a quote within a name is written twice."""
    return _holds(text, name) or any(
        mark in name and _holds(text, name.replace(mark, mark * 2)) for mark in "\"'`"
    )


def _holds(text: str, name: str) -> bool:
    at = text.find(name)
    while at >= 0:
        around = text[max(at - 1, 0) : at] + text[at + len(name) : at + len(name) + 1]
        if not any(mark.isalnum() or mark in "_$" or mark >= "\x80" for mark in around):
            return True
        at = text.find(name, at + 1)
    return False


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
