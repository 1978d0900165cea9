"""What differs between two profiles, or between a profile and a store: by meaning, as admission compares.

Structure is compared by the comparators of admission, so that what makes no difference there makes none here;
the rest of a document word by word.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from persistence.basics import Progress, ReadInfo
from persistence.location import StoreLocation
from persistence.profiles.compare.whole import compare
from persistence.profiles.records import Closure, Finding, Profile, WriteRule

__all__ = ["Difference", "diff", "diff_store"]


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: where, and what stands on each side (None: nothing there). `code` is the finding's
    that a comparator of admission made of it."""

    where: str
    before: str | None
    after: str | None
    code: str | None = None


def diff(a: Profile, b: Profile) -> tuple[Difference, ...]:
    """What has to change in `a` to make it `b`."""
    return (*_head(a, b), *_structure(a.closure, b.closure), *_writes(a, b))


def diff_store(
    profile: Profile, location: StoreLocation, *, progress: Callable[[Progress], None] | None = None
) -> tuple[tuple[Difference, ...], ReadInfo]:
    """The structure a profile declares against that of a store, whoever's the store is, and how it was read.

    Blocking; changes nothing. Raises the store's own errors.
    """
    from persistence.engines import direct
    from persistence.profiles.closure import read

    tables = [table.name for table in profile.closure.tables.values()]

    def work(connection: sqlite3.Connection) -> Closure:
        return read(connection, tables)

    live, info = direct.read(location, work, progress=progress)
    return tuple(map(_of_finding, compare(profile.closure, live).findings)), info


# -- parts ---------------------------------------------------------------------------------------------------


def _head(a: Profile, b: Profile) -> Iterator[Difference]:
    for name in ("name", "version", "lineage"):
        before, after = str(getattr(a, name)), str(getattr(b, name))
        if before != after:
            yield Difference(name, before, after)
    for name in ("store_versions", "operations", "invariants"):
        yield from _members(name, getattr(a, name), getattr(b, name))
    for name in ("column", "principals", "key"):
        left, right = (None if one.owner is None else getattr(one.owner, name) for one in (a, b))
        if left != right:
            yield Difference(f"owner.{name}", left, right)


def _members(where: str, before: Iterable[str], after: Iterable[str]) -> Iterator[Difference]:
    """Lists whose order means nothing: what is only on one side."""
    left, right = tuple(before), tuple(after)
    yield from (Difference(where, one, None) for one in left if one not in right)
    yield from (Difference(where, None, one) for one in right if one not in left)


def _structure(before: Closure, after: Closure) -> Iterator[Difference]:
    gone = dict.fromkeys(key for key in before.tables if key not in after.tables)
    known = replace(after, missing=gone, uninterpreted=())
    yield from map(_of_finding, compare(before, known).findings)
    for key, table in after.tables.items():
        if key not in before.tables:
            yield Difference(f"tables.{table.name}", None, f"{len(table.columns)} columns")


def _of_finding(found: Finding) -> Difference:
    place = ("tables", found.table) if found.table else ()
    where = ".".join(part for part in (*place, found.object) if part)
    return Difference(where, found.expected, found.observed, found.code)


_NONE = WriteRule()


def _writes(a: Profile, b: Profile) -> Iterator[Difference]:
    for key in dict.fromkeys((*a.writes, *b.writes)):
        before, after = a.writes.get(key, _NONE), b.writes.get(key, _NONE)
        yield from _members(f"tables.{key}.insert", before.insert, after.insert)
        yield from _members(f"tables.{key}.update", before.update, after.update)
        for column in dict.fromkeys((*before.unwritten, *after.unwritten)):
            left, right = before.unwritten.get(column), after.unwritten.get(column)
            if left != right:
                yield Difference(f"tables.{key}.unwritten.{column}", left, right)
