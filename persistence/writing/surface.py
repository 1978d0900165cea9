"""The write methods of the facade (ADR-0055 D1-D5), each handed to the writer the store has.

Mappings hold column names and native values; identifiers are text, times seconds since 1970 (UTC). What
each does, and what it raises, is the writer's to say: a read-only store's refuses all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from persistence.writing.writer import Writer

__all__ = ["RecordWrites", "StoreWrites"]

Fields = Mapping[str, Any]


class RecordWrites:
    """Conversation, execution, scheduling and definitions."""

    _writer: Writer

    async def create_session(self, session: Fields) -> None:
        """Adds one session."""
        await self._writer.create_session(session)

    async def update_session(self, session_id: str, **fields: Any) -> None:
        """Changes columns of a session."""
        await self._writer.update_session(session_id, **fields)

    async def touch_session_activity(self, session_id: str, *, at: float | None = None) -> None:
        """Moves a session's last activity forward, never back."""
        await self._writer.touch_session_activity(session_id, at=at)

    async def merge_session_node_metadata(self, session_id: str, patch: Fields) -> None:
        """Merges keys into a session's metadata."""
        await self._writer.merge_session_node_metadata(session_id, patch)

    async def set_session_user_label(self, session_id: str, user_label: str | None) -> bool:
        """Gives a session a person's label, or takes it away; False when there is no such session."""
        return bool(await self._writer.set_session_user_label(session_id, user_label))

    async def attach_session_invocation(self, session_id: str, invocation_id: str) -> None:
        """Says which invocation a session belongs to."""
        await self._writer.attach_session_invocation(session_id, invocation_id)

    async def create_branch(self, branch: Fields) -> None:
        """Adds one branch."""
        await self._writer.create_branch(branch)

    async def update_branch(self, branch_id: str, **fields: Any) -> None:
        """Changes columns of a branch."""
        await self._writer.update_branch(branch_id, **fields)

    async def finalize_branch(self, branch_id: str, *, status: str, ended_at: float | None = None) -> bool:
        """Ends a branch that has not ended; False when it had, or is not there."""
        return bool(await self._writer.finalize_branch(branch_id, status=status, ended_at=ended_at))

    async def insert_message(self, msg: Fields) -> None:
        """Adds a message, or overwrites the one with its id."""
        await self._writer.insert_message(msg)

    async def insert_messages(
        self,
        msgs: Sequence[Fields],
        *,
        progression_ids: Sequence[str] = (),
        session_id: str | None = None,
        activity_at: float | None = None,
    ) -> None:
        """Adds messages and appends them to progressions, in one transaction."""
        await self._writer.insert_messages(
            msgs, progression_ids=progression_ids, session_id=session_id, activity_at=activity_at
        )

    async def persist_live_message(
        self,
        msg: Fields,
        *,
        session_id: str,
        branch_progression_id: str | None = None,
        session_progression_id: str | None = None,
        system_branch_id: str | None = None,
        activity_at: float | None = None,
    ) -> None:
        """Keeps a message of a run as it comes: its row, its place in both orders, and the session's clocks.

        For a system message `system_branch_id` names the branch that is begun by it."""
        await self._writer.persist_live_message(
            msg,
            session_id=session_id,
            branch_progression_id=branch_progression_id,
            session_progression_id=session_progression_id,
            system_branch_id=system_branch_id,
            activity_at=activity_at,
        )

    async def create_progression(self, progression_id: str, collection: list[str] | None = None) -> None:
        """Adds a progression; one that is there stays as it is."""
        await self._writer.create_progression(progression_id, collection)

    async def set_progression(self, progression_id: str, collection: list[str]) -> None:
        """Replaces a progression's whole order."""
        await self._writer.set_progression(progression_id, collection)

    async def append_to_progression(self, progression_id: str, message_id: str) -> None:
        """Appends a message id unless it is in the progression already."""
        await self._writer.append_to_progression(progression_id, message_id)

    async def extend_progression(self, progression_id: str, message_ids: Sequence[str]) -> None:
        """Appends several message ids in one transaction, each unless it is there already."""
        await self._writer.extend_progression(progression_id, message_ids)

    async def create_invocation(self, invocation: Fields) -> None:
        """Adds one invocation."""
        await self._writer.create_invocation(invocation)

    async def update_invocation(self, invocation_id: str, **fields: Any) -> None:
        """Changes columns of an invocation."""
        await self._writer.update_invocation(invocation_id, **fields)

    async def merge_invocation_node_metadata(self, invocation_id: str, patch: Fields) -> None:
        """Merges keys into an invocation's metadata."""
        await self._writer.merge_invocation_node_metadata(invocation_id, patch)

    async def create_show(self, show: Fields) -> None:
        """Adds one show."""
        await self._writer.create_show(show)

    async def update_show(self, show_id: str, **fields: Any) -> None:
        """Changes columns of a show."""
        await self._writer.update_show(show_id, **fields)

    async def create_play(self, play: Fields) -> None:
        """Adds one play."""
        await self._writer.create_play(play)

    async def update_play(self, play_id: str, **fields: Any) -> None:
        """Changes columns of a play."""
        await self._writer.update_play(play_id, **fields)

    async def create_team(self, team: Fields) -> None:
        """Adds one team."""
        await self._writer.create_team(team)

    async def update_team(self, team_id: str, **fields: Any) -> None:
        """Changes columns of a team."""
        await self._writer.update_team(team_id, **fields)

    async def insert_team_message(self, message: Fields) -> None:
        """Adds one message of a team."""
        await self._writer.insert_team_message(message)

    async def create_schedule(self, schedule: Fields) -> None:
        """Adds one schedule."""
        await self._writer.create_schedule(schedule)

    async def update_schedule(self, schedule_id: str, **fields: Any) -> bool:
        """Changes columns of a schedule; False when there is no such schedule."""
        return bool(await self._writer.update_schedule(schedule_id, **fields))

    async def delete_schedule(self, schedule_id: str) -> bool:
        """Removes a schedule and its runs; False when there was none."""
        return bool(await self._writer.delete_schedule(schedule_id))

    async def create_schedule_run(self, run: Fields) -> None:
        """Adds one run of a schedule."""
        await self._writer.create_schedule_run(run)

    async def update_schedule_run(self, run_id: str, **fields: Any) -> None:
        """Changes columns of a schedule's run."""
        await self._writer.update_schedule_run(run_id, **fields)

    async def save_definition(
        self, *, kind: str, name: str, path: str, content: str, message: str | None = None
    ) -> int:
        """Adds the next version of a definition and returns its number (ADR-0055 D2)."""
        saved = self._writer.save_definition(
            kind=kind, name=name, path=path, content=content, message=message
        )
        return int(await saved)

    async def create_engine_def(self, defn: Fields) -> None:
        """Adds one engine definition."""
        await self._writer.create_engine_def(defn)

    async def update_engine_def(self, def_id: str, **fields: Any) -> None:
        """Changes columns of an engine definition."""
        await self._writer.update_engine_def(def_id, **fields)

    async def delete_engine_def(self, def_id: str) -> bool:
        """Removes an engine definition; False when there was none."""
        return bool(await self._writer.delete_engine_def(def_id))

    async def create_workflow_def(self, defn: Fields) -> None:
        """Adds one workflow definition."""
        await self._writer.create_workflow_def(defn)

    async def update_workflow_def(self, def_id: str, **fields: Any) -> None:
        """Changes columns of a workflow definition."""
        await self._writer.update_workflow_def(def_id, **fields)

    async def delete_workflow_def(self, def_id: str) -> bool:
        """Removes a workflow definition; False when there was none."""
        return bool(await self._writer.delete_workflow_def(def_id))


