"""The managed store of the synthetic application acme-desk, its variants, and a profile made from either.

The schema and the variants are data files; a profile is the declared writes over the closure of the store as
it is, so that these tests need no document.
"""

from __future__ import annotations

import json
import sqlite3
import tomllib
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from persistence.location import locate
from persistence.profiles import AdmissionReport, Profile, admit
from persistence.profiles import closure as closures
from persistence.profiles.records import Closure, OwnerRule, WriteRule

HERE = Path(__file__).parent
SQL = (HERE / "acme_desk.sql").read_text("utf-8")
FACTS: dict[str, Any] = json.loads((HERE / "acme_profile_facts.json").read_text("utf-8"))
TABLES: tuple[str, ...] = tuple(FACTS["closure_tables"])
OWNER = "kim"

_ROWS = "-- rows another principal already owns"
_NOBODY = "(none)"


@dataclass(frozen=True)
class Variant:
    """One change of the managed store: `replace` in its SQL, `then` run; `rows`: whether it has any."""

    name: str
    what: str = ""
    replace: tuple[tuple[str, str], ...] = ()
    then: tuple[str, ...] = ()
    rows: bool = True
    owner: str | None = OWNER
    file: str = "store"
    oracle: str = ""
    oracle_itself: str = ""


@cache
def variants() -> dict[str, Variant]:
    """The 129 variants by name."""
    with (HERE / "acme_variants.toml").open("rb") as file:
        table = tomllib.load(file)
    return {name: _variant(name, entry) for name, entry in table.items()}


def _variant(name: str, entry: dict[str, Any]) -> Variant:
    owner = entry.pop("owner", OWNER)
    replace = tuple((before, after) for before, after in entry.pop("replace", ()))
    then = tuple(entry.pop("then", ()))
    return Variant(name, replace=replace, then=then, owner=None if owner == _NOBODY else owner, **entry)


def schema(variant: Variant | None = None) -> str:
    """The SQL of a variant's store; each replacement must match once."""
    sql = SQL
    if variant is None:
        return sql
    for before, after in variant.replace:
        assert sql.count(before) == 1, (variant.name, before)
        sql = sql.replace(before, after)
    return sql if variant.rows else sql[: sql.index(_ROWS)] + "COMMIT;"


def build(path: Path, variant: Variant | None = None, *, then: Iterable[str] = ()) -> Path:
    """The store as a file at `path`, with nothing beside it."""
    if variant is not None and variant.file != "store":
        if variant.file == "empty":
            path.touch()
        return path
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=OFF")
        connection.executescript(schema(variant))
        for statement in (*(variant.then if variant is not None else ()), *then):
            connection.execute(statement)
    return path


def closure_of(sql: str, *then: str) -> Closure:
    """The closure of a store made of this SQL."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.executescript(sql)
        for statement in then:
            connection.execute(statement)
        return closures.read(connection, TABLES)


def profile_over(closure: Closure, **changes: Any) -> Profile:
    """The declared facts over a closure."""
    writes = {
        table: WriteRule(tuple(rule["insert"]), tuple(rule["update"]), rule["unwritten"])
        for table, rule in FACTS["writes"].items()
    }
    fields: dict[str, Any] = {
        "name": FACTS["name"],
        "version": FACTS["version"],
        "lineage": FACTS["lineage"],
        "closure": closure,
        "writes": writes,
        "operations": tuple(FACTS["operations"]),
        "owner": OwnerRule(**FACTS["owner"]),
        "store_versions": tuple(FACTS["store_versions"]),
    }
    return Profile(**{**fields, **changes})


@cache
def profile() -> Profile:
    """The profile of the unchanged store."""
    return profile_over(closure_of(SQL))


def profile_of(path: Path) -> Profile:
    """A profile made from the store itself."""
    with closing(sqlite3.connect(path)) as connection:
        return profile_over(closures.read(connection, TABLES))


def admitted(path: Path, under: Profile | None = None, **asked: Any) -> AdmissionReport:
    """The admission of a file, by default under the profile of the unchanged store and for kim."""
    return admit(locate(path), under or profile(), **{"owner": OWNER, **asked})


def first(report: AdmissionReport) -> tuple[str, str | None, str | None]:
    """What a refused admission names first: code, table, object."""
    found = report.refusing[0]
    return found.code, found.table, found.object
