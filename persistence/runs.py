"""Recording one fresh run into a store that is open for writing: set-up, messages as they come, teardown.

Everything goes through the facade's own operations, so that what a store's writer refuses is refused here
too. At teardown the run's expected files are looked at (ADR-0055 D5), and the observation is kept on the
session; then its terminal status is written.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from persistence.artifacts import ArtifactContract, VerificationResult, verify_artifact_contract

if TYPE_CHECKING:
    from persistence.statedb import StateDB

__all__ = ["RunRecorder", "record_run"]


@dataclass
class RunRecorder:
    """One run: a session, its branch, and a progression for each.

    `contract` is what the run is expected to leave beneath `artifacts_root`. Ids that are not given are new.
    """

    db: StateDB
    session_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    branch_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    contract: ArtifactContract | None = None
    artifacts_root: str | None = None
    verification: VerificationResult | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._progressions = (str(uuid.uuid4()), str(uuid.uuid4()))

    async def begin(self, **session: Any) -> None:
        """Makes the run's rows; `session` are further columns of its session. It is running then."""
        ordered, spoken = self._progressions
        await self.db.create_progression(ordered)
        await self.db.create_progression(spoken)
        await self.db.create_session(
            {
                "status": "running",
                "started_at": time.time(),
                "artifacts_path": self.artifacts_root,
                "artifact_contract_json": self.contract,
                **session,
                "id": self.session_id,
                "progression_id": ordered,
            }
        )
        await self.db.create_branch(
            {"id": self.branch_id, "session_id": self.session_id, "progression_id": spoken}
        )

    async def message(self, message: Mapping[str, Any]) -> None:
        """Keeps a message as it comes: the row, its place in both progressions and the session's clocks are
        one transaction."""
        await self.db.insert_messages(
            [message], progression_ids=self._progressions, session_id=self.session_id
        )

    async def signal(self, kind: str, payload: Mapping[str, Any], *, op_id: str = "") -> int:
        """Keeps a signal of the run, and returns its number."""
        return await self.db.insert_session_signal(
            session_id=self.session_id, kind=kind, op_id=op_id, ts=time.time(), payload=payload
        )

    async def end(self, status: str, reason_code: str, *, summary: str = "") -> None:
        """Looks at the expected files and keeps what was seen, then ends the branch and writes the status."""
        if self.contract is not None:
            self.verification = await asyncio.to_thread(
                verify_artifact_contract, dict(self.contract), artifacts_root=self.artifacts_root
            )
            await self.db.update_artifact_verification(self.session_id, self.verification)
        await self.db.finalize_branch(self.branch_id, status=status)
        await self.db.update_status(
            "session", self.session_id, new_status=status, reason_code=reason_code, reason_summary=summary
        )


@asynccontextmanager
async def record_run(
    db: StateDB,
    *,
    contract: ArtifactContract | None = None,
    artifacts_root: str | None = None,
    **session: Any,
) -> AsyncIterator[RunRecorder]:
    """A run for as long as a block lasts: completed at its end, cancelled or failed when it raises.

    What raises in the block is raised on; a store that refuses a write raises its own error, so no run
    seems to have succeeded whose rows are not there.
    """
    recorder = RunRecorder(db, contract=contract, artifacts_root=artifacts_root)
    await recorder.begin(**session)
    try:
        yield recorder
    except asyncio.CancelledError:
        await asyncio.shield(recorder.end("cancelled", "run.cancelled.system"))
        raise
    except BaseException as error:
        await recorder.end("failed", "run.failed.exception", summary=type(error).__name__)
        raise
    await recorder.end("completed", "run.completed.ok")
