"""The dispatch outbox: what is to be handed on, and how far that got (ADR-0055 D1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from persistence.engines.statements import Steps
from persistence.writing.native.changes import ChangingGroup
from persistence.writing.native.rows import (
    changed_row,
    given,
    new_id,
    new_row,
    now,
    select_for_update,
    table,
)
from persistence.writing.values import refuse

__all__ = ["DeliveryWrites"]


class DeliveryWrites(ChangingGroup):
    """Dispatches. Their statuses are held by the table's own check."""

    async def enqueue_dispatch(self, dispatch: Mapping[str, Any]) -> str:
        """Adds a dispatch and returns its id; `kind`, `deliver_to` and `payload` are needed.

        One with the same `dedup_key` that is there already is the same dispatch: its id is returned.
        """
        row = given("dispatch_outbox", dispatch, ("kind", "deliver_to"))
        if "payload" not in row:
            refuse("dispatch_outbox.payload", "A dispatch needs its payload.", "a payload", "none")
        moment = now()
        row.setdefault("id", new_id())
        for column in ("created_at", "updated_at", "next_attempt_at"):
            row.setdefault(column, moment)
        values = self._row("dispatch_outbox", **row)
        dedup = row.get("dedup_key")

        def steps() -> Steps[str]:
            if dedup is not None:
                same = yield select_for_update("dispatch_outbox", "dedup_key", ("id",))(k_dedup_key=dedup)
                if same.first is not None:
                    return str(same.first[0])
            yield from new_row("dispatch_outbox", values)
            return str(row["id"])

        return await self._runner.run(steps)

    async def update_dispatch(self, dispatch_id: str, **fields: Any) -> bool:
        """Changes columns of a dispatch; with `expected_statuses` only while its status is one of them.

        False when it was not, or when there is no such dispatch.
        """
        expected = fields.pop("expected_statuses", None)
        columns = table("dispatch_outbox").c
        for column in fields:
            if column in ("id", "created_at") or column not in columns:
                refuse(f"dispatch_outbox.{column}", "This cannot be changed.", "another column", column)
        values = self._row("dispatch_outbox", **{"updated_at": now(), **fields})
        dispatch = self._key("dispatch_outbox", dispatch_id)

        def steps() -> Steps[bool]:
            found = (yield select_for_update("dispatch_outbox", "id", ("status",))(k_id=dispatch)).first
            if found is None or (expected is not None and found[0] not in expected):
                return False
            return (yield from changed_row("dispatch_outbox", "id", dispatch, values))

        return await self._runner.run(steps)
