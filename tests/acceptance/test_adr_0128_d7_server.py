"""ADR-0128 D7 and A.0 on PostgreSQL: a database is new without schema_meta, and its rows alone decide."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from persistence.errors import (
    ForeignLineageError,
    SchemaTooNewError,
    StateCompatibilityRefused,
    UnrecognizedStoreError,
)
from persistence.lineage import LineageReport, examine_server
from persistence.lineage.rows import MetaColumn, MetaKind, Seen
from persistence.lineage.rules import Case
from persistence.lineage.server import _native
from persistence.location import locate

PAIR = (MetaColumn("key"), MetaColumn("value"))

CASES: dict[str, tuple[Sequence[str], type[Exception] | None]] = {
    "nothing at all": ((), None),
    "another application's tables": (
        ("CREATE TABLE ledger (id int)", "CREATE TABLE sessions (sid int)"),
        None,
    ),
    "its rows": (("lineage=lionagi", "version=4"), None),
    "its rows beside other tables": (("lineage=lionagi", "version=4", "CREATE TABLE ledger (id int)"), None),
    "an old release": (("version=2", "CREATE TABLE ledger (id int)"), None),
    "an old release without sessions": (("version=3",), None),
    "its row, an odd version": (("lineage=lionagi", "version= 4 "), None),
    "another application": (("lineage=acme-desk", "version=4"), ForeignLineageError),
    "another application, too new": (("lineage=acme-desk", "version=99"), ForeignLineageError),
    "too new": (("lineage=lionagi", "version=5"), SchemaTooNewError),
    "too new, no row": (("version=5",), SchemaTooNewError),
    "no version": (("created_at=1",), UnrecognizedStoreError),
    "a version no release writes": (("version=04",), UnrecognizedStoreError),
}
IDS = ["0128-D7-24", "0128-D7-25", "0128-A0-08", "0128-A0-09"]


def seen(said: Sequence[str]) -> Seen:
    rows = [part.split("=", 1) for part in said if not part.startswith("CREATE")]
    tables = [part.split()[2] for part in said if part.startswith("CREATE")]
    if not rows:
        return Seen(tables=tuple(tables))
    return Seen(
        tables=(*tables, "schema_meta"),
        meta=MetaKind.TABLE,
        meta_columns=PAIR,
        lineage=tuple(value for key, value in rows if key == "lineage"),
        version=tuple(value for key, value in rows if key == "version"),
    )


@pytest.mark.adr(*IDS)
@pytest.mark.parametrize("name", CASES)
def test_the_rows_alone_decide(name: str) -> None:
    said, kind = CASES[name]
    verdict, rules = _native(Case("postgresql://kim@host/state", seen(said)))
    assert verdict.opens is (kind is None)
    assert (type(verdict.refusal) if verdict.refusal is not None else None) is kind
    assert rules and {step.mode for step in rules} == {"native"}
    # No rule of SQLite's about tables or columns was asked.
    assert not {step.rule for step in rules} & {"tables-are-known", "shape-is-a-releases", "meta-has-pair"}


# -- on a real server ---------------------------------------------------------------------------------


async def prepared(url: str, statements: Sequence[str]) -> LineageReport:
    engine = create_async_engine(url.replace("postgresql://", "postgresql+asyncpg://", 1))
    async with engine.begin() as connection:
        for statement in statements:
            await connection.execute(text(statement))
    await engine.dispose()
    return await examine_server(locate(url))


def made(said: Sequence[str]) -> list[str]:
    rows = [part.split("=", 1) for part in said if not part.startswith("CREATE")]
    statements = [part for part in said if part.startswith("CREATE")]
    if rows:
        statements.append("CREATE TABLE schema_meta (key text PRIMARY KEY, value text NOT NULL)")
    return statements + [f"INSERT INTO schema_meta VALUES ('{key}', '{value}')" for key, value in rows]


@pytest.mark.adr(*IDS)
@pytest.mark.parametrize("name", CASES)
async def test_on_a_server_the_rows_alone_decide(name: str, postgres_url: str) -> None:
    said, kind = CASES[name]
    report = await prepared(postgres_url, made(said))
    assert (type(report.native.refusal) if report.native.refusal is not None else None) is kind
    assert report.native.opens is (kind is None)
    assert report.read_only.opens is True
    assert isinstance(report.compatibility.refusal, StateCompatibilityRefused)
    assert report.library.startswith("PostgreSQL 1")
    rows = dict(part.split("=", 1) for part in said if not part.startswith("CREATE"))
    assert report.seen is not None
    assert {row.key: row.value for row in report.seen.rows} == rows


@pytest.mark.adr("0128-A0-09")
async def test_a_schema_meta_of_other_columns_has_no_rows_and_so_no_version(postgres_url: str) -> None:
    report = await prepared(postgres_url, ["CREATE TABLE schema_meta (name text, val text)"])
    assert isinstance(report.native.refusal, UnrecognizedStoreError)
    assert report.native.refusal.code == "version-missing"


async def test_a_server_that_cannot_be_reached_is_told_in_the_report() -> None:
    report = await examine_server(locate("postgresql://nobody@127.0.0.1:1/none"))
    assert report.read_only.opens is False and report.native.opens is False
    assert report.error is not None
