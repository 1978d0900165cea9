"""Every row that was there is as it was, and every new one is one the profile lets its owner add."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from inspector.demo.acme_desk.store import initialize
from persistence.profiles.records import Closure, OwnerRule, Profile, WriteRule
from persistence.proof.preservation import compare, resting

PROFILE = Profile(
    "desk",
    1,
    "acme-desk",
    Closure({}),
    {"Progressions": WriteRule(("id", "created_at", "collection", "owner_id"))},
    ("create_progression",),
    owner=OwnerRule("owner_id", "principals", "id"),
)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    before = tmp_path / "before.db"
    initialize(before, sample=True)
    resting(before)
    after = tmp_path / "after.db"
    shutil.copyfile(before, after)
    return before, after


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
    resting(path)


def said(pair: tuple[Path, Path], *statements: str) -> tuple[str, ...]:
    change(pair[1], *statements)
    return compare(*pair, PROFILE, ("kim",)).failures


def test_the_same_store_is_the_same(pair: tuple[Path, Path]) -> None:
    found = compare(*pair, PROFILE, ("kim",))
    assert found.failures == ()
    assert (found.tables > 10, found.rows > 5, found.added) == (True, True, 0)


def test_what_the_profile_adds_is_counted(pair: tuple[Path, Path]) -> None:
    change(pair[1], "INSERT INTO progressions VALUES ('new', 1, '[]', 'kim')")
    found = compare(*pair, PROFILE, ("kim",))
    assert (found.failures, found.added) == ((), 1)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "UPDATE progressions SET collection = '[ ]' WHERE id = 'lee-prog'",
            "progressions: the row lee-prog was",
        ),
        (
            "UPDATE messages SET content = CAST(content AS BLOB) WHERE id = 'lee-msg'",
            "messages: the row",
        ),
        (
            "UPDATE sessions SET desk_pinned = 2 WHERE id = 'lee-sess'",
            "sessions: the row lee-sess was",
        ),
        ("UPDATE tickets SET subject = subject || ' '", "tickets: the row 1 was changed"),
        ("DELETE FROM ticket_notes", "ticket_notes: the row 1 is gone"),
        (
            "INSERT INTO progressions VALUES ('new', 1, '[]', 'lee')",
            "progressions: 1 new rows carry",
        ),
        ("INSERT INTO principals VALUES ('new', 'New', 'person', 1)", "principals: 1 rows were added"),
        (
            "UPDATE schema_meta SET value = '8' WHERE key = 'version'",
            "schema_meta: the row version",
        ),
        ("CREATE TABLE more (a)", "the schema is not what it was"),
    ],
)
def test_what_must_not_be_touched_is_named(pair: tuple[Path, Path], statement: str, words: str) -> None:
    failures = said(pair, statement)
    assert any(failure.startswith(words) for failure in failures), failures


def test_many_rows_are_counted_and_few_named(pair: tuple[Path, Path]) -> None:
    for path in pair:
        change(
            path,
            "INSERT INTO progressions"
            " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
            " SELECT 'p' || i, 1, '[]', 'lee' FROM n",
        )
    failures = said(pair, "UPDATE progressions SET created_at = 2 WHERE id LIKE 'p%'")
    assert len(failures) == 6
    assert failures[-1] == "progressions: 35 more rows were changed or are gone"
