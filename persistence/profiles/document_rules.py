"""Whether a profile agrees with itself: what a document may not say although its form is right.

A profile that is internally wrong is refused when it is loaded, not when a run first meets the mistake
(ADR-0128 D2, D4, D5). One function a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from persistence.profiles.document_nodes import Node
from persistence.profiles.needs import INVARIANTS, NEEDS, ONE_OWNER
from persistence.profiles.records import (
    ClosureTable,
    ColumnShape,
    IndexTerm,
    LinkShape,
    Profile,
    WriteRule,
    folded,
)
from persistence.schema.known import LINEAGE

__all__ = ["TO_FILL", "check", "has_default", "leaves_out"]

TO_FILL = "TO FILL IN"
"""How a reason begins that is still to be written; no profile with one is loaded."""


def check(profile: Profile, root: Node) -> None:
    """Leaves a fault in the document for everything that cannot be."""
    for rule in RULES:
        rule(profile, root)


def has_default(column: ColumnShape) -> bool:
    """Whether a row may leave the column out: it may be empty, is computed, or has a default."""
    if column.nullable or column.generated is not None:
        return True
    return column.default is not None and column.default.strip("() \t\n").upper() != "NULL"


def leaves_out(table: ClosureTable, rule: WriteRule) -> tuple[ColumnShape, ...]:
    """The columns an insert of this rule does not write, in the table's order."""
    written = _fold(rule.insert)
    return tuple(column for column in table.columns if folded(column.name) not in written)


# -- the document and its parts ------------------------------------------------------------------------------


def lineage_is_anothers(profile: Profile, root: Node) -> None:
    if profile.lineage.startswith(TO_FILL):
        root.fault("the application it is for is still to be written", "lineage", blank=True)
    if profile.lineage == LINEAGE:
        root.fault("lionagi's own stores are opened natively: a profile is for another's", "lineage")


def columns_are_there(profile: Profile, root: Node) -> None:
    """Keys, indexes and foreign keys name columns their table has."""
    for name, table in _tables(profile):
        place = ("tables", name)
        if table.primary_key is not None:
            _there(table, table.primary_key.terms, root, *place, "primary_key")
        for number, unique in enumerate(table.uniques):
            _there(table, unique.terms, root, *place, "uniques", number, "columns")
        for number, index in enumerate(table.indexes):
            _there(table, index.terms, root, *place, "indexes", number, "columns")
        for number, link in enumerate(table.links):
            for column in link.columns:
                if table.column(column) is None:
                    root.fault(f"{name} has no column {column}", *place, "links", number, "columns")


def _there(table: ClosureTable, terms: Iterable[IndexTerm], root: Node, *place: str | int) -> None:
    for term in terms:
        if term.column is not None and table.column(term.column) is None:
            root.fault(f"{table.name} has no column {term.column}", *place)


def row_id_is_an_integer(profile: Profile, root: Node) -> None:
    for name, table in _tables(profile):
        key = table.primary_key
        if key is None or not key.rowid or len(key.columns) != 1:
            continue
        column = table.column(key.columns[0])
        if table.without_rowid or (column is not None and folded(column.type) != "integer"):
            root.fault(
                "only an INTEGER column of a table with row ids is one",
                "tables",
                name,
                "primary_key",
                "rowid",
            )


def links_lead_into_the_closure(profile: Profile, root: Node) -> None:
    """What a table points at is declared too, with a key there (https://www.sqlite.org/foreignkeys.html)."""
    for name, table in _tables(profile):
        for number, link in enumerate(table.links):
            _parent(profile, link, root, "tables", name, "links", number)


def incoming_come_from_outside(profile: Profile, root: Node) -> None:
    for number, one in enumerate(profile.closure.incoming):
        if profile.closure.table(one.table) is not None:
            root.fault(
                f"{one.table} is declared here: its foreign keys are its links", "incoming", number, "from"
            )
        _parent(profile, one.link, root, "incoming", number)


