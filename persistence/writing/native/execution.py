"""Invocations, shows and their plays, teams and what their members write (ADR-0055 D1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from persistence.engines.statements import Steps
from persistence.writing.native.changes import ChangingGroup
from persistence.writing.native.conversation import merged
from persistence.writing.native.lifecycle import TABLES, check_status, first_reason, first_status
from persistence.writing.native.rows import given, new_id, new_row, now
from persistence.writing.values import refuse

__all__ = ["ExecutionWrites"]


class ExecutionWrites(ChangingGroup):
    """Rows of things carried out. Each is made with the first transition of its status."""

    async def create_invocation(self, invocation: Mapping[str, Any]) -> None:
        """Adds one invocation; `id` and `skill` are needed, it is `running` unless said."""
        row = given("invocations", invocation, ("id", "skill"))
        row.setdefault("started_at", row.get("created_at") or now())
        await self._create("invocation", row, "running")

    async def update_invocation(self, invocation_id: str, **fields: Any) -> None:
        """Changes columns of an invocation; `status` as in `update_session`."""
        await self._change(
            "invocations", invocation_id, fields, entity="invocation", fixed=("session_count",)
        )

    async def merge_invocation_node_metadata(self, invocation_id: str, patch: Mapping[str, Any]) -> None:
        """Merges a patch into the invocation's metadata (RFC 7396) in one transaction."""
        if not isinstance(patch, Mapping):
            refuse("invocations.node_metadata", "A patch is a mapping.", "a mapping", type(patch).__name__)
        self._row("invocations", node_metadata=dict(patch))
        identity = self._key("invocations", invocation_id)
        await self._run(merged, "invocations", identity, patch, self._runner.dialect)

    async def create_show(self, show: Mapping[str, Any]) -> None:
        """Adds one show; `id`, `topic` and `show_dir` are needed. A topic is taken once."""
        await self._create("show", given("shows", show, ("id", "topic", "show_dir")), "active")

    async def update_show(self, show_id: str, **fields: Any) -> None:
        """Changes columns of a show; `status` as in `update_session`."""
        await self._change("shows", show_id, fields, entity="show")

    async def create_play(self, play: Mapping[str, Any]) -> None:
        """Adds one play; `id`, `show_id` and `name` are needed. A name is taken once in a show."""
        await self._create("play", given("plays", play, ("id", "show_id", "name")), "pending")

    async def update_play(self, play_id: str, **fields: Any) -> None:
        """Changes columns of a play; `status` as in `update_session`."""
        await self._change("plays", play_id, fields, entity="play", fixed=("show_id",))

    async def create_team(self, team: Mapping[str, Any]) -> None:
        """Adds one team; `id` and `name` are needed. `member_count` is that of `members` unless said."""
        row = given("teams", team, ("id", "name"))
        if row.get("member_count") is None and isinstance(row.get("members"), list | tuple):
            row["member_count"] = len(row["members"])
        await self._create("team", row, "active")

    async def update_team(self, team_id: str, **fields: Any) -> None:
        """Changes columns of a team; `status` as in `update_session`."""
        await self._change("teams", team_id, fields, entity="team")

    async def insert_team_message(self, message: Mapping[str, Any]) -> None:
        """Adds one message of a team; `team_id`, `sender` and `content` are needed."""
        row = given("team_messages", message, ("team_id", "sender", "content"))
        row.setdefault("id", new_id())
        row.setdefault("created_at", now())
        await self._run(new_row, "team_messages", self._row("team_messages", **row))

    async def _create(self, entity: str, row: dict[str, Any], first: str) -> None:
        """Adds a row that has a status, and its first transition."""
        name = TABLES[entity]
        row.setdefault("created_at", now())
        row.setdefault("updated_at", row["created_at"])
        status = row["status"] = row.get("status") or first
        check_status(entity, status)
        reason = row["status_reason_code"] = first_reason(entity, status, row.get("status_reason_code"))
        values = self._row(name, **row)
        dialect = self._runner.dialect

        def steps() -> Steps[None]:
            yield from new_row(name, values)
            yield from first_status(entity, row["id"], status, reason, f"create_{entity}", dialect)

        await self._runner.run(steps)
