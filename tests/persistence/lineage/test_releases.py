"""What each release made is recognized: fixtures of every release, and stores they made themselves."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from persistence.lineage import examine
from persistence.location import locate
from persistence.schema.known import RELEASES, TABLES
from tests.persistence.lineage.craft import complete, edit, meta, state_of
from tests.persistence.stores import make_store

VERSIONS = {"0.26.0": "1", "0.26.18": "1", "0.28.0": "1", "0.30.2": "1", "0.32.0": "2", "0.34.1": "3"}


@pytest.mark.adr("0128-D7-04", "0128-D7-13")
@pytest.mark.parametrize("release", RELEASES)
def test_the_shape_of_every_release_is_recognized(release: str, tmp_path: Path) -> None:
    path = make_store(tmp_path / "state.db", release)
    if release in VERSIONS:
        meta(path, "lineage", None)
        meta(path, "version", VERSIONS[release])
    before = state_of(tmp_path)
    report = examine(locate(path))
    assert report.native.opens is True
    assert report.version == VERSIONS.get(release, "4")
    assert report.application == (None if release in VERSIONS else "lionagi")
    assert state_of(tmp_path) == before


@pytest.mark.adr("0128-D7-04")
@pytest.mark.parametrize("release", ["0.26.0", "0.30.2", "0.36.0"])
@pytest.mark.parametrize("table", ["sessions", "messages", "plays", "definitions"])
def test_one_column_more_than_any_release_had_and_it_is_not(release: str, table: str, tmp_path: Path) -> None:
    path = complete(tmp_path, release)
    edit(path, f"ALTER TABLE {table} ADD COLUMN of_another_application TEXT")
    refusal = examine(locate(path), surroundings=False).native.refusal
    assert refusal is not None and refusal.code == "foreign-shape"
    assert f"{table}.of_another_application" in (refusal.observed or "")


def test_stores_that_releases_made_are_recognized(shared_stores: Path, tmp_path: Path) -> None:
    found = sorted(shared_stores.glob("lionagi-*.db"))
    assert found
    for source in found:
        folder = tmp_path / source.stem
        folder.mkdir()
        path = Path(shutil.copy(source, folder))
        before = state_of(folder)
        report = examine(locate(path))
        assert report.native.opens is True, source
        assert report.read_only.route == "settled"
        assert report.compatibility.opens is False
        assert report.seen is not None and set(report.seen.tables) <= set(TABLES)
        assert report.native.notices == ()
        assert state_of(folder) == before


async def test_a_store_this_program_brought_up_to_date_is_its_own(
    shared_stores: Path, tmp_path: Path
) -> None:
    from persistence import Mode, StateDB

    for source in sorted(shared_stores.glob("lionagi-*.db")):
        folder = tmp_path / source.stem
        folder.mkdir()
        path = Path(shutil.copy(source, folder))
        path.chmod(0o644)
        async with StateDB(path, mode=Mode.NATIVE):
            pass
        report = examine(locate(path))
        assert (report.application, report.version) == ("lionagi", "4")
        assert report.native.opens is True
