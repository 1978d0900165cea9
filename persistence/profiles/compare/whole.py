"""The whole comparison of a declared closure with a live one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from persistence.profiles.codes import CODES, finding
from persistence.profiles.compare.checks import checks
from persistence.profiles.compare.columns import columns
from persistence.profiles.compare.indexes import indexes
from persistence.profiles.compare.keys import keys
from persistence.profiles.compare.links import incoming, links
from persistence.profiles.compare.objects import objects
from persistence.profiles.compare.options import options
from persistence.profiles.compare.text import Outcome
from persistence.profiles.compare.uniques import uniques
from persistence.profiles.records import Closure, ClosureTable, Finding, folded

__all__ = ["Comparison", "compare", "ordered"]

_TABLE: Mapping[str, Callable[[ClosureTable, ClosureTable], Outcome]] = {
    "columns": columns,
    "keys": keys,
    "uniques": uniques,
    "checks": checks,
    "indexes": indexes,
    "options": options,
}
"""The comparators of one table by itself. A new concern is a module and a line here."""


class Comparison(NamedTuple):
    """Every difference, and by table and concern how many declared facts hold.

    What belongs to no one table counts under the empty name: `incoming` and `objects`.
    """

    findings: tuple[Finding, ...]
    holds: Mapping[str, Mapping[str, int]]


def compare(declared: Closure, live: Closure) -> Comparison:
    """Declared against live: every difference at once, in the order of the declared tables."""
    found = [
        finding(
            "uninterpreted",
            table=doubt.table,
            object=doubt.object,
            expected="structure that can be interpreted",
            observed=doubt.why,
        )
        for doubt in live.uninterpreted
    ]
    holds: dict[str, dict[str, int]] = {}
    for key, expected in declared.tables.items():
        observed = live.tables.get(key)
        if observed is None:
            found += _absent(expected, key, live)
            continue
        counts: dict[str, int] = {}
        for concern, comparator in _TABLE.items():
            outcome = comparator(expected, observed)
            found += outcome.findings
            counts[concern] = outcome.holds
        outcome = links(expected.name, declared, live)
        found += outcome.findings
        counts["links"] = outcome.holds
        holds[expected.name] = counts
    into, touching = incoming(declared, live), objects(declared, live)
    found += (*into.findings, *touching.findings)
    holds[""] = {"incoming": into.holds, "objects": touching.holds}
    return Comparison(ordered(found, declared), holds)


def _absent(expected: ClosureTable, key: str, live: Closure) -> list[Finding]:
    if key not in live.missing:
        return []  # it is there, and could not be interpreted: said above
    stands = live.missing[key]
    if stands is None:
        return [
            finding(
                "table-missing",
                table=expected.name,
                expected=f"{len(expected.columns)} columns",
                observed="no such table",
            )
        ]
    return [finding("table-kind", table=expected.name, expected="a plain table", observed=stands)]


_ORDER = {code: place for place, code in enumerate(CODES)}


def ordered(found: list[Finding], declared: Closure) -> tuple[Finding, ...]:
    """What is of no table first, then table by table as declared; what refuses comes before notices.

    Tables are spelled as the profile has them.
    """
    places = {key: place for place, key in enumerate(declared.tables)}

    def spelled(one: Finding) -> Finding:
        table = declared.table(one.table) if one.table is not None else None
        return one if table is None or table.name == one.table else replace(one, table=table.name)

    def place(one: Finding) -> tuple[int, int, int]:
        table = -1 if one.table is None else places.get(folded(one.table), len(places))
        return int(not one.refuses), table, _ORDER[one.code]

    return tuple(sorted(map(spelled, found), key=place))
