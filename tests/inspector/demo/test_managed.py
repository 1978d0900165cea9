"""acme-desk's store in the gallery, and its five drifted copies: what each is admitted or refused for."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from inspector.demo.acme_desk.invariants import problems
from inspector.demo.acme_desk.store import connect
from inspector.demo.gallery import CARDS
from inspector.demo.managed import BUILDERS
from persistence.location import locate
from persistence.profiles import AdmissionReport, admit, load_profile

CLOCK = 1_795_953_600.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("managed")
    for name, build in BUILDERS.items():
        build(made / f"{name}.db", made, CLOCK)
    return made


def answer(path: Path) -> AdmissionReport:
    return admit(locate(str(path)), load_profile("acme-desk-fresh-run"), owner="kim")


def test_every_one_has_a_card() -> None:
    names = {card.name for card in CARDS}
    assert set(BUILDERS) <= names and len(BUILDERS) == 6
    assert [card.file for card in CARDS if card.name == "desk"] == ["managed.db"]


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("desk", []),
        ("desk-priority", ["column-extra"]),
        ("desk-mail", ["check-changed"]),
        ("desk-follow-up", ["trigger-extra", "trigger-outside"]),
        ("desk-regrouped", ["link-extra", "link-changed"]),
        ("desk-rollback", ["journal-mode"]),
    ],
)
def test_what_each_is_refused_for(folder: Path, name: str, codes: list[str]) -> None:
    """One change, one cause; and the answer changes nothing."""
    path = folder / f"{name}.db"
    before = path.read_bytes()
    found = answer(path)
    assert [finding.code for finding in found.findings if finding.refuses] == codes
    assert found.admitted is (not codes)
    assert path.read_bytes() == before and list(folder.glob(f"{name}.db-*")) == []


def test_the_story_is_the_desks(folder: Path, tmp_path: Path) -> None:
    """Runs by kim and by lee, tickets that name them, one failed and one still at it; and all of it holds."""
    path = tmp_path / "desk.db"
    path.write_bytes((folder / "desk.db").read_bytes())
    with closing(connect(path)) as connection:
        assert list(problems(connection)) == []
        owners = dict(connection.execute("SELECT owner_id, count(*) FROM sessions GROUP BY 1").fetchall())
        assert set(owners) == {"kim", "lee"} and min(owners.values()) >= 3
        statuses = {row[0] for row in connection.execute("SELECT DISTINCT status FROM sessions")}
        assert statuses == {"completed", "failed", "running"}
        (loose,) = connection.execute("SELECT count(*) FROM tickets WHERE session_id IS NULL").fetchone()
        assert loose == 0


def test_the_same_clock_makes_the_same_stores(folder: Path, tmp_path: Path) -> None:
    for name in ("desk", "desk-mail"):
        BUILDERS[name](tmp_path / f"{name}.db", tmp_path, CLOCK)
        with (
            closing(sqlite3.connect(folder / f"{name}.db")) as one,
            closing(sqlite3.connect(tmp_path / f"{name}.db")) as other,
        ):
            assert list(one.iterdump()) == list(other.iterdump())
