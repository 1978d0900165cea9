"""An action on its way through the gate of the store that is open, without a screen.

It lives as long as the store is open, whatever place is looked at. What was found at the gate is kept as it
was seen: a refusal shuts the gate at once, and a person still reads why.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from inspector.actions.carrying import Outcome
from inspector.actions.gate import Gate, tell_refused
from inspector.actions.preview import DETAILED
from inspector.actions.probe import Probe
from inspector.admitting import Choice
from persistence.errors import StoreError

if TYPE_CHECKING:
    from inspector.actions.gate_steps import Step
    from inspector.actions.plan import Action, Told
    from inspector.actions.policy import WritePolicy
    from inspector.actions.preview import Preview
    from persistence.location import StoreLocation
    from persistence.statedb import StateDB

__all__ = ["Asked", "Brought", "Passage", "steps_before"]

PAUSE = 0.1
"""Seconds between two words about how far an action is."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be done. `source` is the store a run is taken from, `run` its id there and `about` its name;
    `file` what one is told in.

    `dry`: everything up to the writer, which is not opened. `leave_out`: the words of `--leave-out`.
    """

    action: Literal["probe", "record", "copy-run"]
    source: StoreLocation | None = None
    run: str | None = None
    about: str | None = None
    file: str | None = None
    leave_out: tuple[str, ...] = ()
    dry: bool = False

    @property
    def whole(self) -> bool:
        """Whether all is said that the action needs."""
        needed = {"probe": (), "record": (self.file,), "copy-run": (self.source, self.run)}[self.action]
        return None not in needed


@dataclass(frozen=True, slots=True)
class Brought:
    """A gate with what was found at it. `refusal`: why it is shut, as the journal has it."""

    gate: Gate
    steps: tuple[Step, ...]
    preview: Preview | None
    refusal: StoreError | None = None
    outcome: Outcome | None = None  # of a dry run, which ends here


class Passage:
    """One action, from being asked for to its end. `allowed`: the program was started with --allow-writes."""

    def __init__(self, target: StoreLocation, asked: Asked, *, allowed: bool, policy: WritePolicy) -> None:
        self.target = target
        self.asked = asked
        self.brought: Brought | None = None
        self.outcome: Outcome | None = None
        self.told: Told | None = None
        self.stopping = False
        self.leaving = False  # somebody wants to leave the program meanwhile
        self.begun = 0.0  # monotonic
        self._allowed, self._policy = allowed, policy
        self._source: StateDB | None = None
        self._opening = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    @property
    def writing(self) -> bool:
        return self._task is not None

    @property
    def steps(self) -> tuple[Step, ...]:
        """The six steps as they are while the gate can be passed, and after an action, when it is shut again;
        otherwise as they were seen last, which says why it is shut."""
        if self.brought is None:
            return steps_before(self.target, Choice(), allowed=self._allowed, policy=self._policy)
        written = self.outcome is not None and not self.asked.dry
        return self.brought.gate.steps if self.passable or written else self.brought.steps

    @property
    def passable(self) -> bool:
        """Whether all but the name of the lineage holds, so that it is worth typing."""
        at = self.brought
        if at is None or at.refusal is not None or self.outcome is not None or self.writing:
            return False
        return all(step.held for step in at.gate.steps[:5])

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def leave_out(self, words: tuple[str, ...]) -> bool:
        """Goes on without these from now on; whether that can be said now."""
        if not self.writing:
            self.asked = replace(self.asked, leave_out=words)
        return not self.writing

    # -- to the gate -------------------------------------------------------------------------------------

    async def bring(
        self,
        profile: str | None,
        choice: Choice,
        *,
        whole: bool = False,
        moved: Callable[[], None] | None = None,
    ) -> Brought:
        """Asks every step anew. What is known to be refused is told to the journal, once.

        `profile` names another than the chosen one. Nothing is asked of the store before a profile is chosen
        and, where it has owners, an owner. `moved` is called as a long run is read. Raises StoreError where
        the source cannot be opened or a journal cannot be written.
        """
        try:
            action = await self._action(moved)
        except StoreError as unread:
            await asyncio.to_thread(self._not_brought, unread, choice)
            raise
        gate = Gate(action, self.target, allowed=self._allowed, policy=self._policy)
        name = profile or (choice.profile.source if choice.profile is not None else None)
        await gate.choose_profile(name)
        if gate.profile is not None and gate.profile.owner is not None:
            gate.choose_owner(choice.owner)
        needs_owner = (
            gate.profile is not None and gate.profile.owner is not None and self.target.path is not None
        )
        ready = gate.profile is not None and (gate.owner is not None or not needs_owner)
        if ready:
            await gate.admit()
            await gate.prepare(detailed=None if whole else DETAILED)
            gate.shown()
        steps, preview = gate.steps, gate.preview
        known = [step.refusal for step in steps[:5] if step.refusal is not None]
        if self.asked.dry and ready:
            outcome = await asyncio.to_thread(gate.tried)
            error = outcome.error if isinstance(outcome.error, StoreError) else None
            return Brought(gate, steps, preview, error, None if error is not None else outcome)
        error = gate.profile_error or (known[0] if known and ready else None)
        if error is not None:
            await asyncio.to_thread(gate.refused, error)
        return Brought(gate, steps, preview, error)

    def take(self, brought: Brought) -> None:
        """What was found last is what holds."""
        self.brought, self.outcome, self.told = brought, brought.outcome, None

    async def _action(self, moved: Callable[[], None] | None) -> Action:
        asked = self.asked
        if asked.action == "copy-run":
            from inspector.actions.copying import CopyRun

            return CopyRun(await self._source_db(), asked.run or "", asked.leave_out, self._telling(moved))
        if asked.action == "record":
            return await _recorded(asked.file or "", self.target)
        return Probe()

    def _not_brought(self, error: StoreError, choice: Choice) -> None:
        """The journal has also what was refused before there was a gate."""
        asked, profile = self.asked, choice.profile
        source = asked.file if asked.source is None else f"{asked.source.display} {asked.run}"
        tell_refused(
            asked.action, self.target, error,
            profile=None if profile is None else profile.identity, owner=choice.owner, source=source,
        )  # fmt: skip

    def _telling(self, moved: Callable[[], None] | None) -> Callable[[Told], None]:
        """Keeps how far it is, and says so now and then."""
        said = 0.0

        def tell(told: Told) -> None:
            nonlocal said
            self.told = told
            if moved is not None and time.monotonic() - said >= PAUSE:
                said = time.monotonic()
                moved()

        return tell

    async def _source_db(self) -> StateDB:
        """The store the run is taken from, open for reading until another action is asked for."""
        from persistence import StateDB

        async with self._opening:
            if self._source is None:
                opened = StateDB(self.asked.source)
                await opened.open()
                self._source = opened
        return self._source

    # -- through it --------------------------------------------------------------------------------------

    async def refused(self, lineage: str) -> None:
        """Someone wants to pass with this name, and the gate is shut: that is told to the journal."""
        at = self.brought
        if at is None:
            return
        gate = at.gate
        gate.type_lineage(lineage)
        steps, error = gate.steps, gate.refusal()
        if error is not None:
            await asyncio.to_thread(gate.refused, error)
            self.brought = Brought(gate, steps, at.preview, error)

    def go(self, moved: Callable[[], None]) -> None:
        """Goes through the open gate. `moved` is called, on the loop's thread, when there is news."""
        at = self.brought
        if at is None or self.writing or not at.gate.is_open:
            return
        # What is read meanwhile is the gate as it was when it was passed; afterwards it is shut.
        self.brought = replace(at, steps=at.gate.steps)
        self.begun, self.told, self.stopping = time.monotonic(), None, False
        self._task = asyncio.get_running_loop().create_task(self._passed(at.gate, moved))

    async def _passed(self, gate: Gate, moved: Callable[[], None]) -> None:
        try:
            self.outcome = await gate.run(self._telling(moved))
        except asyncio.CancelledError as error:
            found = error.args[0] if error.args else None
            self.outcome = (
                found if isinstance(found, Outcome) else Outcome("interrupted", None, (), 0.0, error)
            )
        except StoreError as error:
            self.outcome = Outcome("refused", None, (), 0.0, error)
        finally:
            self._task = None
            moved()

    def stop(self) -> bool:
        """Stops the action: what was sent is waited for, and the run is ended as cancelled."""
        if self._task is None or self.stopping:
            return False
        self.stopping = True
        return self._task.cancel()

    async def ended(self) -> None:
        """Waits until nothing is written any more."""
        while self._task is not None:
            with suppress(asyncio.CancelledError):
                await asyncio.wait([self._task])
                await asyncio.sleep(0)

    async def close(self) -> None:
        """Stops, waits, and lets go of the source."""
        self.stop()
        await self.ended()
        source, self._source = self._source, None
        if source is not None:
            with suppress(StoreError):
                await source.close()


def steps_before(
    target: StoreLocation, choice: Choice, *, allowed: bool, policy: WritePolicy
) -> tuple[Step, ...]:
    """The steps before anything is asked: what was chosen so far, and whether this program may write."""
    gate = Gate(Probe(), target, allowed=allowed, policy=policy)
    gate.profile, gate.owner = choice.profile, choice.owner
    return gate.steps


async def _recorded(file: str, target: StoreLocation) -> Action:
    """The action over a plain file; a pipe would have to be read before it could be previewed."""
    from inspector.cli.input_lines import input_of

    if not await asyncio.to_thread(Path(file).is_file):
        raise StoreError(
            "A run is recorded here from a file.",
            code="input-unread",
            where=file,
            expected="a plain file of JSON lines",
            observed="no plain file" if await asyncio.to_thread(Path(file).exists) else "no such file",
            remedy="Name another one; what another program writes goes through `store-inspector record`.",
        )
    return await input_of(file, target.display if target.path is None else target.fspath, live=True)
