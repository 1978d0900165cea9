"""Admission of a store another application manages, under a named profile (ADR-0128 D2, D5; DESIGN 4).

It reads, by the routes that leave no trace, and returns every finding at once; nothing of the store changes,
whatever the answer. `readmit` asks the same of a connection that is open, for the writer under its lock.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from typing import NamedTuple

from persistence.basics import ReadInfo, Route
from persistence.engines.direct import read as read_store
from persistence.engines.token import Token
from persistence.errors import NotAStoreError, StoreError, StoreMissingError, StoreMovedError
from persistence.lineage.examination import examine
from persistence.lineage.held import connection_identity
from persistence.lineage.parts import Check
from persistence.lineage.reads import Report
from persistence.lineage.report import LineageReport, RuleStep
from persistence.lineage.rows import Seen, read_rows
from persistence.location import StoreLocation
from persistence.profiles import closure as closures
from persistence.profiles.codes import finding
from persistence.profiles.compare.hazards import hazards
from persistence.profiles.compare.whole import Comparison, compare, ordered
from persistence.profiles.conditions import Asked, conditions
from persistence.profiles.owners import is_principal
from persistence.profiles.records import AdmissionReport, Closure, Finding, Profile

__all__ = ["admit", "readmit"]


class _State(NamedTuple):
    """One state of a store, as one transaction saw it. `owner_exists` None: it could not be asked."""

    seen: Seen
    closure: Closure
    cookie: int
    owner_exists: bool | None


def admit(
    location: StoreLocation,
    profile: Profile | None,
    *,
    owner: str | None = None,
    operations: Iterable[str] = (),
    check: Check | None = None,
    progress: Report | None = None,
) -> AdmissionReport:
    """Whether the store is admitted, and everything that speaks against it. Blocking.

    `operations` are those the caller means to use; none means all the profile names. `check` and `progress`
    are told of a long log and of a private copy (see `lineage.examine`). Nothing the store holds makes this
    raise.
    """
    asked = tuple(operations)
    if profile is None:
        missing = finding("no-profile", expected="a profile chosen by name", observed="none")
        return AdmissionReport(location.display, None, owner, asked, (missing,))
    wanted = Asked(profile, owner, asked or profile.operations)
    if location.path is None:
        server = finding("not-a-store", expected="a SQLite file", observed="a server database")
        return _report(location.display, wanted, [server])
    lineage = examine(location, surroundings=False, check=check, progress=progress)
    found = _unread(lineage)
    state: _State | None = None
    info: ReadInfo | None = None
    if not any(one.code in ("no-store", "not-a-store") for one in found):
        try:
            state, info = read_store(
                location, lambda connection: _state(connection, wanted), limit=None, progress=progress
            )
            found += _moved(lineage, info)
        except StoreError as error:
            if not found:
                found.append(_store_unread(error))
    journal = lineage.header.journal_mode if lineage.header is not None else None
    return _report(location.display, wanted, found, state, journal, lineage.identity, info, lineage)


def readmit(
    connection: sqlite3.Connection,
    profile: Profile,
    owner: str | None = None,
    operations: Iterable[str] = (),
    *,
    where: str = "",
    known: AdmissionReport | None = None,
) -> AdmissionReport:
    """The same of an open connection: rows, journal mode and closure as its transaction sees them.

    `known` is an earlier report of the same profile: while file and `PRAGMA schema_version` are those it saw,
    its findings about structure hold and only the rows are read again. Raises sqlite3.Error.
    """
    wanted = Asked(profile, owner, tuple(operations) or profile.operations)
    identity = connection_identity(connection)
    (journal,) = connection.execute("PRAGMA main.journal_mode").fetchone()
    structure = _still(connection, wanted, identity, known)
    state = _state(connection, wanted, structure)
    info = ReadInfo(Route.LIVE, time.time())
    return _report(where, wanted, [], state, str(journal), identity, info)


def _still(
    connection: sqlite3.Connection,
    wanted: Asked,
    identity: tuple[int, int] | None,
    known: AdmissionReport | None,
) -> Closure | None:
    """The declared closure, where an admitted report says the live one matched and nothing moved since."""
    if known is None or not known.admitted or known.profile != wanted.profile.identity:
        return None
    if identity is None or known.identity != identity or known.cookie != _cookie(connection):
        return None
    return wanted.profile.closure


def _cookie(connection: sqlite3.Connection) -> int:
    (cookie,) = connection.execute("PRAGMA main.schema_version").fetchone()
    return int(cookie)


def _state(connection: sqlite3.Connection, wanted: Asked, structure: Closure | None = None) -> _State:
    seen = read_rows(connection)
    declared = wanted.profile.closure
    tables = [table.name for table in declared.tables.values()]
    live = structure if structure is not None else closures.read(connection, tables)
    exists = is_principal(connection, wanted.owner, wanted.profile.owner, live)
    return _State(seen, live, _cookie(connection), exists)


# -- findings -----------------------------------------------------------------------------------------


def _unread(lineage: LineageReport) -> list[Finding]:
    """What keeps a store from being read at all, or its rows from deciding, and who holds it."""
    refusal = lineage.compatibility.refusal
    if isinstance(refusal, StoreMissingError):
        return [finding("no-store", expected="an existing store", observed=refusal.message)]
    if isinstance(refusal, NotAStoreError):
        return [
            finding(
                "not-a-store",
                expected="a SQLite store",
                observed=refusal.observed or refusal.message,
            )
        ]
    if lineage.size == 0 and refusal is not None and refusal.code == "compatibility-no-lineage":
        return [finding("not-a-store", expected="a SQLite store", observed="an empty file")]
    if refusal is None or refusal.code.startswith("compatibility-"):
        return []  # what the rows say is asked of the same state as the structure
    if refusal.code == "held-here":
        return [
            finding(
                "held-natively", expected="no native handle", observed=refusal.observed or refusal.message
            )
        ]
    return [_store_unread(refusal)]


def _moved(lineage: LineageReport, info: ReadInfo) -> list[Finding]:
    """Another file that took the store's name between the two reads."""
    identity = info.token.identity if isinstance(info.token, Token) else lineage.identity
    if identity == lineage.identity:
        return []
    return [_store_unread(StoreMovedError("Another file took the store's name while it was read."))]


