"""`examine`: whose store it is and what each open mode would do with it, decided without writing a byte."""

from __future__ import annotations

import os
import sqlite3
import time
from typing import Literal

from persistence.basics import Notice
from persistence.errors import LocationError, NotAStoreError, StoreError, StoreMissingError
from persistence.files import describe, resolve
from persistence.lineage.beside import backups, openers
from persistence.lineage.compatibility import COMPATIBILITY
from persistence.lineage.exposure import exposed_to_wal_reset
from persistence.lineage.held import held_here
from persistence.lineage.parts import Check, Parts
from persistence.lineage.reads import Reading, Report, read_store
from persistence.lineage.remedies import remedy
from persistence.lineage.report import LineageReport, Opener, RuleStep, StoreHeader, Verdict
from persistence.lineage.rules import NATIVE, Asked, Case, Rule, ask
from persistence.location import StoreLocation

__all__ = ["examine"]


def examine(
    location: StoreLocation,
    *,
    surroundings: bool = True,
    check: Check | None = None,
    progress: Report | None = None,
) -> LineageReport:
    """Whose store a SQLite file is, and how that is known (ADR-0128 D7 and A.0). Blocking.

    `surroundings` also looks for backups beside the store and for other programs that have it open. `check`
    is told of the frames of a long log (done, total), `progress` of the bytes of a private copy. Nothing
    the store holds makes this raise; LocationError for a server (see `examine_server`).
    """
    if location.path is None:
        raise LocationError("A server database is examined over its connection.", where=location.display)
    reading = read_store(location.path, location.display, check=check, progress=progress)
    parts = reading.parts
    case = Case(location.display, reading.seen, reading.damage)
    native, native_rules = _native(parts, reading, case)
    compatibility, compatibility_rules = _compatibility(parts, reading, case)
    there = parts.identity is not None
    return LineageReport(
        location=location,
        at=time.time(),
        seen=reading.seen,
        file_rows=reading.file_rows,
        read_only=_read_only(parts, reading),
        native=native,
        compatibility=compatibility,
        reads=reading.steps,
        rules=(*native_rules, *compatibility_rules),
        library=f"SQLite {sqlite3.sqlite_version}",
        header=_header(parts),
        size=parts.header.size if parts.header is not None else None,
        identity=parts.identity,
        links=parts.links,
        files=describe(location) if there else (),
        backups=backups(parts.path) if there and surroundings else None,
        openers=_openers(parts) if there and surroundings else None,
        exposed_to_wal_reset=exposed_to_wal_reset(sqlite3.sqlite_version_info),
        kernel_held=reading.kernel_held,
        notices=_notices(parts),
        error=parts.error or reading.error,
    )


def _openers(parts: Parts) -> tuple[Opener, ...] | None:
    log_format = parts.header is not None and parts.header.log_format
    if log_format and parts.held is False:
        return ()  # every connection that has read such a store holds a lock, and there is none
    return openers(parts.path)


def _header(parts: Parts) -> StoreHeader | None:
    header = parts.header
    if header is None or not header.sqlite:
        return None
    return StoreHeader(
        "wal" if header.log_format else "delete",
        header.page_size,
        header.pages,
        header.encoding,
        header.user_version,
        header.application_id,
        header.written_by,
    )


def _notices(parts: Parts) -> tuple[Notice, ...]:
    wrong = tuple(Notice(damage.code, f"{damage.observed}.") for damage in parts.damage)
    return (*wrong, *parts.notices)


# -- verdicts -----------------------------------------------------------------------------------------


def _read_only(parts: Parts, reading: Reading) -> Verdict:
    """A read-only open applies nothing and is not refused for whose the store is."""
    refusal = parts.error or reading.error
    if refusal is None and reading.route is None:
        refusal = _unread(parts, reading)
    if refusal is not None:
        return Verdict("read_only", False, refusal.message, None, refusal)
    why = {
        "empty": "the file is empty and nothing lies beside it",
        "settled": "nothing is in progress: the file alone is read, between two equal looks at it",
        "live": "a file of the rollback format is read where it is",
        "live log": "the file and its log are read through the log's index",
        "copy": "it is read from a private copy, recovered there",
    }[reading.route or "copy"]
    notices = tuple(notice.text for notice in _notices(parts))
    return Verdict("read_only", True, why, reading.route, None, notices)


