"""The gate before every write (DESIGN 6): six steps, each of which says why it does not hold and what would help.

Nothing is written unless all hold; after an action, whatever became of it, the gate is shut again. Every
passage and every refusal is told to the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from inspector.actions.carrying import Outcome, carry_out
from inspector.actions.journal import Entry, Event, Journal
from inspector.actions.plan import Action, Plan, Told
from inspector.actions.policy import WritePolicy
from inspector.actions.preview import DETAILED, Preview, make_preview
from persistence.errors import StateCompatibilityRefused, StoreError

if TYPE_CHECKING:
    from persistence.location import StoreLocation
    from persistence.profiles.records import AdmissionReport, Profile

__all__ = ["STEPS", "Gate", "Step"]

STEPS = ("writes", "profile", "owner", "admitted", "preview", "lineage")
"""The steps by name, in their order."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `held` None: it cannot be said before those in front of it hold. `says` is the step in a few
    words; `refusal` why it does not hold, what was expected and observed, and what would make it hold."""

    number: int
    name: str
    held: bool | None
    says: str
    refusal: StoreError | None = None


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
        self._profile_error: StoreError | None = None
        self._plan_error: StoreError | None = None
        self._shown = False
        self._typed: str | None = None

    # -- choosing -------------------------------------------------------------------------------------

    async def choose_profile(self, name: str | None) -> None:
        """The profile by name or path; one that cannot be read is what step 2 says."""
        from persistence.profiles import load_profile

        self._forget()
        self.profile = self._profile_error = None
        if name is None:
            return
        try:
            self.profile = await asyncio.to_thread(load_profile, name)
        except StoreError as error:
            self._profile_error = error

    def choose_owner(self, owner: str | None) -> None:
        """The principal all rows are written as; it is verified by the admission."""
        self._forget()
        self.owner = owner

    def type_lineage(self, text: str) -> None:
        """What a person typed as the store's lineage name. It is compared exactly."""
        self._typed = text

    def _forget(self) -> None:
        self.report = None
        self.plan = self.preview = self._plan_error = None
        self._shown, self._typed = False, None

    # -- finding out ----------------------------------------------------------------------------------

    async def admit(self) -> AdmissionReport | None:
        """Asks on a read-only route whether the store is admitted now; None without a profile."""
        from persistence.profiles.admission import admit

        typed = self._typed
        self._forget()
        self._typed = typed
        profile = self.profile
        if profile is None:
            return None
        wanted = tuple(dict.fromkeys((*self.action.operations, *profile.operations)))
        self.report = await asyncio.to_thread(
            lambda: admit(self.target, profile, owner=self.owner, operations=wanted)
        )
        return self.report

    async def prepare(self, *, detailed: int | None = DETAILED) -> Preview | None:
        """Makes the plan and its preview, with both stores open read-only; None where it cannot be made yet.

        What keeps a plan from being made (no such run, a line that is none) is what step 5 says.
        """
        from persistence.statedb import StateDB

        self.plan = self.preview = self._plan_error = None
        self._shown = False
        if self.profile is None or self.report is None or not self.report.admitted:
            return None
        try:
            async with StateDB(self.target) as target:
                self.plan = await self.action.plan(target, self.profile)
            self.preview = await make_preview(
                self.plan,
                action=self.action.name,
                store=self.target.display,
                lineage=self._lineage,
                profile=self.profile,
                owner=self.owner,
                detailed=detailed,
            )
        except StoreError as error:
            self._plan_error = error
        return self.preview

    def shown(self) -> None:
        """The preview was put before the person."""
        self._shown = self.preview is not None

    @property
    def _lineage(self) -> str:
        application = None if self.report is None else self.report.application
        return application if isinstance(application, str) else ""

    # -- the steps ------------------------------------------------------------------------------------

    @property
    def steps(self) -> tuple[Step, ...]:
        """The six steps as they are now."""
        made = (
            self._writes(), self._profile(), self._owner(), self._admitted(), self._previewed(), self._named(),
        )  # fmt: skip
        return tuple(
            Step(number, name, held, says, refusal)
            for number, (name, (held, says, refusal)) in enumerate(zip(STEPS, made, strict=True), 1)
        )

    @property
    def is_open(self) -> bool:
        return all(step.held for step in self.steps)

    def refusal(self, *, until: str = "lineage") -> StoreError | None:
        """The first step up to `until` that does not hold, as the error it is; None when all of them do."""
        for step in self.steps[: STEPS.index(until) + 1]:
            if not step.held:
                return step.refusal or self._not_yet(step)
        return None

    def _not_yet(self, step: Step) -> StoreError:
        return StoreError(
            f"The gate is shut: {step.says}.",
            code="gate-shut",
            where=self.target.display,
            expected="every step in front of it",
            observed=step.says,
            remedy="Follow the first step that does not hold.",
        )

    def _writes(self) -> tuple[bool, str, StoreError | None]:
        if not self.allowed:
            error = StoreError(
                "This program was started without --allow-writes, so it writes into no store.",
                code="writes-not-allowed",
                where=self.target.display,
                expected="--allow-writes",
                observed="not given",
                remedy="Start it again with --allow-writes, if writing into this store is what is meant.",
            )
            return False, "started without --allow-writes", error
        forbidden = self.policy.refusal()
        if forbidden is not None:
            return False, "started with --allow-writes, and the configuration forbids it", forbidden
        return True, "started with --allow-writes", None

    def _profile(self) -> tuple[bool, str, StoreError | None]:
        if self.profile is not None:
            return True, f"profile {self.profile.identity}", None
        if self._profile_error is not None:
            return False, "the profile cannot be used", self._profile_error
        error = StoreError(
            "A store another application manages is written only under a profile that was chosen by name.",
            code="no-profile",
            where=self.target.display,
            expected="a profile, by its name or its path",
            observed="none chosen",
            remedy="Name the one made for this store (--profile); store-inspector profile list shows which "
            "there are. None is ever picked.",
        )
        return False, "no profile is chosen", error

    def _owner(self) -> tuple[bool | None, str, StoreError | None]:
        if self.profile is None:
            return None, "owner: a profile first", None
        if self.profile.owner is None and self.owner is None:
            return True, "no owner rule: only rows that this run made", None
        found = self._finding("owner-")
        if found is not None:
            return False, f"owner {self.owner}" if self.owner is not None else "no owner is chosen", found
        if self.profile.owner is not None and not self.owner:
            error = StoreError(
                "The profile has an owner rule, and nobody was named as the owner of what is written.",
                code="owner-missing",
                where=self.target.display,
                expected=f"a principal of the table {self.profile.owner.principals}",
                observed="none named",
                remedy="Name one (--owner). The column's default is never taken.",
            )
            return False, "no owner is chosen", error
        if self.report is None:
            return None, f"owner {self.owner} (not looked up yet)", None
        if not self.report.admitted and self.report.read is None:
            return None, f"owner {self.owner} (not looked up: the store was not read)", None
        return True, f"owner {self.owner} (exists)", None

    def _finding(self, begins: str) -> StoreError | None:
        """The first finding of these codes, as a refusal."""
        if self.report is None:
            return None
        found = tuple(each for each in self.report.refusing if each.code.startswith(begins))
        return _check(replace(self.report, findings=found)) if found else None

    def _admitted(self) -> tuple[bool | None, str, StoreError | None]:
        if self.report is None:
            return None, "not asked yet whether the store is admitted", None
        if not self.report.admitted:
            return False, f"not admitted: {_several(len(self.report.refusing))}", _check(self.report)
        when = "" if self.report.read is None else f", {_clock(self.report.read.at)}"
        cookie = "" if self.report.cookie is None else f", schema cookie {self.report.cookie}"
        return True, f"admitted now{when}{cookie}", None

    def _previewed(self) -> tuple[bool | None, str, StoreError | None]:
        if self._plan_error is not None:
            return False, "no plan can be made", self._plan_error
        if self.preview is None:
            return None, "no preview yet", None
        says = preview_words(self.preview)
        stops = self.preview.stops
        if stops:
            return (
                False,
                f"{says}; {len(stops)} in the way",
                stops[0].error(self.action.source or self.action.name),
            )
        if not self._shown:
            return None, f"{says} (not shown yet)", None
        return True, says, None

    def _named(self) -> tuple[bool | None, str, StoreError | None]:
        if not self._lineage:
            return None, "type the store's lineage: not known yet", None
        if self._typed is not None and self._typed == self._lineage:
            return True, f"lineage typed: {self._lineage}", None
        error = StoreError(
            "The name of the store's lineage was not given, so nothing was written.",
            code="lineage-not-typed",
            where=self.target.display,
            expected=self._lineage,
            observed="nothing" if not self._typed else self._typed[:80],
            remedy=f"Read the preview. To go on, type the name exactly (--confirm {self._lineage}).",
        )
        return False, f"type the lineage to go on: {self._lineage}", error

    # -- going through --------------------------------------------------------------------------------

    async def run(self, told: Callable[[Told], None] | None = None) -> Outcome:
        """Goes through the gate and carries the plan out; the gate is shut afterwards, whatever happened.

        A refusal, at a step or of the store, is in the outcome and in the journal; a cancelled task ends the run
        and then raises CancelledError with the outcome as `args[0]`. Raises JournalError when there is no
        journal to tell: then nothing was begun.
        """
        shut = self.refusal()
        if shut is not None:
            return self.refused(shut)
        assert self.plan is not None and self.profile is not None
        plan, profile, owner = self.plan, self.profile, self.owner
        begun = await asyncio.to_thread(self.journal.append, self._entry("begun", plan))
        try:
            outcome = await self._write(plan, profile, owner, told)
        finally:
            self.shut()
        await asyncio.shield(asyncio.to_thread(self.journal.append, _ended(begun, outcome)))
        if isinstance(outcome.error, asyncio.CancelledError):
            raise asyncio.CancelledError(outcome)
        return outcome

    async def _write(
        self, plan: Plan, profile: Profile, owner: str | None, told: Callable[[Told], None] | None
    ) -> Outcome:
        from persistence.statedb import StateDB

        db = StateDB(self.target, profile=profile, owner=owner)
        try:
            await db.open()
        except StoreError as error:
            return Outcome("refused", plan.run, (), 0.0, error)
        except asyncio.CancelledError as error:
            return Outcome("interrupted", plan.run, (), 0.0, error)
        except Exception as error:
            return Outcome("failed", plan.run, (), 0.0, error)
        try:
            return await carry_out(plan, db, told)
        finally:
            with suppress(StoreError):
                await db.close()

    def refused(self, error: StoreError, event: Event = "refused") -> Outcome:
        """Tells the journal of a refusal at the gate, and shuts it."""
        entry = replace(self._entry(event, self.plan), refusal=error.as_dict())
        self.shut()
        self.journal.append(entry)
        return Outcome("refused", None, (), 0.0, error)

    def tried(self) -> Outcome:
        """Ends a dry run: up to the preview everything holds, and the writer is not opened."""
        shut = next((step for step in self.steps[1:5] if not step.held), None)
        if shut is not None:
            return self.refused(shut.refusal or self._not_yet(shut))
        self.journal.append(self._entry("tried", self.plan))
        run = None if self.plan is None else self.plan.run
        self.shut()
        return Outcome("tried", run, (), 0.0)

    def shut(self) -> None:
        """Shuts the gate: what was found and typed does not hold for another action."""
        self._forget()

    def _entry(self, event: Event, plan: Plan | None) -> Entry:
        report = self.report
        return Entry(
            self.action.name,
            event,
            self.target.display,
            lineage=self._lineage or None,
            version=None if report is None or report.version is None else str(report.version),
            profile=None if self.profile is None else self.profile.identity,
            owner=self.owner,
            source=self.action.source,
            run=None if plan is None else plan.run,
            operations={} if plan is None else dict(plan.counts or {}),
        )


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


def _check(report: AdmissionReport) -> StoreError | None:
    try:
        report.check()
    except StateCompatibilityRefused as error:
        return error
    return None


def _clock(at: float) -> str:
    from inspector import formats

    return formats.clock(at)


def _several(count: int) -> str:
    return f"{count} finding{'' if count == 1 else 's'}"


def preview_words(preview: Preview) -> str:
    """The size of a preview in a few words."""
    if preview.counts is None:
        return "preview: as many transactions as the input asks for"
    kinds, all_ = len(preview.counts), preview.transactions
    statements = "" if preview.statements is None else f", up to {preview.statements} statements"
    return f"preview: {kinds} operations{statements}, {all_} transactions"