def _store_unread(error: StoreError) -> Finding:
    return finding(
        "store-unread",
        object=error.code,
        expected="a store that can be read without doubt",
        observed=error.message,
    )


def _report(
    where: str,
    wanted: Asked,
    found: list[Finding],
    state: _State | None = None,
    journal: str | None = None,
    identity: tuple[int, int] | None = None,
    info: ReadInfo | None = None,
    lineage: LineageReport | None = None,
) -> AdmissionReport:
    profile = wanted.profile
    seen = state.seen if state is not None else None
    held, steps = conditions(wanted, where, seen, journal, state.owner_exists if state is not None else None)
    findings = [*found, *held]
    comparison = Comparison((), {})
    if state is not None:
        comparison = compare(profile.closure, state.closure)
        findings += (*comparison.findings, *hazards(state.closure, profile.writes, profile.owner))
        steps.append(_structure(comparison))
    return AdmissionReport(
        store=where,
        profile=profile.identity,
        owner=wanted.owner,
        operations=wanted.operations,
        findings=ordered(findings, profile.closure),
        holds=comparison.holds,
        application=_value(seen.lineage) if seen is not None else None,
        version=_value(seen.version) if seen is not None else None,
        journal_mode=journal,
        cookie=state.cookie if state is not None else None,
        identity=identity,
        read=info,
        reads=lineage.reads if lineage is not None else (),
        rules=tuple(steps),
        notices=lineage.notices if lineage is not None else (),
    )


def _structure(comparison: Comparison) -> RuleStep:
    refusing = sum(one.refuses for one in comparison.findings)
    held = sum(sum(counts.values()) for counts in comparison.holds.values())
    answer = (
        f"{refusing} difference{'s' * (refusing > 1)}" if refusing else f"yes: {held} declared facts hold"
    )
    question = "Is the part of the store the operations depend on what the profile declares?"
    return RuleStep("compatibility", "structure", question, "ADR-0128 D2", answer, bool(refusing))


def _value(values: tuple[object, ...]) -> object:
    return values[0] if len(values) == 1 else (values or None)
