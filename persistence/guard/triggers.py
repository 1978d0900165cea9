"""TEMP triggers that hold rows and owners inside SQLite, on whatever path a statement comes (DESIGN 5).

They live in the connection's temporary schema: the store's file does not know them. With recursive triggers
the hidden delete of REPLACE meets them too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from persistence.guard.refusals import MARK
from persistence.lineage.rows import quoted
from persistence.profiles.records import ClosureTable, Profile, WriteRule, folded

__all__ = ["RUNNING", "SPOIL", "Trigger", "recursion", "triggers"]

RUNNING = "store_inspector_running"
"""A function of the connection: 1 while an operation's transaction is open. A write that comes otherwise, on
whatever path, would be committed by itself."""

SPOIL = "store_inspector_refused"
"""A function of the connection that every trigger calls first: what it refused cannot be committed then, on
whatever path the statement came and whoever catches the error."""


class Trigger(NamedTuple):
    """`name` is also what the authorizer is told when one of its actions is asked about."""

    name: str
    sql: str


def triggers(profile: Profile, owner: str | None) -> tuple[Trigger, ...]:
    """The triggers for every table of the closure; those that compare owners only where there is an owner."""
    rules = {folded(name): rule for name, rule in profile.writes.items()}
    found: list[Trigger] = []
    for number, (name, table) in enumerate(sorted(profile.closure.tables.items())):
        rule = rules.get(name, WriteRule())
        for kind, when, said in _held(table, rule, profile, owner):
            trigger = f"store inspector guard {number} {kind.split()[0].lower()} {len(found)}"
            text = _text(said)
            body = f"SELECT {SPOIL}({text}); SELECT RAISE(ABORT, {_text(f'{MARK}{said}')});"
            found.append(
                Trigger(
                    trigger,
                    f"CREATE TEMP TRIGGER {quoted(trigger)} BEFORE {kind} ON main.{quoted(table.name)}{when} "
                    f"BEGIN {body} END",
                )
            )
    return tuple(found)


def _held(
    table: ClosureTable, rule: WriteRule, profile: Profile, owner: str | None
) -> Iterator[tuple[str, str, str]]:
    """The event, the condition and what is said, for each trigger of one table."""
    column = None if profile.owner is None else table.column(profile.owner.column)
    yield "DELETE", "", f"a row of {table.name} would be deleted or replaced"
    if not rule.insert:
        yield "INSERT", "", f"a row would be added to {table.name}, which the profile does not write"
    elif column is not None and owner is not None:
        other = f"NEW.{quoted(column.name)} COLLATE BINARY IS NOT {_text(owner)}"
        said = f"a row of {table.name} would have another owner, or comes outside an operation"
        yield "INSERT", f" WHEN {other} OR {RUNNING}() IS NOT 1", said
    else:
        yield "INSERT", f" WHEN {RUNNING}() IS NOT 1", f"a row of {table.name} comes outside an operation"
    if not rule.update:
        yield "UPDATE", "", f"a row of {table.name} would change, which the profile does not allow"
        return
    listed = {folded(name) for name in rule.update}
    fixed = [c.name for c in table.columns if folded(c.name) not in listed and c.generated is None]
    if fixed:
        names = ", ".join(quoted(name) for name in fixed)
        yield f"UPDATE OF {names}", "", f"a column of {table.name} would change that the profile keeps"
    if column is None or owner is None:
        said = f"a row of {table.name} would change outside an operation"
        yield "UPDATE", f" WHEN {RUNNING}() IS NOT 1", said
        return
    name = quoted(column.name)
    other = (
        f"OLD.{name} COLLATE BINARY IS NOT {_text(owner)} OR NEW.{name} COLLATE BINARY IS NOT OLD.{name} "
        f"OR {RUNNING}() IS NOT 1"
    )
    yield "UPDATE", f" WHEN {other}", f"a row of {table.name} has another owner, or no operation changes it"


def recursion(profile: Profile) -> str | None:
    """The name of a trigger of the store that could set itself off again, or None.

    On the guarded connection triggers recurse, which the managing application's own do not expect.
    """
    reach: dict[str, set[str]] = {}
    first: dict[str, str] = {}
    for shape in profile.closure.objects:
        if shape.kind == "trigger" and shape.table is not None:
            reach.setdefault(folded(shape.table), set()).update(folded(name) for name in shape.writes)
            first.setdefault(folded(shape.table), shape.name)
    for table, name in first.items():
        seen: set[str] = set()
        waiting = set(reach[table])
        while waiting:
            now = waiting.pop()
            if now == table:
                return name
            if now not in seen:
                seen.add(now)
                waiting |= reach.get(now, set())
    return None


def _text(value: str) -> str:
    """A SQL text literal, also of text that no literal can hold: triggers take no parameters."""
    try:
        data = value.encode("utf-8")
    except UnicodeEncodeError:
        data = value.encode("utf-8", "surrogateescape")
    if value.isprintable():
        doubled = value.replace("'", "''")
        return f"'{doubled}'"
    return f"CAST(X'{data.hex()}' AS TEXT)"
