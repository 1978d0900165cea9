"""Schedules, the runs they made, and workers (ADR-0055 D1)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from persistence.reading.filters import Filters
from persistence.reading.page import Page
from persistence.reading.query import By, Listing, find, listed
from persistence.reading.store import ReadingSurface

__all__ = ["SchedulingReading"]

_SCHEDULES = Listing("schedules", (By("name"),))
_RUNS = Listing("schedule_runs", (By("fired_at", True),))
_WORKERS = Listing("workers", (By("last_heartbeat_at", True),), key=("worker_id",))


class SchedulingReading(ReadingSurface):
    """The scheduling group's reads."""

    async def get_schedule(self, schedule_id: str) -> dict[str, Any] | None:
        """One schedule's row, or None."""
        return await find(self._reading, "schedules", Filters(id=schedule_id))

    async def get_schedule_by_name(self, name: str) -> dict[str, Any] | None:
        """The schedule with this name (unique), or None."""
        return await find(self._reading, "schedules", Filters(name=name))

    async def list_schedules(
        self,
        *,
        enabled: bool | None = None,
        trigger_type: str | None = None,
        project: str | None = None,
        owner_key: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """Schedules by name."""
        filters = Filters(enabled=enabled, trigger_type=trigger_type, project=project, owner_key=owner_key)
        return await listed(self._reading, _SCHEDULES, filters, limit=limit, after=after)

    async def get_schedule_run(self, run_id: str) -> dict[str, Any] | None:
        """One run of a schedule, or None."""
        return await find(self._reading, "schedule_runs", Filters(id=run_id))

    async def get_schedule_run_by_invocation(self, invocation_id: str) -> dict[str, Any] | None:
        """The latest run that led to this invocation, or None."""
        filters = Filters(invocation_id=invocation_id)
        return await find(self._reading, "schedule_runs", filters, (By("fired_at", True),))

    async def list_schedule_runs(
        self,
        schedule_id: str | None = None,
        *,
        status: str | Collection[str | None] | None = None,
        since: float | None = None,
        before: float | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """A schedule's runs (None: all there are), the latest fired first. `since` is at or after."""
        filters = (
            Filters(schedule_id=schedule_id, status=status)
            .since("fired_at", since)
            .before("fired_at", before)
        )
        return await listed(self._reading, _RUNS, filters, limit=limit, after=after)

    async def get_worker(self, worker_id: str) -> dict[str, Any] | None:
        """One worker's row, or None."""
        return await find(self._reading, "workers", Filters(worker_id=worker_id))

    async def list_workers(self, *, limit: int | None = None, after: str | None = None) -> Page:
        """Workers, the latest heard from first."""
        return await listed(self._reading, _WORKERS, limit=limit, after=after)
