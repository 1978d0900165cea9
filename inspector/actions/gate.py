"""The gate before every write (DESIGN 6): six steps, each of which says why it does not hold.

Nothing is written unless all hold; after an action, whatever became of it, the gate is shut again. Every
passage and every refusal is told to the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inspector.actions.carrying import Outcome, carry_out
from inspector.actions.gate_steps import STEPS, Step, steps_of
from inspector.actions.journal import Entry, Event, Journal, JournalError
from inspector.actions.plan import Action, Plan, Told
from inspector.actions.policy import WritePolicy
from inspector.actions.preview import DETAILED, Preview, make_preview
from persistence.errors import BusyError, StateCompatibilityRefused, StoreError, StoreMovedError
from persistence.retrying import to_its_end

if TYPE_CHECKING:
    from persistence.location import StoreLocation
    from persistence.profiles.records import AdmissionReport, Profile
    from persistence.statedb import StateDB

__all__ = ["STEPS", "Gate", "Step", "error_shape", "tell_refused"]


UNREAD = "store-unread"
"""What an admission finds when the store could not be read, damaged or only moving under every read."""
TRIES, PAUSE = 6, 0.15
"""How often a store is asked that could not be read, and seconds between: its manager may be at work."""


class Gate:
    """The gate of one action on one managed store.

    `allowed`: the program was started with --allow-writes. Choose a profile and an owner, `admit`, `prepare`
    the preview and say that it was `shown`, type the lineage: then `run` goes through. Choosing anything anew
    takes back what was found for it.
    """

    def __init__(
        self,
        action: Action,
        target: StoreLocation,
        *,
        allowed: bool,
        policy: WritePolicy,
        journal: Journal | None = None,
    ) -> None:
        self.action = action
        self.target = target
        self.journal = journal or Journal()
        self.allowed = allowed
        self.policy = policy
        self.profile: Profile | None = None
        self.owner: str | None = None
        self.report: AdmissionReport | None = None
        self.plan: Plan | None = None
        self.preview: Preview | None = None
        self.outcome: Outcome | None = None  # of the latest action, also when its task was cancelled
        self.profile_error: StoreError | None = None
        self.plan_error: StoreError | None = None
        self.was_shown = False
        self.typed: str | None = None

    # -- choosing -------------------------------------------------------------------------------------

    async def choose_profile(self, name: str | None) -> None:
        """The profile by name or path; one that cannot be read is what step 2 says."""
        from persistence.profiles import load_profile

        self._forget()
        self.profile = self.profile_error = None
        if name is None:
            return
        try:
            self.profile = await asyncio.to_thread(load_profile, name)
        except StoreError as error:
            self.profile_error = error

    def choose_owner(self, owner: str | None) -> None:
        """The principal all rows are written as; it is verified by the admission."""
        self._forget()
        self.owner = owner

    def type_lineage(self, text: str) -> None:
        """What a person typed as the store's lineage name. It is compared exactly."""
        self.typed = text

    def _forget(self) -> None:
        self.report = None
        self.plan = self.preview = self.plan_error = None
        self.was_shown, self.typed = False, None

    # -- finding out ----------------------------------------------------------------------------------

    async def admit(self) -> AdmissionReport | None:
        """Asks on a read-only route whether the store is admitted now; None without a profile."""
        from persistence.profiles.admission import admit

        typed = self.typed
        self._forget()
        self.typed = typed
        profile = self.profile
        if profile is None:
            return None
        wanted = tuple(dict.fromkeys((*self.action.operations, *profile.operations)))
        for attempt in range(TRIES):
            self.report = await asyncio.to_thread(
                lambda: admit(self.target, profile, owner=self.owner, operations=wanted)
            )
            unread = any(each.code == UNREAD for each in self.report.refusing)
            # A busy one was waited for already.
            if attempt + 1 == TRIES or not unread or isinstance(self.report.passing, BusyError):
                break
            await asyncio.sleep(PAUSE)
        return self.report

    async def prepare(self, *, detailed: int | None = DETAILED) -> Preview | None:
        """Makes the plan and its preview, with both stores open read-only; None where it cannot be made yet.

        What keeps a plan from being made (no such run, a line that is none) is what step 5 says.
        """
        from persistence.statedb import StateDB

        self.plan = self.preview = self.plan_error = None
        self.was_shown = False
        if self.profile is None or self.report is None or not self.report.admitted:
            return None
        try:
            async with StateDB(self.target) as target:
                self.plan = await self.action.plan(target, self.profile)
            self.preview = await make_preview(
                self.plan,
                action=self.action.name,
                store=self.target.display,
                lineage=self.lineage,
                profile=self.profile,
                owner=self.owner,
                detailed=detailed,
            )
        except StoreError as error:
            self.plan_error = error
        return self.preview

    def shown(self) -> None:
        """The preview was put before the person."""
        self.was_shown = self.preview is not None

    @property
    def lineage(self) -> str:
        application = None if self.report is None else self.report.application
        return application if isinstance(application, str) else ""

    # -- the steps ------------------------------------------------------------------------------------

    @property
    def steps(self) -> tuple[Step, ...]:
        """The six steps as they are now."""
        return steps_of(self)

    @property
    def is_open(self) -> bool:
        return all(step.held for step in self.steps)

    def refusal(self, *, until: str = "lineage") -> StoreError | None:
        """Why nothing goes through: the first step up to `until` that is known not to hold, or else the first
        that is not known to. None when all of them hold."""
        shut = [step for step in self.steps[: STEPS.index(until) + 1] if not step.held]
        first = next((step for step in shut if step.refusal is not None), None)
        if first is not None:
            return first.refusal
        return self._not_yet(shut[0]) if shut else None

    def _not_yet(self, step: Step) -> StoreError:
        return StoreError(
            f"The gate is shut: {step.says}.",
            code="gate-shut",
            where=self.target.display,
            expected="every step in front of it",
            observed=step.says,
            remedy="Follow the first step that does not hold.",
        )

    # -- going through --------------------------------------------------------------------------------

    async def run(self, told: Callable[[Told], None] | None = None) -> Outcome:
        """Goes through the gate and carries the plan out; the gate is shut afterwards, whatever happened.

        A refusal, at a step or of the store, is in the outcome and in the journal; a cancelled task ends the
        run and then raises CancelledError with the outcome as `args[0]`. Raises JournalError when there is no
        journal to tell: then nothing was begun.
        """
        shut = self.refusal()
        if shut is not None:
            return self.refused(shut)
        assert self.plan is not None and self.profile is not None
        plan, profile, owner = self.plan, self.profile, self.owner
        begun = self._entry("begun", plan)
        try:
            await to_its_end(asyncio.to_thread(self.journal.append, begun))
            outcome = await self._write(plan, profile, owner, told)
        except asyncio.CancelledError as error:  # before the store was open
            outcome = Outcome("interrupted", plan.run, (), 0.0, error)
        finally:
            self.shut()
        try:
            outcome = await to_its_end(asyncio.to_thread(self._tell, _ended(begun, outcome), outcome))
        except asyncio.CancelledError:  # while the journal was told, which it was
            raise asyncio.CancelledError(self.outcome or outcome) from None
        if isinstance(outcome.error, asyncio.CancelledError):
            raise asyncio.CancelledError(outcome)
        return outcome

    async def _write(
        self, plan: Plan, profile: Profile, owner: str | None, told: Callable[[Told], None] | None
    ) -> Outcome:
        from persistence.statedb import StateDB

        db = StateDB(self.target, profile=profile, owner=owner)
        try:
            await _opened(db)
        except StoreError as error:
            return Outcome("refused", plan.run, (), 0.0, error)
        except Exception as error:
            return Outcome("failed", plan.run, (), 0.0, error)
        outcome = await carry_out(plan, db, told)
        # What is committed is known now, whatever becomes of the closing.
        with suppress(StoreError, asyncio.CancelledError):
            await to_its_end(db.close())
        return outcome

    def refused(self, error: StoreError, event: Event = "refused") -> Outcome:
        """Tells the journal of a refusal at the gate, and shuts it."""
        entry = replace(self._entry(event, self.plan), refusal=error.as_dict())
        self.shut()
        return self._tell(entry, Outcome("refused", None, (), 0.0, error))

    def _tell(self, entry: Entry, outcome: Outcome) -> Outcome:
        """Tells the journal how it ended. What happened has happened: a journal that fails now is said."""
        try:
            self.journal.append(entry)
        except JournalError as error:
            lost = f"It is not in the journal: {error.message}"
            outcome = replace(outcome, stands=f"{outcome.stands} {lost}" if outcome.stands else lost)
        self.outcome = outcome
        return outcome

    def tried(self) -> Outcome:
        """Ends a dry run: up to the preview everything holds, and the writer is not opened."""
        shut = [step for step in self.steps[1:5] if not step.held]
        first = next((step.refusal for step in shut if step.refusal is not None), None)
        if shut:
            return self.refused(first or self._not_yet(shut[0]))
        entry = self._entry("tried", self.plan)
        self.shut()
        return self._tell(entry, Outcome("tried", None, (), 0.0))

    def shut(self) -> None:
        """Shuts the gate: what was found and typed does not hold for another action."""
        self._forget()

    def _entry(self, event: Event, plan: Plan | None) -> Entry:
        report = self.report
        return Entry(
            self.action.name,
            event,
            self.target.display,
            lineage=self.lineage or None,
            version=None if report is None or report.version is None else str(report.version),
            profile=None if self.profile is None else self.profile.identity,
            owner=self.owner,
            source=self.action.source,
            run=plan.run if plan is not None and event == "begun" else None,
            operations={} if plan is None else dict(plan.counts or {}),
        )


