"""What no profile can declare away: structure under which a write from here could harm rows of others.

Asked of the live closure, whatever the profile says of it: a clash that replaces rows, owners that are not
told apart exactly, and triggers that do on a write of ours what the guard could not let pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from persistence.profiles.codes import finding
from persistence.profiles.compare.text import conflicts_alike
from persistence.profiles.compare.triggers import effects
from persistence.profiles.records import (
    Closure,
    ClosureTable,
    Finding,
    ObjectShape,
    OwnerRule,
    WriteRule,
    folded,
)

__all__ = ["hazards"]


def hazards(
    closure: Closure, writes: Mapping[str, WriteRule], owner: OwnerRule | None
) -> tuple[Finding, ...]:
    """Every hazard of a closure under these write rules and this owner rule."""
    rules = {folded(name): rule for name, rule in writes.items() if rule.insert or rule.update}
    found: list[Finding] = []
    for key, table in closure.tables.items():
        if key in rules:
            found += _conflicts(table)
        if owner is not None:
            found += _owners(table, owner, key in rules)
    for shape in closure.objects:
        if shape.kind == "trigger" and folded(shape.table or "") in rules:
            found += _trigger(shape, closure, rules, owner)
    return (*found, *_recursion(closure))


def _recursion(closure: Closure) -> Iterator[Finding]:
    """Triggers that reach the table they stand on, through others too.

    The guard has SQLite run triggers within triggers, which the managing application's own do not expect.
    """
    standing = [shape for shape in closure.objects if shape.kind == "trigger" and shape.table is not None]
    reach: dict[str, set[str]] = {}
    for shape in standing:
        reach.setdefault(folded(shape.table or ""), set()).update(map(folded, shape.writes))
    for shape in standing:
        stands = folded(shape.table or "")
        seen: set[str] = set()
        waiting = set(map(folded, shape.writes))
        while waiting and stands not in seen:
            now = waiting.pop()
            if now not in seen:
                seen.add(now)
                waiting |= reach.get(now, set())
        if stands in seen:
            yield finding(
                "trigger-recurses",
                table=shape.table,
                object=shape.name,
                expected="no trigger that reaches its own table",
                observed=f"its writes reach {shape.table} again",
            )


def _conflicts(table: ClosureTable) -> Iterator[Finding]:
    declared = [(column.name, column.conflict) for column in table.columns]
    if table.primary_key is not None:
        declared.append((", ".join(table.primary_key.columns), table.primary_key.conflict))
    declared += [(", ".join(t.column or "?" for t in shape.terms), shape.conflict) for shape in table.uniques]
    for name, clause in declared:
        if not conflicts_alike(clause, None):
            yield finding(
                "conflict-declared",
                table=table.name,
                object=name,
                expected="ON CONFLICT ABORT, the default",
                observed=f"ON CONFLICT {clause}",
            )


def _owners(table: ClosureTable, owner: OwnerRule, written: bool) -> Iterator[Finding]:
    names = [owner.column] if written else []
    if folded(table.name) == folded(owner.principals):
        names.append(owner.key)
    for name in names:
        column = table.column(name)
        if column is not None and column.collation is not None:
            yield finding(
                "owner-inexact",
                table=table.name,
                object=column.name,
                expected="COLLATE BINARY",
                observed=f"COLLATE {column.collation}",
            )


_ACTS = {"insert": "an insert into", "update": "an update of", "delete": "a delete from"}


def _trigger(
    shape: ObjectShape, closure: Closure, rules: Mapping[str, WriteRule], owner: OwnerRule | None
) -> Iterator[Finding]:
    stands = folded(shape.table or "")
    found = effects(shape.sql, owner.column if owner is not None else None)

    def found_one(code: str, expected: str, observed: str) -> Finding:
        return finding(code, table=shape.table, object=shape.name, expected=expected, observed=observed)

    if found is None:
        yield found_one("uninterpreted", "a trigger that can be interpreted", "what it does cannot be told")
        return
    if not found.fires(rules[stands]):
        return

    for clause in found.resolutions:
        yield found_one("trigger-resolution", "a clash refuses the write", clause)
    for effect in found.effects:
        if effect.verb == "delete":
            yield found_one("trigger-deletes", "no row is deleted", f"{_ACTS[effect.verb]} {effect.table}")
            continue
        rule = rules.get(effect.table)
        allowed = () if rule is None else rule.insert if effect.verb == "insert" else rule.update
        outside = [name for name in effect.columns if name not in {folded(column) for column in allowed}]
        if not allowed or outside:
            what = f"{_ACTS[effect.verb]} {effect.table}"
            yield found_one(
                "trigger-outside",
                "writes within the profile's",
                f"{what} ({', '.join(outside)})" if allowed else what,
            )
        target = closure.tables.get(effect.table)
        owned = owner is not None and target is not None and target.column(owner.column) is not None
        if owned and not effect.keeps_owner:
            yield found_one(
                "trigger-owner",
                f"the owner is NEW.{owner.column if owner else ''}",
                f"{_ACTS[effect.verb]} {effect.table} without it",
            )
