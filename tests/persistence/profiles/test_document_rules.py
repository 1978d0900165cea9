"""Profiles that are wrong in themselves: refused when they are loaded, at the place that is wrong."""

from __future__ import annotations

import pytest

from persistence.errors import ProfileError
from persistence.profiles.document import parse
from persistence.profiles.needs import INVARIANTS, NEEDS
from persistence.schema.known import COLUMNS_SINCE
from tests.persistence.profiles.documents import DOCUMENT, changed

MESSAGES, PEOPLE = "tables.messages", "tables.people"

WRONG = {
    # what is written
    "a generated column written": (('"lion_class", "owner_id",', '"lion_class", "size", "owner_id",'),
                                   "tables.messages.insert[10]", "generated column"),
    "a generated column updated": (('"role", "lion_class"]', '"role", "lion_class", "size"]'),
                                   "tables.messages.update[8]", "generated column"),
    "the owner updated": (('update = ["collection"]', 'update = ["collection", "owner_id"]'),
                          "tables.progressions.update[1]", "an owner never changes"),
    "the owner updated in capitals": (('update = ["collection"]', 'update = ["collection", "OWNER_ID"]'),
                                      "tables.progressions.update[1]", "an owner never changes"),
    "the owner left to its default": (('"collection", "owner_id"]', '"collection"]'),
                                      "tables.progressions.insert", "written with every row"),
    "a column that is not there inserted": (('"collection", "owner_id"]', '"collection", "owner_id", "x"]'),
                                            "tables.progressions.insert[4]", "has no column x"),
    "a column that is not there updated": (('update = ["collection"]', 'update = ["collection", "x"]'),
                                           "tables.progressions.update[1]", "has no column x"),
    "a column inserted twice": (('"collection", "owner_id"]', '"collection", "owner_id", "ID"]'),
                                "tables.progressions.insert[4]", "named twice"),
    # what is left out
    "no reason": (('shade = "0 means not shaded"\n', ""), "tables.messages", "neither written nor given"),
    "a blank reason": (('"0 means not shaded"', '" "'), "tables.messages.unwritten.shade", "no reason"),
    "a reason still to write": (('"0 means not shaded"', '"TO FILL IN: why?"'),
                                "tables.messages.unwritten.shade", "still to be written"),
    "a reason that is no text": (('"0 means not shaded"', "0"), "tables.messages.unwritten.shade", "string"),
    "a reason for what is written": (('size = "SQLite', 'role = "no"\nsize = "SQLite'),
                                     "tables.messages.unwritten.role", "is written"),
    "a reason for what is not there": (('size = "SQLite', 'zize = "no"\nsize = "SQLite'),
                                       "tables.messages.unwritten.zize", "has no column"),
    "NOT NULL without a default": (('shade = { type = "INTEGER", nullable = false, default = "0" }',
                                    'shade = { type = "INTEGER", nullable = false }'),
                                   "tables.messages", "shade may not be empty"),
    "NOT NULL with the default NULL": (('shade = { type = "INTEGER", nullable = false, default = "0" }',
                                        'shade = { type = "INTEGER", nullable = false, default = "(NULL)" }'),
                                       "tables.messages", "shade may not be empty"),
    "a key that is no row id": (('{ columns = ["type_id"], rowid = true }', '["type_id"]'),
                                "tables.message_types", "type_id may not be empty"),
    # operations and invariants
    "an operation nobody knows": (('"insert_message"]', '"insert_mesage"]'),
                                  "operations[1]", "is insert_message meant"),
    "no operation": (('["create_progression", "insert_message"]', "[]"), "operations", "names the"),
    "an insert the operation needs": (('insert = ["lion_class"]', "insert = []"),
                                      "operations[1]", "insert message_types: lion_class not allowed"),
    "an update the operation needs": (('update = ["node_metadata", "content",', 'update = ["node_metadata",'),
                                      "operations[1]", "update messages: content not allowed"),
    "a table the operation needs": (('"insert_message"]', '"insert_message", "create_session"]'),
                                    "operations[2]", "the table sessions, which is not declared"),
    "an invariant nobody knows": (('"one-owner"]', '"one-owners"]'), "invariants[1]", "is one-owner meant"),
    "an invariant not named": (('"arrival-order", "one-owner"', '"one-owner"'), "invariants", "arrival"),
    "one owner without a rule": (('[owner]\ncolumn = "owner_id"\nprincipals = "people"\nkey = "id"\n', ""),
                                 "invariants[1]", "needs an owner rule"),
    # the owner rule
    "principals that are not declared": (('principals = "people"', 'principals = "persons"'),
                                         "owner.principals", "not among the tables"),
    "a principal's key that is not there": (('key = "id"', 'key = "name"'), "owner.key", "has no column"),
    "a principal's key that is none": (('key = "id"', 'key = "title"'), "owner.key", "is no key"),
    "an owner's column nobody has": (('column = "owner_id"', 'column = "owned_by"'),
                                     "owner.column", "no table that is written"),
    # the structure
    "a link out of the closure": (('table = "people" },', 'table = "persons" },'),
                                  "tables.messages.links[1].table", "not among the tables"),
    "a link to what is no key": (('parent = ["type_id"]', 'parent = ["nothing"]'),
                                 "tables.messages.links[0].parent", "has no column"),
    "a link to a plain column": (('"people", parent = ["id"]', '"people", parent = ["title"]'),
                                 "tables.progressions.links[0].parent", "is no key"),
    "a link of two columns to one": (('links = [{ columns = ["owner_id"]',
                                      'links = [{ columns = ["id", "owner_id"]'),
                                     "tables.progressions.links[0].parent", "cannot point at"),
    "a link without parents to a table without a key": (('[tables.people]\nprimary_key = ["id"]',
                                                         '[tables.people]\nuniques = [{columns = ["id"]}]'),
                                                        "tables.messages.links[1]", "no primary key"),
    "a link from no column": (('links = [{ columns = ["owner_id"]', 'links = [{ columns = ["owner"]'),
                              "tables.progressions.links[0].columns", "has no column owner"),
    "a key over no column": (('uniques = [{ columns = ["id", "owner_id"] }]',
                              'uniques = [{ columns = ["id", "owner"] }]'),
                             "tables.progressions.uniques[0].columns", "has no column owner"),
    "an index over no column": (('columns = ["role", {', 'columns = ["roll", {'),
                                "tables.messages.indexes[0].columns", "has no column roll"),
    "a row id that is no integer": (('type_id = { type = "INTEGER"', 'type_id = { type = "INT"'),
                                    "tables.message_types.primary_key.rowid", "INTEGER column"),
    "an incoming link from inside": (('from = "tickets"', 'from = "People"'),
                                     "incoming[0].from", "are its links"),
    "an incoming link past the closure": (('table = "messages"\nparent', 'table = "notes"\nparent'),
                                          "incoming[0].table", "not among the tables"),
    "an object that touches nothing here": (('FROM messages"\ntouches = ["messages"]',
                                             'FROM messages"\ntouches = ["notes"]'),
                                            "objects[1].touches", "not among the tables"),
}  # fmt: skip


