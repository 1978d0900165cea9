"""The store's own rows, projects, signals, controls, engine runs, tags and approvals (ADR-0055 D1)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from persistence.reading.filters import Filters
from persistence.reading.page import Page
from persistence.reading.query import By, Listing, find, listed
from persistence.reading.store import ReadingSurface

__all__ = ["ControlReading"]

_META = Listing("schema_meta", key=("key",))
_PROJECTS = Listing("projects", (By("updated_at", True),), key=("name",))
_SIGNALS = Listing("session_signals", (By("seq"),))
_CONTROLS = Listing("session_controls", (By("created_at"),))
_ENGINE_RUNS = Listing("engine_runs", (By("started_at", True),))
_TAGS = Listing("run_tags", (By("created_at"),), key=("session_id", "tag"))
_APPROVALS = Listing("approvals", (By("proposed_at", True),))
_EVIDENCE = Listing("approval_evidence", (By("sequence"),))


class ControlReading(ReadingSurface):
    """The state and control group's reads."""

    async def schema_version(self) -> str | None:
        """The version row as text, whatever is in it; None when there is none."""
        value = await self.get_meta("version")
        return value if value is None or isinstance(value, str) else str(value)

    async def get_meta(self, key: str) -> Any:
        """The value of one `schema_meta` row; None when there is none."""
        row = await find(self._reading, "schema_meta", Filters(key=key))
        return None if row is None else row.get("value")

    async def list_meta(self) -> Page:
        """Every `schema_meta` row, by key."""
        return await listed(self._reading, _META)

    async def get_project(self, name: str) -> dict[str, Any] | None:
        """One project's row, or None."""
        return await find(self._reading, "projects", Filters(name=name))

    async def list_projects(
        self, *, source: str | None = None, limit: int | None = None, after: str | None = None
    ) -> Page:
        """Projects, the latest changed first."""
        filters = Filters(source=source)
        return await listed(self._reading, _PROJECTS, filters, limit=limit, after=after)

    async def get_session_signal(self, signal_id: str) -> dict[str, Any] | None:
        """One signal's row, or None."""
        return await find(self._reading, "session_signals", Filters(id=signal_id))

    async def list_session_signals(
        self,
        session_id: str | None = None,
        *,
        kind: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """A session's signals (None: every session's) by their number."""
        filters = Filters(session_id=session_id, kind=kind)
        return await listed(self._reading, _SIGNALS, filters, limit=limit, after=after)

    async def get_session_signals_after(
        self, session_id: str, after_seq: int, *, limit: int | None = 500
    ) -> Page:
        """A session's signals with a number above `after_seq`, in order: what following a run asks for."""
        filters = Filters(session_id=session_id).above("seq", after_seq)
        return await listed(self._reading, _SIGNALS, filters, limit=limit)

    async def get_session_control(self, control_id: str) -> dict[str, Any] | None:
        """One control's row, or None."""
        return await find(self._reading, "session_controls", Filters(id=control_id))

    async def list_session_controls(
        self,
        session_id: str | None = None,
        *,
        pending: bool | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """A session's controls (None: every session's), oldest first; `pending`: not applied yet."""
        filters = Filters(session_id=session_id).null("applied_at", pending)
        return await listed(self._reading, _CONTROLS, filters, limit=limit, after=after)

    async def list_pending_session_controls(self, session_id: str) -> Page:
        """A session's controls that were not applied yet, oldest first."""
        return await self.list_session_controls(session_id, pending=True)

    async def get_engine_run(self, run_id: str) -> dict[str, Any] | None:
        """One engine run's row, or None."""
        return await find(self._reading, "engine_runs", Filters(id=run_id))

    async def list_engine_runs(
        self,
        *,
        kind: str | None = None,
        status: str | Collection[str | None] | None = None,
        session_id: str | None = None,
        invocation_id: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """Engine runs, the latest started first."""
        filters = Filters(kind=kind, status=status, session_id=session_id, invocation_id=invocation_id)
        return await listed(self._reading, _ENGINE_RUNS, filters, limit=limit, after=after)

    async def list_run_tags(
        self,
        session_id: str | None = None,
        *,
        tag: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """Tags of a session, or sessions of a tag, in the order they were given."""
        filters = Filters(session_id=session_id, tag=tag)
        return await listed(self._reading, _TAGS, filters, limit=limit, after=after)

    async def get_approval(self, approval_id: str) -> dict[str, Any] | None:
        """One approval's row, or None."""
        return await find(self._reading, "approvals", Filters(id=approval_id))

    async def list_approvals(
        self,
        *,
        session_id: str | None = None,
        status: str | Collection[str | None] | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """Approvals, the latest proposed first."""
        filters = Filters(session_id=session_id, status=status)
        return await listed(self._reading, _APPROVALS, filters, limit=limit, after=after)

    async def list_approval_evidence(
        self, approval_id: str | None = None, *, limit: int | None = None, after: str | None = None
    ) -> Page:
        """The ledger of an approval (None: the whole ledger) in its sequence."""
        filters = Filters(approval_id=approval_id)
        return await listed(self._reading, _EVIDENCE, filters, limit=limit, after=after)
