"""Statements that would write what no profile allows, or loosen what holds a connection, each by name."""

from __future__ import annotations

from tests.persistence.guard import kit

__all__ = ["STATEMENTS"]

_COLUMNS = "(id, created_at, content, role, lion_class, owner_id)"
_LEE = "('x', 1.0, '1', 'user', 0, 'lee')"

STATEMENTS: dict[str, str] = {
    # -- rows and owners
    "insert for another owner": f"INSERT INTO messages {_COLUMNS} VALUES {_LEE}",
    "insert for the default owner": (
        "INSERT INTO messages (id, created_at, content, role, lion_class) VALUES ('x', 1.0, '1', 'user', 0)"
    ),
    "insert for an owner in another case": (
        f"INSERT INTO messages {_COLUMNS} VALUES ('x', 1.0, '1', 'user', 0, 'KIM')"
    ),
    "insert for an owner with a space": (
        f"INSERT INTO messages {_COLUMNS} VALUES ('x', 1.0, '1', 'user', 0, 'kim ')"
    ),
    "insert for no owner": "INSERT OR IGNORE INTO progressions VALUES ('x', 1.0, '[]', NULL)",
    "insert or ignore for another owner": f"INSERT OR IGNORE INTO messages {_COLUMNS} VALUES {_LEE}",
    "insert or fail for another owner": f"INSERT OR FAIL INTO messages {_COLUMNS} VALUES {_LEE}",
    "insert or abort for another owner": f"INSERT OR ABORT INTO messages {_COLUMNS} VALUES {_LEE}",
    "insert or rollback for another owner": f"INSERT OR ROLLBACK INTO messages {_COLUMNS} VALUES {_LEE}",
    "upsert that does nothing": (
        f"INSERT INTO messages {_COLUMNS} VALUES {_LEE} ON CONFLICT (id) DO NOTHING"
    ),
    "insert or replace another's row": (
        f"INSERT OR REPLACE INTO messages {_COLUMNS} VALUES ('lee-msg', 1.0, '1', 'user', 0, 'kim')"
    ),
    "replace into another's row": (
        f"REPLACE INTO messages {_COLUMNS} VALUES ('lee-msg', 1.0, '1', 'user', 0, 'kim')"
    ),
    "replace an own row": "REPLACE INTO progressions VALUES ('kim-old-prog', 1.0, '[]', 'kim')",
    "upsert over another's row": (
        f"INSERT INTO messages {_COLUMNS} VALUES ('lee-msg', 1.0, '1', 'user', 0, 'kim') "
        "ON CONFLICT (id) DO UPDATE SET content = '9'"
    ),
    "upsert that takes another's row": (
        f"INSERT INTO messages {_COLUMNS} VALUES ('lee-msg', 1.0, '1', 'user', 0, 'kim') "
        "ON CONFLICT (id) DO UPDATE SET owner_id = 'kim'"
    ),
    "insert from a query": f"INSERT INTO messages {_COLUMNS} SELECT 'x', 1.0, '1', 'user', 0, 'lee'",
    "insert from a common table": (
        f"WITH a(v) AS (SELECT 'lee') INSERT INTO messages {_COLUMNS} "
        "SELECT 'x', 1.0, '1', 'user', 0, v FROM a"
    ),
    "insert returning": f"INSERT INTO messages {_COLUMNS} VALUES {_LEE} RETURNING id",
    "update every owner's rows": "UPDATE messages SET content = '9'",
    "update another's row": "UPDATE messages SET content = '9' WHERE id = 'lee-msg'",
    "update another's row through a subquery": (
        "UPDATE messages SET content = '9' WHERE 'kim' IN (SELECT id FROM principals)"
    ),
    "update where the owner equals itself": "UPDATE messages SET content = '9' WHERE owner_id = owner_id",
    "update by a quoted name": "UPDATE main.\"messages\" SET content = '9'",
    "update from another table": (
        "UPDATE messages SET content = s.id FROM sessions AS s WHERE s.id = 'lee-sess'"
    ),
    "update or replace": "UPDATE OR REPLACE messages SET content = '9' WHERE id = 'lee-msg'",
    "update or ignore": "UPDATE OR IGNORE messages SET content = '9'",
    "update or fail": "UPDATE OR FAIL messages SET content = '9'",
    "update or rollback": "UPDATE OR ROLLBACK messages SET content = '9'",
    "update returning": "UPDATE messages SET content = '9' RETURNING id",
    "give an own row away": "UPDATE sessions SET owner_id = 'lee' WHERE id = 'kim-old-sess'",
    "take another's row": "UPDATE sessions SET owner_id = 'kim' WHERE id = 'lee-sess'",
    "rename an own row": "UPDATE sessions SET id = 'x' WHERE id = 'kim-old-sess'",
    "move an own row": "UPDATE progressions SET rowid = 99 WHERE id = 'kim-old-prog'",
    "update a column left out": "UPDATE sessions SET desk_pinned = 1 WHERE id = 'kim-old-sess'",
    "update a column not listed": "UPDATE sessions SET status = 'failed' WHERE id = 'kim-old-sess'",
    "update a table not listed for updates": "UPDATE message_types SET lion_class = 'x' WHERE type_id = 0",
    "update a table of the closure": "UPDATE principals SET display_name = 'x'",
    "update the invocations": "UPDATE invocations SET session_count = 9",
    "update a table outside": "UPDATE tickets SET subject = 'x'",
    "insert into a table of the closure": "INSERT INTO principals VALUES ('eve', 'Eve', 'person', 1.0)",
    "insert into a table outside": "INSERT INTO tickets VALUES (9, 'x', NULL, 'kim')",
    "insert into a table not listed": (
        "INSERT INTO admin_events (id, created_at, action, details, owner_id) "
        "VALUES ('x', 1, 'x', '{}', 'kim')"
    ),
    "insert through a view": "INSERT INTO open_tickets VALUES (9, 'x')",
    "delete another's row": "DELETE FROM messages WHERE id = 'lee-msg'",
    "delete an own row": "DELETE FROM progressions WHERE id = 'kim-old-prog'",
    "delete everything": "DELETE FROM session_signals",
    "delete from a common table": (
        "WITH a(v) AS (SELECT 'lee-msg') DELETE FROM messages WHERE id IN (SELECT v FROM a)"
    ),
    "delete returning": "DELETE FROM messages RETURNING id",
    "delete outside": "DELETE FROM ticket_notes",
    "rewrite the lineage": "UPDATE schema_meta SET value = 'lionagi' WHERE key = 'lineage'",
    "rewrite the version": "UPDATE schema_meta SET value = '4' WHERE key = 'version'",
    "add a backfill key": "INSERT INTO schema_meta VALUES ('migration.x_backfill', '1')",
    # -- what the profile allows, but no operation does
    "an own row by a text of one's own": "INSERT INTO progressions VALUES ('x', 1.0, '[]', 'kim')",
    "a message type by a text of one's own": "INSERT INTO message_types (lion_class) VALUES ('x')",
    "an own row changed by a text of one's own": (
        "UPDATE progressions SET collection = '[1]' WHERE id = 'kim-old-prog' AND owner_id = 'kim'"
    ),
    # -- schema
    "create table": "CREATE TABLE x (a)",
    "create table if not exists": "CREATE TABLE IF NOT EXISTS x (a)",
    "create table as": "CREATE TABLE x AS SELECT * FROM messages",
    "create index": "CREATE INDEX x ON messages (role)",
    "create unique index": "CREATE UNIQUE INDEX x ON messages (role)",
    "create trigger": "CREATE TRIGGER x AFTER INSERT ON messages BEGIN DELETE FROM tickets; END",
    "create view": "CREATE VIEW x AS SELECT 1",
    "create virtual table": "CREATE VIRTUAL TABLE x USING fts5(a)",
    "create temp table": "CREATE TEMP TABLE x (a)",
    "create temp table that hides one": "CREATE TEMP TABLE messages (id, owner_id)",
    "create temp trigger": (
        "CREATE TEMP TRIGGER x AFTER INSERT ON main.messages BEGIN DELETE FROM main.tickets; END"
    ),
    "create temp view": "CREATE TEMP VIEW x AS SELECT 1",
    "create temp index": "CREATE INDEX temp.x ON sqlite_temp_master (name)",
    "alter table add": "ALTER TABLE messages ADD COLUMN x",
    "alter table rename": "ALTER TABLE messages RENAME TO x",
    "alter table rename column": "ALTER TABLE messages RENAME COLUMN role TO x",
    "alter table drop": "ALTER TABLE messages DROP COLUMN desk_flags",
    "drop table": "DROP TABLE ticket_notes",
    "drop index": "DROP INDEX sessions_by_owner",
    "drop view": "DROP VIEW open_tickets",
    "drop a trigger of the store": "DROP TRIGGER ticket_notes_count",
    "reindex": "REINDEX",
    "analyze": "ANALYZE",
    "vacuum": "VACUUM",
    "attach": "ATTACH ':memory:' AS other",
    "detach": "DETACH temp",
    "write the schema table": "UPDATE sqlite_master SET sql = '' WHERE name = 'messages'",
    "delete from the schema table": "DELETE FROM sqlite_master",
    "delete the guard from the temp schema": "DELETE FROM sqlite_temp_master",
    "rewrite the guard in the temp schema": "UPDATE sqlite_temp_master SET sql = NULL",
    # -- the transaction
    "commit": "COMMIT",
    "end": "END",
    "rollback": "ROLLBACK",
    "begin": "BEGIN",
    "begin exclusive": "BEGIN EXCLUSIVE",
    "savepoint": "SAVEPOINT x",
    "release": "RELEASE x",
    "rollback to": "ROLLBACK TO x",
    # -- settings
    "recursive triggers off": "PRAGMA recursive_triggers = OFF",
    "foreign keys off": "PRAGMA foreign_keys = OFF",
    "foreign keys later": "PRAGMA defer_foreign_keys = ON",
    "checks ignored": "PRAGMA ignore_check_constraints = ON",
    "writable schema": "PRAGMA writable_schema = ON",
    "journal mode": "PRAGMA journal_mode = DELETE",
    "user version": "PRAGMA user_version = 5",
    "application id": "PRAGMA application_id = 5",
    "schema version": "PRAGMA schema_version = 5",
    "automatic checkpoint off": "PRAGMA wal_autocheckpoint = 0",
    "checkpoint": "PRAGMA wal_checkpoint(TRUNCATE)",
    "checkpoint, restart": "PRAGMA wal_checkpoint(RESTART)",
    "checkpoint, passive": "PRAGMA wal_checkpoint",
    "locking mode": "PRAGMA locking_mode = EXCLUSIVE",
    "synchronous off": "PRAGMA synchronous = OFF",
    "auto vacuum": "PRAGMA auto_vacuum = FULL",
    "incremental vacuum": "PRAGMA incremental_vacuum",
    "optimize": "PRAGMA optimize",
    "cell size check": "PRAGMA cell_size_check = ON",
    "query only off": "PRAGMA query_only = OFF",
    "hard heap limit": "PRAGMA hard_heap_limit = 100000",
    "load an extension": "SELECT load_extension('x')",
    "write a file": "SELECT writefile('x', 'y')",
    "call the guard's own function": "SELECT store_inspector_refused('x')",
    # -- texts
    "two statements": "SELECT 1; DELETE FROM messages",
    "a declared text and another": f"{kit.PROGRESSION.compiled('sqlite').sql}; DELETE FROM messages",
    "a declared text in a comment": f"/* {kit.PROGRESSION.compiled('sqlite').sql} */ DELETE FROM messages",
    "explain, then nothing": "EXPLAIN DELETE FROM messages",
}
