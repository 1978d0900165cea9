"""Starting documents: they say what the store has, invent no reason, and once filled in they admit it."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from persistence.errors import ProfileError, StoreError
from persistence.location import locate
from persistence.profiles.admission import admit
from persistence.profiles.derive import derive, draft, look
from persistence.profiles.document import faults_of, parse
from persistence.profiles.document_rules import TO_FILL
from persistence.profiles.dump import dump
from persistence.profiles.lint import lint_text
from persistence.profiles.records import Uninterpreted
from tests.persistence.profiles import acme
from tests.persistence.stores import marks_of

RELEASES = ("0.26.0", "0.28.0", "0.32.0", "0.36.0")

DESK = """
PRAGMA journal_mode = WAL;
BEGIN;
CREATE TABLE schema_meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE people (id TEXT NOT NULL PRIMARY KEY, name TEXT);
CREATE TABLE message_types (type_id INTEGER NOT NULL PRIMARY KEY, lion_class TEXT NOT NULL UNIQUE);
CREATE TABLE progressions (
  id TEXT NOT NULL PRIMARY KEY, created_at REAL NOT NULL, collection TEXT NOT NULL DEFAULT '[]',
  shade INTEGER NOT NULL DEFAULT 0, note TEXT, length INTEGER AS (length(collection)) VIRTUAL,
  owner TEXT NOT NULL REFERENCES people(id)
);
CREATE TABLE messages (
  id TEXT NOT NULL PRIMARY KEY, created_at REAL NOT NULL, node_metadata JSON, content JSON NOT NULL,
  embedding BLOB, sender TEXT, recipient TEXT, channel TEXT, role TEXT NOT NULL,
  lion_class INTEGER NOT NULL REFERENCES message_types, owner TEXT NOT NULL REFERENCES people,
  "odd name" TEXT CHECK ("odd name" <> 'it''s
two lines')
);
CREATE TABLE bookmarks (id INTEGER PRIMARY KEY, message TEXT REFERENCES messages(id) ON DELETE CASCADE);
CREATE VIEW loud AS SELECT id FROM messages WHERE role = 'loud';
INSERT INTO schema_meta VALUES ('lineage', 'small desk'), ('version', '3');
INSERT INTO people VALUES ('kim', 'Kim');
COMMIT;
"""


def made(path: Path, *more: str) -> Path:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(DESK)
    for statement in more:
        connection.execute(statement)
    connection.close()
    return path


def filled(text: str) -> str:
    """The document as an author leaves it."""
    return text.replace(TO_FILL, "looked at")


def verdict(path: Path, text: str, owner: str | None = None) -> list[str]:
    return [found.sentence for found in admit(locate(path), parse(text, "x"), owner=owner).findings]


def test_a_document_says_what_is_there_and_invents_no_reason(tmp_path: Path) -> None:
    path = made(tmp_path / "desk.db")
    before = marks_of(path)
    text = derive(locate(path))
    assert marks_of(path) == before
    profile, faults = faults_of(text, "x")
    assert profile is None and faults and all(fault.blank for fault in faults)
    reasons = ("shade", "note", "length", "type_id", "odd name")
    assert {fault.key.rpartition("unwritten.")[2].strip('"') for fault in faults} == set(reasons)
    profile = parse(filled(text), "x")
    assert profile.identity == "small-desk-fresh-run@1" and profile.lineage == "small desk"
    assert profile.store_versions == ("3",)
    assert profile.operations == ("create_progression", "insert_message", "append_to_progression")
    assert profile.owner is not None and profile.owner.column == "owner"
    assert [one.table for one in profile.closure.incoming] == ["bookmarks"]
    assert [(one.kind, one.name) for one in profile.closure.objects] == [("view", "loud")]
    assert "#   create_session: there is no table sessions" in text
    assert "default" in text and "length(collection)" in text


@pytest.mark.adr("0128-D2-16")
def test_what_was_derived_admits_once_the_reasons_are_given(tmp_path: Path) -> None:
    path = made(tmp_path / "desk.db")
    assert verdict(path, filled(derive(locate(path))), owner="kim") == []


def test_it_is_the_same_every_time_and_survives_being_written_again(tmp_path: Path) -> None:
    location = locate(made(tmp_path / "desk.db"))
    text = derive(location)
    assert derive(location) == text
    profile = parse(filled(text), "x")
    assert parse(dump(profile), "y") == profile
    assert derive(location, name="other", version=4).startswith(text.split("\n\nformat")[0])
    assert 'name = "other"\nversion = 4\n' in derive(location, name="other", version=4)


def test_the_operations_that_are_asked_for(tmp_path: Path) -> None:
    path = made(tmp_path / "desk.db")
    text = derive(locate(path), ("append_to_progression",))
    profile = parse(filled(text), "x")
    assert profile.operations == ("append_to_progression",) and profile.owner is None
    assert profile.writes["progressions"].insert == ()
    with pytest.raises(ProfileError) as caught:
        derive(locate(path), ("append_to_progression", "create_session", "prune"))
    assert caught.value.code == "profile-unfit" and caught.value.observed is not None
    assert "create_session: there is no table sessions" in caught.value.observed
    assert "prune: there is no such operation" in caught.value.observed
    with pytest.raises(ProfileError, match="not a profile's name"):
        derive(locate(path), name="No Name")


def test_a_column_that_cannot_be_left_out_leaves_out_the_operation(tmp_path: Path) -> None:
    path = made(tmp_path / "desk.db", "CREATE TABLE x (id INTEGER PRIMARY KEY)")
    connection = sqlite3.connect(path)
    connection.executescript(
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'note TEXT', "
        "'note TEXT NOT NULL') WHERE name = 'progressions'; PRAGMA writable_schema = RESET;"
    )
    connection.close()
    text = derive(locate(path))
    assert "create_progression: progressions has note: never empty, without a default" in text
    assert "create_progression" not in parse(filled(text), "x").operations


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("DELETE FROM schema_meta WHERE key = 'lineage'", 'lineage = "TO FILL IN: the application'),
        ("UPDATE schema_meta SET value = 'lionagi' WHERE key = 'lineage'", 'lineage = "TO FILL IN: the'),
        ("UPDATE schema_meta SET value = x'6162' WHERE key = 'lineage'", 'lineage = "TO FILL IN: the'),
    ],
)
def test_nobody_is_named_where_the_store_names_nobody(tmp_path: Path, change: str, said: str) -> None:
    text = derive(locate(made(tmp_path / "desk.db", change)))
    assert said in text and 'name = "derived"' in text
    fills = [remark for remark in lint_text(text, "x").remarks if remark.key == "lineage"]
    assert [remark.kind for remark in fills] == ["fill"]


def test_hostile_names_stay_data(tmp_path: Path) -> None:
    name = "o\x1b]0;x\x07\u202e'\"]"
    quoted = name.replace('"', '""')
    path = made(
        tmp_path / "de\x1bsk.db",
        f'ALTER TABLE messages ADD COLUMN "{quoted}" TEXT DEFAULT \'"""\'',
        f'CREATE VIEW "{quoted}" AS SELECT "{quoted}" FROM messages',
    )
    text = derive(locate(path))
    assert all(letter.isprintable() or letter == "\n" for letter in text)
    profile = parse(filled(text), "x")
    assert profile.closure.tables["messages"].column(name) is not None
    assert verdict(path, filled(text), owner="kim") == []


