"""The dispatch outbox, and what 0.36.0 keeps beside it: terminal deliveries, attention dispositions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from persistence.reading.filters import Filters
from persistence.reading.page import Page
from persistence.reading.query import By, Listing, find, listed
from persistence.reading.store import ReadingSurface

__all__ = ["DeliveryReading"]

_DISPATCHES = Listing("dispatch_outbox", (By("created_at"),))
_DELIVERED = Listing("terminal_deliveries", (By("acked_at"),), key=("transition_id", "consumer"))
_ATTENTION = Listing("attention_dispositions", (By("updated_at", True),), key=("item_id",))
_HISTORY = Listing("attention_disposition_history", (By("sequence"),))


class DeliveryReading(ReadingSurface):
    """The delivery group's reads."""

    async def get_dispatch(self, dispatch_id: str) -> dict[str, Any] | None:
        """One dispatch of the outbox, or None."""
        return await find(self._reading, "dispatch_outbox", Filters(id=dispatch_id))

    async def list_dispatches(
        self,
        *,
        status: str | Collection[str | None] | None = None,
        kind: str | None = None,
        session_id: str | None = None,
        schedule_run_id: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """The outbox, oldest first."""
        filters = Filters(status=status, kind=kind, session_id=session_id, schedule_run_id=schedule_run_id)
        return await listed(self._reading, _DISPATCHES, filters, limit=limit, after=after)

    async def list_terminal_deliveries(
        self,
        *,
        transition_id: str | None = None,
        consumer: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """Which consumer took note of which final transition, oldest first."""
        filters = Filters(transition_id=transition_id, consumer=consumer)
        return await listed(self._reading, _DELIVERED, filters, limit=limit, after=after)

    async def get_attention_disposition(self, item_id: str) -> dict[str, Any] | None:
        """What was decided about an item that asked for attention, or None."""
        return await find(self._reading, "attention_dispositions", Filters(item_id=item_id))

    async def list_attention_dispositions(
        self,
        *,
        state: str | Collection[str | None] | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """The dispositions, the latest changed first."""
        filters = Filters(state=state)
        return await listed(self._reading, _ATTENTION, filters, limit=limit, after=after)

    async def list_attention_history(
        self, item_id: str | None = None, *, limit: int | None = None, after: str | None = None
    ) -> Page:
        """How an item's disposition (None: every item's) changed, in sequence."""
        filters = Filters(item_id=item_id)
        return await listed(self._reading, _HISTORY, filters, limit=limit, after=after)
