"""Statuses and their history: both change in one transaction, or neither does (`lifecycle.md`, P1).

A status write reads the row (locked, on PostgreSQL), asks the rules, reasserts the status it read while it
writes the new one, and adds the transition. What the rules reject leaves an administrative event instead.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, NamedTuple, NoReturn

from sqlalchemy import Executable, bindparam, case, update

from persistence.engines.statements import Call, Statement, Steps, Target
from persistence.errors import LostRaceError, NoSuchRowError, TransitionRejectedError
from persistence.schema.known import REASON_CODES, STATUS_SOURCES, STATUSES, TERMINAL, entity_type
from persistence.writing.native.rows import (
    key,
    new_id,
    new_row,
    now,
    row_of,
    select_for_update,
    short_id,
    table,
    value,
)
from persistence.writing.values import refuse

__all__ = [
    "COMPANIONS",
    "EDGES",
    "TABLES",
    "Change",
    "Rejected",
    "after",
    "change_status",
    "check_reason",
    "check_status",
    "first_reason",
    "first_status",
    "prepare",
    "rejection",
]

TABLES: Final[Mapping[str, str]] = {
    "session": "sessions",
    "show": "shows",
    "play": "plays",
    "invocation": "invocations",
    "team": "teams",
    "schedule_run": "schedule_runs",
}

EDGES: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "schedule_run": {
        "queued": frozenset(("waiting_dependency", "running", "skipped", "cancelled")),
        "waiting_dependency": frozenset(("queued", "cancelled")),
        "running": frozenset(("completed", "failed", "timed_out", "retry_wait", "queued", "cancelled")),
        "retry_wait": frozenset(("queued", "cancelled")),
    }
}
"""Where an entity's status may go from each that is not terminal; entities not named go anywhere."""

COMPANIONS: Final[Mapping[str, frozenset[str]]] = {"session": frozenset(("ended_at",))}
"""Fields that may be written with a status."""

_FIRST: Final[Mapping[tuple[str, str], str]] = {
    ("session", "running"): "run.started.ok",
    ("invocation", "running"): "run.started.ok",
    ("schedule_run", "running"): "run.started.ok",
    ("schedule_run", "queued"): "schedule.queued.created",
    ("schedule_run", "skipped"): "schedule.skipped.precondition",
    ("show", "active"): "show.active.created",
    ("play", "pending"): "play.pending.created",
    ("team", "archived"): "team.archived.operator",
}
_IMPORTED: Final = "legacy.imported"


@dataclass(frozen=True, slots=True)
class Change:
    """A status write whose arguments are valid."""

    entity: str
    identity: str
    status: str
    reason_code: str
    reason_summary: str = ""
    evidence: Sequence[Any] = ()
    source: str = "executor"
    actor: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    expected: frozenset[str | None] | None = None
    expected_at: float | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    override_actor: str | None = None
    justification: str | None = None

    @property
    def overrides(self) -> bool:
        return self.override_actor is not None


class Rejected(NamedTuple):
    """A change the rules reject: the event that tells of it is committed, then `error` is raised."""

    error: TransitionRejectedError


def prepare(
    entity: str,
    identity: str,
    *,
    new_status: str,
    reason_code: str,
    reason_summary: str = "",
    evidence_refs: Sequence[Any] | None = None,
    source: str = "executor",
    actor: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    expected_statuses: Collection[str | None] | None = None,
    expected_updated_at: float | None = None,
    extra_fields: Mapping[str, Any] | None = None,
    override: bool = False,
    override_actor: str | None = None,
    override_justification: str | None = None,
) -> Change:
    """The change, checked against the vocabularies. ValueRefusedError (a ValueError) before anything else."""
    kind = entity_type(entity) if isinstance(entity, str) else ""
    if kind not in TABLES:
        _refuse("entity type", entity, ", ".join(TABLES))
    if not isinstance(new_status, str) or new_status not in STATUSES[kind]:
        _refuse(f"{kind} status", new_status, ", ".join(STATUSES[kind]))
    check_reason(reason_code)
    if source not in STATUS_SOURCES:
        _refuse("status source", source, ", ".join(STATUS_SOURCES))
    companions = COMPANIONS.get(kind, frozenset())
    for name in extra_fields or ():
        if name not in companions:
            _refuse(f"companion field of a {kind} status", name, ", ".join(companions) or "none")
    if override and not (override_actor and override_justification):
        _refuse("override without an actor and a justification", override_actor, "both, as text")
    if isinstance(expected_statuses, str):
        _refuse("set of expected statuses", expected_statuses, "a set of statuses")
    return Change(
        kind,
        identity,
        new_status,
        reason_code,
        reason_summary,
        list(evidence_refs or ()),
        source,
        actor,
        dict(metadata or {}),
        None if expected_statuses is None else frozenset(expected_statuses),
        expected_updated_at,
        dict(extra_fields or {}),
        override_actor if override else None,
        override_justification if override else None,
    )


