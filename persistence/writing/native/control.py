"""Projects, signals, controls and engine runs (ADR-0055 D1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Executable, case, func, literal, select, update

from persistence.engines.statements import Statement, Steps, Target
from persistence.writing.native.changes import ChangingGroup
from persistence.writing.native.rows import (
    changed_row,
    given,
    key,
    new_id,
    new_row,
    now,
    removed_row,
    select_for_update,
    table,
    value,
)
from persistence.writing.values import refuse

__all__ = ["ControlWrites"]

_SIGNALS, _PROJECTS, _CONTROLS = table("session_signals"), table("projects"), table("session_controls")


def _in_turn(target: Target) -> Executable:
    """On a server: this session's signals are numbered by one transaction at a time."""
    session = key(_SIGNALS.c.session_id)
    if target.sqlite:
        return select(session)
    return select(func.pg_advisory_xact_lock(func.hashtextextended(session, literal(0))))


def _last_number(_: Target) -> Executable:
    by = _SIGNALS.c.session_id == key(_SIGNALS.c.session_id)
    return select(func.coalesce(func.max(_SIGNALS.c.seq), 0)).where(by)


def _seen(target: Target) -> Executable:
    row = target.insert(_PROJECTS).values({column.name: value(column) for column in _PROJECTS.c})
    new, old = row.excluded, _PROJECTS.c
    again = {
        "path": func.coalesce(new.path, old.path),
        "github": func.coalesce(new.github, old.github),
        "updated_at": case((old.updated_at < new.updated_at, new.updated_at), else_=old.updated_at),
        "last_seen_at": case((old.last_seen_at > new.last_seen_at, old.last_seen_at), else_=new.last_seen_at),
    }
    statement: Executable = row.on_conflict_do_update(index_elements=[old.name], set_=again)
    return statement


def _finish(_: Target) -> Executable:
    applied = _CONTROLS.c.applied_at
    return (
        update(_CONTROLS)
        .where(_CONTROLS.c.id == key(_CONTROLS.c.id), applied.is_(None))
        .values(applied_at=value(applied), result=value(_CONTROLS.c.result))
    )


_IN_TURN, _LAST_NUMBER = Statement(_in_turn, rows=True), Statement(_last_number, rows=True)
_SEEN, _FINISH = Statement(_seen), Statement(_finish)


class ControlWrites(ChangingGroup):
    """What steers sessions, and the projects they are of."""

    async def register_project(
        self, name: str, source: str, *, path: str | None = None, github: str | None = None
    ) -> None:
        """Notes that a project was seen: a new one is added; of one that is there the times move forward
        and what is given of `path` and `github` is kept."""
        await self._run(_registered, self._project(name, source=source, path=path, github=github))

    async def create_project(self, name: str, **fields: Any) -> None:
        """Adds a project by hand (`source` is `manual` unless said). A taken name is an integrity error."""
        await self._run(new_row, "projects", self._project(name, **{"source": "manual", **fields}))

    async def update_project(self, name: str, **fields: Any) -> bool:
        """Changes columns of a project; False when there is none."""
        return await self._change("projects", name, fields, by="name")

    async def delete_project(self, name: str) -> bool:
        """Removes a project; False when there was none. Sessions keep its name."""
        return await self._run(removed_row, "projects", "name", self._key("projects", name, "name"))

    def _project(self, name: str, **fields: Any) -> dict[str, Any]:
        moment = now()
        row = given("projects", {"name": name, **fields}, ("name", "source"))
        for column in ("created_at", "updated_at", "last_seen_at"):
            row.setdefault(column, moment)
        whole = {column.name: row.pop(column.name, None) for column in _PROJECTS.c}
        return self._row("projects", **whole, **row)

    async def insert_session_signal(
        self, *, session_id: str, kind: str, op_id: str = "", ts: float, payload: Mapping[str, Any]
    ) -> int:
        """Adds a session's next signal and returns its number, counted from 1."""
        row = {"id": new_id(), "session_id": session_id, "kind": kind, "op_id": op_id, "ts": ts}
        values = self._row("session_signals", **row, payload=payload, seq=1)

        def steps() -> Steps[int]:
            yield _IN_TURN(k_session_id=session_id)
            found = (yield _LAST_NUMBER(k_session_id=session_id)).first
            assert found is not None
            number = int(found[0]) + 1
            yield from new_row("session_signals", {**values, "v_seq": number})
            return number

        return await self._runner.run(steps)

    async def insert_session_control(
        self,
        *,
        session_id: str,
        verb: str,
        payload: Mapping[str, Any] | None = None,
        created_at: float | None = None,
    ) -> str | None:
        """Adds a control and returns its id; None when there is no such session."""
        identity = new_id()
        row = {"id": identity, "session_id": session_id, "verb": verb, "payload": payload}
        values = self._row("session_controls", **row, created_at=now() if created_at is None else created_at)

        def steps() -> Steps[str | None]:
            there = (yield select_for_update("sessions", "id", ("id",))(k_id=session_id)).first
            if there is None:
                return None
            yield from new_row("session_controls", values)
            return identity

        return await self._runner.run(steps)

    async def finalize_session_control(self, control_id: str, *, result: str) -> bool:
        """Says how a control ended; False when that was said already, or there is no such control."""
        values = self._row("session_controls", applied_at=now(), result=result)
        control = self._key("session_controls", control_id)

        def steps() -> Steps[bool]:
            return (yield _FINISH(**values, k_id=control)).changed > 0

        return await self._runner.run(steps)

    async def insert_engine_run(
        self, *, run_id: str, kind: str, spec_json: Mapping[str, Any], **fields: Any
    ) -> None:
        """Adds one engine run. Its parent session is the session it runs in unless said."""
        row = {"id": run_id, "kind": kind, "spec_json": spec_json, **fields}
        row = given("engine_runs", row, ("id", "kind", "spec_json"))
        row.setdefault("started_at", now())
        row.setdefault("parent_session_id", row.get("session_id"))
        await self._run(new_row, "engine_runs", self._row("engine_runs", **row))

    async def update_engine_run(self, run_id: str, *, status: str, **fields: Any) -> None:
        """Changes an engine run's status and what goes with it; one that is not there is no error."""
        if not isinstance(status, str):
            refuse("engine_runs.status", "A status is text.", "text", type(status).__name__)
        values = self._row("engine_runs", status=status, **fields)
        if "v_id" in values:
            refuse("engine_runs.id", "engine_runs.id cannot be changed.", "another column", "id")
        await self._run(changed_row, "engine_runs", "id", self._key("engine_runs", run_id), values)


def _registered(values: Mapping[str, Any]) -> Steps[None]:
    yield _SEEN(**values)