def _parent(profile: Profile, link: LinkShape, root: Node, *place: str | int) -> None:
    parent = profile.closure.table(link.table)
    if parent is None:
        root.fault(f"{link.table} is not among the tables declared here", *place, "table")
        return
    if not link.parent_columns:
        key = parent.primary_key
        if key is None or len(key.terms) != len(link.columns):
            root.fault(f"{parent.name} has no primary key of {len(link.columns)}; say parent", *place)
        return
    for column in link.parent_columns:
        if parent.column(column) is None:
            root.fault(f"{parent.name} has no column {column}", *place, "parent")
            return
    if _fold(link.parent_columns) not in _keys(parent):
        columns = ", ".join(link.parent_columns)
        root.fault(f"{columns} is no key of {parent.name}, so nothing can point at it", *place, "parent")


def _keys(table: ClosureTable) -> list[frozenset[str]]:
    """The sets of columns that tell rows apart: the primary key, and unique keys over plain columns."""
    found = [] if table.primary_key is None else [_fold(table.primary_key.columns)]
    whole = (unique.terms for unique in table.uniques if unique.predicate is None)
    plain = ([term.column for term in terms if term.column is not None] for terms in whole if _plain(terms))
    return [*found, *map(_fold, plain)]


def _plain(terms: Iterable[IndexTerm]) -> bool:
    return all(term.column is not None for term in terms)


def objects_touch_the_closure(profile: Profile, root: Node) -> None:
    seen: set[tuple[str, str]] = set()
    for number, one in enumerate(profile.closure.objects):
        if (one.kind, folded(one.name)) in seen:
            root.fault(f"the {one.kind} {one.name} is declared twice", "objects", number, "name")
        seen.add((one.kind, folded(one.name)))
        for table in one.touches:
            if profile.closure.table(table) is None:
                root.fault(f"{table} is not among the tables declared here", "objects", number, "touches")


# -- what is written -----------------------------------------------------------------------------------------


def writes_are_possible(profile: Profile, root: Node) -> None:
    """Written columns exist and are not computed; an owner is given once and never changed."""
    for name, table, rule in _rules(profile):
        for word, columns in (("insert", rule.insert), ("update", rule.update)):
            seen: set[str] = set()
            for number, given in enumerate(columns):
                place = ("tables", name, word, number)
                column = table.column(given)
                if column is None:
                    root.fault(f"{name} has no column {given}", *place)
                elif column.generated is not None:
                    root.fault(f"{given} is a generated column: SQLite computes it", *place)
                elif folded(given) in seen:
                    root.fault(f"{given} is named twice", *place)
                elif word == "update" and _is_owner(profile, given):
                    root.fault(f"{given} is the owner's column: an owner never changes", *place)
                seen.add(folded(given))


def owners_are_written(profile: Profile, root: Node) -> None:
    if profile.owner is None:
        return
    for name, table, rule in _rules(profile):
        owned = table.column(profile.owner.column) is not None
        if owned and rule.insert and folded(profile.owner.column) not in _fold(rule.insert):
            message = f"{profile.owner.column} is the owner's column and is written with every row"
            root.fault(message, "tables", name, "insert")


def reasons_are_given(profile: Profile, root: Node) -> None:
    """Every column a new row leaves out has a reason, and only those (D2).

    A table without inserts needs none: nothing is left out of a row that is not made.
    """
    for name, table, rule in _rules(profile):
        place = ("tables", name, "unwritten")
        left = {folded(column.name): column for column in leaves_out(table, rule)} if rule.insert else {}
        given = {folded(column): reason for column, reason in rule.unwritten.items()}
        for column, reason in rule.unwritten.items():
            if table.column(column) is None:
                root.fault(f"{name} has no column {column}", *place, column)
            elif rule.insert and folded(column) not in left:
                root.fault(f"{column} is written, so there is nothing to give a reason for", *place, column)
            elif reason.strip().upper().startswith(TO_FILL):
                message = f"the reason why {column} may be left out is still to be written"
                root.fault(message, *place, column, blank=True)
            elif not reason.strip():
                root.fault(f"why may {column} be left out? A blank is no reason", *place, column)
        for key, shape in left.items():
            if not has_default(shape) and not _is_row_id(table, key):
                root.fault(f"{shape.name} may not be empty, has no default and is not written", *place[:2])
            elif key not in given:
                message = f"{shape.name} is neither written nor given a reason under unwritten"
                root.fault(message, *place[:2])


def _is_row_id(table: ClosureTable, column: str) -> bool:
    key = table.primary_key
    return key is not None and key.rowid and column in _fold(key.columns)


