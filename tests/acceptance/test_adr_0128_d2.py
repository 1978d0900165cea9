"""ADR-0128 D2: a store another application manages is admitted by a named profile, and by nothing else.

Under the shipped profile of the managed store; each structural sentence is tried on the store as its
application made it and with one thing changed.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from persistence.errors import ProfileError, StateCompatibilityRefused
from persistence.location import locate
from persistence.profiles import AdmissionReport, Profile, admit, load_profile
from persistence.profiles.catalogue import SHIPPED
from persistence.profiles.needs import NEEDS
from tests.persistence.lineage.craft import state_of
from tests.persistence.profiles.acme import build

NAME = "acme-desk-fresh-run"


@cache
def shipped() -> Profile:
    return load_profile(NAME, directories=())


def admission(
    folder: Path, *statements: str, under: Profile | None = None, **asked: object
) -> AdmissionReport:
    """Of the managed store after these statements; nothing of it may change, whatever the answer."""
    path = build(folder / "store.db", then=statements)
    before = state_of(folder)
    report = admit(locate(path), under or shipped(), **{"owner": "kim", **asked})  # type: ignore[arg-type]
    assert state_of(folder) == before
    return report


def codes(report: AdmissionReport) -> list[tuple[str, str | None, str | None]]:
    return [(one.code, one.table, one.object) for one in report.refusing]


REBUILD = "ALTER TABLE {0} RENAME TO was"
"""With `legacy_alter_table` other tables go on naming the new one."""


def rebuilt(table: str, body: str) -> tuple[str, ...]:
    """The table made anew with another body, as its manager's migration would."""
    return (
        "PRAGMA foreign_keys = OFF",
        "PRAGMA legacy_alter_table = ON",
        REBUILD.format(table),
        f"CREATE TABLE {table} ({body})",
        "DROP TABLE was",
    )


SIGNALS = (
    "id TEXT NOT NULL PRIMARY KEY, session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, "
    "seq INTEGER NOT NULL, kind TEXT NOT NULL, op_id TEXT NOT NULL DEFAULT '', ts REAL NOT NULL, "
    "payload JSON NOT NULL DEFAULT '{}', "
    "owner_id TEXT NOT NULL DEFAULT 'acme-system' REFERENCES principals(id), UNIQUE (session_id, seq)"
)
PRINCIPALS = (
    "id TEXT NOT NULL PRIMARY KEY, display_name TEXT NOT NULL, "
    "kind TEXT NOT NULL DEFAULT 'person' CHECK (kind IN ('person', 'service')), created_at REAL NOT NULL"
)
KIM = "INSERT INTO principals VALUES ('kim', 'Kim', 'person', 1.0)"


def changed(body: str, before: str, after: str) -> str:
    assert body.count(before) == 1
    return body.replace(before, after)


# -- what a profile is --------------------------------------------------------------------------------


@pytest.mark.adr("0128-D2-01")
def test_a_profile_has_a_name_and_a_version(tmp_path: Path) -> None:
    profile = shipped()
    assert (profile.name, profile.version, profile.identity) == (NAME, 1, f"{NAME}@1")
    report = admission(tmp_path, "DROP TABLE admin_events")
    assert report.profile == profile.identity
    with pytest.raises(StateCompatibilityRefused) as refused:
        report.check()
    assert refused.value.profile == profile.identity


@pytest.mark.adr("0128-D2-02")
def test_profiles_lie_in_the_package_and_are_found_by_name() -> None:
    import persistence

    assert SHIPPED.is_relative_to(Path(persistence.__file__).parent)
    for path in SHIPPED.glob("*.toml"):
        assert load_profile(path.stem, directories=()).name == path.stem
    with pytest.raises(ProfileError):
        load_profile("no-such-profile", directories=())


@pytest.mark.adr("0128-D2-03", "0128-D2-15")
def test_without_a_selected_profile_nothing_is_admitted(tmp_path: Path) -> None:
    path = build(tmp_path / "store.db")
    assert inspect.signature(admit).parameters["profile"].default is inspect.Parameter.empty
    report = admit(locate(path), None, owner="kim")
    assert codes(report) == [("no-profile", None, None)]
    assert report.profile is None
    with pytest.raises(StateCompatibilityRefused):
        report.check()