def _unread(parts: Parts, reading: Reading) -> StoreError:
    damage = reading.damage[0]
    kind = NotAStoreError if damage.code == "odd-sidecar" else StoreError
    return kind(
        f"The store cannot be read: {damage.observed}.",
        code=damage.code,
        where=parts.display,
        observed=damage.observed,
        remedy=remedy(damage.code),
    )


def _native(parts: Parts, reading: Reading, case: Case) -> tuple[Verdict, tuple[RuleStep, ...]]:
    other = held_here(parts.identity, "native", parts.display)
    if other is not None:
        step = RuleStep("native", "held-here", _HELD, "ADR-0128 A.0; DECISIONS 13", other.message, True)
        return Verdict("native", False, other.message, None, other), (step,)
    if isinstance(parts.error, StoreMissingError):
        return _absent(parts)
    asked = ask(case, NATIVE)
    steps = _steps("native", asked)
    last = asked[-1].answer
    if last.refusal is not None:
        return Verdict("native", False, last.refusal.message, None, last.refusal), steps
    if reading.seen is None:
        # Not refused by these reads: the writable connection decides, and will say the same.
        error = parts.error or reading.error
        why = error.message if error is not None else "the file could not be read"
        return Verdict("native", False, why, None, error, by="connection"), steps
    notices = tuple(found.answer.notice for found in asked if found.answer.notice is not None)
    return Verdict("native", True, _native_why(case), None, None, notices), steps


def _native_why(case: Case) -> str:
    if case.lineage:
        return "the lineage row says it is this lineage's own"
    if case.seen is not None and not case.seen.tables:
        return "it is new: a native open would make its schema"
    return "a lionagi release made it: it would be adopted, and the lineage row written into it"


def _absent(parts: Parts) -> tuple[Verdict, tuple[RuleStep, ...]]:
    """No file: a native open makes a new store, but never a folder for it."""
    target = resolve(parts.path)
    folder = os.path.dirname(target) or b"."
    question = "Is there a folder for a new store?"
    if os.path.isdir(folder):
        step = RuleStep(
            "native", "is-new", question, "ADR-0128 D7", "yes: a native open would make the store"
        )
        return Verdict("native", True, "there is no file: a native open would make a new store"), (step,)
    shown = os.fsdecode(folder)
    refusal = StoreMissingError(
        "There is no such folder, and none is made.",
        where=parts.display,
        expected="an existing folder",
        observed=f"no {shown}",
        remedy="Check the path, or make the folder first.",
    )
    step = RuleStep("native", "is-new", question, "ADR-0128 D7", f"no: there is no {shown}", True)
    return Verdict("native", False, refusal.message, None, refusal), (step,)


_HELD = "Does this process hold the file in the other writable mode?"


def _compatibility(parts: Parts, reading: Reading, case: Case) -> tuple[Verdict, tuple[RuleStep, ...]]:
    other = held_here(parts.identity, "compatibility", parts.display)
    if other is not None:
        step = RuleStep("compatibility", "held-here", _HELD, "ADR-0128 D7; DECISIONS 13", other.message, True)
        return Verdict("compatibility", False, other.message, None, other), (step,)
    if parts.error is not None:
        return Verdict("compatibility", False, parts.error.message, None, parts.error), ()
    asked = ask(case, COMPATIBILITY)
    steps = _steps("compatibility", asked)
    last = asked[-1].answer
    if last.refusal is not None:
        return Verdict("compatibility", False, last.refusal.message, None, last.refusal), steps
    if reading.seen is None:
        error = reading.error
        why = error.message if error is not None else "the file could not be read"
        return Verdict("compatibility", False, why, None, error), steps
    return Verdict("compatibility", None, "a profile made for that application decides"), steps


def _steps(mode: Literal["native", "compatibility"], asked: tuple[Asked, ...]) -> tuple[RuleStep, ...]:
    def step(rule: Rule, words: str, refuses: bool) -> RuleStep:
        return RuleStep(mode, rule.name, rule.question, rule.source, words, refuses)

    return tuple(step(found.rule, found.answer.words, found.answer.refusal is not None) for found in asked)
