"""Opening a PostgreSQL database for writing: whose it is by its rows, its schema, its writer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Table, inspect, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool
from sqlalchemy.schema import AddConstraint, CheckConstraint, CreateColumn, CreateIndex

from persistence.engines.native_postgres import NativePostgres
from persistence.engines.reader import open_reader
from persistence.engines.server import connect
from persistence.engines.statements import dialect_of
from persistence.engines.write_faults import server_write_fault
from persistence.errors import SchemaApplicationError, StoreError
from persistence.lineage.rows import META, MetaColumn, MetaKind, Seen
from persistence.lineage.rules import SERVER, Case, ask, shape_is_a_releases
from persistence.location import StoreLocation
from persistence.reading.sqltext import tokens, unquote
from persistence.records import SchemaApplied
from persistence.schema import metadata
from persistence.schema.known import LINEAGE, MESSAGE_TYPES, SCHEMA_VERSION
from persistence.writing.native.backfills import BACKFILLS, EVERY_MIGRATION
from persistence.writing.native.opening import busy_timeout

__all__ = ["apply_server_schema", "open_server"]

_ONE_AT_A_TIME = text("SELECT pg_advisory_xact_lock(hashtextextended('lionagi schema', 0))")
_PATIENCE = text("SELECT set_config('lock_timeout', :patience, true)")
_META_ROWS = text("SELECT key, value FROM schema_meta")


async def open_server(location: StoreLocation) -> tuple[NativePostgres, SchemaApplied]:
    """The engine of a native database, and what its opening did. Raises the refusals of an open."""
    applied = await apply_server_schema(location)
    return NativePostgres(location, open_reader(location), busy_timeout()), applied


async def apply_server_schema(location: StoreLocation) -> SchemaApplied:
    """Brings a database to the operational schema in one transaction, or leaves it as it was."""

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
    connection.execute(_PATIENCE, {"patience": f"{busy_timeout()}ms"})
    seen, rows = _look(connection)
    _admit(where, seen)
    work = _Work(connection, rows)
    if work.current and not work.wanting():
        return SchemaApplied(from_version=rows.get("version"))
    connection.execute(_ONE_AT_A_TIME)
    seen, rows = _look(connection)  # again, now that nobody else applies a schema
    _admit(where, seen)
    return _Work(connection, rows).do()


def _look(connection: Connection) -> tuple[Seen, dict[str, str]]:
    """The names and rows the rules are asked about."""
    inspector = inspect(connection)
    tables = tuple(inspector.get_table_names())
    columns = {
        name: tuple(MetaColumn(column["name"]) for column in inspector.get_columns(name))
        for name in tables
        if name in metadata.tables
    }
    seen = Seen(tables=tables, meta=MetaKind.TABLE if META in tables else MetaKind.ABSENT, columns=columns)
    seen = seen._replace(
        meta_columns=tuple(column._replace(key=column.name == "key") for column in columns.get(META, ()))
    )
    if not seen.has_pair:
        return seen, {}
    found = [(row[0], row[1]) for row in connection.execute(_META_ROWS) if row[1] is not None]
    named = {key: tuple(value for name, value in found if name == key) for key in ("lineage", "version")}
    return seen._replace(lineage=named["lineage"], version=named["version"]), dict(found)


def _admit(where: str, seen: Seen) -> None:
    """By its rows alone; and no table that a release never made so is ever changed (DECISIONS 10)."""
    case = Case(where, seen)
    if seen.meta != MetaKind.ABSENT:
        asked = ask(case, SERVER)
        refusal = asked[-1].answer.refusal if asked else None
        if refusal is not None:
            raise refusal
    refusal = shape_is_a_releases(case).refusal
    if refusal is not None:
        raise refusal


class _Work:
    """The steps, inside the transaction."""

    def __init__(self, connection: Connection, rows: dict[str, str]) -> None:
        self._connection = connection
        self._rows = rows
        self._inspector = inspect(connection)
        self._there = set(self._inspector.get_table_names())
        self._dialect = dialect_of("postgresql")
        self._columns = {
            name: {column["name"] for column in self._inspector.get_columns(name)}
            for name in metadata.tables
            if name in self._there
        }

    @property
    def current(self) -> bool:
        own = self._rows.get("lineage") == LINEAGE and self._rows.get("version") == str(SCHEMA_VERSION)
        return own and all(self._rows.get(backfill.key) is not None for backfill in BACKFILLS)

    def wanting(self) -> bool:
        """Whether a table, column, check or index is not there."""
        return bool(
            metadata.tables.keys() - self._there
            or self._missing_columns()
            or self._old_checks()
            or self._missing_indexes()
        )

    def do(self) -> SchemaApplied:
        tables = tuple(table.name for table in metadata.sorted_tables if table.name not in self._there)
        metadata.create_all(self._connection, checkfirst=True)
        columns = self._missing_columns()
        for table, name in columns:
            self._add_column(table, name)
        rebuilt = self._renew_checks()
        indexes = self._missing_indexes()
        for statement in indexes.values():
            self._connection.execute(statement)
        filled = {} if META in tables else self._backfill()
        self._seed()
        self._stamp()
        return SchemaApplied(
            created=META in tables,
            from_version=self._rows.get("version"),
            tables_added=tables,
            tables_rebuilt=rebuilt,
            columns_added=tuple(f"{table.name}.{name}" for table, name in columns),
            indexes_changed=tuple(indexes),
            backfilled=filled,
            stamped=True,
        )

    # -- steps --------------------------------------------------------------------------------------

    def _known(self) -> list[Table]:
        return [table for table in metadata.sorted_tables if table.name in self._there]

    def _missing_columns(self) -> list[tuple[Table, str]]:
        return [
            (table, column.name)
            for table in self._known()
            for column in table.columns
            if column.name not in self._columns[table.name]
        ]

    def _add_column(self, table: Table, name: str) -> None:
        column = table.c[name]
        definition = str(CreateColumn(column).compile(dialect=self._dialect)).strip()
        for key in column.foreign_keys:
            target = key.column
            definition += f" REFERENCES {target.table.name} ({target.name})"
            definition += f" ON DELETE {key.ondelete}" if key.ondelete else ""
        self._connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {definition}"))

    def _old_checks(self) -> list[tuple[Table, str | None, CheckConstraint | None]]:
        """(table, check to drop, check to add): those that are missing, or hold other values."""
        found: list[tuple[Table, str | None, CheckConstraint | None]] = []
        for table in self._known():
            live = {
                str(check["name"]): _values(check["sqltext"])
                for check in self._inspector.get_check_constraints(table.name)
            }
            wanted = {
                str(check.name): check for check in table.constraints if isinstance(check, CheckConstraint)
            }
            for name, check in wanted.items():
                if name not in live:
                    found.append((table, None, check))
                elif live[name] != _values(str(check.sqltext)):
                    found.append((table, name, check))
            if not self.current:
                found += [(table, name, None) for name in live if name not in wanted]
        return found

    def _renew_checks(self) -> tuple[str, ...]:
        renewed = []
        for table, old, new in self._old_checks():
            if old is not None:
                quoted = self._dialect.identifier_preparer.quote(old)
                self._connection.execute(text(f"ALTER TABLE {table.name} DROP CONSTRAINT {quoted}"))
            if new is not None:
                self._connection.execute(AddConstraint(new, isolate_from_table=False))
            renewed.append(table.name)
        return tuple(dict.fromkeys(renewed))

    def _missing_indexes(self) -> dict[str, CreateIndex]:
        missing = {}
        for table in self._known():
            live = {index["name"] for index in self._inspector.get_indexes(table.name)}
            for index in sorted(table.indexes, key=lambda one: str(one.name)):
                if index.name not in live:
                    missing[str(index.name)] = CreateIndex(index)
        return missing

    def _backfill(self) -> dict[str, int]:
        filled = {}
        wanted = [backfill for backfill in BACKFILLS if self._rows.get(backfill.key) is None]
        for backfill in (*wanted, *(() if self.current else (EVERY_MIGRATION,))):
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


def _values(sql: str) -> frozenset[str]:
    """The texts and numbers a check names: what it holds, however a server spells it."""
    parts: Sequence[str] = [
        unquote(token.text) if token.kind == "string" else token.text
        for token in tokens(sql)
        if token.kind in ("string", "number")
    ]
    return frozenset(parts)
