"""Sessions and branches (ADR-0055 D1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Executable, update

from persistence.engines.statements import Statement, Steps, Target
from persistence.errors import NoSuchRowError, TransitionRejectedError, UnreadableValueError
from persistence.reading.values import decode_json
from persistence.records import Unreadable
from persistence.schema.known import TERMINAL
from persistence.writing.native.changes import ChangingGroup
from persistence.writing.native.lifecycle import check_status, first_reason, first_status
from persistence.writing.native.rows import (
    changed_row,
    given,
    key,
    later,
    new_row,
    now,
    row_of,
    select_for_update,
    table,
    value,
)
from persistence.writing.values import refuse

__all__ = ["ConversationWrites", "counted", "merged", "touched"]

_SESSIONS, _BRANCHES, _INVOCATIONS = table("sessions"), table("branches"), table("invocations")


def _touch(_: Target) -> Executable:
    changes = {name: later(_SESSIONS.c[name]) for name in ("last_message_at", "updated_at")}
    return update(_SESSIONS).where(_SESSIONS.c.id == key(_SESSIONS.c.id)).values(changes)


def _count(_: Target) -> Executable:
    counter = _INVOCATIONS.c.session_count
    return (
        update(_INVOCATIONS)
        .where(_INVOCATIONS.c.id == key(_INVOCATIONS.c.id))
        .values(session_count=counter + value(counter), updated_at=later(_INVOCATIONS.c.updated_at))
    )


def _end_branch(_: Target) -> Executable:
    status = _BRANCHES.c.status
    return (
        update(_BRANCHES)
        .where(_BRANCHES.c.id == key(_BRANCHES.c.id), (status.is_(None)) | (status == "running"))
        .values(status=value(status), ended_at=value(_BRANCHES.c.ended_at))
    )


_TOUCH, _COUNT, _END_BRANCH = Statement(_touch), Statement(_count), Statement(_end_branch)


def touched(session_id: str, at: float) -> Steps[None]:
    """Moves a session's clocks forward to `at`, never back; a session that is not there is no error."""
    yield _TOUCH(k_id=session_id, v_last_message_at=at, v_updated_at=at)


def counted(invocation_id: str, by: int, at: float) -> Steps[None]:
    """Adds to the number of sessions an invocation has."""
    yield _COUNT(k_id=invocation_id, v_session_count=by, v_updated_at=at)


def merged(name: str, identity: str, patch: Mapping[str, Any], dialect: str) -> Steps[None]:
    """Merges a patch into a row's metadata (RFC 7396): a null removes its key, mappings merge within."""
    found = (yield select_for_update(name, "id", ("node_metadata",))(k_id=identity)).first
    if found is None:
        return
    stored = decode_json(found[0])
    if stored is not None and not isinstance(stored, dict):
        why = stored.why if isinstance(stored, Unreadable) else f"a {type(stored).__name__}"
        raise UnreadableValueError(
            "The metadata that is there is no mapping, and merging would lose it. Nothing was written.",
            where=f"{name}.node_metadata {identity}",
            expected="a JSON object",
            observed=why,
        )
    row = {"node_metadata": _merge(stored or {}, patch), "updated_at": now()}
    yield from changed_row(name, "id", identity, row_of(name, row, dialect))


def _merge(into: Any, patch: Any) -> Any:
    if not isinstance(patch, Mapping):
        return patch
    out = dict(into) if isinstance(into, dict) else {}
    for name, part in patch.items():
        if part is None:
            out.pop(name, None)
        else:
            out[name] = _merge(out.get(name), part)
    return out


