"""A starting document from a live store: what is there is written down, what it means is left to its author.

No reason is ever invented: each column that new rows would leave out gets a mark that `lint` refuses.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from persistence.basics import Progress
from persistence.errors import ProfileError
from persistence.location import StoreLocation
from persistence.profiles.document import NAME
from persistence.profiles.document_rules import TO_FILL, has_default, leaves_out
from persistence.profiles.dump import Comments, dump
from persistence.profiles.needs import NEEDS, ONE_OWNER, Need, needs_of
from persistence.profiles.records import (
    Closure,
    ClosureTable,
    ColumnShape,
    OwnerRule,
    Profile,
    WriteRule,
    folded,
)
from persistence.schema.known import LINEAGE

__all__ = ["OPTIONAL", "Seen", "derive", "draft", "look"]

OPTIONAL = ("insert_messages", "update_branch", "set_session_user_label")
"""Operations that no fresh run needs: in a derived document only when they are asked for."""

_OF_RUNS = frozenset(needs_of(NEEDS))
"""Tables of runs: what their foreign keys point at elsewhere may be principals."""


class Seen(NamedTuple):
    """What a draft is made of: the closure, who manages the store and the version its row has, the operations
    the store has tables and columns for, and those it has not, each with what is missing."""

    closure: Closure
    application: object
    version: object
    operations: tuple[str, ...]
    unfit: Mapping[str, str]


def derive(
    location: StoreLocation,
    operations: Sequence[str] | None = None,
    *,
    name: str | None = None,
    version: int = 1,
    progress: Callable[[Progress], None] | None = None,
) -> str:
    """The document, as TOML text with comments. Blocking; changes nothing of the store.

    `operations` None: every operation of a run that the store has the tables and columns for. Raises
    ProfileError when an operation that was asked for does not fit, or none does, and the store's own errors.
    """
    seen = look(location, operations, progress=progress)
    if not seen.operations or (operations is not None and seen.unfit):
        raise ProfileError(
            "No profile for these operations can be made from this store.",
            code="profile-unfit",
            where=location.display,
            expected="the tables and columns the operations need",
            observed="\n".join(f"{operation}: {why}" for operation, why in seen.unfit.items()),
            remedy="Name the operations the store has the tables and columns for (--operations), or the "
            "store that holds the runs.",
        )
    return draft(seen, location.display, name=name, version=version)


def look(
    location: StoreLocation,
    operations: Sequence[str] | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> Seen:
    """Reads the closure of the operations that were asked for (None: all of a run's) and fit the store."""
    from persistence.engines import direct
    from persistence.lineage import examine

    report = examine(location, progress=progress)
    if report.read_only.refusal is not None:
        raise report.read_only.refusal
    asked = [name for name in NEEDS if name not in OPTIONAL] if operations is None else list(operations)

    def work(connection: sqlite3.Connection) -> Seen:
        everything = _closed(connection, needs_of(name for name in asked if name in NEEDS))
        unfit = {name: why for name in asked if (why := _unfit(name, everything)) is not None}
        fit = tuple(name for name in asked if name not in unfit)
        closure = everything if not unfit else _closed(connection, needs_of(fit))
        return Seen(closure, report.application, report.version, fit, unfit)

    return direct.read(location, work, progress=progress)[0]


def _closed(connection: sqlite3.Connection, wanted: Iterable[str]) -> Closure:
    """The closure over these tables and all that their foreign keys lead to."""
    from persistence.profiles.closure import read

    tables = tuple(wanted)
    while True:
        closure = read(connection, tables)
        links = [link for table in closure.tables.values() for link in table.links]
        known = {folded(table) for table in tables}
        more = dict.fromkeys(folded(link.table) for link in links if folded(link.table) not in known)
        if not more:
            return closure
        tables = (*tables, *more)


# -- the draft -----------------------------------------------------------------------------------------------


def draft(seen: Seen, display: str, *, name: str | None = None, version: int = 1) -> str:
    """The document for what was seen in the store that `display` names."""
    closure = replace(seen.closure, missing={}, uninterpreted=())
    needs = needs_of(seen.operations)
    owner = _owner(closure, needs)
    written = {table: need for table, need in needs.items() if need.insert or need.update}
    profile = Profile(
        name or _name_for(seen.application),
        version,
        _lineage(seen.application),
        closure,
        {table: _rule(closure.tables[table], need, owner) for table, need in written.items()},
        seen.operations,
        _kept(seen.operations, owner),
        owner,
        (seen.version,) if isinstance(seen.version, str) and seen.version.strip() else (),
    )
    if not NAME.match(profile.name):
        raise ProfileError(
            "This is not a profile's name.",
            code="no-such-profile",
            expected="lower-case words with hyphens between them",
            observed=profile.name,
            remedy="Give the profile another name.",
        )
    try:
        return dump(profile, _comments(profile, seen, display))
    except ValueError as error:
        raise ProfileError(
            "The structure of the store cannot be written into a document.",
            code="profile-unreadable",
            where=display,
            observed=str(error),
            remedy="Only the managing application can name its tables and columns in proper text.",
        ) from error


def _unfit(operation: str, closure: Closure) -> str | None:
    """Why no profile for this store can name the operation: the first thing that is missing, or None."""
    if operation not in NEEDS:
        return f"there is no such operation; there are {', '.join(NEEDS)}"
    for name, need in NEEDS[operation].tables.items():
        table = closure.table(name)
        if table is None:
            return f"there is no table {name}"
        wanted = dict.fromkeys((*need.insert, *need.update, *need.read))
        short = [column for column in wanted if table.column(column) is None]
        if short:
            return f"{name} has no {', '.join(short)}"
        computed = [name for name in (*need.insert, *need.update) if _computed(table.column(name))]
        if computed:
            return f"{name} computes {', '.join(computed)}"
        if need.insert:
            owner = _owner(closure, {name: need})
            rule = _rule(table, need, owner)
            bound = [
                column.name
                for column in leaves_out(table, rule)
                if not (has_default(column) or _is_row_id(table, column))
            ]
            if bound:
                return f"{name} has {', '.join(bound)}: never empty, without a default, and not written"
    return None


def _computed(column: ColumnShape | None) -> bool:
    return column is not None and column.generated is not None


def _is_row_id(table: ClosureTable, column: ColumnShape) -> bool:
    key = table.primary_key
    return key is not None and key.rowid and folded(column.name) in map(folded, key.columns)


def _owner(closure: Closure, needs: Mapping[str, Need]) -> OwnerRule | None:
    """The owner rule the store suggests: one column that all tables with new rows have (lookups of message
    types apart), that no operation writes, and that points at one key of one other table."""
    found: set[OwnerRule] | None = None
    for name, need in needs.items():
        table = closure.table(name)
        if table is None or not need.insert or name == "message_types":
            continue
        here = {rule for rule in _owner_rules(table, closure) if rule.column not in need.insert}
        found = here if found is None else found & here
    return min(found, key=lambda rule: rule.column) if found else None


def _owner_rules(table: ClosureTable, closure: Closure) -> Iterable[OwnerRule]:
    for link in table.links:
        parent = closure.table(link.table)
        if parent is None or len(link.columns) != 1 or folded(link.table) in _OF_RUNS:
            continue
        key = link.parent_columns or (parent.primary_key.columns if parent.primary_key is not None else ())
        if len(key) == 1:
            yield OwnerRule(link.columns[0], parent.name, key[0])


def _rule(table: ClosureTable, need: Need, owner: OwnerRule | None) -> WriteRule:
    insert = _spelled(table, need.insert)
    if insert and owner is not None and (column := table.column(owner.column)) is not None:
        insert = (*insert, column.name)
    rule = WriteRule(insert, _spelled(table, need.update))
    if not insert:
        return rule
    left = leaves_out(table, rule)
    return replace(rule, unwritten={column.name: _to_fill(table, column, rule) for column in left})


def _spelled(table: ClosureTable, names: Iterable[str]) -> tuple[str, ...]:
    """The columns as the store spells them."""
    found = (table.column(name) for name in names)
    return tuple(column.name for column in found if column is not None)


def _to_fill(table: ClosureTable, column: ColumnShape, rule: WriteRule) -> str:
    if column.generated is not None:
        return f"{TO_FILL}: the store computes it; is that right for these rows?"
    if _is_row_id(table, column):
        return f"{TO_FILL}: the store numbers the rows; is that right for these?"
    until = " until an update" if column.name in rule.update else ""
    if column.default is not None:
        return f"{TO_FILL}: new rows have its default{until}, {column.default}; what is that to readers?"
    return f"{TO_FILL}: new rows have none{until}; what do readers make of that?"


def _kept(operations: Iterable[str], owner: OwnerRule | None) -> tuple[str, ...]:
    kept = dict.fromkeys(word for operation in operations for word in NEEDS[operation].keeps)
    return tuple(word for word in kept if word != ONE_OWNER or owner is not None)


# -- words ---------------------------------------------------------------------------------------------------


def _lineage(application: object) -> str:
    named = isinstance(application, str) and application.strip() and application != LINEAGE
    return str(application) if named else f"{TO_FILL}: the application that manages the store"


def _name_for(application: object) -> str:
    said = application if isinstance(application, str) else ""
    words = re.sub(r"[^a-z0-9]+", "-", said.lower()).strip("-")
    return f"{words}-fresh-run" if NAME.match(words) and words != LINEAGE else "derived"


def _comments(profile: Profile, seen: Seen, display: str) -> Comments:
    top = [
        f"A starting document, derived from {plain(display)}.",
        "",
        "What stands here is what the store has. What it means is its author's to say: look at every table,",
        f"and write the reasons that say {TO_FILL}. Then: store-inspector profile lint FILE",
    ]
    for doubt in seen.closure.uninterpreted:
        where = plain(f"{doubt.table or ''} {doubt.object}".strip())
        top += ["", f"NOT UNDERSTOOD, so that no profile admits this store: {where}: {plain(doubt.why)}"]
    head: dict[str, list[str]] = {}
    if profile.lineage.startswith(TO_FILL):
        head["lineage"] = ["This store has no lineage row that names another application."]
    if seen.unfit:
        head["operations"] = ["Not named, since the store lacks what they need:"]
        head["operations"] += [f"  {operation}: {plain(why)}" for operation, why in seen.unfit.items()]
    if profile.owner is not None:
        head["owner"] = [
            "Proposed, since every table with new rows has the column. Is it what it looks like?"
        ]
    if profile.closure.objects:
        head["objects"] = ["Look at each: what does a write from here set off, or show to whom?"]
    return Comments(tuple(top), head)


def plain(text: str) -> str:
    """Text as it may stand in a comment: on one line, with marks for what cannot be seen."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape", "surrogatepass").decode()
        for letter in text
    )
