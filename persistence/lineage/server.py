"""Whose store a PostgreSQL database is, by the rows of its `schema_meta` alone (ADR-0128 D7).

A server database holds other applications' tables beside lionagi's, so its other tables do not count, nor
does what else a `schema_meta` table may look like.
"""

from __future__ import annotations

import time
from typing import Any

from persistence.basics import Route
from persistence.engines.reader import Reader, open_reader
from persistence.errors import LocationError, StateCompatibilityRefused, StoreError
from persistence.lineage.remedies import remedy
from persistence.lineage.report import LineageReport, ReadStep, RuleStep, Verdict
from persistence.lineage.rows import KNOWN, META, MetaColumn, MetaKind, MetaRow, Seen
from persistence.lineage.rules import SERVER, Case, ask
from persistence.location import StoreLocation

__all__ = ["examine_server", "read_server_rows"]

_TABLES = (
    "SELECT c.relname FROM pg_class c WHERE c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid) "
    "AND c.relnamespace NOT IN (SELECT oid FROM pg_namespace WHERE nspname LIKE 'pg\\_%' "
    "OR nspname = 'information_schema') ORDER BY 1 LIMIT 10000"
)
_KIND = "SELECT relkind::text FROM pg_class WHERE oid = to_regclass('schema_meta')"
_COLUMNS = (
    "SELECT a.attname FROM pg_attribute a WHERE a.attrelid = to_regclass('schema_meta') "
    "AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
)
_ROWS = "SELECT key::text, value::text FROM schema_meta ORDER BY 1, 2 LIMIT 1000"


async def read_server_rows(reader: Reader) -> tuple[Seen, str]:
    """What a database's own rows and table names say, in one snapshot, and the server's version.

    Raises the typed errors of the reader.
    """
    async with reader.snapshot() as snapshot:
        tables = tuple(str(row[0]) for row in await snapshot.rows(_TABLES))
        version = str(await snapshot.scalar("SELECT current_setting('server_version')"))
        kind = await snapshot.scalar(_KIND)
        if kind not in ("r", "p"):
            return Seen(tables=tables), version
        columns = tuple(MetaColumn(str(row[0])) for row in await snapshot.rows(_COLUMNS))
        seen = Seen(tables=tables, meta=MetaKind.TABLE, meta_columns=columns, columns={META: columns})
        if not seen.has_pair:
            return seen, version
        rows = [MetaRow(row[0], row[1]) for row in await snapshot.rows(_ROWS)]
        return seen._replace(
            rows=tuple(rows), lineage=_of("lineage", rows), version=_of("version", rows)
        ), version


def _of(key: str, rows: list[MetaRow]) -> tuple[Any, ...]:
    return tuple(row.value for row in rows if row.key == key and row.value is not None)


async def examine_server(location: StoreLocation) -> LineageReport:
    """Whose store a PostgreSQL database is, and what each open mode would do with it.

    Nothing is applied. LocationError for a SQLite store (see `examine`); a server that cannot be reached is
    told in the report, as its `error`.
    """
    if location.path is not None:
        raise LocationError("A SQLite store is examined from its file.", where=location.display)
    reader = open_reader(location)
    try:
        seen, version = await read_server_rows(reader)
    except StoreError as error:
        return _unread(location, error)
    finally:
        await reader.close()
    case = Case(location.display, seen)
    compatibility = _no_compatibility(location)
    native, rules = _native(case)
    step = ReadStep("schema_meta", "snapshot", seen.words, decides=True)
    return LineageReport(
        location=location,
        at=time.time(),
        seen=seen,
        file_rows=None,
        read_only=Verdict("read_only", True, "rows are read in read-only transactions", Route.SERVER),
        native=native,
        compatibility=compatibility,
        reads=(step,),
        rules=rules,
        library=f"PostgreSQL {version}",
    )


def _native(case: Case) -> tuple[Verdict, tuple[RuleStep, ...]]:
    assert case.seen is not None
    if case.seen.meta == MetaKind.ABSENT:
        known = sorted(KNOWN.intersection(case.seen.tables))
        words = f"no: it is new, whatever other tables it holds ({len(case.seen.tables)})"
        notices = (
            (f"Tables with lionagi's names are there already: {', '.join(known[:5])}.",) if known else ()
        )
        step = RuleStep("native", "is-new", "Is there a schema_meta table?", "ADR-0128 D7", words)
        why = "it has no schema_meta: a native open would make its schema"
        return Verdict("native", True, why, notices=notices), (step,)
    asked = ask(case, SERVER)
    steps = tuple(
        RuleStep(
            "native",
            found.rule.name,
            found.rule.question,
            found.rule.source,
            found.answer.words,
            found.answer.refusal is not None,
        )
        for found in asked
    )
    refusal = asked[-1].answer.refusal
    if refusal is not None:
        return Verdict("native", False, refusal.message, None, refusal), steps
    told = tuple(found.answer.notice for found in asked if found.answer.notice is not None)
    return Verdict("native", True, "its rows say that lionagi manages it", notices=told), steps


def _no_compatibility(location: StoreLocation) -> Verdict:
    refusal = StateCompatibilityRefused(
        "Compatibility mode is held by facilities of SQLite, and this is a server database.",
        code="compatibility-server",
        operation="open",
        where=location.display,
        rule="dialect",
        expected="a SQLite store",
        observed="PostgreSQL",
        remedy=remedy("compatibility-server"),
    )
    return Verdict("compatibility", False, refusal.message, None, refusal)


def _unread(location: StoreLocation, error: StoreError) -> LineageReport:
    def verdict(mode: Any) -> Verdict:
        return Verdict(mode, False, error.message, None, error, by="connection")

    return LineageReport(
        location=location,
        at=time.time(),
        seen=None,
        file_rows=None,
        read_only=verdict("read_only"),
        native=verdict("native"),
        compatibility=_no_compatibility(location),
        reads=(ReadStep("the server", "connect", error.message),),
        rules=(),
        library="PostgreSQL",
        error=error,
    )
