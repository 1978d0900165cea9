"""Profiles as documents: what is read, and that every fault names file, line and key."""

from __future__ import annotations

import pickle

import pytest

from persistence.errors import ProfileError, StoreError
from persistence.profiles.document import parse
from persistence.profiles.records import (
    CheckShape,
    ColumnShape,
    Generated,
    IndexTerm,
    KeyShape,
    LinkShape,
    OwnerRule,
    UniqueShape,
)
from tests.persistence.profiles.documents import DOCUMENT, changed


def refusal(text: str) -> ProfileError:
    with pytest.raises(ProfileError) as caught:
        parse(text, "desk.toml")
    return caught.value


def line_with(text: str, said: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if said in line)


@pytest.mark.adr("0128-D2-01", "0128-D2-13")
def test_a_document_is_read() -> None:
    profile = parse(DOCUMENT, "desk.toml")
    assert profile.identity == "small-desk@2" and profile.source == "desk.toml"
    assert (profile.lineage, profile.store_versions) == ("small-desk", ("3", "4"))
    assert profile.operations == ("create_progression", "insert_message")
    assert profile.invariants == ("arrival-order", "one-owner")
    assert profile.owner == OwnerRule("owner_id", "people", "id")
    assert list(profile.closure.tables) == ["people", "message_types", "progressions", "messages"]


@pytest.mark.adr("0128-D2-04", "0128-D2-05", "0128-D2-06", "0128-D2-07", "0128-D2-08", "0128-D2-09")
def test_every_part_of_the_structure_is_declared() -> None:
    closure = parse(DOCUMENT, "desk.toml").closure
    messages, types = closure.table("messages"), closure.table("message_types")
    assert messages is not None and types is not None
    assert types.primary_key == KeyShape((IndexTerm("type_id"),), rowid=True)
    assert types.uniques == (UniqueShape((IndexTerm("lion_class"),)),)
    assert messages.column("SENDER") == ColumnShape("sender", "TEXT", collation="NOCASE")
    assert messages.column("role") == ColumnShape("role", "TEXT", nullable=False, conflict="FAIL")
    assert messages.column("size") == ColumnShape(
        "size", "INTEGER", generated=Generated("length(content)", stored=True)
    )
    assert messages.checks == (CheckShape("length(role) > 0"), CheckShape("shade IN (0, 1)", "two_shades"))
    assert messages.links[0] == LinkShape(("lion_class",), "message_types", ("type_id",))
    (index,) = messages.indexes
    assert index.terms == (IndexTerm("role"), IndexTerm(expression="lower(sender)"))
    assert index.predicate == "role <> ''"
    (incoming,) = closure.incoming
    assert incoming.table == "tickets" and incoming.link.on_delete == "SET NULL"
    assert [(one.kind, one.name, one.table) for one in closure.objects] == [
        ("trigger", "told", "messages"),
        ("view", "loud", None),
    ]


