"""Every code of the closed list: three stores or more that cause it, each with the object it names."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing

import pytest

from persistence.profiles import closure as closures
from persistence.profiles.codes import CODES, finding
from persistence.profiles.compare import compare
from persistence.profiles.compare.hazards import hazards
from persistence.profiles.compare.whole import ordered
from persistence.profiles.records import Closure, Finding
from tests.persistence.profiles import test_admission
from tests.persistence.profiles.acme import SQL, TABLES, closure_of, profile, profile_over, schema, variants
from tests.persistence.profiles.changes import CHANGES
from tests.persistence.profiles.model import Writer, base

ON_INSERT = "CREATE TRIGGER one AFTER INSERT ON sessions BEGIN {}; END"
COPY = (
    "INSERT INTO admin_events (id, created_at, action, details, owner_id) "
    "VALUES ('t-' || NEW.id, 0.0, 'seen', '{}', NEW.owner_id)"
)
SEEN = "CREATE VIEW one AS SELECT id FROM sessions"
FOUND = "CREATE VIRTUAL TABLE one USING fts5(content, content='messages')"

LOOKS = ON_INSERT.format("SELECT 1")

OBJECTS: dict[str, tuple[tuple[str, str | None], ...]] = {
    "trigger-missing": (
        (ON_INSERT.format(COPY), None),
        ("CREATE TRIGGER one BEFORE DELETE ON messages BEGIN SELECT 1; END", None),
        ("CREATE TRIGGER one AFTER INSERT ON tickets BEGIN UPDATE sessions SET desk_pinned = 1; END", None),
    ),
    "trigger-changed": (
        (ON_INSERT.format(COPY), ON_INSERT.format(COPY.replace("'seen'", "'Seen'"))),
        (LOOKS, LOOKS.replace("AFTER", "BEFORE")),
        (LOOKS, LOOKS.replace(" BEGIN", " WHEN NEW.name BEGIN")),
        (LOOKS, LOOKS.replace("sessions", "branches")),
    ),
    "view-missing": (
        (SEEN, None),
        ("CREATE VIEW one AS SELECT s.id FROM tickets AS t, sessions AS s", None),
        ("CREATE VIEW one AS SELECT 1 WHERE 1 IN (SELECT type_id FROM message_types)", None),
    ),
    "view-changed": (
        (SEEN, f"{SEEN} WHERE status = 'running'"),
        (SEEN, SEEN.replace("SELECT id", "SELECT name")),
        (SEEN, SEEN.replace("one AS", "one (key) AS")),
    ),
    "virtual-missing": (
        (FOUND, None),
        ("CREATE VIRTUAL TABLE one USING fts5(id, content=sessions)", None),
        ('CREATE VIRTUAL TABLE one USING fts4(content="messages", content)', None),
    ),
    "virtual-changed": (
        (FOUND, FOUND.replace("content,", "content, sender,")),
        (FOUND, FOUND.replace("'messages'", "'messages', tokenize=porter")),
        (FOUND, FOUND.replace("'messages'", "'messages', prefix='2 3'")),
    ),
}
"""Objects by code: what the profile was made with, and what the store has."""

UNSAFE: dict[str, tuple[str, ...]] = {
    "trigger-deletes": (
        ON_INSERT.format("DELETE FROM session_signals"),
        ON_INSERT.format("DELETE FROM sessions WHERE owner_id = NEW.owner_id"),
        "CREATE TRIGGER one AFTER UPDATE OF status ON sessions BEGIN DELETE FROM tickets; END",
    ),
    "trigger-owner": (
        ON_INSERT.format(COPY.replace("NEW.owner_id)", "'lee')")),
        ON_INSERT.format(COPY.replace(", owner_id)", ")").replace(", NEW.owner_id", "")),
        ON_INSERT.format(COPY.replace("VALUES (", "SELECT ").replace("NEW.owner_id)", "lower(NEW.owner_id)")),
        ON_INSERT.format("UPDATE sessions SET updated_at = 0 WHERE id = NEW.id"),
        ON_INSERT.format("UPDATE sessions SET updated_at = 0 WHERE owner_id = NEW.owner_id OR 1"),
    ),
    "trigger-outside": (
        ON_INSERT.format("INSERT INTO ticket_notes (id) VALUES (NEW.rowid)"),
        ON_INSERT.format("UPDATE tickets SET subject = ''"),
        ON_INSERT.format("UPDATE sessions SET desk_pinned = 1 WHERE owner_id = NEW.owner_id"),
    ),
    "trigger-recurses": (
        "CREATE TRIGGER one AFTER UPDATE ON sessions BEGIN UPDATE sessions SET updated_at = 1 "
        "WHERE id = NEW.id AND owner_id = NEW.owner_id; END",
        ON_INSERT.format("UPDATE sessions SET name = '' WHERE owner_id = NEW.owner_id AND name IS NULL"),
        "CREATE TRIGGER one AFTER INSERT ON messages BEGIN "
        "UPDATE messages SET channel = '' WHERE id = NEW.id AND owner_id = NEW.owner_id; END",
    ),
    "trigger-resolution": (
        ON_INSERT.format("SELECT RAISE(IGNORE)"),
        ON_INSERT.format(COPY.replace("INSERT", "INSERT OR REPLACE")),
        ON_INSERT.format(COPY.replace("INSERT", "REPLACE")),
        ON_INSERT.format(f"{COPY} ON CONFLICT DO NOTHING"),
    ),
}
"""Triggers that no profile can declare away; the profile is made with them."""

SAFE = (
    ON_INSERT.format(COPY),
    ON_INSERT.format(COPY.replace("VALUES (", "SELECT ").replace("NEW.owner_id)", "NEW.owner_id")),
    "CREATE TRIGGER one AFTER INSERT ON branches BEGIN "
    "UPDATE sessions SET updated_at = 0 WHERE id = NEW.session_id AND owner_id = NEW.owner_id; END",
    ON_INSERT.format("SELECT RAISE(ABORT, 'blank')"),
    "CREATE TRIGGER one AFTER UPDATE OF desk_note ON sessions BEGIN DELETE FROM tickets; END",
    "CREATE TRIGGER one AFTER DELETE ON sessions BEGIN DELETE FROM tickets; END",
    "CREATE TRIGGER one AFTER INSERT ON tickets BEGIN UPDATE sessions SET desk_pinned = 1; END",
)

CAUSES: dict[str, tuple[str, ...]] = {
    "table-missing": ("table-missing", "table_gone:1", "table_gone:2", "table_gone:4"),
    "table-kind": ("table_is_a_view:1", "table_is_a_view:2", "table_is_a_view:4"),
    "column-missing": ("col-missing", "column_dropped:1", "column_renamed:2"),
    "column-extra": ("col-extra-nullable", "col-generated-stored", "column_added:3"),
    "column-order": ("col-order", "columns_swapped:1", "columns_swapped:2"),
    "column-type": ("col-type", "column_of_another_type:1", "column_of_another_type:5"),
    "column-null": ("col-nullable", "column_becomes_required:1", "column_becomes_optional:1"),
    "column-default": ("col-default-changed", "col-default-removed", "default_of_another_kind:1"),
    "column-generated": tuple(f"column_becomes_computed:{seed}" for seed in (1, 2, 3)),
    "column-collation": ("collate-owner-nocase", "collate-id-nocase", "column_compares_otherwise:1"),
    "conflict-clause": ("conflict-replace", "conflict-notnull-replace", "key_clash_is_resolved:1"),
    "table-option": ("opt-strict", "opt-without-rowid", "table_without_rowid:3"),
    "primary-key": ("pk-composite", "pk-autoincrement", "key_no_longer_the_row_id:1", "key_gone:1"),
    "unique-missing": ("uq-missing", "unique_dropped:1", "unique_over_more:1"),
    "unique-extra": ("uq-extra", "uq-extra-expression", "unique_added:1"),
    "unique-changed": ("uq-partial-literal-case", "uq-collate", "uq-column-order"),
    "check-missing": ("check-removed", "check_dropped:1", "check_dropped:2"),
    "check-extra": ("check-added", "check_added:1", "check_added:2"),
    "check-changed": ("check-widened", "check-literal-case", "check_changed:3"),
    "link-missing": ("fk-removed", "link_dropped:1", "link_dropped:2"),
    "link-extra": tuple(f"link_added:{seed}" for seed in (1, 2, 3)),
    "link-changed": ("fk-on-delete", "fk-composite-split", "fk-deferrable"),
    "incoming-missing": ("fk-incoming-removed", *(f"link_into_the_closure_dropped:{n}" for n in (1, 2))),
    "incoming-extra": ("fk-incoming-added", "link_into_the_closure_added:1", "link_into_the_closure_added:2"),
    "incoming-changed": tuple(f"link_into_the_closure_deletes_otherwise:{seed}" for seed in (1, 2, 4)),
    "index-computed": ("index_that_computes:1", "index_with_a_condition:1", "index_that_computes:2"),
    "trigger-extra": ("trg-closure-select-only", "trg-elsewhere-writes-closure", "trigger_on_a_table:1"),
    "view-extra": ("view-closure", "view-on-view", "view_over_a_table:1"),
    "virtual-extra": ("vt-fts-content", "search_index_over_a_table:1", "search_index_over_a_table:2"),
    "conflict-declared": ("conflict-replace", "conflict-ignore", "conflict-notnull-replace"),
    "owner-inexact": ("collate-owner-nocase", "collate-principal-nocase", "owner-case-nocase-key"),
    "column-type-spelling": ("col-type-synonym", "spelled:REAL:DOUBLE", "spelled:JSON:NUMERIC"),
    "index-plain": ("ix-extra-plain", "ix-dropped-plain", "plain"),
}  # fmt: skip
"""The other codes of structure: a variant, a change with its seed, or one of `_store`'s own."""