def test_what_is_not_understood_is_said(tmp_path: Path) -> None:
    seen = look(locate(made(tmp_path / "desk.db")))
    doubt = Uninterpreted("messages", "odd\ntrigger", "its text \x1b[0m ends early")
    text = draft(seen._replace(closure=replace(seen.closure, uninterpreted=(doubt,))), "desk.db")
    said = "# NOT UNDERSTOOD, so that no profile admits this store: messages odd\\ntrigger: its text"
    assert said in text and "\x1b" not in text
    assert parse(filled(text), "x").closure.uninterpreted == ()


def test_text_that_is_not_unicode_is_refused(tmp_path: Path) -> None:
    seen = look(locate(made(tmp_path / "desk.db")))
    assert isinstance(seen.application, str)
    with pytest.raises(ProfileError) as caught:
        draft(seen._replace(application="desk\udcff"), "desk.db")
    assert caught.value.code == "profile-unreadable"


def test_no_store_and_no_run_tables(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        derive(locate(tmp_path / "none.db"))
    assert caught.value.exit_status == 4
    path = tmp_path / "stars.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE stars (name TEXT)")
    connection.close()
    with pytest.raises(ProfileError) as unfit:
        derive(locate(path))
    assert unfit.value.code == "profile-unfit"


VARIANTS = tuple(name for name, one in acme.variants().items() if one.file == "store")
NEVER = {
    "trigger-deletes", "trigger-outside", "trigger-owner", "trigger-resolution", "conflict-declared",
    "owner-inexact",
}  # fmt: skip
"""What no profile can declare away."""
NOT_OF_ITS_SHAPE = {"journal-mode", "lineage-absent", "lineage-own", "lineage-nobody"}


@pytest.mark.parametrize("name", VARIANTS[::4])
def test_whatever_is_changed_in_the_managed_store_can_be_derived(name: str, tmp_path: Path) -> None:
    """Every fourth of the 129 variants: a profile made from the store itself differs from it in nothing, and
    what keeps it from being admitted all the same is what `lint` says before any store is asked."""
    path = acme.build(tmp_path / "store.db", acme.variants()[name])
    text = filled(derive(locate(path)))
    profile = parse(text, "x")
    assert parse(dump(profile), "y") == profile
    found = {
        one.code for one in admit(locate(path), profile, owner="kim" if profile.owner else None).findings
    }
    assert found <= NEVER | NOT_OF_ITS_SHAPE
    hazards = {
        one.message.rpartition("[")[2].rstrip("]") for one in lint_text(text, "x").remarks if one.refuses
    }
    assert hazards == found & NEVER


@pytest.mark.parametrize("release", RELEASES)
def test_stores_of_every_release_under_another_lineage(
    shared_stores: Path, tmp_path: Path, release: str
) -> None:
    """The interop set, each with a lineage row of another application added on a copy."""
    path = tmp_path / "store.db"
    path.write_bytes((shared_stores / f"lionagi-{release}.db").read_bytes())
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("DELETE FROM schema_meta WHERE key = 'lineage'")
        connection.execute("INSERT INTO schema_meta (key, value) VALUES ('lineage', 'other-desk')")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    text = derive(locate(path))
    assert not lint_text(text, "x").clean
    profile = parse(filled(text), "x")
    assert "create_progression" in profile.operations and "insert_message" in profile.operations
    if release == "0.36.0":
        assert len(profile.operations) == 12
    report = admit(locate(path), profile)
    assert report.admitted and not report.findings, [found.sentence for found in report.findings]