class StoreWrites:
    """Control, evidence and delivery, SQL by text, and the store's own upkeep."""

    _writer: Writer

    async def register_project(
        self, name: str, source: str, *, path: str | None = None, github: str | None = None
    ) -> None:
        """Notes that a project was seen."""
        await self._writer.register_project(name, source, path=path, github=github)

    async def create_project(self, name: str, **fields: Any) -> None:
        """Adds a project by hand."""
        await self._writer.create_project(name, **fields)

    async def update_project(self, name: str, **fields: Any) -> bool:
        """Changes columns of a project; False when there is none."""
        return bool(await self._writer.update_project(name, **fields))

    async def delete_project(self, name: str) -> bool:
        """Removes a project; False when there was none."""
        return bool(await self._writer.delete_project(name))

    async def insert_session_signal(
        self, *, session_id: str, kind: str, op_id: str = "", ts: float, payload: Fields
    ) -> int:
        """Adds a session's next signal and returns its number."""
        added = self._writer.insert_session_signal(
            session_id=session_id, kind=kind, op_id=op_id, ts=ts, payload=payload
        )
        return int(await added)

    async def insert_session_control(
        self,
        *,
        session_id: str,
        verb: str,
        payload: Fields | None = None,
        created_at: float | None = None,
    ) -> str | None:
        """Adds a control and returns its id."""
        added: str | None = await self._writer.insert_session_control(
            session_id=session_id, verb=verb, payload=payload, created_at=created_at
        )
        return added

    async def finalize_session_control(self, control_id: str, *, result: str) -> bool:
        """Says how a control ended; False when it had ended."""
        return bool(await self._writer.finalize_session_control(control_id, result=result))

    async def insert_engine_run(self, *, run_id: str, kind: str, spec_json: Fields, **fields: Any) -> None:
        """Adds one engine run."""
        await self._writer.insert_engine_run(run_id=run_id, kind=kind, spec_json=spec_json, **fields)

    async def update_engine_run(self, run_id: str, *, status: str, **fields: Any) -> None:
        """Changes an engine run's status and what goes with it."""
        await self._writer.update_engine_run(run_id, status=status, **fields)

    async def insert_artifact(
        self,
        *,
        kind: str,
        name: str,
        content: Fields,
        invocation_id: str | None = None,
        session_id: str | None = None,
        file_path: str | None = None,
    ) -> str:
        """Adds an artifact or updates the one of the same natural key; returns its id (ADR-0055 D4)."""
        saved = self._writer.insert_artifact(
            kind=kind,
            name=name,
            content=content,
            invocation_id=invocation_id,
            session_id=session_id,
            file_path=file_path,
        )
        return str(await saved)

    async def update_artifact_verification(self, session_id: str, verification: Fields | None) -> None:
        """Records what was observed of a session's expected files (ADR-0055 D5)."""
        await self._writer.update_artifact_verification(session_id, verification)

    async def update_status(
        self,
        entity_type: str,
        entity_id: str,
        *,
        new_status: str,
        reason_code: str,
        reason_summary: str = "",
        evidence_refs: Sequence[Fields] | None = None,
        source: str = "executor",
        actor: str | None = None,
        metadata: Fields | None = None,
        expected_statuses: Collection[str | None] | None = None,
        expected_updated_at: float | None = None,
        extra_fields: Fields | None = None,
        override: bool = False,
        override_actor: str | None = None,
        override_justification: str | None = None,
    ) -> bool:
        """Changes a status and writes its transition, as one; False when it was not as expected."""
        changed = self._writer.update_status(
            entity_type,
            entity_id,
            new_status=new_status,
            reason_code=reason_code,
            reason_summary=reason_summary,
            evidence_refs=evidence_refs,
            source=source,
            actor=actor,
            metadata=metadata,
            expected_statuses=expected_statuses,
            expected_updated_at=expected_updated_at,
            extra_fields=extra_fields,
            override=override,
            override_actor=override_actor,
            override_justification=override_justification,
        )
        return bool(await changed)

    async def insert_admin_event(
        self, *, action: str, details: Fields, target_id: str | None = None, actor: str = "admin"
    ) -> str:
        """Adds an administrative event and returns its id."""
        added = self._writer.insert_admin_event(
            action=action, details=details, target_id=target_id, actor=actor
        )
        return str(await added)

    async def enqueue_dispatch(self, dispatch: Fields) -> str:
        """Adds a dispatch to the outbox and returns its id."""
        return str(await self._writer.enqueue_dispatch(dispatch))

    async def update_dispatch(self, dispatch_id: str, **fields: Any) -> bool:
        """Changes a dispatch; False when it was not as expected."""
        return bool(await self._writer.update_dispatch(dispatch_id, **fields))

    async def execute(self, sql: str, params: Any = None) -> None:
        """Runs one statement that writes."""
        await self._writer.execute(sql, params)

    def transaction(self) -> AbstractAsyncContextManager[Any]:
        """Several writes as one."""
        begun: AbstractAsyncContextManager[Any] = self._writer.transaction()
        return begun

    async def checkpoint(self, mode: str = "PASSIVE") -> tuple[int, int, int] | None:
        """Folds a write-ahead log into its file; None on a server."""
        folded: tuple[int, int, int] | None = await self._writer.checkpoint(mode)
        return folded

    async def vacuum(self) -> None:
        """Rebuilds the file without its free pages."""
        await self._writer.vacuum()
