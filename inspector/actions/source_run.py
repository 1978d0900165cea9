"""A run as it lies in the store it is taken from: its rows, and what in them cannot be taken along."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from inspector.actions.fitness import unfit_cell
from inspector.actions.plan import NAMED, Obstacle, Told
from persistence.errors import StoreError, StoreMovedError
from persistence.records import Unreadable

if TYPE_CHECKING:
    from persistence.reading.page import Page
    from persistence.statedb import StateDB

__all__ = ["LEAVE_OUT", "SourceRun", "merged_order", "read_source"]

LEAVE_OUT = {
    "duplicates": "entries of an order that stand in it twice (the first stays)",
    "dangling": "entries and links that name nothing there is",
    "unreadable": "values that cannot be read, or that no store can keep as they are",
    "order": "orders that contradict each other (all then follow the run's own)",
    "history": "a status history the rules would not have allowed (the status itself stays)",
}
"""What may be left out of a copy, by the word that says so."""

CHUNK = 100
"""Messages read at once."""
_DANGLING = "The run names what is not there, or cannot be taken along."
_SPOILED = "What the run holds cannot be written as it is."

Progress = Callable[[Told], None]


@dataclass
class SourceRun:
    """A session with everything of it that is copied. Orders are by progression id, without what is left.

    `messages` are the ids of all messages in the order they are written; their rows stay in the source.
    """

    db: StateDB
    as_read: Mapping[str, Any]  # the session's row, as it was
    session: dict[str, Any]
    branches: tuple[dict[str, Any], ...]
    orders: dict[str, list[str]]
    messages: tuple[str, ...]
    transitions: tuple[dict[str, Any], ...]
    signals: int
    left: frozenset[str]  # what was said to be left out
    obstacles: tuple[Obstacle, ...]
    unreadable_signals: frozenset[Any] = frozenset()

    @property
    def id(self) -> str:
        return str(self.session["id"])

    async def rows(self, ids: Sequence[str]) -> AsyncIterator[dict[str, Any]]:
        """The messages of these ids as rows, in their order."""
        for first in range(0, len(ids), CHUNK):
            chunk = ids[first : first + CHUNK]
            found = await self.db.get_messages(chunk)
            for each in chunk:
                if each not in found:
                    raise _moved(self.db, f"message {each} is gone")
                yield found[each]

    async def signal_rows(self) -> AsyncIterator[dict[str, Any]]:
        """The signals that are copied, by their number."""
        after: str | None = None
        while True:
            page = await self.db.list_session_signals(self.id, limit=500, after=after)
            for row in page:
                if row["id"] not in self.unreadable_signals:
                    yield row
            after = page.next
            if after is None:
                return

    async def check_unchanged(self) -> None:
        """StoreMovedError when the run is another than the one that was read."""
        if await self.db.get_session(self.id) != self.as_read:
            raise _moved(self.db, "the session was changed")


def _moved(db: StateDB, what: str) -> StoreMovedError:
    return StoreMovedError(
        "The run changed in its own store while it was being copied.",
        where=db.location.display,
        expected="the run as the preview had it",
        observed=what,
        remedy="Wait until the run has ended, and copy it under another session then.",
    )


class _Found:
    """What stands in the way, gathered by code."""

    def __init__(self, left: Collection[str]) -> None:
        self.left = frozenset(left)
        self._seen: dict[str, tuple[str, str | None, list[str], int]] = {}

    def add(self, *, code: str, says: str, example: str, leave_out: str | None = None) -> None:
        said, flag, named, count = self._seen.setdefault(code, (says, leave_out, [], 0))
        if len(named) < NAMED:
            named.append(example)
        self._seen[code] = (said, flag, named, count + 1)

    def obstacles(self) -> tuple[Obstacle, ...]:
        return tuple(
            Obstacle(code, says, count, tuple(named), leave_out=flag, left_out=flag in self.left)
            for code, (says, flag, named, count) in self._seen.items()
        )


async def read_source(
    db: StateDB, text: str, leave_out: Collection[str] = (), progress: Progress | None = None
) -> SourceRun:
    """The run that `text` names (as `find_run` takes it). Raises StoreError when there is no such run."""
    told = progress or (lambda _: None)
    found = await db.find_run(text)
    session = await db.get_session(found) if found is not None else None
    if session is None:
        raise StoreError(
            "There is no such run in this store.",
            code="no-such-run",
            where=db.location.display,
            observed=text,
            remedy="See which there are: store-inspector runs STORE.",
        )
    stands = _Found(leave_out)
    as_read = dict(session)
    _readable("sessions", session, stands)
    branches = await _all(lambda after: db.list_branches(session["id"], limit=200, after=after))
    for branch in branches:
        _readable("branches", branch, stands)
    orders = await _orders(db, session, branches, stands)
    linked = [session.get("first_msg_id"), session.get("last_msg_id")]
    linked += [branch.get("system_msg_id") for branch in branches]
    ids = list(dict.fromkeys([*(each for order in orders.values() for each in order), *filter(None, linked)]))
    kept = await _messages(db, ids, stands, told)
    for name, order in orders.items():
        orders[name] = [each for each in order if each in kept]
    _links(session, branches, kept, stands)
    alone = kept.difference(*orders.values())
    arrival = _arrival([each for each in ids if each in alone], orders, stands)
    transitions = await _all(
        lambda after: db.list_status_transitions("session", session["id"], limit=200, after=after)
    )
    signals, spoiled = await _signals(db, session["id"], stands)
    return SourceRun(
        db,
        as_read,
        session,
        tuple(branches),
        orders,
        arrival,
        tuple(transitions),
        signals,
        stands.left,
        stands.obstacles(),
        spoiled,
    )


async def _all(page_after: Callable[[str | None], Awaitable[Page]]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    after: str | None = None
    while True:
        page = await page_after(after)
        rows += page
        after = page.next
        if after is None:
            return rows


def _readable(table: str, row: dict[str, Any], stands: _Found) -> None:
    """Cells that cannot be taken as they are: told, and emptied in the row that is copied."""
    for column, value in row.items():
        fault = unfit_cell(table, column, value)
        if fault is not None:
            stands.add(
                code="source-unreadable",
                says=_SPOILED,
                example=f"{table}.{column}: {fault}",
                leave_out="unreadable",
            )
            row[column] = None


async def _orders(
    db: StateDB, session: Mapping[str, Any], branches: Sequence[Mapping[str, Any]], stands: _Found
) -> dict[str, list[str]]:
    """Every order of the run once, the session's first, without entries that stand twice or are no ids."""
    out: dict[str, list[str]] = {}
    for owner, row in (("the run", session), *((f"branch {each['id']}", each) for each in branches)):
        name = row.get("progression_id")
        if not isinstance(name, str) or name in out:
            if not isinstance(name, str):
                stands.add(code="source-no-order", says="An order of messages has no id.", example=owner)
            continue
        transcript = await db.transcript(name)
        out[name] = []
        if transcript.state == "missing":
            stands.add(
                code="source-dangling",
                says=_DANGLING,
                example=f"progression {name} of {owner}",
                leave_out="dangling",
            )
        elif transcript.state not in ("list", "empty"):
            says = f"An order of messages is {transcript.state}."
            stands.add(code="source-no-order", says=says, example=f"progression {name} of {owner}")
        else:
            out[name] = _once(name, await db.get_progression(name), stands)
    return out


