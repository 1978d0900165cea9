"""Differences between profiles, and between a profile and a store: by meaning."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from persistence.errors import StoreError
from persistence.location import locate
from persistence.profiles.diff import Difference, diff, diff_store
from persistence.profiles.document import parse
from tests.persistence.profiles.documents import DOCUMENT, changed
from tests.persistence.profiles.test_derive import filled, made
from tests.persistence.stores import marks_of


def between(*edits: tuple[str, str]) -> list[tuple[str, str | None, str | None]]:
    """What differs after these edits; and the other way round it is the same, mirrored."""
    a, b = parse(DOCUMENT, "a"), parse(changed(*edits), "b")
    found = [(one.where, one.before, one.after) for one in diff(a, b)]
    back = [(one.where, one.after, one.before) for one in diff(b, a)]
    assert len(back) == len(found) and {one[0] for one in back} == {one[0] for one in found}
    return found


def test_equal_profiles_do_not_differ() -> None:
    assert diff(parse(DOCUMENT, "a"), parse(DOCUMENT, "b")) == ()


def test_what_makes_no_difference_makes_none() -> None:
    assert (
        between(
            ("length(role) > 0", "(length( role )>0)"),
            ("shade IN (0, 1)", "shade in(0,1) /* both */"),
            ("default = \"'[]'\"", "default = \"('[]')\""),
            ('name = "two_shades"', 'name = "shades"'),
            (', parent = ["type_id"] }', " }"),
        )
        == []
    )


def test_the_head() -> None:
    assert between(
        ("version = 2", "version = 3"),
        ('store_versions = ["3", "4"]', 'store_versions = ["4", "5"]'),
        ('lineage = "small-desk"', 'lineage = "large-desk"'),
    ) == [
        ("version", "2", "3"),
        ("lineage", "small-desk", "large-desk"),
        ("store_versions", "3", None),
        ("store_versions", None, "5"),
    ]


def test_writes_and_reasons() -> None:
    assert between(
        ('update = ["collection"]', 'update = ["collection", "created_at"]'),
        ('"0 means not shaded"', '"0 means light"'),
    ) == [
        ("tables.progressions.update", None, "created_at"),
        ("tables.messages.unwritten.shade", "0 means not shaded", "0 means light"),
    ]


def test_structure_is_told_as_admission_tells_it() -> None:
    found = diff(
        parse(DOCUMENT, "a"),
        parse(
            changed(('title = { type = "TEXT" }', 'title = { type = "TEXT" }\nage = { type = "REAL" }')), "b"
        ),
    )
    assert [(one.where, one.code) for one in found] == [("tables.people.age", "column-extra")]


def test_a_table_of_one_side() -> None:
    more = '\n[tables.spare]\nprimary_key = ["id"]\n\n[tables.spare.columns]\nid = { type = "TEXT" }\n'
    a, b = parse(DOCUMENT, "a"), parse(DOCUMENT + more, "b")
    assert diff(a, b) == (Difference("tables.spare", None, "1 columns"),)
    (gone,) = diff(b, a)
    assert (gone.where, gone.code, gone.after) == ("tables.spare", "table-missing", "no such table")


def test_a_profile_and_a_store(tmp_path: Path) -> None:
    from persistence.profiles.derive import derive

    path = made(tmp_path / "desk.db")
    profile = parse(filled(derive(locate(path))), "x")
    before = marks_of(path)
    found, read = diff_store(profile, locate(path))
    assert found == () and read.route == "settled" and marks_of(path) == before
    connection = sqlite3.connect(path)
    connection.execute("ALTER TABLE people ADD COLUMN age REAL")
    connection.execute("DROP VIEW loud")
    connection.close()
    found, _ = diff_store(profile, locate(path))
    assert {(one.where, one.code) for one in found} == {
        ("tables.people.age", "column-extra"),
        ("tables.messages.loud", "view-missing"),
    }
    with pytest.raises(StoreError):
        diff_store(profile, locate(tmp_path / "none.db"))
