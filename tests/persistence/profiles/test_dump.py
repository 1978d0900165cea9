"""A profile written and read again is the same profile."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from persistence.profiles.document import faults_of, parse
from persistence.profiles.document_nodes import Document
from persistence.profiles.dump import Comments, dump
from persistence.profiles.needs import NEEDS, needs_of
from persistence.profiles.records import (
    CheckShape,
    Closure,
    ClosureTable,
    ColumnShape,
    Generated,
    Incoming,
    IndexShape,
    IndexTerm,
    KeyShape,
    LinkShape,
    ObjectShape,
    OwnerRule,
    Profile,
    UniqueShape,
    WriteRule,
)
from tests.persistence.profiles.documents import DOCUMENT

TEXT = st.text("ab'\"\\\n\t é{}[]=#,()\x7f\u2028😀", min_size=1, max_size=12).filter(str.strip)
NAMES = ("plain", "UPPER", "with space", 'quo"te', "é", "a.b", "x'y", "123")
COLLATIONS = st.sampled_from([None, "NOCASE", "RTRIM"])
CONFLICTS = st.sampled_from([None, "FAIL", "IGNORE", "REPLACE", "ROLLBACK"])
ACTIONS = st.sampled_from(["NO ACTION", "RESTRICT", "SET NULL", "SET DEFAULT", "CASCADE"])
MAYBE = st.one_of(st.none(), TEXT)


def terms(columns: tuple[str, ...]) -> st.SearchStrategy[tuple[IndexTerm, ...]]:
    plain = st.builds(IndexTerm, st.sampled_from(columns), st.none(), COLLATIONS, st.booleans())
    computed = st.builds(IndexTerm, st.none(), TEXT, COLLATIONS, st.booleans())
    return st.lists(st.one_of(plain, computed), min_size=1, max_size=2).map(tuple)


@st.composite
def extra_tables(draw: Any) -> ClosureTable:
    """A table of any shape, beside those the operation needs."""
    names = tuple(draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique_by=str.lower)))
    columns = []
    for name in names:
        computed = draw(st.booleans())
        columns.append(
            ColumnShape(
                name,
                draw(st.sampled_from(["", "TEXT", "VARCHAR(10, 2)", "any thing"])),
                draw(st.booleans()),
                None if computed else draw(MAYBE),
                Generated(draw(TEXT), draw(st.booleans())) if computed else None,
                draw(COLLATIONS),
                draw(CONFLICTS),
            )
        )
    link = st.builds(
        LinkShape, st.just((names[0],)), st.just("messages"), st.sampled_from([(), ("id",)]),
        ACTIONS, ACTIONS, st.sampled_from(["NONE", "FULL"]), st.booleans(),
    )  # fmt: skip
    return ClosureTable(
        draw(st.sampled_from(["t", "T two", "ä'\"#"])),
        tuple(columns),
        draw(st.one_of(st.none(), st.builds(KeyShape, terms(names), conflict=CONFLICTS))),
        tuple(draw(st.lists(st.builds(UniqueShape, terms(names), MAYBE, CONFLICTS, MAYBE), max_size=2))),
        tuple(draw(st.lists(st.builds(CheckShape, TEXT, MAYBE), max_size=2))),
        tuple(draw(st.lists(link, max_size=2))),
        tuple(draw(st.lists(st.builds(IndexShape, TEXT, terms(names), MAYBE), max_size=2))),
        draw(st.booleans()),
        draw(st.booleans()),
    )


@st.composite
def profiles(draw: Any) -> Profile:
    """Profiles that are valid: the tables of some operations, and one of any shape."""
    operations = tuple(draw(st.lists(st.sampled_from(sorted(NEEDS)), min_size=1, max_size=3, unique=True)))
    owner = draw(st.sampled_from([None, OwnerRule("owner_id", "people", "id")]))
    tables, writes = {}, {}
    needs = needs_of([*operations, "insert_message"])
    for name, need in needs.items():
        names = dict.fromkeys(("id", *need.read, *need.insert, *need.update))
        columns = [ColumnShape(column, "TEXT", nullable=column != "id") for column in names]
        insert = need.insert
        reasons: dict[str, str] = {}
        if owner is not None:
            columns.append(ColumnShape("owner_id", "TEXT", nullable=False, default="'desk'"))
            insert = (*insert, "owner_id") if insert else insert
        if insert:
            columns.append(ColumnShape("spare", "TEXT"))
            left = [column.name for column in columns if column.name not in insert]
            reasons = {column: draw(TEXT) for column in left}
        key = KeyShape((IndexTerm("id"),))
        if insert and "id" in reasons:  # left to SQLite
            columns[0] = ColumnShape("id", "INTEGER")
            key = KeyShape((IndexTerm("id"),), rowid=True, autoincrement=draw(st.booleans()))
        tables[name] = ClosureTable(name, tuple(columns), key)
        if insert or need.update:
            writes[name] = WriteRule(insert, need.update, reasons)
    if owner is not None:
        columns = [ColumnShape("id", "TEXT", nullable=False)]
        tables["people"] = ClosureTable("people", tuple(columns), KeyShape((IndexTerm("id"),)))
    extra = draw(extra_tables())
    tables[extra.name.replace("T", "t")] = extra
    keeps = dict.fromkeys(word for name in operations for word in NEEDS[name].keeps)
    link = LinkShape(("m",), "messages", ("id",), on_delete=draw(ACTIONS))
    trigger = ObjectShape("trigger", draw(TEXT), "messages", draw(TEXT), ("messages",), ("messages", "feed"))
    objects = (trigger, ObjectShape("virtual", "v", None, draw(TEXT), ("messages",)))
    return Profile(
        "a-b2", draw(st.integers(1, 99)), draw(TEXT.filter(lambda text: text != "lionagi")),
        Closure(tables, (Incoming(draw(TEXT), link),), objects), writes, operations,
        tuple(word for word in keeps if owner is not None or word != "one-owner"), owner,
        tuple(draw(st.lists(TEXT, max_size=2, unique=True))),
    )  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(profiles())
def test_what_is_written_is_what_was_meant(profile: Profile) -> None:
    text = dump(profile)
    read, faults = faults_of(text, "x")
    assert not faults, (text, faults)
    assert read == profile
    assert list(read.closure.tables) == list(profile.closure.tables)
    assert dump(read) == text


def test_a_document_written_by_hand_is_kept() -> None:
    profile = parse(DOCUMENT, "desk.toml")
    assert parse(dump(profile), "again.toml") == profile


def test_comments_stand_where_they_belong_and_change_nothing() -> None:
    profile = parse(DOCUMENT, "desk.toml")
    said = Comments(
        ("top one",), {"owner": ("who it is",)}, {"messages": ("words",)}, {("messages", "id"): "k"}
    )
    text = dump(profile, said)
    assert text.startswith("# top one\n\nformat = 1\n")
    assert re.search(r"# who it is\n\[owner\]\n", text)
    assert re.search(r"# words\n\[tables\.messages\]\n", text)
    assert 'id = { type = "TEXT", nullable = false }  # k\n' in text
    assert parse(text, "x") == profile and Document(text, "x").root() is not None