def check_reason(code: Any) -> str:
    """The reason code, if it is one of the closed list."""
    if not isinstance(code, str) or code not in REASON_CODES:
        _refuse("reason code", code, "one of the known reason codes")
    return code


def _refuse(what: str, given: Any, expected: str) -> NoReturn:
    refuse(what, f"This is no {what}: {given!r:.80}.", expected, f"{given!r:.80}")


# -- statements ----------------------------------------------------------------------------------------------


@cache
def _reassert(name: str, columns: tuple[str, ...], ends: bool | None) -> Statement:
    """Writes the new status only where the row still has the one that was read, null-safe.

    `ends`: a session's end comes with it (True: unless it has one; False: it has none any more).
    """

    def build(_: Target) -> Executable:
        into = table(name)
        changes: dict[str, Any] = {column: value(into.c[column]) for column in columns}
        if ends is True:
            changes["ended_at"] = case(
                (into.c.ended_at.is_(None), bindparam("v_ended_at", type_=into.c.ended_at.type)),
                else_=into.c.ended_at,
            )
        read = bindparam("k_status", type_=into.c.status.type)
        return (
            update(into)
            .where(into.c.id == key(into.c.id), into.c.status.is_not_distinct_from(read))
            .values(changes)
        )

    return Statement(build)


# -- steps ---------------------------------------------------------------------------------------------------


def change_status(change: Change, dialect: str) -> Steps[bool | Rejected]:
    """The transaction of `update_status`: True when the status was written, False when it was not as
    expected, Rejected when the rules do not allow it. Raises NoSuchRowError and LostRaceError."""
    name = TABLES[change.entity]
    found = (yield select_for_update(name, "id", ("status", "updated_at"))(k_id=change.identity)).first
    if found is None:
        raise NoSuchRowError(
            f"There is no {change.entity} with this id. Nothing was written.",
            where=f"{name} {change.identity}",
            expected=f"a {change.entity} to change",
            observed="no row",
        )
    status, updated_at = found
    if change.expected is not None and status not in change.expected:
        return False
    if change.expected_at is not None and updated_at != change.expected_at:
        return False
    moment = now()
    leaving = status != change.status and status in TERMINAL[change.entity]
    rejected = rejection(change, status)
    if rejected is not None and not change.overrides:
        yield from _event(
            dialect,
            "status_transition_rejected",
            change,
            status,
            change.source,
            moment,
            attempted_status=change.status,
            source=change.source,
        )
        return Rejected(rejected)
    outcome = yield _write(change, name, status, leaving, (moment, after(updated_at, moment)), dialect)
    if outcome.changed == 0:
        if change.expected_at is not None:
            return False
        raise LostRaceError(
            f"Another writer changed the {change.entity} at the same moment. Nothing was written.",
            where=f"{name} {change.identity}",
            expected=f"status {status}",
            observed="another status",
            remedy="Read it again and decide anew.",
        )
    yield from _transition(change, status, moment, dialect)
    if rejected is not None:
        yield from _event(
            dialect,
            "status_transition_override",
            change,
            status,
            change.override_actor or "",
            moment,
            new_status=change.status,
            justification=change.justification,
        )
    return True


def after(updated_at: float | None, moment: float) -> float:
    """Now, or just after what is stored: a clock that went back would hide the change from a comparison."""
    if updated_at is None or updated_at < moment or not math.isfinite(updated_at):
        return moment
    return math.nextafter(updated_at, math.inf)