FORM = [
    # (before, after, key, what is said, the line that holds it)
    ("version = 2", 'version = "2"', "version", "expected a whole number, found a string", None),
    ("version = 2", "version = 0", "version", "counted from 1", None),
    ("version = 2", "version = true", "version", "found a truth value", None),
    ("format = 1", "format = 2", "format", "reads format 1, not 2", None),
    ('name = "small-desk"', 'name = "Small Desk"', "name", "lower-case words", None),
    ('name = "small-desk"', 'name = "small--desk"', "name", "lower-case words", None),
    ('lineage = "small-desk"', 'lineage = " "', "lineage", "a blank one", None),
    ('lineage = "small-desk"', 'lineage = "lionagi"', "lineage", "opened natively", None),
    ('store_versions = ["3", "4"]', 'store_versions = ["3", 4]', "store_versions[1]", "found a number", None),
    ('store_versions = ["3", "4"]', 'store_versions = ["3", "3"]', "store_versions[1]", "named twice", None),
    ('store_versions = ["3", "4"]', 'store_version = ["3"]', "store_version", "store_versions meant", None),
    ('title = { type = "TEXT" }', 'title = { typ = "TEXT" }',
     "tables.people.columns.title.typ", "is type meant", None),
    ('title = { type = "TEXT" }', 'title = "TEXT"', "tables.people.columns.title", "expected a table", None),
    ('title = { type = "TEXT" }', 'ID = { type = "TEXT" }', "tables.people.columns.ID", "twice", None),
    ("[tables.people.columns]\nid", "[tables.People]\n[tables.people.columns]\nid", "tables.People", "twice",
     "[tables.People]"),
    ('{ type = "TEXT" }\n\n[tables.message', '{ nullable = 1 }\n\n[tables.message',
     "tables.people.columns.title.nullable", "expected true or false", "nullable = 1"),
    ("stored = true", 'stored = true, default = "0"', "tables.messages.columns.size.default", "no default",
     "size = {"),
    ('shade = { type = "INTEGER"', 'shade = { stored = true, type = "INTEGER"',
     "tables.messages.columns.shade.stored", "generated columns alone", "shade = {"),
    ('conflict = "FAIL"', 'conflict = "PANIC"',
     "tables.messages.columns.role.conflict", "REPLACE", "role = {"),
    ('on_delete = "SET NULL"', 'on_delete = "SETNULL"', "incoming[0].on_delete", "SET NULL", None),
    ('from = "tickets"\n', "", "incoming[0]", "from is missing", "[[incoming]]"),
    ('kind = "view"', 'kind = "table"', "objects[1].kind", "trigger or view or virtual", None),
    ('kind = "view"', 'kind = "view"\ntable = "messages"', "objects[1].table", "stands on no table",
     'table = "messages"\nname'),
    ('table = "messages"\nsql', "sql", "objects[0]", "table is missing", "[[objects]]"),
    ('primary_key = { columns = ["type_id"], rowid = true }',
     'primary_key = { columns = ["type_id"], autoincrement = true }',
     "tables.message_types.primary_key.autoincrement", "for the row id", "primary_key = {"),
    ('{ expression = "lower(sender)" }', '{ descending = true }',
     "tables.messages.indexes[0].columns[1]", "one of column and expression", "indexes = ["),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "key", "said", "at"), FORM)
def test_a_fault_names_file_line_and_key(
    before: str, after: str, key: str, said: str, at: str | None
) -> None:
    text = changed((before, after))
    error = refusal(text)
    found = [fault for fault in error.faults if fault[1] == key]
    assert found, error.faults
    line, _, message = found[0]
    assert said in message
    wanted = line_with(text, (at or after).split("\n")[0])
    if at == 'table = "messages"\nname':  # the second one
        wanted = text[: text.index(at)].count("\n") + 1
    assert line == wanted
    assert error.where is not None and error.where.startswith("desk.toml:")
    assert isinstance(error, StoreError) and isinstance(error, ValueError) and error.code == "profile-invalid"


def test_all_faults_are_told_at_once() -> None:
    error = refusal(changed(("version = 2", "version = 0"), ('key = "id"', 'key = "name"')))
    assert [fault[1] for fault in error.faults] == ["version", "owner.key"]
    assert "There is one more fault." in error.message and error.where == "desk.toml:4"
    assert error.as_dict()["faults"][1]["key"] == "owner.key"
    again = pickle.loads(pickle.dumps(error))
    assert again.as_dict() == error.as_dict()


def test_what_is_no_toml_says_where() -> None:
    error = refusal("format = 1\nname = \n")
    assert error.where == "desk.toml:2" and "not TOML" in error.message
    twice = refusal(changed(("[tables.messages]", "[tables.people]")))
    assert "not TOML" in twice.message and twice.where is not None
    assert "too deep" in refusal("a = " + "[" * 5000).message


def test_an_empty_document_says_what_is_missing() -> None:
    error = refusal("")
    missing = ("format", "name", "version", "lineage", "operations", "tables")
    assert [f"{name} is missing" for name in missing] == [fault[2] for fault in error.faults][: len(missing)]


def test_defaults_spelled_out_mean_the_same() -> None:
    text = changed(
        ('title = { type = "TEXT" }', 'title = { type = "TEXT", collation = "binary", conflict = "abort" }'),
        ('on_delete = "SET NULL"', 'on_delete = "set null"\non_update = "no action"\nmatch = "none"'),
    )
    assert parse(text, "a") == parse(DOCUMENT, "b")
