"""Opening a PostgreSQL database for writing: whose it is by its rows, its schema, its writer."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

import asyncpg
from sqlalchemy import Connection, Table, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool
from sqlalchemy.schema import AddConstraint, CheckConstraint, CreateColumn, CreateIndex

from persistence.engines.native_postgres import NativePostgres
from persistence.engines.patience import busy_timeout
from persistence.engines.reader import open_reader
from persistence.engines.server import connect
from persistence.engines.statements import dialect_of
from persistence.engines.write_faults import server_write_fault
from persistence.errors import SchemaApplicationError, StoreError
from persistence.lineage.rows import META, MetaColumn, MetaKind, Seen
from persistence.lineage.rules import SERVER, Case, ask, shape_is_a_releases
from persistence.location import StoreLocation
from persistence.records import SchemaApplied
from persistence.schema import metadata
from persistence.schema.known import LINEAGE, MESSAGE_TYPES, SCHEMA_VERSION
from persistence.writing.native.backfills import BACKFILLS, EVERY_MIGRATION

__all__ = ["apply_server_schema", "open_server"]

_ONE_AT_A_TIME = text("SELECT pg_advisory_xact_lock(hashtextextended('lionagi schema', 0))")
_PATIENCE = text("SELECT set_config('lock_timeout', :patience, true)")
_META_ROWS = "SELECT key::text, value::text FROM schema_meta"


_TABLES = (
    "SELECT c.relname::text, a.attname::text FROM pg_class c "
    "LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped "
    "WHERE c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid) "
    "AND c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) "
    "ORDER BY 1, a.attnum"
)
_CHECKS = (
    "SELECT c.relname::text, k.conname::text, pg_get_constraintdef(k.oid) FROM pg_constraint k "
    "JOIN pg_class c ON c.oid = k.conrelid WHERE k.contype = 'c' AND pg_table_is_visible(c.oid)"
)
_INDEXES = (
    "SELECT c.relname::text FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid "
    "WHERE pg_table_is_visible(i.indrelid) AND i.indisvalid"
)


async def open_server(location: StoreLocation) -> tuple[NativePostgres, SchemaApplied]:
    """The engine of a native database, and what its opening did. Raises the refusals of an open."""
    applied = await apply_server_schema(location)
    return NativePostgres(location, open_reader(location), busy_timeout()), applied


async def apply_server_schema(location: StoreLocation) -> SchemaApplied:
    """Brings a database to the operational schema in one transaction, or leaves it as it was."""
    connection = await connect(location)
    try:
        async with connection.transaction(readonly=True):
            found = [await connection.fetch(query) for query in (_TABLES, _CHECKS, _INDEXES)]
            live = _Live(*found)
            rows = await connection.fetch(_META_ROWS) if live.has_meta else []
        live.admit(location.display, rows)
    except asyncpg.PostgresError as error:
        raise server_write_fault(error, location.display) from error
    finally:
        await connection.close(timeout=2)
    if live.current and not live.wanting():
        return SchemaApplied(from_version=live.meta.get("version"))
    return await _apply(location)


async def _apply(location: StoreLocation) -> SchemaApplied:
    async def creator() -> Any:
        return await connect(location)

    engine = create_async_engine("postgresql+asyncpg://", async_creator=creator, poolclass=NullPool)
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(_applied, location.display)
    except DBAPIError as error:
        raise _failed(error, location.display) from error
    finally:
        await engine.dispose()


def _failed(error: DBAPIError, where: str) -> Exception:
    cause = error.orig.__cause__ if error.orig is not None else None
    told = server_write_fault(cause if isinstance(cause, Exception) else error, where)
    if isinstance(told, StoreError) and told.exit_status == 4:
        return told  # busy, or the connection went away
    return SchemaApplicationError(
        "A step of the schema's application failed. The database is as it was.",
        where=where,
        expected=f"the schema of version {SCHEMA_VERSION}",
        observed=str(cause or error),
    )


def _applied(connection: Connection, where: str) -> SchemaApplied:
    """The transaction: nobody else applies a schema meanwhile, and what is there is asked again."""
    connection.execute(_PATIENCE, {"patience": f"{busy_timeout()}ms"})
    connection.execute(_ONE_AT_A_TIME)
    live = _Live(*(connection.exec_driver_sql(query).all() for query in (_TABLES, _CHECKS, _INDEXES)))
    live.admit(where, connection.exec_driver_sql(_META_ROWS).all() if live.has_meta else [])
    return _Work(connection, live).do()


class _Live:
    """What a database has of the schema: tables with their columns, checks, the names of indexes."""

    def __init__(self, tables: Sequence[Any], checks: Sequence[Any], indexes: Sequence[Any]) -> None:
        self.columns: dict[str, list[str]] = {}
        for table, column in tables:
            self.columns.setdefault(table, []).extend([column] if column is not None else [])
        self.checks: dict[str, dict[str, str]] = {}
        for table, name, definition in checks:
            self.checks.setdefault(table, {})[name] = definition
        self.indexes = {name for (name,) in indexes}
        self.meta: dict[str, str] = {}

    @property
    def has_meta(self) -> bool:
        return {"key", "value"} <= set(self.columns.get(META, ()))

    def admit(self, where: str, rows: Sequence[Any]) -> None:
        """By its rows alone; and no table that a release never made so is ever changed (DECISIONS 10)."""
        kept = [(key, value) for key, value in rows if value is not None]
        self.meta = dict(kept)
        meta = tuple(MetaColumn(name, key=int(name == "key")) for name in self.columns.get(META, ()))
        seen = Seen(
            tables=tuple(self.columns),
            meta=MetaKind.TABLE if META in self.columns else MetaKind.ABSENT,
            meta_columns=meta,
            lineage=tuple(value for key, value in kept if key == "lineage"),
            version=tuple(value for key, value in kept if key == "version"),
            columns={
                name: tuple(map(MetaColumn, columns))
                for name, columns in self.columns.items()
                if name in metadata.tables
            },
        )
        case = Case(where, seen)
        asked = ask(case, SERVER) if META in self.columns else ()
        refusal = asked[-1].answer.refusal if asked else None
        refusal = refusal or shape_is_a_releases(case).refusal
        if refusal is not None:
            raise refusal

    @property
    def current(self) -> bool:
        own = self.meta.get("lineage") == LINEAGE and self.meta.get("version") == str(SCHEMA_VERSION)
        return own and all(self.meta.get(backfill.key) is not None for backfill in BACKFILLS)

    def wanting(self) -> bool:
        """Whether a table, column, check or index is not there."""
        return bool(
            metadata.tables.keys() - self.columns.keys()
            or self.missing_columns()
            or self.old_checks()
            or self.missing_indexes()
        )

    def known(self) -> list[Table]:
        return [table for table in metadata.sorted_tables if table.name in self.columns]

    def missing_columns(self) -> list[tuple[Table, str]]:
        return [
            (table, column.name)
            for table in self.known()
            for column in table.columns
            if column.name not in self.columns[table.name]
        ]

    def old_checks(self) -> list[tuple[Table, str | None, CheckConstraint | None]]:
        """(table, check to drop, check to add): those that are missing, or hold other values."""
        found: list[tuple[Table, str | None, CheckConstraint | None]] = []
        for table in self.known():
            live = self.checks.get(table.name, {})
            wanted = {str(one.name): one for one in table.constraints if isinstance(one, CheckConstraint)}
            for name, check in wanted.items():
                if name not in live:
                    found.append((table, None, check))
                elif _values(live[name]) != _values(str(check.sqltext)):
                    found.append((table, name, check))
            if not self.current:
                found += [(table, name, None) for name in live if name not in wanted]
        return found

    def missing_indexes(self) -> dict[str, CreateIndex]:
        return {
            str(index.name): CreateIndex(index)
            for table in self.known()
            for index in sorted(table.indexes, key=lambda one: str(one.name))
            if index.name not in self.indexes
        }


class _Work:
    """The steps, inside the transaction."""

    def __init__(self, connection: Connection, live: _Live) -> None:
        self._connection = connection
        self._live = live
        self._dialect = dialect_of("postgresql")

    def do(self) -> SchemaApplied:
        live = self._live
        tables = tuple(table.name for table in metadata.sorted_tables if table.name not in live.columns)
        metadata.create_all(self._connection, checkfirst=True)
        columns = live.missing_columns()
        for table, name in columns:
            self._add_column(table, name)
        rebuilt = self._renew_checks()
        indexes = live.missing_indexes()
        for statement in indexes.values():
            self._connection.execute(statement)
        filled = {} if META in tables else self._backfill()
        self._seed()
        self._stamp()
        return SchemaApplied(
            created=META in tables,
            from_version=live.meta.get("version"),
            tables_added=tables,
            tables_rebuilt=rebuilt,
            columns_added=tuple(f"{table.name}.{name}" for table, name in columns),
            indexes_changed=tuple(indexes),
            backfilled=filled,
            stamped=True,
        )

    # -- steps --------------------------------------------------------------------------------------

    def _add_column(self, table: Table, name: str) -> None:
        column = table.c[name]
        definition = str(CreateColumn(column).compile(dialect=self._dialect)).strip()
        for key in column.foreign_keys:
            target = key.column
            definition += f" REFERENCES {target.table.name} ({target.name})"
            definition += f" ON DELETE {key.ondelete}" if key.ondelete else ""
        self._connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {definition}"))

    def _renew_checks(self) -> tuple[str, ...]:
        renewed = []
        for table, old, new in self._live.old_checks():
            if old is not None:
                quoted = self._dialect.identifier_preparer.quote(old)
                self._connection.execute(text(f"ALTER TABLE {table.name} DROP CONSTRAINT {quoted}"))
            if new is not None:
                self._connection.execute(AddConstraint(new, isolate_from_table=False))
            renewed.append(table.name)
        return tuple(dict.fromkeys(renewed))

    def _backfill(self) -> dict[str, int]:
        filled = {}
        wanted = [backfill for backfill in BACKFILLS if self._live.meta.get(backfill.key) is None]
        for backfill in (*wanted, *(() if self._live.current else (EVERY_MIGRATION,))):
            done = [
                self._connection.execute(statement.built("postgresql")).rowcount
                for statement in backfill.statements
            ]
            filled[backfill.what] = sum(max(0, count) for count in done)
        return {what: rows for what, rows in filled.items() if rows}

    def _seed(self) -> None:
        types = metadata.tables["message_types"]
        rows = [{"type_id": number, "lion_class": name} for number, name in MESSAGE_TYPES]
        self._connection.execute(insert(types).values(rows).on_conflict_do_nothing())
        # Rows with numbers of their own do not move the table's counter, which others number by.
        self._connection.execute(
            text(
                "SELECT setval(pg_get_serial_sequence('message_types', 'type_id'), max(type_id)) "
                "FROM message_types"
            )
        )

    def _stamp(self) -> None:
        rows = {backfill.key: "1" for backfill in BACKFILLS} | {"created_at": str(int(time.time()))}
        self._put(rows, replace=False)
        self._put({"lineage": LINEAGE, "version": str(SCHEMA_VERSION)}, replace=True)

    def _put(self, rows: dict[str, str], *, replace: bool) -> None:
        meta = metadata.tables[META]
        row = insert(meta).values([{"key": key, "value": value} for key, value in rows.items()])
        if replace:
            row = row.on_conflict_do_update(index_elements=[meta.c.key], set_={"value": row.excluded.value})
        else:
            row = row.on_conflict_do_nothing()
        self._connection.execute(row)


_VALUE = re.compile(r"'(?P<text>(?:[^']|'')*)'|\b(?P<number>\d+)\b")


def _values(sql: str) -> frozenset[str]:
    """The texts and numbers a check names: what it allows, however a server spells it."""
    return frozenset(found["text"] or found["number"] or "" for found in _VALUE.finditer(sql))
