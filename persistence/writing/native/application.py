"""Applying the operational schema to a SQLite store: one transaction, on a connection of its own.

The order is DECISIONS 24's: the lineage reads, foreign keys off (a rebuild with them on would delete the
children of every row), BEGIN IMMEDIATE, the lineage again, every step, foreign_key_check, the stamp, COMMIT.
A failure or a kill anywhere leaves the store as it was. Nothing here switches the journal mode.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from typing import Any

from persistence.engines.native_sqlite import drive
from persistence.engines.statements import Steps
from persistence.errors import SchemaApplicationError
from persistence.lineage import check_under_lock, stamp
from persistence.lineage.rows import quoted
from persistence.records import SchemaApplied
from persistence.schema import metadata
from persistence.schema.known import LINEAGE, MESSAGE_TYPES, SCHEMA_VERSION
from persistence.writing.native.backfills import BACKFILLS, EVERY_MIGRATION, Backfill
from persistence.writing.native.backup import backups_beside, discard, make_backup
from persistence.writing.native.shapes import Plan, create_table, plan_for, targets

__all__ = ["apply_schema"]

_OLD = "_before_v4_"


def apply_schema(connection: sqlite3.Connection, path: bytes, where: str) -> SchemaApplied:
    """Brings the store a connection is open on to the schema, and says what that took.

    The connection has passed `lineage.check_first_connection`; it is to be closed afterwards, whatever
    happens. Raises SchemaApplicationError (the store is as it was), and the refusals of
    `lineage.check_under_lock`.
    """
    before = _Meta(connection)
    if before.current and not plan_for(connection, whole=False):
        return SchemaApplied(from_version=before.version, backups=backups_beside(path))
    connection.execute("PRAGMA foreign_keys=OFF")
    connection.execute("PRAGMA legacy_alter_table=ON")  # renaming a table leaves what refers to it alone
    connection.execute("BEGIN IMMEDIATE")
    application = _Application(connection, path, where)
    try:
        if before.tables:
            check_under_lock(connection, where)
        applied = application.run()
        connection.execute("COMMIT")
    except BaseException:
        application.give_up()
        raise
    return applied


class _Meta:
    """The rows of schema_meta that say what a store is; read once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        found = connection.execute("SELECT 1 FROM sqlite_master WHERE type='table' AND name='schema_meta'")
        self.there = found.fetchone() is not None
        rows = connection.execute("SELECT key, value FROM schema_meta").fetchall() if self.there else []
        self.rows: dict[Any, Any] = dict(rows)
        value = self.rows.get("version")
        self.version = None if value is None else str(value)
        self.tables = connection.execute("SELECT count(*) FROM sqlite_master WHERE type='table'").fetchone()[
            0
        ]

    @property
    def current(self) -> bool:
        """Whether this version's program made it, or brought it up."""
        stamped = all(self.rows.get(backfill.key) is not None for backfill in BACKFILLS)
        own = self.rows.get("lineage") == LINEAGE and self.rows.get("version") == str(SCHEMA_VERSION)
        return own and stamped