def operations_are_covered(profile: Profile, root: Node) -> None:
    """Every operation is one of the manifest's, its tables are declared and its columns allowed (D4)."""
    if not profile.operations and isinstance(root.value.get("operations"), list):
        root.fault("a profile names the operations it is for", "operations")
    for number, operation in enumerate(profile.operations):
        place = ("operations", number)
        if operation not in NEEDS:
            root.fault(f"there is no operation {operation}{_nearest(operation, NEEDS)}", *place)
            continue
        for name, need in NEEDS[operation].tables.items():
            table = profile.closure.table(name)
            if table is None:
                root.fault(f"{operation} depends on the table {name}, which is not declared here", *place)
                continue
            rule = profile.writes.get(folded(name), WriteRule())
            for verb, wanted, allowed in (
                ("insert", need.insert, _fold(rule.insert)),
                ("update", need.update, _fold(rule.update)),
            ):
                short = [column for column in wanted if folded(column) not in allowed]
                if short:
                    message = f"{operation} has to {verb} {name}: {', '.join(short)} not allowed there"
                    root.fault(message, *place)
            for column in need.read:
                if table.column(column) is None:
                    root.fault(f"{operation} reads {name}.{column}, which is not declared here", *place)


def invariants_are_named(profile: Profile, root: Node) -> None:
    """The invariants are A.3's, and all that the operations keep are among them."""
    for number, word in enumerate(profile.invariants):
        if word not in INVARIANTS:
            message = f"there is no invariant {word}{_nearest(word, INVARIANTS)}"
            root.fault(message, "invariants", number)
        elif word == ONE_OWNER and profile.owner is None:
            root.fault(f"{word} needs an owner rule", "invariants", number)
    kept = [word for name in profile.operations if name in NEEDS for word in NEEDS[name].keeps]
    for word in dict.fromkeys(kept):
        if word not in profile.invariants and (word != ONE_OWNER or profile.owner is not None):
            root.fault(f"the operations keep {word}, which is not named", "invariants")


def owners_are_principals(profile: Profile, root: Node) -> None:
    """The principals are a declared table with that key, and a written table has the owner's column (D5)."""
    owner = profile.owner
    if owner is None:
        return
    table = profile.closure.table(owner.principals)
    if table is None:
        root.fault(f"{owner.principals} is not among the tables declared here", "owner", "principals")
    elif table.column(owner.key) is None:
        root.fault(f"{table.name} has no column {owner.key}", "owner", "key")
    elif _fold((owner.key,)) not in _keys(table):
        root.fault(f"{owner.key} is no key of {table.name}: principals must be told apart", "owner", "key")
    written = [table for _, table, rule in _rules(profile) if rule.insert]
    if written and not any(table.column(owner.column) for table in written):
        root.fault(f"no table that is written has a column {owner.column}", "owner", "column")


RULES: tuple[Callable[[Profile, Node], None], ...] = (
    lineage_is_anothers,
    columns_are_there,
    row_id_is_an_integer,
    links_lead_into_the_closure,
    incoming_come_from_outside,
    objects_touch_the_closure,
    writes_are_possible,
    owners_are_written,
    reasons_are_given,
    operations_are_covered,
    invariants_are_named,
    owners_are_principals,
)


# -- parts ---------------------------------------------------------------------------------------------------


def _tables(profile: Profile) -> Iterator[tuple[str, ClosureTable]]:
    """Each declared table with its name as the document spells it."""
    for table in profile.closure.tables.values():
        yield table.name, table


def _rules(profile: Profile) -> Iterator[tuple[str, ClosureTable, WriteRule]]:
    for name, rule in profile.writes.items():
        table = profile.closure.table(name)
        if table is not None:
            yield table.name, table, rule


def _is_owner(profile: Profile, column: str) -> bool:
    return profile.owner is not None and folded(column) == folded(profile.owner.column)


def _fold(names: Iterable[str]) -> frozenset[str]:
    return frozenset(folded(name) for name in names)


def _nearest(word: str, known: Mapping[str, Any]) -> str:
    import difflib

    close = difflib.get_close_matches(word.lower(), known, n=1)
    return f"; is {close[0]} meant?" if close else f"; there are {', '.join(known)}"
