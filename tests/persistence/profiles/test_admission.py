"""Admission as a whole: its conditions, every finding at once, and not a byte changed whatever lies there."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from persistence.errors import BusyError, StateCompatibilityRefused
from persistence.lineage import claim
from persistence.location import locate
from persistence.profiles import AdmissionReport, admission, admit, readmit
from persistence.profiles import closure as closures
from persistence.profiles.records import Profile
from tests.persistence.engines.states import Writer
from tests.persistence.lineage.craft import state_of
from tests.persistence.profiles.acme import OWNER, admitted, build, first, profile, variants

Make = Callable[[Path], Any]


def _changed(*statements: str) -> Make:
    return lambda folder: build(folder / "store.db", then=statements)


def _variant(name: str) -> Make:
    return lambda folder: build(folder / "store.db", variants()[name])


def _file(content: bytes) -> Make:
    return lambda folder: (folder / "store.db").write_bytes(content)


def _linked(folder: Path) -> None:
    os.link(build(folder / "store.db"), folder / "other.db")


def _cut(folder: Path) -> None:
    path = build(folder / "store.db")
    os.truncate(path, path.stat().st_size // 2)


def _garbage_log(folder: Path) -> None:
    build(folder / "store.db")
    (folder / "store.db-wal").write_bytes(b"not a log" * 400)


def _emptied(folder: Path) -> None:
    build(folder / "store.db").write_bytes(b"")
    (folder / "store.db-wal").write_bytes(b"\x37\x7f\x06\x82" * 400)


def _nothing(folder: Path) -> None:
    del folder


CAUSES: dict[str, tuple[tuple[Make, dict[str, Any]], ...]] = {
    "no-profile": tuple((make, {"profile": None}) for make in (_changed(), _nothing, _file(b"text"))),
    "no-store": (
        (_nothing, {}),
        (lambda folder: (folder / "store.db").symlink_to(folder / "gone.db"), {}),
        (_nothing, {"name": "no/such/folder.db"}),
    ),
    "not-a-store": (
        (_file(b""), {}),
        (_file(b"a text of some length that is no database at all, whatever its name says"), {}),
        (lambda folder: (folder / "store.db").mkdir(), {}),
    ),
    "store-unread": ((_linked, {}), (_cut, {}), (_garbage_log, {}), (_emptied, {})),
    "held-natively": tuple(
        (_changed(*more), {"held": True})
        for more in ((), ("DROP TABLE admin_events",), ("PRAGMA user_version=3",))
    ),
    "lineage-absent": tuple(
        (_variant(name), {}) for name in ("lineage-missing", "meta-view", "meta-dropped")
    ),
    "lineage-own": (
        (_variant("lineage-lionagi"), {}),
        (_changed("UPDATE schema_meta SET value='lionagi' WHERE key='lineage'"), {"owner": "lee"}),
        (_changed("UPDATE schema_meta SET value='lionagi' WHERE key='lineage'", "DROP TABLE tickets"), {}),
    ),
    "lineage-nobody": tuple(
        (_variant(name), {}) for name in ("lineage-empty", "lineage-blank", "lineage-blob")
    ),
    "lineage-other": (
        (_variant("lineage-other-app"), {}),
        (_variant("lineage-case"), {}),
        (_changed("UPDATE schema_meta SET value='Acme-Desk' WHERE key='lineage'"), {}),
    ),
    "version-unlisted": tuple(
        (_variant(name), {}) for name in ("version-8", "version-missing", "version-padded")
    ),
    "journal-mode": (
        (_variant("journal-delete"), {}),
        (_variant("journal-truncate"), {}),
        (_changed("PRAGMA journal_mode=PERSIST"), {}),
    ),
    "operation-unlisted": tuple(
        (_changed(), {"operations": names})
        for names in (("set_progression",), ("create_session", "prune"), ("",))
    ),
    "owner-missing": tuple((_changed(), {"owner": owner}) for owner in (None, "", " \t")),
    "owner-unknown": tuple(
        (_changed(), {"owner": owner}) for owner in ("nobody", "KIM", "kim ", "\udcff", "kim\x00", "1")
    ),
    "owner-unruled": tuple((_changed(), {"owner": owner, "unruled": True}) for owner in ("kim", "lee", "")),
}  # fmt: skip
"""Stores and questions by the code that has to come first."""


def _asked(folder: Path, asked: dict[str, Any]) -> AdmissionReport:
    under: Profile | None = asked.get("profile", profile())
    if asked.get("unruled"):
        under = _without_owner(profile())
    location = locate(str(folder / asked.get("name", "store.db")))
    owner, operations = asked.get("owner", OWNER), asked.get("operations", ())
    with _held(folder / "store.db") if asked.get("held") else _free():
        return admit(location, under, owner=owner, operations=operations)


def _without_owner(declared: Profile) -> Profile:
    from dataclasses import replace

    return replace(declared, owner=None)


@contextmanager
def _held(path: Path) -> Iterator[None]:
    found = path.stat()
    with claim((found.st_dev, found.st_ino), "native", "another handle"):
        yield


@contextmanager
def _free() -> Iterator[None]:
    yield


@pytest.mark.parametrize(
    ("code", "number"), [(code, number) for code, cases in CAUSES.items() for number in range(len(cases))]
)
def test_conditions_refuse_and_change_nothing(code: str, number: int, tmp_path: Path) -> None:
    make, asked = CAUSES[code][number]
    make(tmp_path)
    before = state_of(tmp_path)
    report = _asked(tmp_path, asked)
    assert not report.admitted
    assert report.refusing[0].code == code
    assert state_of(tmp_path) == before
    with pytest.raises(StateCompatibilityRefused) as refused:
        report.check("create_session")
    assert (refused.value.code, refused.value.operation) == (code, "create_session")


def test_the_managed_store_is_admitted_and_the_report_says_how(tmp_path: Path) -> None:
    path = build(tmp_path / "store.db")
    before = state_of(tmp_path)
    report = admitted(path)
    assert state_of(tmp_path) == before
    assert report.findings == ()
    report.check()
    assert (report.application, report.version, report.journal_mode) == ("acme-desk", "7", "wal")
    assert report.profile == "acme-desk@1"
    assert report.identity == (path.stat().st_dev, path.stat().st_ino)
    assert report.operations == profile().operations
    assert report.read is not None and report.read.route == "settled"
    assert [step.rule for step in report.rules] == [
        "lineage", "version", "journal-mode", "operations", "owner", "structure",
    ]  # fmt: skip
    assert not any(step.refuses for step in report.rules)
    assert report.holds["sessions"] == {
        "columns": 45, "keys": 1, "uniques": 2, "checks": 1, "indexes": 1, "options": 2, "links": 5,
    }  # fmt: skip
    assert report.holds[""] == {"incoming": 2, "objects": 0}


def test_a_server_is_no_store_that_could_be_admitted() -> None:
    report = admit(locate("postgresql://user@host/base"), profile(), owner=OWNER)
    assert first(report)[0] == "not-a-store"
    assert report.read is None


@contextmanager
def _held_alone(path: Path) -> Iterator[None]:
    """Another program keeps the store for itself, as one that works in exclusive mode does."""
    script = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('SELECT count(*) FROM sessions').fetchone(); c.execute('PRAGMA locking_mode = EXCLUSIVE');"
        "c.execute('CREATE TABLE held_1 (a)'); c.execute('BEGIN EXCLUSIVE');"
        "c.execute('CREATE TABLE held_2 (a)');"
        "print('held', flush=True); sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", script, str(path)], stdin=pipe, stdout=pipe) as other:
        assert other.stdout is not None and other.stdout.readline() == b"held\n"
        try:
            yield
        finally:
            other.communicate()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that waits a moment, and no longer."""
    monkeypatch.setattr(admission, "read_store", partial(admission.read_store, deadline=0.2))


