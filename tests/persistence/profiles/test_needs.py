"""What profiles are checked against is what the manifest's statements need: two accounts of one thing."""

from __future__ import annotations

import pytest

from persistence.profiles.derive import OPTIONAL
from persistence.profiles.needs import NEEDS, needs_of
from persistence.writing.compatibility.manifest import OPERATIONS, needs


def test_both_know_the_same_operations() -> None:
    assert set(NEEDS) == set(OPERATIONS)
    assert set(OPTIONAL) == {name for name, operation in OPERATIONS.items() if operation.optional}


@pytest.mark.adr("0128-D2-10")
@pytest.mark.parametrize("operation", list(NEEDS))
def test_the_table_says_what_the_statements_need(operation: str) -> None:
    mine = {table: need for table, need in NEEDS[operation].tables.items() if need.insert or need.update}
    theirs = {table: pair for table, pair in needs(operation).items() if any(pair)}
    assert set(mine) == set(theirs)
    for table, (inserts, updates) in theirs.items():
        assert (set(mine[table].insert), set(mine[table].update)) == (set(inserts), set(updates)), table
    assert {spec.table for spec in OPERATIONS[operation].statements} == set(NEEDS[operation].tables)
    assert set(NEEDS[operation].keeps) == set(OPERATIONS[operation].keeps)


def test_needs_of_several_are_joined_in_order() -> None:
    both = needs_of(("create_branch", "finalize_branch"))
    assert list(both) == ["branches", "sessions", "progressions", "messages"]
    assert both["branches"].insert[0] == "id" and both["branches"].update == ("status", "ended_at")