class _Application:
    """The steps, inside the transaction."""

    def __init__(self, connection: sqlite3.Connection, path: bytes, where: str) -> None:
        self._connection = connection
        self._path = path
        self._where = where
        self._backup: bytes | None = None

    def run(self) -> SchemaApplied:
        connection = self._connection
        meta = _Meta(connection)
        plan = plan_for(connection, whole=not meta.current)
        if plan.rebuild:
            self._backup = make_backup(self._path, self._where)
        broken = self._orphans()
        try:
            self._shape(plan)
            filled = {} if meta.tables == 0 else self._backfill(meta)
            self._seed()
            self._stamp(meta)
        except sqlite3.Error as error:
            raise self._failed("A step of the schema's application failed.", str(error)) from error
        added = self._orphans() - broken
        if added:
            shown = ", ".join(f"{table} row {row} ({parent})" for table, row, parent in sorted(added)[:5])
            raise self._failed("The migration would leave rows that point to no row.", shown)
        return SchemaApplied(
            created=meta.tables == 0,
            from_version=meta.version,
            tables_added=plan.create,
            tables_rebuilt=plan.rebuild,
            columns_added=plan.columns,
            indexes_changed=tuple(dict.fromkeys((*plan.drop_indexes, *(n for n, _ in plan.create_indexes)))),
            backfilled=filled,
            stamped=True,
            backup=None if self._backup is None else os.fsdecode(self._backup),
            backups=backups_beside(self._path),
        )

    def give_up(self) -> None:
        """The store is as it was, so the copy made of it says nothing that it does not."""
        with suppress(sqlite3.Error):  # closed already, by the check that refused
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        if self._backup is not None:
            discard(self._backup)

    # -- steps --------------------------------------------------------------------------------------

    def _shape(self, plan: Plan) -> None:
        for name in plan.create:
            self._connection.execute(create_table(metadata.tables[name]))
        for name in plan.rebuild:
            self._rebuild(name)
        for name in plan.drop_indexes:
            self._connection.execute(f"DROP INDEX IF EXISTS {quoted(name)}")
        for _, sql in plan.create_indexes:
            self._connection.execute(sql)

    def _rebuild(self, name: str) -> None:
        """Makes a table anew and moves every row into it, under the row number it had."""
        connection, old = self._connection, _OLD + name
        triggers = connection.execute(
            "SELECT sql FROM sqlite_master WHERE type='trigger' AND tbl_name=?", (name,)
        ).fetchall()
        there = {row[1] for row in connection.execute(f"PRAGMA table_info({quoted(name)})")}
        target = targets()[name]
        moved = [column for column in target.columns if column.name in there]
        connection.execute(f"ALTER TABLE {quoted(name)} RENAME TO {quoted(old)}")
        connection.execute(create_table(metadata.tables[name]))
        into = ", ".join(quoted(column.name) for column in moved)
        values = ", ".join(
            # A NULL where there may be none any more is what it always meant: the default.
            f"coalesce({quoted(column.name)}, {column.default})"
            if column.default is not None and not column.nullable
            else quoted(column.name)
            for column in moved
        )
        connection.execute(
            f"INSERT INTO {quoted(name)} (rowid, {into}) SELECT rowid, {values} FROM {quoted(old)}"  # noqa: S608
        )
        counts = [
            connection.execute(f"SELECT count(*) FROM {quoted(table)}").fetchone()[0]  # noqa: S608
            for table in (old, name)
        ]
        if counts[0] != counts[1]:
            raise self._failed(f"Not every row of {name} was moved.", f"{counts[1]} of {counts[0]}")
        connection.execute(f"DROP TABLE {quoted(old)}")
        for (sql,) in triggers:
            connection.execute(sql)

    def _backfill(self, meta: _Meta) -> dict[str, int]:
        filled = {}
        for backfill in BACKFILLS:
            if meta.rows.get(backfill.key) is None:
                filled[backfill.what] = drive(self._connection, _filling(backfill))
        if not meta.current:
            filled[EVERY_MIGRATION.what] = drive(self._connection, _filling(EVERY_MIGRATION))
        return {what: rows for what, rows in filled.items() if rows}

    def _seed(self) -> None:
        self._connection.executemany(
            "INSERT INTO message_types (type_id, lion_class) SELECT :id, :name WHERE NOT EXISTS "
            "(SELECT 1 FROM message_types WHERE type_id = :id OR lion_class = :name)",
            [{"id": number, "name": name} for number, name in MESSAGE_TYPES],
        )

    def _stamp(self, meta: _Meta) -> None:
        rows = {backfill.key: "1" for backfill in BACKFILLS}
        if meta.rows.get("created_at") is None:
            rows["created_at"] = str(int(time.time()))
        for key, value in rows.items():
            self._connection.execute(
                "INSERT INTO schema_meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO NOTHING",
                (key, value),
            )
        stamp(self._connection, self._where)

    def _orphans(self) -> set[tuple[str, Any, str]]:
        """The rows whose foreign key names no row: (table, row number, parent table)."""
        found = self._connection.execute("PRAGMA foreign_key_check").fetchall()
        return {(table, row, parent) for table, row, parent, _ in found}

    def _failed(self, message: str, observed: str) -> SchemaApplicationError:
        return SchemaApplicationError(
            f"{message} The store is as it was.",
            where=self._where,
            expected=f"the schema of version {SCHEMA_VERSION}",
            observed=observed,
            remedy="Read the store here meanwhile; what it names shows which rows stand in the way.",
        )


def _filling(backfill: Backfill) -> Steps[int]:
    rows = 0
    for statement in backfill.statements:
        outcome = yield statement()
        rows += max(0, outcome.changed)
    return rows