def test_a_store_that_is_only_busy_is_called_busy(tmp_path: Path, impatient: None) -> None:
    path = build(tmp_path / "store.db")
    with _held_alone(path):
        report = admitted(path)
        assert [(one.code, one.object) for one in report.refusing] == [("store-unread", "busy")]
        with pytest.raises(BusyError) as busy:
            report.check()
        assert (busy.value.code, busy.value.exit_status) == ("busy", 4)
    assert report.passing is not None and admitted(path).passing is None and admitted(path).admitted
    # What is known for certain is told all the same.
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("DROP TABLE held_1")
    with _held_alone(path):
        report = admitted(path)
        assert report.passing is None
        with pytest.raises(StateCompatibilityRefused) as refused:
            report.check()
        assert refused.value.code == "journal-mode"


def test_every_finding_comes_at_once(tmp_path: Path) -> None:
    path = build(
        tmp_path / "store.db",
        then=(
            "ALTER TABLE sessions ADD COLUMN extra TEXT",
            "CREATE TRIGGER t AFTER INSERT ON messages BEGIN DELETE FROM sessions; END",
            "DROP TABLE admin_events",
            "UPDATE schema_meta SET value = 'other' WHERE key = 'lineage'",
            "UPDATE schema_meta SET value = '9' WHERE key = 'version'",
            "PRAGMA journal_mode = DELETE",
        ),
    )
    report = admitted(path, owner="nobody", operations=("prune", "create_session"))
    assert [(one.code, one.table, one.object) for one in report.refusing] == [
        ("lineage-other", None, "lineage"),
        ("version-unlisted", None, "version"),
        ("journal-mode", None, "journal mode"),
        ("operation-unlisted", None, "prune"),
        ("trigger-extra", "messages", "t"),
        ("trigger-deletes", "messages", "t"),
        ("column-extra", "sessions", "extra"),
        ("table-missing", "admin_events", None),
        ("owner-unknown", "principals", "nobody"),
    ]
    with pytest.raises(StateCompatibilityRefused, match="8 more"):
        report.check()


