"""A small profile's document, and what tests change about it."""

from __future__ import annotations

DOCUMENT = """\
# A desk that keeps lists of messages.
format = 1
name = "small-desk"
version = 2
lineage = "small-desk"
store_versions = ["3", "4"]
operations = ["create_progression", "insert_message"]
invariants = ["arrival-order", "one-owner"]

[owner]
column = "owner_id"
principals = "people"
key = "id"

[tables.people]
primary_key = ["id"]

[tables.people.columns]
id = { type = "TEXT", nullable = false }
title = { type = "TEXT" }

[tables.message_types]
primary_key = { columns = ["type_id"], rowid = true }
uniques = [{ columns = ["lion_class"] }]
insert = ["lion_class"]
update = []

[tables.message_types.columns]
type_id = { type = "INTEGER", nullable = false }
lion_class = { type = "TEXT", nullable = false }

[tables.message_types.unwritten]
type_id = "the row id: SQLite gives the next one"

[tables.progressions]
primary_key = ["id"]
uniques = [{ columns = ["id", "owner_id"] }]
links = [{ columns = ["owner_id"], table = "people", parent = ["id"] }]
insert = ["id", "created_at", "collection", "owner_id"]
update = ["collection"]

[tables.progressions.columns]
id = { type = "TEXT", nullable = false }
created_at = { type = "REAL", nullable = false }
collection = { type = "TEXT", nullable = false, default = "'[]'" }
owner_id = { type = "TEXT", nullable = false, default = "'desk'" }

[tables.messages]
primary_key = ["id"]
checks = ["length(role) > 0", { expression = "shade IN (0, 1)", name = "two_shades" }]
links = [
  { columns = ["lion_class"], table = "message_types", parent = ["type_id"] },
  { columns = ["owner_id"], table = "people" },
]
indexes = [{ name = "by_role", columns = ["role", { expression = "lower(sender)" }], where = "role <> ''" }]
insert = [
  "id", "created_at", "node_metadata", "content", "embedding", "sender", "recipient", "channel", "role",
  "lion_class", "owner_id",
]
update = ["node_metadata", "content", "embedding", "sender", "recipient", "channel", "role", "lion_class"]

[tables.messages.columns]
id = { type = "TEXT", nullable = false }
created_at = { type = "REAL", nullable = false }
node_metadata = { type = "JSON" }
content = { type = "JSON", nullable = false }
embedding = { type = "BLOB" }
sender = { type = "TEXT", collation = "NOCASE" }
recipient = { type = "TEXT" }
channel = { type = "TEXT" }
role = { type = "TEXT", nullable = false, conflict = "FAIL" }
lion_class = { type = "INTEGER", nullable = false }
size = { type = "INTEGER", generated = "length(content)", stored = true }
shade = { type = "INTEGER", nullable = false, default = "0" }
owner_id = { type = "TEXT", nullable = false, default = "'desk'" }

[tables.messages.unwritten]
size = "SQLite computes it"
shade = "0 means not shaded"

[[incoming]]
from = "tickets"
columns = ["message_id"]
table = "messages"
parent = ["id"]
on_delete = "SET NULL"

[[objects]]
kind = "trigger"
name = "told"
table = "messages"
sql = "CREATE TRIGGER told AFTER INSERT ON messages BEGIN SELECT 1; END"
touches = ["messages"]

[[objects]]
kind = "view"
name = "loud"
sql = "CREATE VIEW loud AS SELECT id FROM messages"
touches = ["messages"]
"""


def changed(*edits: tuple[str, str]) -> str:
    """The document with texts replaced; each must be there exactly once."""
    text = DOCUMENT
    for before, after in edits:
        assert text.count(before) == 1, (before, text.count(before))
        text = text.replace(before, after)
    return text