@pytest.mark.adr("0128-D2-11", "0128-D2-12")
@pytest.mark.parametrize("case", list(WRONG))
def test_a_profile_that_is_wrong_in_itself_is_refused(case: str) -> None:
    edit, key, said = WRONG[case]
    with pytest.raises(ProfileError) as caught:
        parse(changed(edit), "desk.toml")
    found = [message for _, where, message in caught.value.faults if where == key]
    assert any(said in message for message in found), caught.value.faults
    assert all(line is not None for line, _, _ in caught.value.faults)


def test_a_table_that_gets_no_rows_needs_no_reasons() -> None:
    """What is only updated, or only read, leaves nothing out of a row."""
    text = changed(
        ('insert = ["id", "created_at", "collection", "owner_id"]', "insert = []"),
        ('["create_progression", "insert_message"]', '["append_to_progression"]'),
    )
    assert parse(text, "desk.toml").writes["progressions"].insert == ()


def test_without_an_owner_rule_the_owners_column_is_one_like_another() -> None:
    text = changed(
        ('[owner]\ncolumn = "owner_id"\nprincipals = "people"\nkey = "id"\n', ""),
        ('"arrival-order", "one-owner"', '"arrival-order"'),
        ('"collection", "owner_id"]', '"collection"]'),
        (
            "[tables.messages]",
            '[tables.progressions.unwritten]\nowner_id = "the desk\'s"\n\n[tables.messages]',
        ),
    )
    profile = parse(text, "desk.toml")
    assert profile.owner is None and profile.writes["progressions"].unwritten == {"owner_id": "the desk's"}


@pytest.mark.adr("0128-D2-10")
def test_the_needs_name_what_stores_have() -> None:
    """Tables and columns of the operations are those of the schema, and their invariants are known."""
    for operation, needs in NEEDS.items():
        for table, need in needs.tables.items():
            there = {name for names in COLUMNS_SINCE[table].values() for name in names.split()}
            assert {*need.insert, *need.update, *need.read} <= there, (operation, table)
        assert set(needs.keeps) <= set(INVARIANTS), operation


def test_the_document_itself_is_right() -> None:
    assert parse(DOCUMENT, "desk.toml").operations