def rejection(change: Change, status: str | None) -> TransitionRejectedError | None:
    if status == change.status or status is None:
        return None
    edges = EDGES.get(change.entity)
    if status in TERMINAL[change.entity]:
        why = f"{status} is terminal: leaving it takes an override with an actor and a justification"
    elif edges is not None and change.status not in edges.get(status, frozenset()):
        why = f"a {change.entity} does not go from {status} to {change.status}"
    else:
        return None
    allowed = ", ".join(sorted(edges.get(status, ()))) if edges is not None else ""
    return TransitionRejectedError(
        f"The {change.entity} keeps its status: {why}. An administrative event tells of the attempt.",
        where=f"{TABLES[change.entity]} {change.identity}",
        expected=allowed or f"{status}, or an override",
        observed=change.status,
        remedy="Override it with an actor and a justification, if that is what is meant.",
        committed=("admin event",),
    )


def _write(
    change: Change, name: str, status: str | None, leaving: bool, moments: tuple[float, float], dialect: str
) -> Call:
    moment, updated_at = moments
    fields: dict[str, Any] = {
        "status": change.status,
        "status_reason_code": change.reason_code,
        "status_reason_summary": change.reason_summary,
        "status_evidence_refs": list(change.evidence),
        "updated_at": updated_at,
        **change.fields,
    }
    ends: bool | None = None
    if change.entity == "session" and "ended_at" not in change.fields:
        if change.status in TERMINAL["session"]:
            ends = True
        elif leaving:
            fields |= {"ended_at": None, "ended_at_is_approximate": 0}
    values = row_of(name, fields, dialect)
    statement = _reassert(name, tuple(column[2:] for column in values), ends)
    if ends:
        values["v_ended_at"] = moment
    return statement(**values, k_id=change.identity, k_status=status)


def _transition(change: Change, previous: str | None, moment: float, dialect: str) -> Steps[None]:
    row = {
        "id": new_id(),
        "entity_type": change.entity,
        "entity_id": change.identity,
        "previous_status": previous,
        "status": change.status,
        "reason_code": change.reason_code,
        "reason_summary": change.reason_summary,
        "evidence_refs": list(change.evidence),
        "source": change.source,
        "actor": change.actor,
        "created_at": moment,
        "metadata": dict(change.metadata),
    }
    yield from new_row("status_transitions", row_of("status_transitions", row, dialect))


def _event(
    dialect: str, action: str, change: Change, status: str | None, actor: str, moment: float, **more: Any
) -> Steps[None]:
    details = {
        "entity_type": change.entity,
        "previous_status": status,
        "reason_code": change.reason_code,
        **more,
    }
    row = {
        "id": short_id(),
        "created_at": moment,
        "action": action,
        "target_id": change.identity,
        "details": details,
        "actor": actor,
    }
    yield from new_row("admin_events", row_of("admin_events", row, dialect))


def first_status(
    entity: str, identity: str, status: str | None, given: str | None, actor: str, dialect: str
) -> Steps[None]:
    """The first transition of a row that is made with a status; `given` is the reason its maker names.

    A status whose beginning has no reason of its own came from elsewhere: `legacy.imported`. A team that
    is simply active has none.
    """
    if status is None or (entity == "team" and status == "active" and given is None):
        return
    code = given or _FIRST.get((entity, status), _IMPORTED)
    change = Change(entity, identity, status, code, source="system", actor=actor)
    yield from _transition(change, None, now(), dialect)


def first_reason(entity: str, status: str | None, given: str | None) -> str | None:
    """The reason a row is made with, to be kept on the row as well."""
    if status is None or (entity == "team" and status == "active" and given is None):
        return given
    return check_reason(given or _FIRST.get((entity, status), _IMPORTED))


def check_status(entity: str, status: Any) -> None:
    """ValueRefusedError for a status outside the entity's vocabulary; a session may have none."""
    if status is None and entity == "session":
        return
    if not isinstance(status, str) or status not in STATUSES[entity]:
        _refuse(f"{entity} status", status, ", ".join(STATUSES[entity]))
