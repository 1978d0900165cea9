"""acme-desk's store in the gallery, and its five drifted copies: what each is admitted or refused for."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from inspector.demo.acme_desk.invariants import problems
from inspector.demo.acme_desk.migrations import migrate
from inspector.demo.acme_desk.store import connect, initialize
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


# -- the desk's own stores under the profile made for it ----------------------------------------------------


@pytest.mark.parametrize("version", [5, 6, 7])
def test_what_its_migrations_make_is_admitted_like_what_its_initializer_makes(
    version: int, tmp_path: Path
) -> None:
    """Both shapes of today's schema; the older ones, not yet migrated, are not."""
    path = tmp_path / "desk.db"
    initialize(path, version, sample=True)
    before = answer(path)
    assert before.admitted is (version == 7)
    if version != 7:
        codes = {finding.code for finding in before.refusing}
        assert "version-unlisted" in codes and "column-missing" in codes
    path = tmp_path / "migrated.db"
    initialize(path, version, sample=True)
    migrate(path)
    found = answer(path)
    assert found.findings == () and found.admitted


def test_it_is_admitted_while_the_desk_writes_and_checkpoints(tmp_path: Path) -> None:
    """Each admission reads one committed state, and the desk is never in its way or it in the desk's."""
    path = tmp_path / "desk.db"
    initialize(path)
    words = [sys.executable, "-m", "inspector.demo.acme_desk"]
    desks = [
        subprocess.Popen([*words, "write", str(path), "--pause", "0.002"], stdout=subprocess.PIPE, text=True),
        subprocess.Popen(
            [*words, "checkpoint", str(path), "--pause", "0.01"], stdout=subprocess.PIPE, text=True
        ),
    ]
    try:
        while not Path(f"{path}-wal").exists() or not Path(f"{path}-wal").stat().st_size:
            assert all(desk.poll() is None for desk in desks)
        reports = [answer(path) for _ in range(12)]
    finally:
        for desk in desks:
            desk.terminate()
    told = [json.loads(desk.communicate(timeout=30)[0]) for desk in desks]
    assert all(report.admitted for report in reports), [report.findings for report in reports]
    assert told[0]["runs"] >= 1 and told[0]["busy"] == 0 and told[1]["checkpoints"] >= 1
