"""A session's expected files: the contract, what was recorded, a fresh look beside it (ADR-0055 D5)."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persistence.artifacts import ContractObservation, observe_artifact_contract
from persistence.errors import StoreError
from persistence.reading.filters import Filters
from persistence.reading.query import find
from persistence.records import Unreadable

if TYPE_CHECKING:
    from persistence.reading.store import StoreReading

__all__ = ["Verification", "verification"]


@dataclass(frozen=True, slots=True)
class Verification:
    """`contract` and `recorded` as the session keeps them, decoded (None: none, Unreadable: broken).

    `now` is an observation of this moment, not evidence; None where `why` says what kept it from being made.
    """

    session_id: str
    name: Any
    root: Any
    contract: Any
    recorded: Any
    now: ContractObservation | None = None
    why: str | None = None


async def verification(reading: StoreReading, session_id: str) -> Verification | None:
    """The session's contract, looked at now beneath its artifacts folder; None: there is no such session."""
    row = await find(reading, "sessions", Filters(id=session_id))
    if row is None:
        return None
    contract, root = row.get("artifact_contract_json"), row.get("artifacts_path")
    now: ContractObservation | None = None
    why: str | None = None
    if contract is None:
        why = "no contract is recorded"
    elif isinstance(contract, Unreadable):
        why = f"the contract is not readable: {contract.why}"
    elif root is not None and not (isinstance(root, str) and Path(root).is_absolute()):
        why = "the artifacts folder is no absolute path, and relative to what is not recorded"
    else:
        try:
            now = await asyncio.to_thread(_observed, contract, root)
        except StoreError as error:
            why = error.message
    recorded = row.get("artifact_verification_json")
    return Verification(session_id, row.get("name"), root, contract, recorded, now, why)


def _observed(contract: Mapping[str, Any], root: str | None) -> ContractObservation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unknown keys are told where the contract is made
        return observe_artifact_contract(contract, artifacts_root=root)
