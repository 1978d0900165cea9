"""Recording one fresh run into a store that is open for writing: set-up, messages as they come, teardown.

Everything goes through the facade's own operations, natively and in compatibility mode alike, so what a
store's writer refuses is refused here too. A busy store is asked again; a refusal is raised, and a run one of
whose writes was refused never ends as one that succeeded (ADR-0128 D6).

Cancelling is safe at every await: a write that was begun goes on to its end, so what was committed is known,
and a run whose session exists gets an end.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from persistence.artifacts import ArtifactContract, VerificationResult, verify_artifact_contract
from persistence.errors import (
    ConstraintError,
    StateCompatibilityRefused,
    StoreError,
)
from persistence.live_queue import LiveMessage, LiveQueue
from persistence.mode import Mode
from persistence.retrying import PATIENCE, retried, to_its_end
from persistence.run_events import HANDLERS, Handlers, RunEvent, RunEventKind, emit

if TYPE_CHECKING:
    from persistence.statedb import StateDB

__all__ = ["RunRecorder", "record_run"]

T = TypeVar("T")

_SUCCESS: Final = frozenset(("completed", "completed_empty"))
_OF_BRANCH: Final = ("model", "provider", "agent_name")


def _new() -> str:
    return str(uuid.uuid4())


@dataclass
class RunRecorder:
    """One run: a session, its branch, and a progression for each.

    `contract` is what the run is expected to leave beneath `artifacts_root`. Ids that are not given are new.
    `patience` is how long, in seconds, a busy store is asked again. `handlers` keep the events of the run,
    each with its own handle on it; `callbacks` are called when the final status is committed.
    """

    db: StateDB
    session_id: str = field(default_factory=_new)
    branch_id: str = field(default_factory=_new)
    contract: ArtifactContract | None = None
    artifacts_root: str | None = None
    patience: float = PATIENCE
    handlers: Handlers = field(default_factory=lambda: HANDLERS)
    callbacks: Sequence[Callable[[RunRecorder], Awaitable[None]]] = ()
    verification: VerificationResult | None = field(default=None, init=False)
    dropped_signals: int = field(default=0, init=False)
    project_registered: bool | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._progressions = (_new(), _new())
        self._live = LiveQueue(self._keep, self.patience)
        self._failed: Exception | None = None
        self._begun = self._branched = self._ended = False

    # -- set-up --------------------------------------------------------------------------------------

    async def begin(self, *, system: Mapping[str, Any] | None = None, **session: Any) -> None:
        """Makes the run's rows; `session` are further columns of its session, `system` the message its branch
        begins with. It is running then. What raises half way leaves a session that is made already as failed
        or cancelled."""
        try:
            await self._set_up(system, session)
        except asyncio.CancelledError:
            await self.abandon("cancelled", "run.cancelled.system")
            raise
        except BaseException as error:
            await self.abandon("failed", "run.failed.exception", summary=type(error).__name__)
            raise

    async def _set_up(self, system: Mapping[str, Any] | None, session: dict[str, Any]) -> None:
        db, (ordered, spoken) = self.db, self._progressions
        first = [] if system is None else [system["id"]]
        if system is not None:
            await self._write(lambda: db.insert_message(system))
            self._live.kept(system["id"])
        await self._write(lambda: db.create_progression(ordered, first))
        row = {
            "status": "running",
            "started_at": time.time(),
            "artifacts_path": self.artifacts_root,
            "artifact_contract_json": self.contract,
            **session,
            "id": self.session_id,
            "progression_id": ordered,
        }
        await self._write(lambda: db.create_session(row), self._session_is_there)
        if self.db.mode is Mode.NATIVE and session.get("project") is not None:
            await self._register_project(session)
        await self._tell(RunEventKind.SESSION_START, row)
        await self._write(lambda: db.create_progression(spoken, first))
        branch: dict[str, Any] = {"id": self.branch_id, "session_id": self.session_id}
        branch["progression_id"] = spoken
        branch |= {name: session.get(name) for name in _OF_BRANCH}
        if system is not None:
            branch["system_msg_id"] = system["id"]
        await self._write(lambda: db.create_branch(branch), self._branch_is_there)
        await self._tell(RunEventKind.BRANCH_CREATE, branch)

    async def _register_project(self, session: Mapping[str, Any]) -> None:
        """Natively a run's project is noted after its session, on its own; that it fails, fails nothing else.
        A managed store keeps the name on the session's row alone."""
        try:
            await self.db.register_project(session["project"], session.get("project_source") or "run")
        except StoreError:
            self.project_registered = False
        else:
            self.project_registered = True

    def _session_is_there(self) -> None:
        self._begun = True

    def _branch_is_there(self) -> None:
        self._branched = True

    # -- while it runs -------------------------------------------------------------------------------

    async def message(self, message: Mapping[str, Any], *, system: bool = False) -> None:
        """Keeps a message as it comes: the row, its place in both progressions and the session's clocks are
        one transaction. `system`: the branch begins with it.

        While the store is busy messages wait in their order, and this returns; past `WAITING` of them it
        waits too. Raises what the writer raised for this message or an earlier one, a refusal above all; for
        a value no store can keep (ValueRefusedError) that is all, and the run can go on.
        """
        self._raise_failed()
        try:
            await self._live.add(message, system=system)
        except StoreError as error:
            self._told(error)
            raise
        self._raise_failed()

    async def _keep(self, messages: Sequence[LiveMessage], kept: Callable[[LiveMessage], None]) -> None:
        if len(messages) > 1 and self.db.mode is Mode.COMPATIBILITY:
            waiting = iter(messages)
            calls = [(message.row, self._placed(message)) for message in messages]
            await self.db._writer.live_messages(calls, lambda: kept(next(waiting)))
            return
        for message in messages:
            await self.db.persist_live_message(message.row, **self._placed(message))
            kept(message)

    def _placed(self, message: LiveMessage) -> dict[str, Any]:
        ordered, spoken = self._progressions
        return {
            "session_id": self.session_id,
            "branch_progression_id": spoken,
            "session_progression_id": ordered,
            "system_branch_id": self.branch_id if message.system else None,
            "activity_at": message.at,
        }

    async def signal(self, kind: str, payload: Mapping[str, Any], *, op_id: str = "") -> int | None:
        """Keeps a signal of the run, and returns its number. One whose number another writer took at the same
        moment is dropped, not tried again: None."""
        self._raise_failed()

        def one() -> Awaitable[int]:
            return self.db.insert_session_signal(
                session_id=self.session_id, kind=kind, op_id=op_id, ts=time.time(), payload=payload
            )

        try:
            return await self._write(one)
        except ConstraintError:
            self.dropped_signals += 1
            return None

    async def provider_error(self, details: Mapping[str, Any]) -> None:
        """Keeps what a provider's error said, by key beside what the session's metadata has."""
        self._raise_failed()
        await self._write(
            lambda: self.db.merge_session_node_metadata(self.session_id, {"provider_error": dict(details)})
        )

    # -- teardown ------------------------------------------------------------------------------------

    async def end(
        self,
        status: str,
        reason_code: str,
        *,
        summary: str = "",
        usage: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Keeps what still waits, the run's last columns and what was seen of its expected files; then ends
        the branch and writes the status. `usage` are columns of token counts and costs, `metadata` keys.

        A run one of whose writes was refused is ended as failed, and what refused it is raised. One that has
        ended is left as it is.
        """
        if self._ended:
            return
        await to_its_end(self._end(status, reason_code, summary, dict(usage or {}), metadata))

    async def _end(
        self,
        status: str,
        reason_code: str,
        summary: str,
        usage: Mapping[str, Any],
        metadata: Mapping[str, Any] | None,
    ) -> None:
        try:
            await self._flush()
            await self._last_columns(usage, metadata)
            if self.contract is not None:
                await self._verify(self.contract)
        except Exception as error:
            await self.abandon("failed", "run.failed.exception", summary=type(error).__name__)
            raise
        await self._finish(status, reason_code, summary, usage)

    async def _flush(self) -> None:
        await self._live.flush()
        self._raise_failed()

    async def _last_columns(self, usage: Mapping[str, Any], metadata: Mapping[str, Any] | None) -> None:
        row = dict(usage)
        if self._live.first is not None:
            row |= {"first_msg_id": self._live.first, "last_msg_id": self._live.last}
        if metadata is not None:
            row["node_metadata"] = await self._metadata(metadata)
        if row:
            await self._write(lambda: self.db.update_session(self.session_id, **row))

    async def _metadata(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """What is given to the writer: in compatibility mode it merges keys within its transaction; natively
        it writes the whole, so that what is there is read and merged here."""
        if self.db.mode is Mode.COMPATIBILITY:
            return dict(keys)
        found = await self.db.get_session(self.session_id)
        stored = None if found is None else found["node_metadata"]
        return {**(stored if isinstance(stored, dict) else {}), **keys}

    async def _verify(self, contract: ArtifactContract) -> None:
        seen = self.verification = await asyncio.to_thread(
            verify_artifact_contract, dict(contract), artifacts_root=self.artifacts_root
        )
        await self._write(lambda: self.db.update_artifact_verification(self.session_id, seen))

    async def _finish(
        self, status: str, reason_code: str, summary: str, usage: Mapping[str, Any] | None = None
    ) -> None:
        if self._branched:
            await self._tell(RunEventKind.BRANCH_END, {"status": status})
        await self._write(
            lambda: self.db.update_status(
                "session",
                self.session_id,
                new_status=status,
                reason_code=reason_code,
                reason_summary=summary,
            )
        )
        self._ended = True
        await self._tell(RunEventKind.SESSION_END, {"status": status, **(usage or {})})
        for callback in self.callbacks:
            await callback(self)

    async def abandon(self, status: str, reason_code: str, *, summary: str = "") -> None:
        """Ends a run that is not to go on, as far as it came: its session, if it was made and has no end.

        What waits is not kept. Nothing is raised: what made the run end so is what its caller is to know.
        """
        if not self._begun or self._ended:
            return
        self._live.drop()
        try:
            await to_its_end(self._finish(status, reason_code, summary))
        except Exception as error:
            self._failed = self._failed or error

    # -- what all of it stands on --------------------------------------------------------------------

    async def _write(self, call: Callable[[], Awaitable[T]], done: Callable[[], None] | None = None) -> T:
        """One write: busy is asked again, each try goes on to its end; `done` is called when it is done."""

        async def one() -> T:
            answer = await call()
            if done is not None:
                done()
            return answer

        try:
            return await retried(lambda: to_its_end(one()), patience=self.patience)
        except StoreError as error:
            if isinstance(error, StateCompatibilityRefused):
                self._failed = self._failed or error
            self._told(error)
            raise

    async def _tell(self, kind: RunEventKind, details: Mapping[str, Any]) -> None:
        event = RunEvent(kind, self.session_id, self.branch_id, self.db, details=details)
        await self._write(lambda: emit(event, self.handlers))

    def _raise_failed(self) -> None:
        failed = self._failed or self._live.failed
        if failed is not None:
            raise self._told(failed)

    def _told(self, error: T) -> T:
        """An error names what this handle had committed before it."""
        return error.after(self.db.committed) if isinstance(error, StoreError) else error


@asynccontextmanager
async def record_run(
    db: StateDB,
    *,
    contract: ArtifactContract | None = None,
    artifacts_root: str | None = None,
    system: Mapping[str, Any] | None = None,
    **session: Any,
) -> AsyncIterator[RunRecorder]:
    """A run for as long as a block lasts: completed at its end, cancelled or failed when it raises.

    What raises in the block is raised on. So is what a store refused, also when the block went on after it:
    no run seems to have succeeded whose rows are not there.
    """
    recorder = RunRecorder(db, contract=contract, artifacts_root=artifacts_root)
    await recorder.begin(system=system, **session)
    try:
        yield recorder
    except asyncio.CancelledError:
        await _ended_as(recorder, "cancelled", "run.cancelled.system", "")
        raise
    except BaseException as error:
        await _ended_as(recorder, "failed", "run.failed.exception", type(error).__name__)
        raise
    await recorder.end("completed", "run.completed.ok")


async def _ended_as(recorder: RunRecorder, status: str, reason_code: str, summary: str) -> None:
    """Ends a run whose block raised; what raises in it is less than that."""
    try:
        await recorder.end(status, reason_code, summary=summary)
    except Exception:
        await recorder.abandon(status, reason_code, summary=summary)
