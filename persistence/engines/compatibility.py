"""Writing a store another application manages: one guarded connection, a transaction in one hop.

The writer is an SQLAlchemy engine over aiosqlite. Its `connect` listener opens and guards the store on the
driver's own thread; a connection that cannot be guarded has no store behind it. Every transaction is run by
one call on that thread, with all checks inside (ADR-0128 D3). Reads are for read-only
connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from persistence import files
from persistence.engines.compatibility_opening import Hand, Plan, open_guarded
from persistence.engines.compatibility_reader import CompatibilityReader
from persistence.engines.driver_thread import on_thread, wait_for_end
from persistence.engines.lane import Lane
from persistence.engines.native_sqlite import Stop
from persistence.engines.patience import BUSY_TIMEOUT
from persistence.engines.statements import Steps, Transaction
from persistence.engines.thread import in_thread
from persistence.errors import StateCompatibilityRefused, StoreError, StoreMovedError
from persistence.guard.front import Front
from persistence.guard.refusals import Refusals
from persistence.guard.writeset import WriteSet
from persistence.lineage.held import claim
from persistence.lineage.remedies import remedy
from persistence.location import StoreLocation

if TYPE_CHECKING:
    from persistence.profiles.records import AdmissionReport, Profile

__all__ = ["CompatibilityEngine", "open_compatibility"]

T = TypeVar("T")

Factory = Callable[["Profile", str | None], WriteSet]

_TOGETHER = 8
"""Transactions of one call that share a hop: what else waits comes between them."""


class CompatibilityEngine:
    """One open store in compatibility mode, held to a profile and an owner. `open_compatibility` makes it."""

    dialect: Literal["sqlite"] = "sqlite"

    def __init__(
        self,
        location: StoreLocation,
        report: AdmissionReport,
        writes: WriteSet,
        alchemy: AsyncEngine,
        held: contextlib.ExitStack,
        closed: threading.Event,
    ) -> None:
        self.location = location
        self.report = report
        self.profile = writes.profile
        self.owner = writes.owner
        self.reader = CompatibilityReader(location, self.profile.identity)
        self._alchemy = alchemy
        self._held = held
        self._closed = closed
        self._operations = frozenset(self.profile.operations) & frozenset(report.operations)
        self._connection: AsyncConnection | None = None
        self._driver: Any = None
        self._front: Any = None
        self._hand: Hand | None = None
        self._lane: Lane | None = None

    async def run(
        self,
        operation: str,
        steps: Callable[[], Steps[T]],
        *,
        transaction: str,
        kept: Callable[[T], object] | None = None,
    ) -> T:
        """The steps of one transaction of an operation: all of them, or, when it raises, none.

        `transaction` is its name for people. `kept` is told of the result on the driver's thread, right
        after the commit: also when the caller is cancelled meanwhile. StateCompatibilityRefused when the
        profile or the caller's admission does not name the operation, and for whatever the guard refuses;
        BusyError, ConstraintError and the other typed errors for what SQLite says.
        """
        stop = Stop(self._front)
        result: T = await self._on_lane(
            operation,
            lambda: self._hand_for(operation).transact(operation, steps, stop, kept),
            stop,
            transaction,
        )
        return result

    async def run_in_order(
        self, operation: str, transactions: Sequence[Transaction[Any]], *, transaction: str
    ) -> None:
        """As `run`, for several transactions of one operation, each with all its checks, in shared hops. What
        one of them raises is raised, and none after it is begun."""
        for number in range(0, len(transactions), _TOGETHER):
            stop = Stop(self._front)

            def work(some: Sequence[Transaction[Any]], stop: Stop = stop) -> None:
                for steps, kept in some:
                    self._hand_for(operation).transact(operation, steps, stop, kept)

            some = transactions[number : number + _TOGETHER]
            await self._on_lane(operation, partial(work, some), stop, transaction)

    async def _on_lane(self, operation: str, work: Callable[[], Any], stop: Stop, transaction: str) -> Any:
        if operation not in self._operations:
            self._not_named(operation)
        try:
            if self._lane is None:
                self._not_open(operation)
            return await self._lane.call(work, stop)
        except StoreError as error:
            error.add_note(f"{operation}: the transaction {transaction!r} was not committed")
            raise

    def _hand_for(self, operation: str) -> Hand:
        hand = self._hand
        if hand is None:
            self._not_open(operation)
        return hand

    async def close(self) -> None:
        """Lets the store go: the writer's connection, its engine, the readers' and the claim on the file."""
        self._hand = None
        self._closed.set()
        try:
            await self.reader.close()
            connection, self._connection = self._connection, None
            if connection is not None:
                await connection.close()
                wait_for_end(self._driver)
            await self._alchemy.dispose()
        finally:
            self._held.close()

    def _not_open(self, operation: str) -> NoReturn:
        raise StoreError(
            f"{operation}: the store is not open. Nothing was written.",
            code="not-open",
            where=self.location.display,
            remedy="Open the store again.",
        )

    def _not_named(self, operation: str) -> NoReturn:
        refusals = Refusals(self.location.display, self.profile)
        refusals.operation = operation
        raise refusals.refused(
            f"{operation} is not an operation this store was admitted for. Nothing was written.",
            code="not-in-profile",
            expected=", ".join(self.report.operations),
            observed=operation,
        )


async def open_compatibility(
    location: StoreLocation,
    profile: Profile,
    owner: str | None,
    operations: Sequence[str],
    writeset_factory: Factory,
    *,
    busy_timeout: int = BUSY_TIMEOUT,
) -> CompatibilityEngine:
    """Admits the store on a read-only route, then opens and guards its one writer, which is asked again
    under the lock. A refusal leaves nothing open and has changed no byte.

    `busy_timeout` is in milliseconds. Raises StateCompatibilityRefused and the typed errors of an open.
    """
    from persistence.profiles import admission

    if location.path is None:
        raise StateCompatibilityRefused(
            "Compatibility mode is for SQLite stores: its guards are SQLite's.",
            code="compatibility-server",
            operation="open",
            profile=profile.identity,
            where=location.display,
            expected="a SQLite file",
            observed=location.backend,
            remedy=remedy("compatibility-server"),
        )
    asked = tuple(operations)
    report = await in_thread(lambda: admission.admit(location, profile, owner=owner, operations=asked))
    report.check()
    if report.identity is None:
        raise StoreMovedError("The store went away while it was being opened.", where=location.display)
    writes = writeset_factory(profile, owner)
    plan = Plan(
        location,
        files.resolve(location.path),
        report.identity,
        writes,
        lambda connection: admission.readmit(connection, profile, owner, asked, where=location.display),
        busy_timeout,
    )
    opening = asyncio.ensure_future(_open(plan, report))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        # Waited for, however often it is cancelled: a connection half made would be nobody's to close.
        while not opening.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait([opening])
        if not opening.cancelled() and opening.exception() is None:
            await opening.result().close()
        raise


async def _open(plan: Plan, report: AdmissionReport) -> CompatibilityEngine:
    """Opens the writer of a store that was admitted."""
    owner, location = plan.writes.owner, plan.location
    label = " ".join(part for part in (location.display, plan.writes.profile.identity, owner) if part)
    with contextlib.ExitStack() as held:
        held.enter_context(claim(plan.identity, "compatibility", label))
        hands: list[Hand] = []
        closed = threading.Event()
        engine = CompatibilityEngine(
            location, report, plan.writes, _alchemy(plan, hands, closed), held, closed
        )
        try:
            engine._connection = await engine._alchemy.connect()
            raw = await engine._connection.get_raw_connection()
            engine._driver = raw.driver_connection
            engine._front = engine._driver._conn
            engine._lane = Lane(engine._driver, location.display)
            engine._hand = hands.pop()
        except BaseException:
            await engine.close()
            raise
        engine._held = held.pop_all()
    return engine


def _alchemy(plan: Plan, hands: list[Hand], closed: threading.Event) -> AsyncEngine:
    """The engine whose every connection, the first, further ones and those after a reconnect, is a `Front`
    that the listener ties to a store opened, admitted anew and guarded. Nobody runs anything on the
    further ones: only the first one's hand is given to the engine."""
    first = itertools.count()
    where, profile = plan.location.display, plan.writes.profile.identity

    def front(_database: str, **_named: Any) -> Front:
        return Front(where, profile)

    engine = create_async_engine("sqlite+aiosqlite://", poolclass=NullPool, connect_args={"factory": front})

    async def guard(driver: Any) -> None:
        try:
            if closed.is_set():
                raise StoreError("The store was closed.", code="not-open", where=where)
            hand = await on_thread(driver, partial(open_guarded, plan, driver._conn), where=where)
        except BaseException:
            await driver.close()
            wait_for_end(driver)
            raise
        if next(first) == 0:
            hands.append(hand)

    @event.listens_for(engine.sync_engine, "connect")
    def connected(connection: Any, _record: Any) -> None:
        connection.run_async(guard)

    return engine