def _once(name: str, order: Sequence[Any], stands: _Found) -> list[str]:
    seen: dict[str, None] = {}
    for at, each in enumerate(order):
        if not isinstance(each, str) or "\0" in each or unfit_cell("messages", "id", each) is not None:
            stands.add(
                code="source-dangling",
                says=_DANGLING,
                example=f"#{at + 1} of {name}, which is no id",
                leave_out="dangling",
            )
        elif each in seen:
            says = "Entries stand twice in an order of messages."
            stands.add(
                code="source-duplicates",
                says=says,
                example=f"#{at + 1} of {name}: {each}",
                leave_out="duplicates",
            )
        else:
            seen[each] = None
    return list(seen)


def _arrival(first: Sequence[str], orders: dict[str, list[str]], stands: _Found) -> tuple[str, ...]:
    """Every message once, in an order that agrees with all orders of the run: that of their arrival.

    Readers of a managed store are promised that an order is the one of arrival, so orders that contradict
    each other are told; with `order` left out all of them follow the first one.
    """
    merged, sound = merged_order([first, *orders.values()])
    if not sound:
        says = "Two orders of the run contradict each other, so its messages cannot have arrived in both."
        names = [name for name in orders if orders[name]]
        stands.add(code="source-order", says=says, example=" and ".join(names[:5]), leave_out="order")
        if "order" in stands.left:
            at = {each: number for number, each in enumerate(merged)}
            for name, order in orders.items():
                orders[name] = sorted(order, key=at.__getitem__)
    return tuple(merged)