@pytest.mark.adr("0128-D2-10")
def test_the_closure_holds_more_than_what_is_written() -> None:
    profile = shipped()
    written = {name for name, rule in profile.writes.items() if rule.insert or rule.update}
    tables = set(profile.closure.tables)
    assert tables > written
    needed = {table for operation in profile.operations for table in NEEDS[operation].tables}
    assert needed <= tables
    for table in profile.closure.tables.values():
        assert {link.table for link in table.links} <= tables, "what a row has to point at is part of it"
    assert profile.owner is not None and profile.owner.principals in tables - written


@pytest.mark.adr("0128-D2-11", "0128-D2-12")
def test_every_column_left_out_has_its_reason_and_can_be_left_out() -> None:
    profile = shipped()
    for name, rule in profile.writes.items():
        table = profile.closure.table(name)
        assert table is not None
        inserted = {column.name for column in table.columns} - set(rule.insert) if rule.insert else set()
        assert inserted == set(rule.unwritten), name
        for column, reason in rule.unwritten.items():
            shape = table.column(column)
            assert reason.strip() and shape is not None
            rowid = table.primary_key is not None and table.primary_key.rowid
            assert shape.nullable or shape.default is not None or rowid


@pytest.mark.adr("0128-D2-13")
def test_the_profile_names_the_invariants_its_operations_keep() -> None:
    assert {keep for name in shipped().operations for keep in NEEDS[name].keeps} <= set(shipped().invariants)


# -- what it asks of a store --------------------------------------------------------------------------


@pytest.mark.adr("0128-D2-14")
def test_a_missing_store_refuses_and_is_not_made(tmp_path: Path) -> None:
    for name in ("gone.db", "no/folder/gone.db"):
        report = admit(locate(tmp_path / name), shipped(), owner="kim")
        assert codes(report) == [("no-store", None, None)]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.adr("0128-D2-16", "0128-D2-01")
def test_the_store_its_application_made_is_admitted(tmp_path: Path) -> None:
    report = admission(tmp_path)
    assert report.admitted and report.findings == ()
    report.check()
    assert sum(report.holds["sessions"].values()) > 50


COLUMN = {
    "type": (changed(SIGNALS, "ts REAL", "ts TEXT"), ("column-type", "session_signals", "ts")),
    "nullability": (
        changed(SIGNALS, "kind TEXT NOT NULL", "kind TEXT"), ("column-null", "session_signals", "kind"),
    ),
    "default": (changed(SIGNALS, "'{}'", "'[]'"), ("column-default", "session_signals", "payload")),
    "a column less": (
        changed(SIGNALS, "kind TEXT NOT NULL, ", ""), ("column-missing", "session_signals", "kind"),
    ),
}  # fmt: skip
KEYS = {
    "primary key": (
        changed(SIGNALS, "PRIMARY KEY", "UNIQUE"), ("primary-key", "session_signals", "id"),
    ),
    "unique key gone": (
        changed(SIGNALS, ", UNIQUE (session_id, seq)", ""),
        ("unique-missing", "session_signals", "session_id, seq"),
    ),
    "unique key changed": (
        changed(SIGNALS, "(session_id, seq)", "(session_id, ts)"),
        ("unique-missing", "session_signals", "session_id, seq"),
    ),
}  # fmt: skip
CHECKS = {
    "changed": (changed(PRINCIPALS, "'service'", "'robot'"), ("check-changed", "principals", "kind")),
    "gone": (
        changed(PRINCIPALS, " CHECK (kind IN ('person', 'service'))", ""),
        ("check-missing", "principals", "kind"),
    ),
    "new": (
        changed(PRINCIPALS, "created_at REAL NOT NULL", "created_at REAL NOT NULL CHECK (created_at > 0)"),
        ("check-extra", "principals", "created_at"),
    ),
}  # fmt: skip
LINKS = {
    "action": (changed(SIGNALS, " ON DELETE CASCADE", ""), ("link-changed", "session_signals", "session_id")),
    "gone": (
        changed(SIGNALS, " REFERENCES sessions(id) ON DELETE CASCADE", ""),
        ("link-missing", "session_signals", "session_id"),
    ),
    "grouped otherwise": (
        changed(
            changed(SIGNALS, " REFERENCES sessions(id) ON DELETE CASCADE", ""),
            "UNIQUE (session_id, seq)",
            "UNIQUE (session_id, seq), "
            "FOREIGN KEY (session_id, owner_id) REFERENCES sessions(id, owner_id) ON DELETE CASCADE",
        ),
        ("link-changed", "session_signals", "session_id"),
    ),
    "new": (
        changed(SIGNALS, "op_id TEXT NOT NULL", "op_id TEXT NOT NULL REFERENCES messages(id)"),
        ("link-extra", "session_signals", "op_id"),
    ),
}  # fmt: skip


