"""What an action would write, as data: every statement with its parameters, and what is committed when.

Each call of the plan is previewed by the manifest itself (`persistence.writing.compatibility.preview`), so
this is what will run. Of an operation that comes very often only the first calls are told one by one.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from inspector.actions.plan import Call, Obstacle, Plan
from inspector.actions.policy import exposed_version

if TYPE_CHECKING:
    from persistence.profiles.records import Profile
    from persistence.writing.compatibility.preview import OperationPreview

__all__ = ["DETAILED", "Preview", "PreviewedCall", "PreviewedStatement", "make_preview"]

DETAILED = 3
"""Calls of one operation that are told one by one; of the others their number."""
_MOMENTS = "A moment, or an id, that nobody gave is the preview's; the run has its own."
_SHOWN = 24
"""Statements of one call told one by one; of those with the same text after them their number."""


@dataclass(frozen=True, slots=True)
class PreviewedStatement:
    """One statement: exact text, parameters by name (what is known only then says so), and when it runs
    (None: always). `times`: how often in a row, with other parameters; those of the first are told."""

    text: str
    verb: str
    table: str
    parameters: tuple[tuple[str, Any], ...]
    when: str | None = None
    times: int = 1


@dataclass(frozen=True, slots=True)
class PreviewedCall:
    """One call: its operation, what it is about, the rows it asks for, its statements, what is committed."""

    operation: str
    does: str
    about: str
    transaction: str
    requires: tuple[str, ...]
    statements: tuple[PreviewedStatement, ...]
    keeps: tuple[str, ...]
    commits: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The preview of one action. `counts` are calls by operation, each one transaction (None: the input is
    still being written); `more` how many of an operation are not among `calls`. `statements` is how many
    statements run at most (None: not known). `warnings` are what a person must be told before writing."""

    action: str
    store: str
    lineage: str
    profile: str
    owner: str | None
    run: str | None
    calls: tuple[PreviewedCall, ...]
    counts: Mapping[str, int] | None
    more: Mapping[str, int]
    statements: int | None
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    obstacles: tuple[Obstacle, ...]

    @property
    def transactions(self) -> int | None:
        return None if self.counts is None else sum(self.counts.values())

    @property
    def stops(self) -> tuple[Obstacle, ...]:
        """What the store would refuse."""
        return tuple(each for each in self.obstacles if each.stops)

    @property
    def texts(self) -> tuple[str, ...]:
        """Every different statement, in the order it is first run."""
        return tuple(dict.fromkeys(each.text for call in self.calls for each in call.statements))


async def make_preview(
    plan: Plan,
    *,
    action: str,
    store: str,
    lineage: str,
    profile: Profile,
    owner: str | None,
    detailed: int | None = DETAILED,
) -> Preview:
    """The preview of a plan; `detailed` None: every call. Raises StoreError for a call the manifest refuses.

    A plan of an input that is still being written cannot be read ahead: its operations are told by name.
    """
    calls: list[PreviewedCall] = []
    if plan.counts is not None and not any(each.stops for each in plan.obstacles):
        async with aclosing(cast(Any, _limited(plan, detailed))) as wanted:
            # In a thread: an order of very many messages is looked at row by row.
            calls = [await asyncio.to_thread(_previewed, profile, owner, call) async for call in wanted]
    told = Counter(call.operation for call in calls)
    counts = plan.counts
    more = {name: count - told[name] for name, count in (counts or {}).items() if count > told[name]}
    return Preview(
        action,
        store,
        lineage,
        profile.identity,
        owner,
        plan.run,
        tuple(calls),
        counts,
        more if calls else {},
        _statements(calls, counts) if calls else None,
        (*plan.notes, *((_MOMENTS,) if calls else ())),
        tuple(_warnings(profile, owner)),
        tuple(plan.obstacles),
    )


async def _limited(plan: Plan, detailed: int | None) -> AsyncIterator[Call]:
    seen: Counter[str] = Counter()
    async with aclosing(cast(Any, plan.calls(detailed))) as calls:
        async for call in calls:
            seen[call.operation] += 1
            if detailed is None or seen[call.operation] <= detailed:
                yield call


def _previewed(profile: Profile, owner: str | None, call: Call) -> PreviewedCall:
    from persistence.writing.compatibility.preview import preview

    told: OperationPreview = preview(profile, owner, call.operation, *call.arguments, **call.named)
    return PreviewedCall(
        told.operation,
        told.does,
        call.about,
        told.transaction,
        tuple(told.requires),
        _folded(told),
        tuple(told.keeps),
        told.commits,
    )


def _folded(told: OperationPreview) -> tuple[PreviewedStatement, ...]:
    """The statements; the same text many times in a row (a row looked at for each entry) is told once."""
    out: list[PreviewedStatement] = []
    runs: Counter[str] = Counter()
    for each in told.statements:
        runs[each.text] += 1
        if out and out[-1].text == each.text and runs[each.text] > _SHOWN:
            last = out[-1]
            out[-1] = PreviewedStatement(
                last.text, last.verb, last.table, last.parameters, last.when, last.times + 1
            )
            continue
        parameters = tuple(each.parameters.items())
        out.append(PreviewedStatement(each.text, each.verb, each.table, parameters, each.when))
    return tuple(out)


def _statements(calls: Sequence[PreviewedCall], counts: Mapping[str, int] | None) -> int:
    """Statements at most: those told, and for the calls that are not told as many as the last one has."""
    size = {call.operation: sum(each.times for each in call.statements) for call in calls}
    told = Counter(call.operation for call in calls)
    total = sum(each.times for call in calls for each in call.statements)
    for name, count in (counts or {}).items():
        total += max(0, count - told[name]) * size.get(name, 0)
    return total


def _warnings(profile: Profile, owner: str | None) -> list[str]:
    said = []
    exposed = exposed_version()
    if exposed is not None:
        said.append(
            f"SQLite {exposed} has the WAL-reset race: when two programs write and one of them folds the log "
            "in at the wrong moment, a commit can be lost. 3.51.3, 3.50.7 and 3.44.6 have the fix."
        )
    if profile.owner is None:
        said.append("The profile has no owner rule: that this run made a row is all that is asked of it.")
    elif owner is not None:
        said.append(f"Every row that has an owner is written as {owner}'s.")
    return said