def test_findings_are_told_even_where_the_parts_contradict_each_other(tmp_path: Path) -> None:
    _linked(tmp_path)
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        connection.execute("ALTER TABLE sessions ADD COLUMN extra TEXT")
        connection.commit()
    report = admitted(tmp_path / "store.db")
    assert [one.code for one in report.refusing] == ["store-unread", "column-extra"]
    assert report.refusing[0].object == "second-name"


def test_the_default_of_the_owner_column_is_an_owner_only_when_it_is_named(tmp_path: Path) -> None:
    path = build(tmp_path / "store.db")
    assert admitted(path, owner="acme-system").admitted
    assert first(admitted(path, owner=None))[0] == "owner-missing"


def test_a_finding_in_one_line_reads_as_one_sentence(tmp_path: Path) -> None:
    (found,) = admitted(build(tmp_path / "store.db"), owner=None).findings
    assert found.sentence.startswith("owner_id: Rows of this store belong to a principal")
    assert found.sentence.endswith("is never taken for one: expected one of principals.id; observed none")


def test_an_owner_is_compared_exactly_whatever_the_principals_key_does(tmp_path: Path) -> None:
    path = build(tmp_path / "store.db", variants()["owner-case-nocase-key"])
    assert "owner-unknown" in {one.code for one in admitted(path, owner="KIM").findings}
    assert "owner-unknown" not in {one.code for one in admitted(path, owner="kim").findings}


# -- beside logs, journals and writers ----------------------------------------------------------------


def _copied(source: Path, folder: Path, *suffixes: str) -> Path:
    """The store's files as a program that was killed leaves them."""
    folder.mkdir()
    for suffix in ("", *suffixes):
        (folder / f"store.db{suffix}").write_bytes(source.with_name(f"store.db{suffix}").read_bytes())
    return folder / "store.db"


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("refused", [True, False])
def test_a_log_with_frames_stays_as_it_is_and_counts(tmp_path: Path, index: bool, refused: bool) -> None:
    source = build(tmp_path / "store.db")
    statement = (
        "ALTER TABLE sessions ADD COLUMN extra TEXT"
        if refused
        else "INSERT INTO schema_meta VALUES ('a', 'b')"
    )
    writer = Writer(source, statement)
    try:
        path = _copied(source, tmp_path / "killed", "-wal", *(("-shm",) if index else ()))
    finally:
        writer.close()
    before = state_of(path.parent)
    report = admitted(path)
    assert report.admitted != refused
    if refused:
        assert first(report) == ("column-extra", "sessions", "extra")
    assert state_of(path.parent) == before


