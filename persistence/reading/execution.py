"""Invocations, shows and their plays, teams and their messages (ADR-0055 D1)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from persistence.reading.filters import Filters
from persistence.reading.page import Page
from persistence.reading.query import By, Listing, count, find, listed
from persistence.reading.store import ReadingSurface

__all__ = ["ExecutionReading"]

_INVOCATIONS = Listing("invocations", (By("updated_at", True),))
_SHOWS = Listing("shows", (By("updated_at", True),))
_PLAYS = Listing("plays", (By("sort_order"), By("created_at")))
_TEAMS = Listing("teams", (By("updated_at", True),))
_TEAM_MESSAGES = Listing("team_messages", (By("created_at"),))


class ExecutionReading(ReadingSurface):
    """The execution group's reads."""

    async def get_invocation(self, invocation_id: str) -> dict[str, Any] | None:
        """One invocation's row, or None."""
        return await find(self._reading, "invocations", Filters(id=invocation_id))

    async def list_invocations(
        self,
        *,
        skill: str | None = None,
        plugin: str | None = None,
        status: str | Collection[str | None] | None = None,
        since: float | None = None,
        before: float | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """Invocations, the latest changed first; `since` (at or after), `before` are about `started_at`."""
        filters = (
            Filters(skill=skill, plugin=plugin, status=status)
            .since("started_at", since)
            .before("started_at", before)
        )
        return await listed(self._reading, _INVOCATIONS, filters, limit=limit, after=after)

    async def count_invocations(
        self,
        *,
        skill: str | None = None,
        plugin: str | None = None,
        status: str | Collection[str | None] | None = None,
    ) -> int | None:
        """How many invocations there are; None when there is no such table."""
        filters = Filters(skill=skill, plugin=plugin, status=status)
        return await count(self._reading, "invocations", filters)

    async def get_show(self, show_id: str) -> dict[str, Any] | None:
        """One show's row, or None."""
        return await find(self._reading, "shows", Filters(id=show_id))

    async def get_show_by_topic(self, topic: str) -> dict[str, Any] | None:
        """The show with this topic (unique), or None."""
        return await find(self._reading, "shows", Filters(topic=topic))

    async def list_shows(
        self,
        *,
        status: str | Collection[str | None] | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """Shows, the latest changed first."""
        filters = Filters(status=status)
        return await listed(self._reading, _SHOWS, filters, limit=limit, after=after)

    async def get_play(self, play_id: str) -> dict[str, Any] | None:
        """One play's row, or None."""
        return await find(self._reading, "plays", Filters(id=play_id))

    async def list_plays(
        self,
        show_id: str | None = None,
        *,
        status: str | Collection[str | None] | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """A show's plays (None: all there are) in the order they were laid out."""
        filters = Filters(show_id=show_id, status=status)
        return await listed(self._reading, _PLAYS, filters, limit=limit, after=after)

    async def get_team(self, team_id: str) -> dict[str, Any] | None:
        """One team's row, or None."""
        return await find(self._reading, "teams", Filters(id=team_id))

    async def list_teams(
        self,
        *,
        status: str | Collection[str | None] | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """Teams, the latest changed first."""
        filters = Filters(status=status)
        return await listed(self._reading, _TEAMS, filters, limit=limit, after=after)

    async def get_team_message(self, message_id: str) -> dict[str, Any] | None:
        """One message of a team, or None."""
        return await find(self._reading, "team_messages", Filters(id=message_id))

    async def list_team_messages(
        self,
        team_id: str | None = None,
        *,
        session_id: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page:
        """What a team's members wrote (None: every team's), oldest first."""
        filters = Filters(team_id=team_id, session_id=session_id)
        return await listed(self._reading, _TEAM_MESSAGES, filters, limit=limit, after=after)