async def _opened(db: StateDB) -> None:
    """Opens the writer; a store that its manager moved under every read is asked again, a bounded number of
    times. Whatever else refuses it does so at once."""
    for attempt in range(TRIES):
        try:
            await db.open()
        except (StateCompatibilityRefused, StoreMovedError) as error:
            moved = isinstance(error, StoreMovedError)
            if not (moved or error.code == UNREAD) or attempt + 1 == TRIES:
                raise
            await asyncio.sleep(PAUSE)
        else:
            return


def _ended(begun: Entry, outcome: Outcome) -> Entry:
    return replace(
        begun,
        event=outcome.event,
        run=outcome.run or begun.run,
        committed=outcome.committed,
        refusal=None if outcome.error is None else error_shape(outcome),
        note=outcome.stands,
        seconds=round(outcome.seconds, 3),
        when=begun.when + outcome.seconds,
    )


def tell_refused(
    action: str,
    target: StoreLocation,
    error: StoreError,
    *,
    profile: str | None = None,
    owner: str | None = None,
    source: str | None = None,
) -> None:
    """Tells the journal of what refused an action before there was a gate: the store its run is in, or the
    file. Blocking; a journal that cannot be written is no second refusal."""
    entry = Entry(
        action, "refused", target.display,
        profile=profile, owner=owner, source=source, refusal=error.as_dict(),
    )  # fmt: skip
    with suppress(JournalError):
        Journal().append(entry)


def error_shape(outcome: Outcome) -> dict[str, Any]:
    """What stopped an action, in the shape of a refusal; `committed` is what is in the store."""
    error = outcome.error
    if isinstance(error, StoreError):
        shape = error.as_dict()
    elif isinstance(error, asyncio.CancelledError):
        shape = StoreError("The action was interrupted.", code="interrupted").as_dict()
    else:
        shape = StoreError(str(error), code="our-fault").as_dict() | {"type": type(error).__name__}
    return shape | {"committed": [str(phase) for phase in outcome.committed]}
