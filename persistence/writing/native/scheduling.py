"""Schedules and the runs they make (ADR-0055 D1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from persistence.writing.native.execution import ExecutionWrites
from persistence.writing.native.rows import given, new_row, now, removed_row

__all__ = ["SchedulingWrites"]


class SchedulingWrites(ExecutionWrites):
    """Schedules and schedule runs."""

    async def create_schedule(self, schedule: Mapping[str, Any]) -> None:
        """Adds one schedule; `id`, `name`, `trigger_type`, `action_kind` are needed. A name is taken once."""
        row = given("schedules", schedule, ("id", "name", "trigger_type", "action_kind"))
        row.setdefault("created_at", now())
        row.setdefault("updated_at", row["created_at"])
        await self._run(new_row, "schedules", self._row("schedules", **row))

    async def update_schedule(self, schedule_id: str, **fields: Any) -> bool:
        """Changes columns of a schedule; False when there is no such schedule."""
        return await self._change("schedules", schedule_id, fields)

    async def delete_schedule(self, schedule_id: str) -> bool:
        """Removes a schedule and its runs; False when there was none. A run that a worker holds, or that
        another run or a dispatch points to, is an integrity error."""
        return await self._run(removed_row, "schedules", "id", self._key("schedules", schedule_id))

    async def create_schedule_run(self, run: Mapping[str, Any]) -> None:
        """Adds one run of a schedule; `id` and `action_kind` are needed, it is `running` unless said."""
        row = given("schedule_runs", run, ("id", "action_kind"))
        row.setdefault("fired_at", row.get("created_at") or now())
        for column in ("trigger_context", "action_args"):
            if row.get(column) is None:
                row[column] = {}
        await self._create("schedule_run", row, "running")

    async def update_schedule_run(self, run_id: str, **fields: Any) -> None:
        """Changes columns of a schedule's run; `status` as in `update_session`, along its edges only."""
        await self._change("schedule_runs", run_id, fields, entity="schedule_run")
