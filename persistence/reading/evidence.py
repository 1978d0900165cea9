"""Artifacts, recorded verifications, status transitions and administrative events (ADR-0055 D1, D4, D5).

An artifact row is the latest structured outcome of its name, and a verification what was once observed:
neither holds the bytes of a file. `file_path` is a reference, returned as it is stored.
"""

from __future__ import annotations

from typing import Any

from persistence.reading.filters import Filters
from persistence.reading.page import Page
from persistence.reading.query import By, Listing, find, listed
from persistence.reading.store import ReadingSurface
from persistence.schema.known import entity_type

__all__ = ["EvidenceReading"]

_ARTIFACTS = Listing("artifacts", (By("created_at"),))
_TRANSITIONS = Listing("status_transitions", (By("created_at"),))
_EVENTS = Listing("admin_events", (By("created_at", True),))


class EvidenceReading(ReadingSurface):
    """The evidence group's reads."""

    async def get_artifact(self, artifact_id: str) -> dict[str, Any] | None:
        """One artifact's row, or None."""
        return await find(self._reading, "artifacts", Filters(id=artifact_id))

    async def list_artifacts(
        self,
        *,
        kind: str | None = None,
        name: str | None = None,
        session_id: str | None = None,
        invocation_id: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """Artifacts, oldest first."""
        filters = Filters(session_id=session_id, invocation_id=invocation_id, kind=kind, name=name)
        return await listed(self._reading, _ARTIFACTS, filters, limit=limit, after=after)

    async def list_artifacts_for_session(
        self, session_id: str, *, limit: int | None = None, after: str | None = None
    ) -> Page:
        """The artifacts that name this session, oldest first."""
        return await self.list_artifacts(session_id=session_id, limit=limit, after=after)

    async def list_artifacts_for_invocation(
        self, invocation_id: str, *, limit: int | None = None, after: str | None = None
    ) -> Page:
        """The artifacts that name this invocation, oldest first."""
        return await self.list_artifacts(invocation_id=invocation_id, limit=limit, after=after)

    async def get_artifact_contract(self, session_id: str) -> Any:
        """The files a session was expected to leave, as recorded; None when there is no contract."""
        return await self._of_session(session_id, "artifact_contract_json")

    async def get_artifact_verification(self, session_id: str) -> Any:
        """What was observed of those files when they were last checked; None when they were not.

        An observation of that moment (`checked_at`): no bytes were kept.
        """
        return await self._of_session(session_id, "artifact_verification_json")

    async def _of_session(self, session_id: str, column: str) -> Any:
        row = await find(self._reading, "sessions", Filters(id=session_id))
        return None if row is None else row.get(column)

    async def get_status_transition(self, transition_id: str) -> dict[str, Any] | None:
        """One change of a status, or None."""
        return await find(self._reading, "status_transitions", Filters(id=transition_id))

    async def list_status_transitions(
        self,
        entity: str | None = None,
        entity_id: str | None = None,
        *,
        reason_code: str | None = None,
        since: float | None = None,
        before: float | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """An entity's status history, oldest first. `run` and plural table names are taken for `entity`."""
        filters = (
            Filters(
                entity_type=None if entity is None else entity_type(entity),
                entity_id=entity_id,
                reason_code=reason_code,
            )
            .since("created_at", since)
            .before("created_at", before)
        )
        return await listed(self._reading, _TRANSITIONS, filters, limit=limit, after=after)

    async def get_admin_event(self, event_id: str) -> dict[str, Any] | None:
        """One administrative event, or None."""
        return await find(self._reading, "admin_events", Filters(id=event_id))

    async def list_admin_events(
        self,
        *,
        action: str | None = None,
        target_id: str | None = None,
        actor: str | None = None,
        since: float | None = None,
        before: float | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """Administrative events, the latest first."""
        filters = (
            Filters(action=action, target_id=target_id, actor=actor)
            .since("created_at", since)
            .before("created_at", before)
        )
        return await listed(self._reading, _EVENTS, filters, limit=limit, after=after)
