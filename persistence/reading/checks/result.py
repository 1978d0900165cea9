"""What a check found, and what it gathers on the way."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from persistence.records import Progress, ReadInfo

if TYPE_CHECKING:
    from persistence.reading.store import StoreReading

__all__ = ["KEPT", "Check", "CheckResult", "Severity", "Tally"]

KEPT = 10_000
"""Rows a check remembers so that they can be shown; it counts all."""

Severity: TypeAlias = Literal["ok", "notice", "bad", "unknown"]
"""`unknown`: nothing could be told, which is not the same as nothing wrong."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What is known of one thing worth a look.

    `count` is what the sentence counts; `where` says in which tables, with the rows to look at in each.
    Not `complete`: the check is still under way (`progress`). `unknown` things could not be decided, for the
    reason in `why`. `snapshots` above one: the store moved while the check went through it.
    """

    code: str
    severity: Severity
    count: int
    sentence: str
    complete: bool = True
    where: tuple[tuple[str, int], ...] = ()
    examined: int = 0
    unknown: int = 0
    why: str | None = None
    progress: Progress | None = None
    snapshots: int = 1
    read: ReadInfo | None = None


@dataclass(slots=True)
class Tally:
    """What a check has gathered so far."""

    count: int = 0
    examined: int = 0
    unknown: int = 0
    why: str | None = None
    rows: dict[str, int] = field(default_factory=dict)
    keys: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    tokens: list[object] = field(default_factory=list)
    read: ReadInfo | None = None
    progress: Progress | None = None

    def add(self, table: str, key: tuple[Any, ...], count: int = 1) -> None:
        """A row to look at, which counts for `count`."""
        self.count += count
        self.rows[table] = self.rows.get(table, 0) + 1
        kept = self.keys.setdefault(table, [])
        if len(kept) < KEPT:
            kept.append(key)

    def seen(self, read: ReadInfo) -> None:
        """Notes how a part was read."""
        self.read = read
        if read.token not in self.tokens:
            self.tokens.append(read.token)

    def cannot_tell(self, why: str) -> None:
        self.unknown += 1
        self.why = self.why or why


@dataclass(frozen=True, slots=True)
class Check:
    """One check: how it goes through a store, and how its outcome is said."""

    code: str
    severity: Severity  # of a finding
    gather: Callable[[StoreReading, Tally, float], AsyncGenerator[None, None]]
    say: Callable[[Tally], str]
    cached: bool = True  # by change token; a check that asks the clock is not

    def _severity(self, tally: Tally) -> Severity:
        if tally.count:
            return self.severity
        return "unknown" if tally.unknown and tally.unknown == tally.examined else "ok"

    def result(self, tally: Tally, *, complete: bool) -> CheckResult:
        return CheckResult(
            self.code,
            self._severity(tally),
            tally.count,
            self.say(tally),
            complete=complete,
            where=tuple(tally.rows.items()),
            examined=tally.examined,
            unknown=tally.unknown,
            why=tally.why,
            progress=None if complete else tally.progress,
            snapshots=max(1, len(tally.tokens)),
            read=tally.read,
        )