def test_a_hot_journal_is_neither_rolled_back_nor_believed(tmp_path: Path) -> None:
    source = build(tmp_path / "store.db", then=("PRAGMA journal_mode=DELETE",))
    writer = Writer(source, "PRAGMA cache_size=1", "PRAGMA synchronous=OFF", "BEGIN IMMEDIATE")
    try:
        writer.do("UPDATE schema_meta SET value = 'lionagi' WHERE key = 'lineage'")
        writer.do("ALTER TABLE sessions ADD COLUMN extra TEXT")
        writer.do(
            "CREATE TABLE filler AS SELECT hex(randomblob(4000)) AS x FROM messages, invocations, sessions"
        )
        path = _copied(source, tmp_path / "killed", "-journal")
    finally:
        writer.process.kill()
        writer.process.wait()
    before = state_of(path.parent)
    report = admitted(path)
    assert [one.code for one in report.refusing] == ["journal-mode"]
    assert report.application == "acme-desk"
    assert state_of(path.parent) == before


def test_beside_the_managing_application_writing(tmp_path: Path) -> None:
    path = build(tmp_path / "store.db")
    writer = Writer(path, "PRAGMA wal_autocheckpoint=2")
    try:
        for number in range(20):
            writer.do(f"INSERT INTO schema_meta VALUES ('k{number}', 'v')")
            assert admitted(path).admitted
        writer.do("BEGIN IMMEDIATE")
        writer.do("ALTER TABLE sessions ADD COLUMN extra TEXT")
        report = admitted(path)
        assert report.admitted and report.read is not None and report.read.route == "live log"
        writer.do("COMMIT")
        assert first(admitted(path)) == ("column-extra", "sessions", "extra")
        assert writer.do("SELECT count(*) FROM schema_meta").endswith("[(23,)]")
    finally:
        writer.close()


# -- on an open connection ----------------------------------------------------------------------------


def test_readmission_sees_what_its_own_transaction_sees(tmp_path: Path) -> None:
    path = build(tmp_path / "store.db")
    known = admitted(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        again = readmit(connection, profile(), OWNER, where="here", known=known)
        assert again.admitted
        assert (again.store, again.identity, again.cookie) == ("here", known.identity, known.cookie)
        connection.execute("ALTER TABLE sessions ADD COLUMN extra TEXT")
        assert first(readmit(connection, profile(), OWNER, known=known)) == (
            "column-extra",
            "sessions",
            "extra",
        )
        connection.execute("ROLLBACK")


def test_what_is_known_saves_the_reading_of_structure_while_nothing_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build(tmp_path / "store.db")
    known = admitted(path)
    reads: list[int] = []
    whole = closures.read

    def counted(*asked: Any) -> Any:
        reads.append(1)
        return whole(*asked)

    monkeypatch.setattr(closures, "read", counted)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert readmit(connection, profile(), OWNER, known=known).admitted
        assert reads == []
        connection.execute("CREATE TABLE stamps (id INTEGER PRIMARY KEY)")  # moves the cookie
        moved = readmit(connection, profile(), OWNER, known=known)
        assert moved.admitted and len(reads) == 1
        assert readmit(connection, profile(), OWNER, known=moved).admitted
        assert len(reads) == 1
    with closing(sqlite3.connect(build(tmp_path / "other.db"), isolation_level=None)) as connection:
        assert readmit(connection, profile(), OWNER, known=known).admitted
        assert len(reads) == 2, "another file under the same cookie is read whole"


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("UPDATE schema_meta SET value = 'lionagi' WHERE key = 'lineage'", "lineage-own"),
        ("DELETE FROM schema_meta WHERE key = 'lineage'", "lineage-absent"),
        ("UPDATE schema_meta SET value = '8' WHERE key = 'version'", "version-unlisted"),
        ("UPDATE principals SET id = 'kim2' WHERE id = 'kim'", "owner-unknown"),
    ],
)
def test_rows_are_read_again_though_the_structure_is_known(tmp_path: Path, statement: str, code: str) -> None:
    path = build(tmp_path / "store.db")
    known = admitted(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute(statement)
        report = readmit(connection, profile(), OWNER, known=known)
    assert report.refusing[0].code == code