def _structure(tmp_path: Path, body: str, expected: tuple[str, str, str]) -> None:
    rows = (KIM,) if expected[1] == "principals" else ()
    report = admission(tmp_path, *rebuilt(expected[1], body), *rows)
    assert codes(report)[0] == expected


@pytest.mark.adr("0128-D2-04")
@pytest.mark.parametrize("what", COLUMN)
def test_a_column_that_differs_refuses(tmp_path: Path, what: str) -> None:
    _structure(tmp_path, *COLUMN[what])


@pytest.mark.adr("0128-D2-05")
@pytest.mark.parametrize("what", KEYS)
def test_a_key_that_differs_refuses(tmp_path: Path, what: str) -> None:
    _structure(tmp_path, *KEYS[what])


@pytest.mark.adr("0128-D2-06")
@pytest.mark.parametrize("what", CHECKS)
def test_a_check_that_differs_refuses(tmp_path: Path, what: str) -> None:
    _structure(tmp_path, *CHECKS[what])


@pytest.mark.adr("0128-D2-07")
@pytest.mark.parametrize("what", LINKS)
def test_a_link_that_differs_refuses(tmp_path: Path, what: str) -> None:
    _structure(tmp_path, *LINKS[what])


@pytest.mark.adr("0128-D2-04", "0128-D2-05", "0128-D2-06", "0128-D2-07", "0128-D2-16")
def test_a_table_made_anew_with_the_same_body_is_the_same(tmp_path: Path) -> None:
    statements = (*rebuilt("session_signals", SIGNALS), *rebuilt("principals", PRINCIPALS))
    report = admission(tmp_path, *statements, KIM)
    assert report.admitted, codes(report)


@pytest.mark.adr("0128-D2-08")
@pytest.mark.parametrize(
    ("statements", "code", "table"),
    [
        (("CREATE TABLE marks (id TEXT, m TEXT REFERENCES messages(id))",), "incoming-extra", "messages"),
        (
            ("CREATE TABLE marks (a, b, FOREIGN KEY (a, b) REFERENCES sessions(id, owner_id))",),
            "incoming-extra",
            "sessions",
        ),
        (
            ("PRAGMA foreign_keys = OFF", "DROP TABLE ticket_notes", "DROP TABLE tickets"),
            "incoming-missing",
            "sessions",
        ),
        (
            rebuilt(
                "tickets",
                "id INTEGER PRIMARY KEY, subject TEXT NOT NULL, session_id TEXT REFERENCES sessions(id) "
                "ON DELETE CASCADE, opened_by TEXT NOT NULL REFERENCES principals(id)",
            ),
            "incoming-changed",
            "sessions",
        ),
    ],
)  # fmt: skip
def test_a_link_coming_in_that_differs_refuses(
    tmp_path: Path, statements: tuple[str, ...], code: str, table: str
) -> None:
    assert codes(admission(tmp_path, *statements))[0][:2] == (code, table)


TOUCHING = {
    "trigger on it": "CREATE TRIGGER x AFTER INSERT ON sessions BEGIN SELECT 1; END",
    "trigger elsewhere": "CREATE TRIGGER x AFTER INSERT ON tickets BEGIN DELETE FROM sessions; END",
    "view": "CREATE VIEW x AS SELECT id FROM sessions",
    "virtual table": "CREATE VIRTUAL TABLE x USING fts5(id, content='sessions')",
}  # fmt: skip


