"""Single semantic changes of the managed store's schema: each makes another store of it.

A change takes the model and a source of chance (which table, which column), and says what admission must
find first: the code, the table, and the object that is named (None: any).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from tests.persistence.profiles.acme import TABLES
from tests.persistence.profiles.model import Column, Link, Model, Table, Unique


class Expected(NamedTuple):
    code: str
    table: str | None
    object: str | None = None


Change = Callable[[Model, random.Random], Expected]
CHANGES: dict[str, Change] = {}


def change(made: Change) -> Change:
    CHANGES[made.__name__] = made
    return made


_RUN_TABLES = [name for name in TABLES if name not in ("principals", "message_types")]


def _table(model: Model, chance: random.Random) -> Table:
    return model.tables[chance.choice(_RUN_TABLES)]


def _bound(table: Table, model: Model) -> set[str]:
    """Columns that keys, checks, links or indexes name, within the table or from others."""
    names = {name for unique in table.uniques for name in unique.columns} | set(table.key)
    names |= {name for link in table.links for name in link.columns}
    names |= {column.name for column in table.columns for check in table.checks if column.name in check}
    names |= {
        parent for other in model.tables.values() for link in other.links if link.table == table.name
        for parent in link.parents
    }  # fmt: skip
    return names | {"cc_session_id", "source_kind", "updated_at"}


def _free(model: Model, chance: random.Random, **wanted: object) -> tuple[Table, Column]:
    """A column that nothing else names, with these properties."""
    found = [
        (table, column)
        for name in _RUN_TABLES
        for table in (model.tables[name],)
        for column in table.columns
        if column.name not in _bound(table, model)
        and all(getattr(column, key) == value for key, value in wanted.items())
    ]
    return chance.choice(found)


def _linked(model: Model, chance: random.Random, count: int = 1) -> tuple[Table, Link]:
    found = [
        (model.tables[name], link)
        for name in TABLES
        for link in model.tables[name].links
        if len(link.columns) == count
    ]
    return chance.choice(found)


# -- columns ------------------------------------------------------------------------------------------


@change
def column_added(model: Model, chance: random.Random) -> Expected:
    table = _table(model, chance)
    made = chance.choice([Column("extra", "TEXT"), Column("extra", "TEXT", True, "'x'")])
    table.columns.insert(chance.randrange(len(table.columns) + 1), made)
    return Expected("column-extra", table.name, "extra")


@change
def column_computed_on_reading_added(model: Model, chance: random.Random) -> Expected:
    table = _table(model, chance)
    table.columns.append(Column("extra", "TEXT", computed="AS (id) VIRTUAL"))
    return Expected("column-extra", table.name, "extra")


@change
def column_computed_on_writing_added(model: Model, chance: random.Random) -> Expected:
    table = _table(model, chance)
    table.columns.append(Column("extra", "TEXT", computed="GENERATED ALWAYS AS (id || '') STORED"))
    return Expected("column-extra", table.name, "extra")


@change
def column_becomes_computed(model: Model, chance: random.Random) -> Expected:
    table, column = _free(model, chance, default=None, required=False)
    column.computed = "GENERATED ALWAYS AS (id) VIRTUAL"
    return Expected("column-generated", table.name, column.name)


@change
def column_dropped(model: Model, chance: random.Random) -> Expected:
    table, column = _free(model, chance)
    table.columns.remove(column)
    return Expected("column-missing", table.name, column.name)


@change
def column_renamed(model: Model, chance: random.Random) -> Expected:
    table, column = _free(model, chance)
    was, column.name = column.name, f"{column.name}_was"
    return Expected("column-missing", table.name, was)


@change
def columns_swapped(model: Model, chance: random.Random) -> Expected:
    table = _table(model, chance)
    at = chance.randrange(len(table.columns) - 1)
    first = table.columns[at].name
    table.columns[at : at + 2] = reversed(table.columns[at : at + 2])
    return Expected("column-order", table.name, first)


@change
def column_of_another_type(model: Model, chance: random.Random) -> Expected:
    table, column = _free(model, chance)
    other = {"TEXT": "BLOB", "REAL": "TEXT", "INTEGER": "REAL", "JSON": "TEXT", "BLOB": "TEXT"}
    column.type = other[column.type]
    return Expected("column-type", table.name, column.name)


@change
def column_becomes_required(model: Model, chance: random.Random) -> Expected:
    table, column = _free(model, chance, required=False)
    column.required = True
    return Expected("column-null", table.name, column.name)


@change
def column_becomes_optional(model: Model, chance: random.Random) -> Expected:
    table, column = _free(model, chance, required=True)
    column.required = False
    return Expected("column-null", table.name, column.name)


@change
def default_added(model: Model, chance: random.Random) -> Expected:
    table, column = _free(model, chance, default=None)
    column.default = "'x'"
    return Expected("column-default", table.name, column.name)


@change
def default_removed(model: Model, chance: random.Random) -> Expected:
    table = _table(model, chance)
    column = table.column("owner_id")
    column.default = None
    return Expected("column-default", table.name, "owner_id")


@change
def default_in_another_case(model: Model, chance: random.Random) -> Expected:
    table = _table(model, chance)
    table.column("owner_id").default = "'Acme-System'"
    return Expected("column-default", table.name, "owner_id")


@change
def default_of_another_kind(model: Model, chance: random.Random) -> Expected:
    table, name = chance.choice([("messages", "desk_flags"), ("sessions", "desk_pinned")])
    model.tables[table].column(name).default = chance.choice(["'0'", "x'30'", "0.0", "(1)", "-0"])
    return Expected("column-default", table, name)


@change
def column_compares_otherwise(model: Model, chance: random.Random) -> Expected:
    table, column = _free(model, chance, type="TEXT")
    column.collation = chance.choice(["NOCASE", "RTRIM"])
    return Expected("column-collation", table.name, column.name)


@change
def missing_value_is_replaced(model: Model, chance: random.Random) -> Expected:
    table, column = _free(model, chance, required=True)
    column.conflict = chance.choice(["REPLACE", "IGNORE", "FAIL", "ROLLBACK"])
    return Expected("conflict-clause", table.name, column.name)


# -- keys ---------------------------------------------------------------------------------------------


@change
def key_over_two_columns(model: Model, chance: random.Random) -> Expected:
    table = _table(model, chance)
    table.key = ("id", "owner_id")
    return Expected("primary-key", table.name, "id")


@change
def key_clash_is_resolved(model: Model, chance: random.Random) -> Expected:
    table = _table(model, chance)
    table.key_tail = f" ON CONFLICT {chance.choice(['REPLACE', 'IGNORE', 'FAIL', 'ROLLBACK'])}"
    return Expected("conflict-clause", table.name, "id")


@change
def key_never_given_again(model: Model, chance: random.Random) -> Expected:
    model.tables["message_types"].key_tail = " AUTOINCREMENT"
    return Expected("primary-key", "message_types", "type_id")


@change
def key_no_longer_the_row_id(model: Model, chance: random.Random) -> Expected:
    model.tables["message_types"].column("type_id").type = chance.choice(["INT", "BIGINT"])
    return Expected("primary-key", "message_types", "type_id")


@change
def key_gone(model: Model, chance: random.Random) -> Expected:
    table = model.tables[chance.choice(["status_transitions", "admin_events", "session_signals"])]
    table.key = ()
    return Expected("primary-key", table.name, "id")


@change
def unique_added(model: Model, chance: random.Random) -> Expected:
    table, column = _free(model, chance)
    table.uniques.append(Unique((column.name,)))
    return Expected("unique-extra", table.name)


@change
def unique_dropped(model: Model, chance: random.Random) -> Expected:
    table = model.tables[chance.choice(["session_signals", "message_types"])]
    table.uniques.clear()
    return Expected("unique-missing", table.name)


@change
def unique_in_another_order(model: Model, chance: random.Random) -> Expected:
    model.tables["session_signals"].uniques[0].columns = ("seq", "session_id")
    return Expected("unique-changed", "session_signals", "session_id, seq")


@change
def unique_over_more(model: Model, chance: random.Random) -> Expected:
    model.tables["session_signals"].uniques[0].columns = ("session_id", "seq", "kind")
    return Expected("unique-missing", "session_signals", "session_id, seq")


@change
def unique_clash_is_resolved(model: Model, chance: random.Random) -> Expected:
    model.tables["session_signals"].uniques[0].conflict = chance.choice(["REPLACE", "IGNORE", "FAIL"])
    return Expected("conflict-clause", "session_signals")


@change
def unique_index_added(model: Model, chance: random.Random) -> Expected:
    table, column = _free(model, chance)
    term = chance.choice([column.name, f"lower({column.name})", f"{column.name} COLLATE NOCASE"])
    model.after.append(f"CREATE UNIQUE INDEX extra ON {table.name} ({term})")
    return Expected("unique-extra", table.name, "extra")


_LIVE = "CREATE UNIQUE INDEX one_live_cc_session"


def _live_index(model: Model, before: str, after: str) -> Expected:
    at = next(at for at, statement in enumerate(model.after) if statement.startswith(_LIVE))
    assert before in model.after[at]
    model.after[at] = model.after[at].replace(before, after)
    return Expected("unique-changed", "sessions", "one_live_cc_session")


@change
def condition_of_a_unique_index(model: Model, chance: random.Random) -> Expected:
    return _live_index(model, "'live'", chance.choice(["'Live'", "'desk'", '"live"']))


@change
def unique_index_over_all_rows(model: Model, chance: random.Random) -> Expected:
    return _live_index(model, " WHERE cc_session_id IS NOT NULL AND source_kind = 'live'", "")


@change
def unique_index_compares_otherwise(model: Model, chance: random.Random) -> Expected:
    return _live_index(model, "(cc_session_id)", "(cc_session_id COLLATE NOCASE)")


# -- checks, links, indexes ---------------------------------------------------------------------------


@change
def check_added(model: Model, chance: random.Random) -> Expected:
    table, column = _free(model, chance)
    table.checks.append(f"{column.name} IS NULL OR length({column.name}) < 100")
    return Expected("check-extra", table.name, column.name)


@change
def check_dropped(model: Model, chance: random.Random) -> Expected:
    table, column = chance.choice([("sessions", "source_kind"), ("principals", "kind")])
    model.tables[table].checks.clear()
    return Expected("check-missing", table, column)


@change
def check_changed(model: Model, chance: random.Random) -> Expected:
    table, column = chance.choice([("sessions", "source_kind"), ("principals", "kind")])
    checks = model.tables[table].checks
    checks[0] = chance.choice(
        [
            checks[0].replace(")", ", 'other')"),
            checks[0].replace(" IN ", " NOT IN "),
            checks[0].replace("'p", "'P").replace("'l", "'L"),
            checks[0].replace("('", "(' "),
        ]
    )
    return Expected("check-changed", table, column)


@change
def link_added(model: Model, chance: random.Random) -> Expected:
    table, column = _free(model, chance, type="TEXT")
    table.links.append(Link((column.name,), "progressions", ("id",)))
    return Expected("link-extra", table.name, column.name)


@change
def link_dropped(model: Model, chance: random.Random) -> Expected:
    table, link = _linked(model, chance)
    table.links.remove(link)
    return Expected("link-missing", table.name, link.columns[0])


@change
def link_to_another_table(model: Model, chance: random.Random) -> Expected:
    table, link = _linked(model, chance)
    link.table = "admin_events"
    link.parents = ("id",)
    return Expected("link-changed", table.name, link.columns[0])


@change
def link_to_another_column(model: Model, chance: random.Random) -> Expected:
    link = chance.choice(model.tables["sessions"].links)
    link.parents = ("created_at",)
    return Expected("link-changed", "sessions", link.columns[0])


@change
def link_deletes_otherwise(model: Model, chance: random.Random) -> Expected:
    table, link = _linked(model, chance)
    link.tail = chance.choice([" ON DELETE RESTRICT", " ON DELETE SET DEFAULT"])
    return Expected("link-changed", table.name, link.columns[0])


@change
def link_updates_otherwise(model: Model, chance: random.Random) -> Expected:
    table, link = _linked(model, chance)
    link.tail += chance.choice([" ON UPDATE CASCADE", " ON UPDATE SET NULL", " ON UPDATE RESTRICT"])
    return Expected("link-changed", table.name, link.columns[0])


@change
def link_checked_at_the_end(model: Model, chance: random.Random) -> Expected:
    table, link = _linked(model, chance, chance.choice([1, 2]))
    link.tail += " DEFERRABLE INITIALLY DEFERRED"
    return Expected("link-changed", table.name)


@change
def link_of_two_columns_split(model: Model, chance: random.Random) -> Expected:
    table = model.tables["branches"]
    link = next(link for link in table.links if len(link.columns) == 2)
    table.links.remove(link)
    table.links.append(Link(("session_id",), "sessions", ("id",), link.tail))
    return Expected("link-changed", "branches", "session_id, owner_id")


@change
def link_into_the_closure_added(model: Model, chance: random.Random) -> Expected:
    into = chance.choice(_RUN_TABLES)
    model.after.append(f"CREATE TABLE bookmarks (id INTEGER PRIMARY KEY, row TEXT REFERENCES {into}(id))")
    return Expected("incoming-extra", into, "bookmarks.row")


@change
def link_into_the_closure_dropped(model: Model, chance: random.Random) -> Expected:
    table = model.tables["tickets"]
    link = table.links.pop(chance.randrange(len(table.links)))
    return Expected("incoming-missing", link.table, f"tickets.{link.columns[0]}")


@change
def link_into_the_closure_deletes_otherwise(model: Model, chance: random.Random) -> Expected:
    link = chance.choice(model.tables["tickets"].links)
    link.tail = " ON DELETE CASCADE"
    return Expected("incoming-changed", link.table, f"tickets.{link.columns[0]}")


@change
def index_that_computes(model: Model, chance: random.Random) -> Expected:
    table, column = _free(model, chance)
    model.after.append(f"CREATE INDEX extra ON {table.name} (json_extract({column.name}, '$.a'))")
    return Expected("index-computed", table.name, "extra")


@change
def index_with_a_condition(model: Model, chance: random.Random) -> Expected:
    table, column = _free(model, chance)
    model.after.append(f"CREATE INDEX extra ON {table.name} (id) WHERE abs({column.name}) > 1")
    return Expected("index-computed", table.name, "extra")


@change
def table_strict(model: Model, chance: random.Random) -> Expected:
    table = model.tables[chance.choice(["progressions", "principals", "message_types"])]
    table.options.append("STRICT")
    return Expected("table-option", table.name, "STRICT")


@change
def table_without_rowid(model: Model, chance: random.Random) -> Expected:
    table = _table(model, chance)
    table.options.append("WITHOUT ROWID")
    return Expected("table-option", table.name, "WITHOUT ROWID")


# -- what touches the closure -------------------------------------------------------------------------


@change
def trigger_on_a_table(model: Model, chance: random.Random) -> Expected:
    table = chance.choice(TABLES)
    when = chance.choice(["BEFORE", "AFTER", ""])
    event = chance.choice(["INSERT", "UPDATE", "DELETE"])
    model.after.append(f"CREATE TRIGGER extra {when} {event} ON {table} BEGIN SELECT 1; END")
    return Expected("trigger-extra", table, "extra")


@change
def trigger_elsewhere_that_writes(model: Model, chance: random.Random) -> Expected:
    table = _table(model, chance)
    body = chance.choice(
        [
            f"UPDATE {table.name} SET owner_id = 'lee'",
            f"DELETE FROM '{table.name}' WHERE id = NEW.id",
            f"INSERT INTO [{table.name}] (id) VALUES ('x')",
            f'UPDATE tickets SET subject = (SELECT id FROM "{table.name.upper()}" LIMIT 1)',
        ]
    )
    model.after.append(f"CREATE TRIGGER extra AFTER INSERT ON tickets BEGIN {body}; END")
    return Expected("trigger-extra", table.name, "extra")


@change
def view_over_a_table(model: Model, chance: random.Random) -> Expected:
    table = chance.choice(TABLES)
    query = chance.choice(
        [
            "SELECT * FROM {0}",
            "SELECT 1 FROM tickets, {0}",
            "SELECT id FROM tickets WHERE id IN (SELECT 1 FROM {0})",
        ]
    )
    model.after.append(f"CREATE VIEW extra AS {query.format(table)}")
    return Expected("view-extra", table, "extra")


@change
def search_index_over_a_table(model: Model, chance: random.Random) -> Expected:
    table = chance.choice(TABLES)
    model.after.append(f"CREATE VIRTUAL TABLE extra USING fts5(id, content={table})")
    return Expected("virtual-extra", table, "extra")


@change
def table_gone(model: Model, chance: random.Random) -> Expected:
    table = chance.choice(["session_signals", "status_transitions", "admin_events"])
    del model.tables[table]
    return Expected("table-missing", table)


@change
def table_is_a_view(model: Model, chance: random.Random) -> Expected:
    table = chance.choice(["session_signals", "status_transitions", "admin_events"])
    del model.tables[table]
    model.after.append(f"CREATE VIEW {table} AS SELECT 1 AS id, 'kim' AS owner_id")
    return Expected("table-kind", table)
