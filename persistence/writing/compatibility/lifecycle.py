"""A session's status and its history: both change in one transaction (ADR-0128 A.2, A.3; `lifecycle.md`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Executable, TableClause, bindparam, column, exists, func, literal_column, select
from sqlalchemy import table as table_of

from persistence.engines.statements import Steps
from persistence.errors import LostRaceError
from persistence.schema.known import TERMINAL, entity_type
from persistence.writing.compatibility.columns import later
from persistence.writing.compatibility.declarations import Insert, Operation, Own, Read, Update
from persistence.writing.compatibility.given import identity
from persistence.writing.compatibility.running import Prepared, Running
from persistence.writing.native.lifecycle import Change, Rejected, after, prepare, rejection
from persistence.writing.native.rows import new_id, now, short_id, table
from persistence.writing.values import row_values

__all__ = ["OF_A_STATUS", "UPDATE_STATUS", "change_status", "first_transition", "session_change"]


def _ended_at(into: TableClause) -> Any:
    """The end that is given, else the one that is there, else the moment of the change."""
    return func.coalesce(bindparam("v_given_end"), into.c.ended_at, bindparam("v_ended_at"))


def _as_read(into: TableClause) -> Any:
    return into.c.status.is_not_distinct_from(bindparam("k_status"))


def _any_transition(_: TableClause) -> Executable:
    """Whether a session of this id has a history already, whoever wrote it."""
    of = table_of("status_transitions", column("entity_type"), column("entity_id"))
    this = (of.c.entity_type == literal_column("'session'"), of.c.entity_id == bindparam("k_id"))
    return select(exists(select(literal_column("1")).select_from(of).where(*this)))


_NEW = {
    "status": None,
    "status_reason_code": None,
    "status_reason_summary": None,
    "status_evidence_refs": None,
    "updated_at": later("updated_at"),
}
_READ: Final = {"k_status": "the status that was read"}
STATUS_OF = Read("sessions", ("status", "updated_at"), owned=True, assumed=(None, None))
CHANGE = Update("sessions", _NEW, where=_as_read, later=_READ)
CHANGE_AND_END = Update("sessions", {**_NEW, "ended_at": _ended_at}, where=_as_read, later=_READ)
TRANSITION = Insert(
    "status_transitions",
    (
        "id",
        "entity_type",
        "entity_id",
        "previous_status",
        "status",
        "reason_code",
        "reason_summary",
        "evidence_refs",
        "source",
        "actor",
        "created_at",
        "metadata",
    ),
    skips=None,
    later={"v_previous_status": "the status that was read"},
)
REJECTION = Insert(
    "admin_events",
    ("id", "created_at", "action", "target_id", "details", "actor"),
    skips=None,
    when="only if the lifecycle rejects the change, and then nothing else is written",
)
ANY_TRANSITION = Read("status_transitions", query=_any_transition, assumed=(0,))

OF_A_STATUS: Final = (STATUS_OF, CHANGE, CHANGE_AND_END, TRANSITION, REJECTION)


# -- steps -----------------------------------------------------------------------------------------------


def session_change(run: Running, entity: Any, session_id: Any, arguments: Mapping[str, Any]) -> Change:
    """The change, checked against the vocabularies. Refuses an override, and whatever is no session."""
    if arguments.get("override"):
        run.refuse(
            "an override of a terminal status is not in compatibility mode",
            code="override",
            expected="a change the lifecycle allows",
            observed="override",
            remedy="Leave a session's end as it is; record a new run.",
        )
    change = prepare(entity, identity("sessions", session_id), **arguments)
    if entity_type(entity) != "session":
        run.refuse(
            f"it changes the status of this run's session, never of a {change.entity}",
            code="not-a-session",
            expected="entity type session",
            observed=str(entity),
        )
    return change


def change_status(run: Running, change: Change) -> Steps[bool | Rejected]:
    """True when the status was written, False when it was not as expected, Rejected when the rules do not
    allow it. Raises LostRaceError."""
    found = (yield run.call(STATUS_OF, k_id=change.identity)).first
    if found is None or (run.book.shape.owner("sessions") is not None and found[0] != run.owner):
        run.gone("sessions", change.identity, "no row" if found is None else f"owner {found[0]!r}")
    _, status, updated_at = found
    if change.expected is not None and status not in change.expected:
        return False
    if change.expected_at is not None and updated_at != change.expected_at:
        return False
    moment = now()
    rejected = rejection(change, status)
    if rejected is not None:
        yield from _told(run, change, status, moment)
        rejected.remedy = "Leave it as it ended. What comes next is recorded as a new run."
        return Rejected(rejected)
    if not (yield _changed(run, change, status, moment, after(updated_at, moment))).changed:
        raise LostRaceError(
            "The session's status is another than the one just read. Nothing was written.",
            where=f"sessions {change.identity}",
            expected=f"status {status}",
            observed="another status",
        )
    yield from _transition(run, change, status, moment)
    return True


def _changed(run: Running, change: Change, status: str | None, moment: float, updated_at: float) -> Any:
    row = row_values(
        table("sessions"),
        {
            "status": change.status,
            "status_reason_code": change.reason_code,
            "status_reason_summary": change.reason_summary,
            "status_evidence_refs": list(change.evidence),
            "updated_at": updated_at,
        },
        "sqlite",
    )
    given_end = change.fields.get("ended_at")
    if change.status not in TERMINAL["session"] and "ended_at" not in change.fields:
        return run.call(CHANGE, **row, k_id=change.identity, k_status=status)
    ended_at = row_values(table("sessions"), {"ended_at": given_end}, "sqlite")["v_ended_at"]
    return run.call(
        CHANGE_AND_END,
        **row,
        v_given_end=ended_at,
        v_ended_at=moment if change.status in TERMINAL["session"] else None,
        k_id=change.identity,
        k_status=status,
    )


def _transition(run: Running, change: Change, previous: str | None, moment: float) -> Steps[None]:
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
    yield run.call(TRANSITION, **row_values(table("status_transitions"), row, "sqlite"))


def _told(run: Running, change: Change, status: str | None, moment: float) -> Steps[None]:
    """The event that tells of a change the rules rejected; it is committed, and the change is not made."""
    details = {
        "entity_type": change.entity,
        "previous_status": status,
        "reason_code": change.reason_code,
        "attempted_status": change.status,
        "source": change.source,
    }
    row = {
        "id": short_id(),
        "created_at": moment,
        "action": "status_transition_rejected",
        "target_id": change.identity,
        "details": details,
        "actor": change.source,
    }
    yield run.call(REJECTION, **row_values(table("admin_events"), row, "sqlite"))


def first_transition(run: Running, session_id: str, status: str, reason: str, actor: str) -> Steps[None]:
    """The first transition of a session made with a status; refuses an id that has a history."""
    if (yield run.call(ANY_TRANSITION, k_id=session_id)).rows[0][0]:
        run.refuse(
            "the id has a status history already, so it is no new run's",
            code="id-taken",
            row=("status_transitions", session_id),
            expected="an id without a history",
            observed="at least one transition",
        )
    change = Change("session", session_id, status, reason, source="system", actor=actor)
    yield from _transition(run, change, None, now())


# -- the operation ---------------------------------------------------------------------------------------


def _update_status(run: Running, entity_type: str, entity_id: str, **arguments: Any) -> Prepared:
    change = session_change(run, entity_type, entity_id, arguments)
    run.check({"entity_id": change.identity})
    return lambda: change_status(run, change)


UPDATE_STATUS = Operation(
    name="update_status",
    does="Changes the status of this run's session and adds the transition, as one.",
    transaction="status",
    reached_from=(
        "recorder: the end, and a session-start or session-end event without a handle",
        "record: a status or end line",
        "copy-run: a status",
        "probe: the end",
    ),
    requires=(Own("sessions", "entity_id", held_by_update=True),),
    writes=OF_A_STATUS,
    keeps=("clocks-forward", "status-with-history", "one-owner"),
    prepare=_update_status,
    leaves="an administrative event, and nothing else, when the lifecycle rejects the change",
)