TAMPERED = (
    ("desk_note", "desk_node", "sessions"),
    ("UNIQUE (session_id, seq)", "?", "session_signals"),
    ("ON sessions (", "{ (", "one_live_cc_session"),
    ("(id)", "(@)", "tickets"),
)
"""What is put in place of what in the schema's own text of an entry."""


def _store(cause: str) -> Closure:
    if cause in variants():
        return closure_of(schema(variants()[cause]), *variants()[cause].then)
    if cause == "plain":
        return closure_of(SQL, "DROP INDEX sessions_by_owner", "CREATE INDEX other ON branches (name DESC)")
    name, *rest = cause.split(":")
    if name == "spelled":
        return closure_of(SQL.replace(f" {rest[0]}", f" {rest[1]}"))
    model = base()
    CHANGES[name](model, random.Random(int(rest[0])))
    return closure_of(";".join(Writer().statements(model)))


def _findings(live: Closure, declared: Closure | None = None) -> tuple[Finding, ...]:
    under = profile() if declared is None else profile_over(declared)
    found = compare(under.closure, live).findings
    return ordered([*found, *hazards(live, under.writes, under.owner)], under.closure)


@pytest.mark.parametrize(("code", "cause"), [(code, cause) for code in CAUSES for cause in CAUSES[code]])
def test_structure_that_causes_it(code: str, cause: str) -> None:
    found = _findings(_store(cause))
    assert code in {one.code for one in found}
    if code not in ("conflict-declared", "owner-inexact"):  # those come beside what differs
        assert found[0].code == code