class ConversationWrites(ChangingGroup):
    """Sessions and branches."""

    async def create_session(self, session: Mapping[str, Any]) -> None:
        """Adds one session; `id` and `progression_id` are needed.

        Times not given are now. With a status comes its first transition (reason `status_reason_code` when
        given), with an invocation its count. A taken id, or a parent that is not there: an integrity error.
        """
        row = given("sessions", session, ("id", "progression_id"))
        row.setdefault("created_at", now())
        row.setdefault("updated_at", row["created_at"])
        if row.get("last_message_at") is None:
            row["last_message_at"] = row["updated_at"]
        status = row.get("status")
        check_status("session", status)
        reason = row["status_reason_code"] = first_reason("session", status, row.get("status_reason_code"))
        if status in TERMINAL["session"] and row.get("ended_at") is None:
            row |= {"ended_at": row["updated_at"], "ended_at_is_approximate": 1}
        values = self._row("sessions", **row)
        dialect, moment = self._runner.dialect, now()

        def steps() -> Steps[None]:
            yield from new_row("sessions", values)
            yield from first_status("session", row["id"], status, reason, "create_session", dialect)
            if row.get("invocation_id") is not None:
                yield from counted(row["invocation_id"], 1, moment)

        await self._runner.run(steps)

    async def update_session(self, session_id: str, **fields: Any) -> None:
        """Changes columns of a session; its clocks only move forward.

        `status` goes through the rules of `update_status` and takes `reason_code`, `reason_summary`,
        `evidence_refs`, `reason_source`, `reason_actor`, `override...` beside it. `set_if_null` names fields
        that only fill what is NULL. A session that is not there changes no row.
        """
        if_null = fields.pop("set_if_null", ())
        await self._change("sessions", session_id, fields, entity="session", if_null=if_null)

    async def touch_session_activity(self, session_id: str, *, at: float | None = None) -> None:
        """Moves last_message_at and updated_at forward to `at` (now), never back."""
        moment = self._row("sessions", updated_at=now() if at is None else at)["v_updated_at"]
        await self._run(touched, self._key("sessions", session_id), moment)

    async def merge_session_node_metadata(self, session_id: str, patch: Mapping[str, Any]) -> None:
        """Merges a patch into the session's metadata (RFC 7396) in one transaction."""
        await self._merge("sessions", session_id, patch)

    async def set_session_user_label(self, session_id: str, user_label: str | None) -> bool:
        """A person's label for a session, or None for none; False when there is no such session."""
        values = self._row("sessions", user_label=user_label)
        return await self._run(changed_row, "sessions", "id", self._key("sessions", session_id), values)

    async def attach_session_invocation(self, session_id: str, invocation_id: str) -> None:
        """Says which invocation a session belongs to, and keeps the counts of both right.

        NoSuchRowError when there is no such session; an integrity error when there is no such invocation.
        """
        session = self._key("sessions", session_id)
        values = self._row("sessions", invocation_id=invocation_id)
        moment = now()

        def steps() -> Steps[None]:
            found = (yield select_for_update("sessions", "id", ("invocation_id",))(k_id=session)).first
            if found is None:
                raise NoSuchRowError(
                    "There is no such session. Nothing was written.", where=f"sessions {session_id}"
                )
            before = found[0]
            if before == invocation_id:
                return
            yield from changed_row("sessions", "id", session, values)
            if before is not None:
                yield from counted(before, -1, moment)
            yield from counted(invocation_id, 1, moment)

        await self._runner.run(steps)

    async def create_branch(self, branch: Mapping[str, Any]) -> None:
        """Adds one branch; `id`, `session_id` and `progression_id` are needed. A branch that is there stays
        as it is."""
        row = given("branches", branch, ("id", "session_id", "progression_id"))
        row.setdefault("created_at", now())
        await self._run(new_row, "branches", self._row("branches", **row), skip_taken="id")

    async def update_branch(self, branch_id: str, **fields: Any) -> None:
        """Changes columns of a branch. TransitionRejectedError when a status would undo a terminal one."""
        status = fields.get("status")
        if "status" in fields:
            check_status("session", status)
        branch = self._key("branches", branch_id)

        def before() -> Steps[None]:
            if "status" not in fields:
                return
            found = (yield select_for_update("branches", "id", ("status",))(k_id=branch)).first
            if found is not None and found[0] in TERMINAL["session"] and found[0] != status:
                raise TransitionRejectedError(
                    f"The branch has ended as {found[0]}. Nothing was written.",
                    where=f"branches {branch_id}",
                    expected=str(found[0]),
                    observed=str(status),
                )

        await self._change("branches", branch_id, fields, fixed=("session_id",), before=before)

    async def finalize_branch(self, branch_id: str, *, status: str, ended_at: float | None = None) -> bool:
        """Ends a branch that has no status or is running; False when it had ended, or is not there."""
        if status not in TERMINAL["session"]:
            refuse(
                "branches.status",
                f"This is no status to end with: {status!r:.40}.",
                ", ".join(sorted(TERMINAL["session"])),
                f"{status!r:.40}",
            )
        values = self._row("branches", status=status, ended_at=now() if ended_at is None else ended_at)
        branch = self._key("branches", branch_id)

        def steps() -> Steps[bool]:
            return (yield _END_BRANCH(**values, k_id=branch)).changed > 0

        return await self._runner.run(steps)

    async def _merge(self, name: str, identity: str, patch: Mapping[str, Any]) -> None:
        if not isinstance(patch, Mapping):
            refuse(f"{name}.node_metadata", "A patch is a mapping.", "a mapping", type(patch).__name__)
        self._row(name, node_metadata=dict(patch))  # refused now, or not at all
        await self._run(merged, name, self._key(name, identity), patch, self._runner.dialect)
