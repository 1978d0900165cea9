"""Any single semantic change of the admitted schema refuses; any number of meaningless rewrites admits."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persistence.profiles import closure as closures
from persistence.profiles.compare import compare
from persistence.profiles.compare.hazards import hazards
from persistence.profiles.records import Closure, Finding
from tests.persistence.profiles.acme import TABLES, profile
from tests.persistence.profiles.changes import CHANGES
from tests.persistence.profiles.model import Model, Writer, base

SEEDS = st.integers(0, 2**32)


def read(model: Model, chance: random.Random | None) -> Closure:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in Writer(chance).statements(model):
            connection.execute(statement)
        return closures.read(connection, TABLES)


def refusing(live: Closure) -> list[Finding]:
    declared = profile()
    found = compare(declared.closure, live).findings
    return [one for one in (*found, *hazards(live, declared.writes, declared.owner)) if one.refuses]


def test_there_are_kinds_enough() -> None:
    assert len(CHANGES) >= 30


def test_the_model_is_the_managed_store() -> None:
    assert refusing(read(base(), None)) == []


@settings(max_examples=60, deadline=None)
@given(seed=SEEDS)
def test_any_number_of_meaningless_rewrites_admits(seed: int) -> None:
    assert refusing(read(base(), random.Random(seed))) == []


@pytest.mark.parametrize("name", CHANGES)
@settings(max_examples=6, deadline=None)
@given(seed=SEEDS)
def test_any_single_change_refuses_and_is_named_first(name: str, seed: int) -> None:
    model, chance = base(), random.Random(seed)
    expected = CHANGES[name](model, chance)
    first = refusing(read(model, chance))[0]
    assert (first.code, first.table) == (expected.code, expected.table)
    if expected.object is not None:
        assert (first.object or "").lower() == expected.object.lower()
