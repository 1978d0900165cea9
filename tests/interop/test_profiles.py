"""Profiles of stores that the real program made, once another application's name is in them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from persistence.location import locate
from persistence.profiles import admit, load_profile
from persistence.profiles.compare.whole import compare
from persistence.profiles.derive import derive
from persistence.profiles.document import parse
from persistence.profiles.document_rules import TO_FILL
from tests.interop.conftest import RealStore
from tests.persistence.stores import marks_of


@pytest.fixture
def renamed(made: RealStore, tmp_path: Path) -> Path:
    """A copy of a filled store, of the lineage the shipped profile is for."""
    folder = tmp_path / "renamed"
    folder.mkdir()
    path = folder / "state.db"
    path.write_bytes(made.path.read_bytes())
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE schema_meta SET value = 'harbour-master' WHERE key = 'lineage'")
    connection.close()
    return path


def test_the_shipped_profile_is_the_shape_lionagi_gives_its_stores(renamed: Path) -> None:
    before = marks_of(renamed)
    report = admit(locate(renamed), load_profile("lionagi-shape-fresh-run"))
    assert report.admitted and report.findings == ()
    assert marks_of(renamed) == before


@pytest.mark.adr("0128-D2-16")
def test_what_is_derived_from_it_admits_it(renamed: Path) -> None:
    profile = parse(derive(locate(renamed)).replace(TO_FILL, "looked at"), "derived")
    assert len(profile.operations) == 12 and profile.lineage == "harbour-master"
    assert admit(locate(renamed), profile).findings == ()
    shipped = load_profile("lionagi-shape-fresh-run")
    assert compare(profile.closure, shipped.closure).findings == ()


def test_its_own_store_is_no_managed_one(made: RealStore) -> None:
    report = admit(locate(made.path), load_profile("lionagi-shape-fresh-run"))
    assert [found.code for found in report.findings] == ["lineage-own"]