def merged_order(orders: Sequence[Sequence[str]]) -> tuple[list[str], bool]:
    """One order of everything, in which whatever stands before something in one of the orders does so too,
    and whether there is one; where there is none, everything as it is first met."""
    met = list(dict.fromkeys(each for order in orders for each in order))
    at = {each: number for number, each in enumerate(met)}
    after: list[list[int]] = [[] for _ in met]
    waits = [0] * len(met)
    for order in orders:
        for one, other in pairwise(order):
            after[at[one]].append(at[other])
            waits[at[other]] += 1
    ready = [number for number, count in enumerate(waits) if not count]  # ascending, so a heap already
    out: list[str] = []
    while ready:
        number = heappop(ready)
        out.append(met[number])
        for later in after[number]:
            waits[later] -= 1
            if not waits[later]:
                heappush(ready, later)
    return (out, True) if len(out) == len(met) else (met, False)


async def _messages(db: StateDB, ids: Sequence[str], stands: _Found, told: Progress) -> frozenset[str]:
    """The ids whose messages are there and can be written; every one is looked at once."""
    kept: set[str] = set()
    for first in range(0, len(ids), CHUNK):
        chunk = ids[first : first + CHUNK]
        found = await db.get_messages(chunk)
        for each in chunk:
            row = found.get(each)
            if row is None:
                stands.add(
                    code="source-dangling", says=_DANGLING, example=f"message {each}", leave_out="dangling"
                )
                continue
            fault = _fault(row)
            if fault is None:
                kept.add(each)
            else:
                stands.add(
                    code="source-unreadable",
                    says=_SPOILED,
                    example=f"message {each}: {fault}",
                    leave_out="unreadable",
                )
        told(Told(first + len(chunk), len(ids), "messages looked at"))
    return frozenset(kept)


def _fault(row: Mapping[str, Any]) -> str | None:
    for column, value in row.items():
        if column == "lion_class":  # a number of the source's own; its name is what is copied
            continue
        fault = unfit_cell("messages", column, value)
        if fault is not None:
            return f"{column}: {fault}"
    if row.get("content") is None:
        return "no content"
    return None if isinstance(row.get("role"), str) else "no role"


def _links(
    session: dict[str, Any], branches: Sequence[dict[str, Any]], kept: Collection[str], stands: _Found
) -> None:
    linked = [(session, "first_msg_id", "the run"), (session, "last_msg_id", "the run")]
    linked += [(branch, "system_msg_id", f"branch {branch['id']}") for branch in branches]
    for row, column, owner in linked:
        if row.get(column) is not None and row[column] not in kept:
            stands.add(
                code="source-dangling",
                says=_DANGLING,
                example=f"{column} of {owner}: {row[column]}",
                leave_out="dangling",
            )
            row[column] = None


async def _signals(db: StateDB, session: str, stands: _Found) -> tuple[int, frozenset[Any]]:
    count, spoiled = 0, set()
    after: str | None = None
    while True:
        page = await db.list_session_signals(session, limit=500, after=after)
        for row in page:
            faults = [unfit_cell("session_signals", name, row.get(name)) for name in ("kind", "op_id", "ts")]
            payload = row.get("payload")
            if isinstance(payload, Unreadable):
                faults.append(payload.why)
            elif not isinstance(payload, dict | None):
                faults.append("a payload that is no object")
            else:
                faults.append(unfit_cell("session_signals", "payload", payload))
            fault = next((each for each in faults if each is not None), None)
            if fault is None:
                count += 1
                continue
            stands.add(
                code="source-unreadable",
                says=_SPOILED,
                example=f"signal {row.get('seq')}: {fault}",
                leave_out="unreadable",
            )
            spoiled.add(row["id"])
        after = page.next
        if after is None:
            return count, frozenset(spoiled)