@pytest.mark.adr("0128-D2-09", "0128-D2-20", "0128-D2-22")
@pytest.mark.parametrize("what", TOUCHING)
def test_what_touches_the_closure_and_is_not_declared_refuses(tmp_path: Path, what: str) -> None:
    report = admission(tmp_path, TOUCHING[what])
    assert codes(report) == [(f"{what.split()[0]}-extra", "sessions", "x")]


@pytest.mark.adr("0128-D2-09")
def test_what_is_declared_and_gone_or_changed_refuses(tmp_path: Path) -> None:
    from tests.persistence.profiles.acme import SQL, closure_of

    declared = replace(shipped(), closure=closure_of(SQL, TOUCHING["view"]))
    (tmp_path / "a").mkdir()
    assert admission(tmp_path / "a", TOUCHING["view"], under=declared).admitted
    (tmp_path / "b").mkdir()
    assert codes(admission(tmp_path / "b", under=declared)) == [("view-missing", "sessions", "x")]
    (tmp_path / "c").mkdir()
    other = admission(tmp_path / "c", TOUCHING["view"].replace("id", "name"), under=declared)
    assert codes(other) == [("view-changed", "sessions", "x")]


@pytest.mark.adr("0128-D2-21", "0128-D2-26")
@pytest.mark.parametrize("how", ["", " AS (id) VIRTUAL", " NOT NULL DEFAULT 'x'"])
def test_a_column_nobody_declared_refuses(tmp_path: Path, how: str) -> None:
    report = admission(tmp_path, f"ALTER TABLE sessions ADD COLUMN extra TEXT{how}")
    assert codes(report) == [("column-extra", "sessions", "extra")]
    declared = shipped().closure.tables["sessions"].columns
    assert report.holds["sessions"]["columns"] == len(declared), (
        "that all declared ones are there is not enough"
    )


@pytest.mark.adr("0128-D2-21")
def test_a_declared_column_that_is_computed_refuses(tmp_path: Path) -> None:
    body = changed(SIGNALS, "op_id TEXT NOT NULL DEFAULT ''", "op_id TEXT NOT NULL AS (id) STORED")
    assert ("column-generated", "session_signals", "op_id") in codes(
        admission(tmp_path, *rebuilt("session_signals", body))
    )


@pytest.mark.adr("0128-D2-17")
def test_a_capability_the_profile_does_not_have_refuses(tmp_path: Path) -> None:
    asked = ("create_session", "set_progression", "prune")
    report = admission(tmp_path, operations=asked)
    assert codes(report) == [
        ("operation-unlisted", None, "set_progression"),
        ("operation-unlisted", None, "prune"),
    ]
    narrow = replace(shipped(), operations=("create_progression",))
    (tmp_path / "narrow").mkdir()
    assert codes(admission(tmp_path / "narrow", under=narrow, operations=("create_session",))) == [
        ("operation-unlisted", None, "create_session")
    ]


@pytest.mark.adr("0128-D2-18")
def test_a_version_the_profile_does_not_list_rules_it_out(tmp_path: Path) -> None:
    report = admission(tmp_path, "UPDATE schema_meta SET value = '8' WHERE key = 'version'")
    assert codes(report) == [("version-unlisted", None, "version")]
    (tmp_path / "any").mkdir()
    anything = replace(shipped(), store_versions=())
    again = admission(
        tmp_path / "any", "UPDATE schema_meta SET value = '8' WHERE key = 'version'", under=anything
    )
    assert again.admitted


@pytest.mark.adr("0128-D2-19")
def test_a_version_that_is_listed_admits_nothing_by_itself(tmp_path: Path) -> None:
    report = admission(tmp_path, "ALTER TABLE messages ADD COLUMN extra TEXT")
    assert report.version in shipped().store_versions
    assert codes(report) == [("column-extra", "messages", "extra")]


@pytest.mark.adr("0128-D5-03")
@pytest.mark.parametrize("owner", ["nobody", "KIM", "kim "])
def test_a_principal_that_is_not_there_refuses(tmp_path: Path, owner: str) -> None:
    report = admission(tmp_path, owner=owner)
    assert codes(report) == [("owner-unknown", "principals", owner)]