@pytest.mark.parametrize(
    ("code", "declared", "live"), [(code, *case) for code, cases in OBJECTS.items() for case in cases]
)
def test_objects_that_cause_it(code: str, declared: str, live: str | None) -> None:
    before, after = closure_of(SQL, declared), closure_of(SQL, *(() if live is None else (live,)))
    found = [one for one in _findings(after, before) if one.refuses]
    assert [(one.code, one.object) for one in found[:1]] == [(code, "one")]


@pytest.mark.parametrize(("code", "trigger"), [(code, sql) for code in UNSAFE for sql in UNSAFE[code]])
def test_triggers_no_profile_can_declare_away(code: str, trigger: str) -> None:
    live = closure_of(SQL, trigger)
    found = [one for one in _findings(live, live) if one.refuses]
    assert code in {one.code for one in found}
    assert {one.object for one in found} == {"one"}


@pytest.mark.parametrize("trigger", SAFE)
def test_triggers_a_profile_can_declare(trigger: str) -> None:
    live = closure_of(SQL, trigger)
    assert _findings(live, live) == ()


@pytest.mark.parametrize(("before", "after", "name"), TAMPERED)
def test_text_that_cannot_be_interpreted(before: str, after: str, name: str) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(SQL)
        connection.execute("PRAGMA writable_schema=1")
        statement = "UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = ?"
        assert connection.execute(statement, (before, after, name)).rowcount == 1
        live = closures.read(connection, TABLES)
    found = [one for one in _findings(live) if one.code == "uninterpreted"]
    assert name in {one.object for one in found}
    assert all(one.refuses and one.observed for one in found)


def test_triggers_that_set_each_other_off_are_both_named() -> None:
    live = closure_of(
        SQL,
        "CREATE TRIGGER one AFTER INSERT ON branches BEGIN "
        "UPDATE sessions SET name = '' WHERE id = NEW.session_id AND owner_id = NEW.owner_id; END",
        "CREATE TRIGGER two AFTER UPDATE ON sessions BEGIN "
        "UPDATE branches SET name = '' WHERE session_id = NEW.id AND owner_id = NEW.owner_id; END",
    )
    found = [(one.code, one.object) for one in _findings(live, live)]
    assert found == [("trigger-recurses", "two"), ("trigger-recurses", "one")]


def test_the_list_is_closed_and_each_code_has_three_stores() -> None:
    proved = {code: len(causes) for code, causes in CAUSES.items()}
    proved |= {code: len(causes) for code, causes in (*OBJECTS.items(), *UNSAFE.items())}
    proved |= {code: len(causes) for code, causes in test_admission.CAUSES.items()}
    proved["uninterpreted"] = len(TAMPERED)
    assert set(proved) == set(CODES)
    assert min(proved.values()) >= 3
    with pytest.raises(KeyError):
        finding("no-such-code")


def test_each_code_says_why_and_who_does_what() -> None:
    for code, said in CODES.items():
        assert code == code.lower()
        assert said.why.endswith(".") and ". " not in said.why, code
        assert said.remedy.endswith(".")
        for word in ("delete the", "rebuild", "drop the", "recreate"):
            assert word not in said.remedy.lower(), code
    assert {code for code, said in CODES.items() if said.severity == "notice"} == {
        "column-type-spelling",
        "index-plain",
    }
