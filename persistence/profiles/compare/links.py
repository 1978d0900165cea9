"""Foreign keys, out of a table and into it, grouped by constraint."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from persistence.profiles.codes import finding
from persistence.profiles.compare.pairs import paired
from persistence.profiles.compare.text import Outcome
from persistence.profiles.records import Closure, Finding, Incoming, LinkShape, folded

__all__ = ["incoming", "links", "shown"]


class _Meant(NamedTuple):
    """A link of a table, and what it means to SQLite: equal meanings are the same link."""

    table: str
    link: LinkShape
    meaning: tuple[object, ...]


def links(table: str, declared: Closure, live: Closure) -> Outcome:
    """The links out of one table of the closure."""
    ours, theirs = _out(table, declared, declared), _out(table, live, declared)
    held, changed, missing, extra = paired(ours, theirs, _same, _over_same, _overlap)
    found = [
        *(_found("link-changed", before, after) for before, after in changed),
        *(_found("link-missing", one, None) for one in missing),
        *(_found("link-extra", None, one) for one in extra),
    ]
    return Outcome(tuple(found), held)


def incoming(declared: Closure, live: Closure) -> Outcome:
    """The links into the closure from tables outside; a finding names the table that is pointed at."""
    ours, theirs = _into(declared.incoming, declared), _into(live.incoming, declared)
    held, changed, missing, extra = paired(ours, theirs, _same, _over_same)
    found = [
        *(_came("incoming-changed", before, after) for before, after in changed),
        *(_came("incoming-missing", one, None) for one in missing),
        *(_came("incoming-extra", None, one) for one in extra),
    ]
    return Outcome(tuple(found), held)


def _out(table: str, closure: Closure, declared: Closure) -> list[_Meant]:
    shape = closure.tables[folded(table)]
    return [_Meant(shape.name, link, _meaning(shape.name, link, declared)) for link in shape.links]


def _into(found: Iterable[Incoming], declared: Closure) -> list[_Meant]:
    return [_Meant(one.table, one.link, _meaning(one.table, one.link, declared)) for one in found]


def _meaning(table: str, link: LinkShape, declared: Closure) -> tuple[object, ...]:
    """The pairs of columns in any order, MATCH left out: it means nothing.

    An unnamed parent key is the declared one: another key is a finding about the parent.
    """
    parents: Sequence[str] = link.parent_columns
    parent = declared.table(link.table)
    if not parents and parent is not None and parent.primary_key is not None:
        parents = parent.primary_key.columns
    pairs: object = (tuple(map(folded, link.columns)), tuple(map(folded, parents)))
    if len(parents) == len(link.columns):
        pairs = frozenset(zip(map(folded, link.columns), map(folded, parents), strict=True))
    actions = (link.on_update.upper(), link.on_delete.upper())
    return folded(table), folded(link.table), pairs, actions, link.deferred


def _same(left: _Meant, right: _Meant) -> bool:
    return left.meaning == right.meaning


def _columns(one: _Meant) -> frozenset[str]:
    return frozenset(map(folded, one.link.columns))


def _over_same(left: _Meant, right: _Meant) -> bool:
    return folded(left.table) == folded(right.table) and _columns(left) == _columns(right)


def _overlap(left: _Meant, right: _Meant) -> bool:
    return bool(_columns(left) & _columns(right))


def _found(code: str, expected: _Meant | None, observed: _Meant | None) -> Finding:
    one = expected or observed
    return finding(
        code,
        table=one.table if one is not None else None,
        object=", ".join(one.link.columns) if one is not None else None,
        expected=_shown(expected),
        observed=_shown(observed),
    )


def _came(code: str, expected: _Meant | None, observed: _Meant | None) -> Finding:
    one = expected or observed
    return finding(
        code,
        table=one.link.table if one is not None else None,
        object=f"{one.table}.{', '.join(one.link.columns)}" if one is not None else None,
        expected=_shown(expected),
        observed=_shown(observed),
    )


def _shown(one: _Meant | None) -> str:
    return "no such foreign key" if one is None else shown(one.link)


def shown(link: LinkShape) -> str:
    """A link as SQL has it, without what are defaults."""
    parents = f" ({', '.join(link.parent_columns)})" if link.parent_columns else ""
    words = f"({', '.join(link.columns)}) REFERENCES {link.table}{parents}"
    if link.on_update.upper() != "NO ACTION":
        words += f" ON UPDATE {link.on_update}"
    if link.on_delete.upper() != "NO ACTION":
        words += f" ON DELETE {link.on_delete}"
    return f"{words} DEFERRABLE INITIALLY DEFERRED" if link.deferred else words
