"""Things worth a look: what in a store is not as its readers would expect it.

Each check goes through the store in chunks, can be stopped, and is remembered under the change token it was
made at. Above `ASK_ABOVE` bytes a screen waits to be asked (`needs_asking`).
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from sqlalchemy import false, func, select

from persistence.errors import StoreError
from persistence.reading.checks.artifact_files import ARTIFACT_FILES
from persistence.reading.checks.dangling import DANGLING
from persistence.reading.checks.json_cells import JSON_CELLS
from persistence.reading.checks.result import Check, CheckResult, Tally
from persistence.reading.checks.silent_runs import SILENT_RUNS, silent

if TYPE_CHECKING:
    from persistence.reading.source import RowSource
    from persistence.reading.store import StoreReading

__all__ = ["ASK_ABOVE", "CODES", "CheckResult", "Checks", "checks"]

ASK_ABOVE = 200_000_000
"""Bytes of a store above which its checks wait to be asked."""

_ALL: dict[str, Check] = {check.code: check for check in (SILENT_RUNS, DANGLING, ARTIFACT_FILES, JSON_CELLS)}
CODES: tuple[str, ...] = tuple(_ALL)
"""The checks in the order they are shown: running-silent, dangling-messages, artifact-files, broken-json."""

_Known = dict[str, tuple[object, CheckResult, Tally]]
_remembered: WeakKeyDictionary[StoreReading, _Known] = WeakKeyDictionary()


def checks(reading: StoreReading, now: float | None = None) -> Checks:
    """The checks of an open store. `now` stands for the clock (seconds since 1970) where one is needed."""
    return Checks(reading, now)


class Checks:
    """The checks of one store."""

    codes = CODES

    def __init__(self, reading: StoreReading, now: float | None = None) -> None:
        self._reading = reading
        self._now = now
        self._known = _remembered.setdefault(reading, {})

    async def needs_asking(self) -> bool:
        """Whether the store is so large that its checks are made only when asked for."""
        async with self._reading.reader.snapshot() as snapshot:
            if snapshot.dialect == "sqlite":
                pages = await snapshot.scalar("PRAGMA page_count")
                size = pages * (await snapshot.scalar("PRAGMA page_size"))
            else:
                size = await snapshot.scalar(select(func.pg_database_size(func.current_database())))
        return bool(size > ASK_ABOVE)

    def last(self, code: str) -> CheckResult | None:
        """The last complete result, whatever has happened to the store since; None: not checked yet."""
        known = self._known.get(code)
        return None if known is None else known[1]

    async def run(self, code: str) -> AsyncIterator[CheckResult]:
        """Makes one check: results under way, the last one complete. Closing the iterator stops it.

        What was found at the same change token is answered from memory, where it depends on nothing else.
        """
        check = _check(code)
        token = await self._reading.reader.token()
        known = self._known.get(code)
        if check.cached and known is not None and token is not None and known[0] == token:
            yield known[1]
            return
        tally = Tally()
        now = time.time() if self._now is None else self._now
        async with aclosing(check.gather(self._reading, tally, now)) as steps:
            async for _ in steps:
                yield check.result(tally, complete=False)
        result = check.result(tally, complete=True)
        self._known[code] = (token, result, tally)
        yield result

    def rows(self, code: str, table: str | None = None) -> RowSource:
        """The rows a check found, as of its last result; of one `table` of `CheckResult.where` (None: the
        first). Raises StoreError `not-checked` before there is a result, `nothing-found` where it has none.
        """
        check, known = _check(code), self._known.get(code)
        if check is SILENT_RUNS:
            from persistence.reading.runs import runs_where

            now = time.time() if self._now is None else self._now
            return runs_where(self._reading, lambda shape: silent(shape, now) or (false(),))
        if known is None:
            raise StoreError("This was not checked yet.", code="not-checked", where=code)
        keys = known[2].keys
        named = table or next(iter(keys), None)
        if named is None or named not in keys:
            raise StoreError("The check found nothing there.", code="nothing-found", where=table or code)
        return _rows_of(self._reading, named, keys[named])


def _check(code: str) -> Check:
    if code not in _ALL:
        raise StoreError(
            "There is no such check.", code="no-such-check", observed=code, expected=", ".join(CODES)
        )
    return _ALL[code]


def _rows_of(reading: StoreReading, name: str, keys: list[tuple[Any, ...]]) -> RowSource:
    from persistence.reading.rows import rows_among

    return rows_among(reading, name, keys)
