"""Sessions, branches, messages, progressions and message types (ADR-0055 D1, D3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from persistence.errors import UnreadableValueError
from persistence.reading.filters import Filters
from persistence.reading.page import Page
from persistence.reading.query import By, Listing, count, find, find_in, listed, select_in
from persistence.reading.store import ReadingSurface
from persistence.reading.values import decode_embedding
from persistence.records import Unreadable

if TYPE_CHECKING:
    from persistence.engines.reader import Snapshot

__all__ = ["ConversationReading"]

_SESSIONS = Listing("sessions", (By("updated_at", True),))
_BRANCHES = Listing("branches", (By("created_at"),))
_MESSAGES = Listing("messages", (By("created_at"),))
_PROGRESSIONS = Listing("progressions", (By("created_at"),))
_TYPES = Listing("message_types", key=("type_id",))

_AT_ONCE = 500
"""Identifiers of one query; SQLite takes 999 parameters in its older builds."""


class ConversationReading(ReadingSurface):
    """The conversation group's reads."""

    async def get_session(self, session_id: str) -> dict[str, Any] | None:
        """One session's row, or None."""
        return await find(self._reading, "sessions", Filters(id=session_id))

    async def get_session_by_cc_id(self, cc_session_id: str) -> dict[str, Any] | None:
        """The latest session imported from this coding-assistant session, or None."""
        order = (By("updated_at", True),)
        return await find(self._reading, "sessions", Filters(cc_session_id=cc_session_id), order)

    async def list_sessions(
        self,
        *,
        status: str | Collection[str | None] | None = None,
        project: str | None = None,
        agent_name: str | None = None,
        model: str | None = None,
        invocation_kind: str | None = None,
        invocation_id: str | None = None,
        run_id: str | None = None,
        source_kind: str | None = None,
        show_topic: str | None = None,
        text: str | None = None,
        since: float | None = None,
        before: float | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """Sessions, the latest changed first. `status` may be several; None among them means without one.

        `text` is looked for in names, labels and identifiers; `since` (at or after) and `before` are about
        `updated_at`.
        """
        filters = (
            Filters(
                status=status,
                project=project,
                agent_name=agent_name,
                model=model,
                invocation_kind=invocation_kind,
                invocation_id=invocation_id,
                run_id=run_id,
                source_kind=source_kind,
                show_topic=show_topic,
            )
            .containing(("name", "user_label", "id", "run_id"), text)
            .since("updated_at", since)
            .before("updated_at", before)
        )
        return await listed(self._reading, _SESSIONS, filters, limit=limit, after=after)

    async def list_sessions_for_invocation(
        self, invocation_id: str, *, limit: int | None = None, after: str | None = None
    ) -> Page:
        """The sessions an invocation started, the first one first."""
        listing = Listing("sessions", (By("created_at"),), name="sessions of an invocation")
        filters = Filters(invocation_id=invocation_id)
        return await listed(self._reading, listing, filters, limit=limit, after=after)

    async def get_sessions_for_run(self, run_id: str) -> Page:
        """The sessions of one run, the first one first."""
        listing = Listing("sessions", (By("created_at"),), name="sessions of a run")
        return await listed(self._reading, listing, Filters(run_id=run_id))

    async def count_sessions(self, *, status: str | Collection[str | None] | None = None) -> int | None:
        """How many sessions there are (with one of these statuses); None when there is no such table."""
        return await count(self._reading, "sessions", Filters(status=status))

    async def get_branch(self, branch_id: str) -> dict[str, Any] | None:
        """One branch's row, or None."""
        return await find(self._reading, "branches", Filters(id=branch_id))

    async def list_branches(
        self, session_id: str | None = None, *, limit: int | None = None, after: str | None = None
    ) -> Page:
        """A session's branches (None: all there are), oldest first."""
        filters = Filters(session_id=session_id)
        return await listed(self._reading, _BRANCHES, filters, limit=limit, after=after)

    async def get_message(self, message_id: str) -> dict[str, Any] | None:
        """One message's row, or None.

        `embedding` is a list of numbers where the bytes are whole ones; `lion_class_str` is added: the
        class name message_types has for `lion_class`.
        """
        found = await self.get_messages([message_id])
        return found.get(message_id)

    async def get_messages(self, message_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The messages there are of those asked for, by id, from one snapshot."""
        ids = list(dict.fromkeys(message_ids))
        return await self._reading.reader.load(partial(self._messages, ids))

    async def _messages(self, ids: list[str], snapshot: Snapshot) -> dict[str, dict[str, Any]]:
        out: dict[str, dict[str, Any]] = {}
        for first in range(0, len(ids), _AT_ONCE):
            filters = Filters(id=ids[first : first + _AT_ONCE])
            for row in await select_in(self._reading, snapshot, "messages", filters):
                out[row["id"]] = row
        if out:
            await self._complete(list(out.values()), snapshot)
        return out

    async def _complete(self, rows: list[dict[str, Any]], snapshot: Snapshot) -> None:
        """Adds class names, and makes numbers of embeddings."""
        types = await select_in(self._reading, snapshot, "message_types", Filters())
        names = {row.get("type_id"): row.get("lion_class") for row in types}
        for row in rows:
            row["lion_class_str"] = names.get(row.get("lion_class"))
            if "embedding" in row:
                row["embedding"] = decode_embedding(row["embedding"])

    async def list_messages(
        self,
        *,
        role: str | None = None,
        sender: str | None = None,
        recipient: str | None = None,
        since: float | None = None,
        before: float | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """Messages, oldest first; a conversation's own order is its progression's. `since`: at or after."""
        filters = (
            Filters(role=role, sender=sender, recipient=recipient)
            .since("created_at", since)
            .before("created_at", before)
        )
        page = await listed(self._reading, _MESSAGES, filters, limit=limit, after=after)
        if page:
            await self._reading.reader.load(partial(self._complete, page))
        return page

    async def get_branch_messages(self, branch_id: str) -> list[dict[str, Any]]:
        """A branch's messages in progression order, from one snapshot; [] for a branch that is not there.

        Positions that name no message are left out; `transcript` keeps and marks them.
        """

        async def read(snapshot: Snapshot) -> list[dict[str, Any]]:
            branch = await find_in(self._reading, snapshot, "branches", Filters(id=branch_id))
            if branch is None:
                return []
            order = await self._collection(branch.get("progression_id"), snapshot)
            named = [entry for entry in order if isinstance(entry, str)]
            found = await self._messages(list(dict.fromkeys(named)), snapshot)
            return [found[entry] for entry in named if entry in found]

        return await self._reading.reader.load(read)

    async def get_progression(self, progression_id: str) -> list[str]:
        """The message ids in order; [] both for a missing progression and for an empty one (ADR-0055 D3).

        Raises UnreadableValueError when the stored collection is not a JSON list: [] would say it is empty.
        """
        return await self._reading.reader.load(partial(self._collection, progression_id))

    async def _collection(self, progression_id: Any, snapshot: Snapshot) -> list[str]:
        if progression_id is None:
            return []
        row = await find_in(self._reading, snapshot, "progressions", Filters(id=progression_id))
        collection = None if row is None else row.get("collection")
        if collection is None:
            return []
        if isinstance(collection, list):
            return collection
        why = collection.why if isinstance(collection, Unreadable) else type(collection).__name__
        raise UnreadableValueError(
            "The progression's collection is not a list of message ids.",
            where=f"progressions {progression_id}",
            expected="a JSON list",
            observed=why,
            remedy="Look at the raw cell; transcript() shows what of it can be read.",
        )

    async def list_progressions(self, *, limit: int | None = None, after: str | None = None) -> Page:
        """Progressions, oldest first, each with its whole collection (Unreadable where it is not JSON)."""
        return await listed(self._reading, _PROGRESSIONS, limit=limit, after=after)

    async def get_message_type(self, type_id: int) -> dict[str, Any] | None:
        """The message class this number stands for, or None."""
        return await find(self._reading, "message_types", Filters(type_id=type_id))

    async def list_message_types(self) -> Page:
        """Every message class the store has met, by its number."""
        return await listed(self._reading, _TYPES)
