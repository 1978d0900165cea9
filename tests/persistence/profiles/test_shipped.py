"""The shipped catalogue: every document is right, found by its name, and equal to the store it is for."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from inspector.demo.acme_desk.shapes import AFTER, TABLES
from persistence.location import locate
from persistence.profiles import load_profile
from persistence.profiles.admission import admit
from persistence.profiles.catalogue import SHIPPED, entries
from persistence.profiles.compare.whole import compare
from persistence.profiles.derive import look
from persistence.profiles.document import parse
from persistence.profiles.document_rules import TO_FILL
from persistence.profiles.dump import dump
from persistence.profiles.lint import lint
from tests.persistence.profiles import acme

DESK, SHAPE = "acme-desk-fresh-run", "lionagi-shape-fresh-run"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """acme-desk's store of today, as its initializer makes it, without rows but two principals."""
    path = tmp_path / "desk.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    for statement in (*TABLES[7].values(), *AFTER[7]):
        connection.execute(statement)
    connection.execute("INSERT INTO schema_meta VALUES ('lineage', 'acme-desk'), ('version', '7')")
    connection.execute("INSERT INTO principals VALUES ('kim', 'Kim', 'person', 1.0)")
    connection.close()
    return path


@pytest.fixture
def harbour(native_file: Path, tmp_path: Path) -> Path:
    """A store of lionagi's own shape, as our native writer makes it, that names another application."""
    path = tmp_path / "harbour.db"
    path.write_bytes(native_file.read_bytes())
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE schema_meta SET value = 'harbour-master' WHERE key = 'lineage'")
    connection.close()
    return path


@pytest.mark.adr("0128-D2-02")
@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.toml")), ids=lambda path: path.stem)
def test_a_shipped_document_is_right_and_found_by_its_name(path: Path) -> None:
    profile = load_profile(path.stem)
    assert profile.name == path.stem and profile.source == str(path)
    assert profile == load_profile(profile.identity) == load_profile(path)
    linted = lint(path)
    assert linted.clean and not [one for one in linted.remarks if one.key.startswith("tables")]
    text = path.read_text("utf-8")
    assert TO_FILL not in text
    assert text.endswith(dump(profile).partition("format = 1")[2])  # as the tools write it, with words on top
    assert parse(text, "x") == profile


def test_both_are_shipped() -> None:
    assert {(one.name, one.version, one.lineage) for one in entries(()) if one.origin == "shipped"} == {
        (DESK, 1, "acme-desk"),
        (SHAPE, 1, "harbour-master"),
    }


def test_the_desks_profile_is_its_store(desk: Path) -> None:
    profile = load_profile(DESK)
    report = admit(locate(desk), profile, owner="kim")
    assert report.admitted and report.findings == ()
    assert look(locate(desk), profile.operations).closure == profile.closure


def test_the_desks_profile_says_what_the_facts_about_it_say() -> None:
    """The structure and the writes that were worked out beside the reference."""
    shipped, worked_out = load_profile(DESK), acme.profile()
    assert compare(shipped.closure, worked_out.closure).findings == ()
    assert set(shipped.operations) == {*worked_out.operations, "append_to_progression"}
    assert (shipped.owner, shipped.store_versions) == (worked_out.owner, worked_out.store_versions)
    assert set(shipped.writes) == set(worked_out.writes)
    for table, rule in worked_out.writes.items():
        mine = shipped.writes[table]
        assert (set(mine.insert), set(mine.update)) == (set(rule.insert), set(rule.update)), table
        assert set(mine.unwritten) == set(rule.unwritten), table


def test_the_shapes_profile_is_a_native_store_of_another_lineage(harbour: Path) -> None:
    profile = load_profile(SHAPE)
    assert profile.owner is None
    report = admit(locate(harbour), profile)
    assert report.admitted and report.findings == ()
    assert look(locate(harbour), profile.operations).closure == profile.closure


def test_a_store_that_lionagi_itself_made_has_that_shape(shared_stores: Path, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes((shared_stores / "lionagi-0.36.0.db").read_bytes())
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE schema_meta SET value = 'harbour-master' WHERE key = 'lineage'")
    connection.close()
    report = admit(locate(path), load_profile(SHAPE))
    assert report.admitted and report.findings == ()


def test_neither_admits_the_others_store(desk: Path, harbour: Path) -> None:
    for path, name, owner in ((harbour, DESK, "kim"), (desk, SHAPE, None)):
        report = admit(locate(path), load_profile(name), owner=owner)
        assert report.findings[0].code == "lineage-other"
