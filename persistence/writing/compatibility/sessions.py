"""Sessions and their signals (ADR-0128 A.2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from sqlalchemy import ColumnElement, Executable, TableClause, bindparam, func, literal_column, select

from persistence.engines.statements import Steps
from persistence.schema.known import TERMINAL
from persistence.writing.compatibility.columns import first, last, later
from persistence.writing.compatibility.declarations import (
    OWNER_OF,
    Insert,
    NewId,
    Operation,
    Own,
    Read,
    Rule,
    Spec,
    Update,
    UpdateSome,
)
from persistence.writing.compatibility.given import (
    identity,
    merged_keys,
    moment,
    only_columns,
    only_own_fields,
    patched,
    stored_mapping,
)
from persistence.writing.compatibility.lifecycle import (
    ANY_TRANSITION,
    OF_A_STATUS,
    TRANSITION,
    change_status,
    first_transition,
    session_change,
)
from persistence.writing.compatibility.running import Prepared, Running
from persistence.writing.native.changes import REASONING
from persistence.writing.native.lifecycle import Rejected, check_status, first_reason
from persistence.writing.native.rows import given, new_id, now, table
from persistence.writing.values import refuse, row_values

__all__ = [
    "CREATE_SESSION",
    "INSERT_SESSION_SIGNAL",
    "MERGE_SESSION_NODE_METADATA",
    "SET_SESSION_USER_LABEL",
    "UPDATE_ARTIFACT_VERIFICATION",
    "UPDATE_SESSION",
]

# fmt: off
_COLUMNS: Final = (
    "id", "cc_session_id", "run_id", "created_at", "node_metadata", "name", "user", "progression_id",
    "first_msg_id", "last_msg_id", "updated_at", "playbook_name", "agent_name", "invocation_kind",
    "show_topic", "show_play_name", "artifacts_path", "artifact_contract_json", "artifact_verification_json",
    "source_kind", "status", "started_at", "ended_at", "ended_at_is_approximate", "last_message_at",
    "invocation_id", "model", "provider", "effort", "agent_hash", "project", "project_source", "duration_ms",
)
_TEARDOWN: Final = (
    "first_msg_id", "last_msg_id", "node_metadata", "input_tokens", "output_tokens", "total_cost_usd",
    "num_turns", "updated_at",
)
_CHANGED: Final = (
    *_TEARDOWN, "cc_session_id", "run_id", "name", "user", "playbook_name", "agent_name", "invocation_kind",
    "show_topic", "show_play_name", "artifacts_path", "source_kind", "started_at", "ended_at",
    "ended_at_is_approximate", "last_message_at", "current_phase", "invocation_id", "model", "provider",
    "effort", "agent_hash", "project", "project_source", "duration_ms", "artifact_contract_json",
)
# fmt: on
_CLOCKS: Final = {name: later(name) for name in ("updated_at", "last_message_at")}


def _one_more(into: TableClause) -> ColumnElement[Any]:
    return into.c.session_count + literal_column("1")


def _next_signal(of: TableClause) -> Executable:
    number = func.coalesce(func.max(of.c.seq), literal_column("0")) + literal_column("1")
    return select(number.label("next")).where(of.c.session_id == bindparam("k_session_id"))


NEW_SESSION = Insert("sessions", _COLUMNS)
FIRST_REASON = Update(
    "sessions",
    dict.fromkeys(("status_reason_code", "status_reason_summary", "status_evidence_refs")),
    changes=(1, 1),
)
COUNTED = Update("invocations", {"session_count": _one_more, "updated_at": later("updated_at")})
_MERGED: Final = {"v_node_metadata": "what is there, with the keys given"}
TEARDOWN = UpdateSome("sessions", _TEARDOWN, _CLOCKS, always=("updated_at",), needed=_TEARDOWN, later=_MERGED)
CHANGED = UpdateSome(
    "sessions",
    _CHANGED,
    {**_CLOCKS, "started_at": first("started_at"), "ended_at": last("ended_at")},
    always=("updated_at",),
    later=_MERGED,
)
METADATA_OF = Read("sessions", ("node_metadata",), owned=True, assumed=(None,))
METADATA = Update("sessions", {"node_metadata": None, "updated_at": later("updated_at")}, later=_MERGED)
VERIFICATION = Update("sessions", {"artifact_verification_json": None, "updated_at": later("updated_at")})
LABEL = Update("sessions", {"user_label": None})
NEXT_SIGNAL = Read("session_signals", ("seq", "session_id"), query=_next_signal, assumed=(1,))
NEW_SIGNAL = Insert(
    "session_signals",
    ("id", "session_id", "seq", "kind", "op_id", "ts", "payload"),
    skips=None,
    later={"v_seq": "the session's next number"},
)

_INVOCATION = Rule(
    "invocations",
    "invocation_id: a row of the same owner, of which session_count and updated_at alone change; or none",
)


# -- steps -----------------------------------------------------------------------------------------------


def _same_owner(run: Running, invocation_id: Any) -> None:
    """Refuses, before any statement, an invocation where there are no owners to be the same."""
    if invocation_id is not None and run.book.shape.owner("invocations") is None:
        run.refuse(
            "a session names an invocation of the same owner, and this profile has no owners",
            code="not-own",
            row=("invocations", str(invocation_id)),
            expected="no invocation",
            observed=f"{invocation_id!r:.80}",
        )


def _not_the_same(run: Running, invocation_id: str, there: Any) -> None:
    run.refuse(
        "the invocation is not there, or has another owner",
        code="not-own",
        row=("invocations", invocation_id),
        expected=f"an invocation of owner {run.owner!r}",
        observed="no row" if there is None else f"owner {there[0]!r}",
    )


def _counted(run: Running, invocation_id: str, at: float) -> Steps[None]:
    if not (yield run.call(COUNTED, k_id=invocation_id, v_updated_at=at)).changed:
        there = (yield run.call(OWNER_OF["invocations"], k_id=invocation_id)).first
        _not_the_same(run, invocation_id, there)


def _of_same_owner(run: Running, invocation_id: str) -> Steps[None]:
    there = (yield run.call(OWNER_OF["invocations"], k_id=invocation_id)).first
    if there is None or there[0] != run.owner:
        _not_the_same(run, invocation_id, there)


# -- creation --------------------------------------------------------------------------------------------


def _create_session(run: Running, session: Mapping[str, Any]) -> Prepared:
    row = given("sessions", session, ("id", "progression_id"))
    reason = row.pop("status_reason_code", None)
    only_columns(run, "sessions", row, _COLUMNS)
    row = {**dict.fromkeys(_COLUMNS), "source_kind": "live", "ended_at_is_approximate": 0, **row}
    row["created_at"] = now() if row["created_at"] is None else row["created_at"]
    row["updated_at"] = row["created_at"] if row["updated_at"] is None else row["updated_at"]
    row["last_message_at"] = row["updated_at"] if row["last_message_at"] is None else row["last_message_at"]
    status = row["status"]
    check_status("session", status)
    reason = first_reason("session", status, reason)
    if status in TERMINAL["session"] and row["ended_at"] is None:
        row |= {"ended_at": row["updated_at"], "ended_at_is_approximate": 1}
    values = row_values(table("sessions"), row, "sqlite")
    _same_owner(run, row["invocation_id"])
    run.check(row)
    at = now()

    def steps() -> Steps[None]:
        yield from run.held(row)
        if row["invocation_id"] is not None:
            yield from _counted(run, row["invocation_id"], at)
        yield from run.insert(NEW_SESSION, values)
        if status is not None:
            assert reason is not None
            why = {"status_reason_code": reason, "status_reason_summary": "", "status_evidence_refs": []}
            yield run.call(FIRST_REASON, k_id=row["id"], **row_values(table("sessions"), why, "sqlite"))
            yield from first_transition(run, row["id"], status, reason, "create_session")

    return steps


# -- changes ---------------------------------------------------------------------------------------------


def _update_session(
    run: Running, session_id: str, *, set_if_null: Collection[str] = (), **fields: Any
) -> Prepared:
    row = dict(fields)
    only_own_fields(run, "sessions", row)
    reasoning = {theirs: row.pop(ours) for ours, theirs in REASONING.items() if ours in row}
    change = None
    if "status" in row:
        if reasoning.get("reason_code") is None:
            refuse("sessions.status", "A status is written with its reason.", "reason_code", "no reason_code")
        if "update_status" not in run.book.operations:
            run.refuse(
                "a status is written by update_status, which this profile does not name",
                code="operation-not-in-profile",
                expected="update_status among the profile's operations",
                observed="a session update that names a status",
            )
        reasoning["new_status"] = row.pop("status")
        if "ended_at" in row:
            reasoning["extra_fields"] = {"ended_at": row.pop("ended_at")}
        change = session_change(run, "session", session_id, reasoning)
    elif reasoning:
        run.refuse(
            "reasons and overrides belong to a status, and none is named",
            code="override",
            expected="a status",
            observed=", ".join(sorted(reasoning)),
        )
    may = CHANGED.updates(run.book.shape)
    only_columns(run, "sessions", row, may)
    patch = merged_keys(run, "sessions", row.pop("node_metadata")) if "node_metadata" in row else None
    _same_owner(run, row.get("invocation_id"))
    rows = {"session_id": identity("sessions", session_id), **row}
    run.check(rows)
    values = row_values(table("sessions"), row, "sqlite")
    if "v_updated_at" not in values:
        values["v_updated_at"] = now()
    some = TEARDOWN if set(row) <= set(_TEARDOWN) and not set_if_null else CHANGED
    parameters = some.values(run.book.shape, values)
    for name in set_if_null:
        if parameters.get(f"g_{name}"):
            parameters[f"g_{name}"] = 2

    def steps() -> Steps[bool | Rejected]:
        yield from run.held(rows)
        if row.get("invocation_id") is not None:
            yield from _of_same_owner(run, row["invocation_id"])
        if change is not None:
            answer = yield from change_status(run, change)
            if answer is not True:
                return answer
        if patch is not None:
            there = yield from _metadata(run, session_id)
            whole = row_values(table("sessions"), {"node_metadata": {**there, **patch}}, "sqlite")
            parameters.update(whole, g_node_metadata=1)
        if row or patch is not None:
            yield from _one(run, some, session_id, parameters)
        return True

    return steps


def _metadata(run: Running, session_id: str) -> Steps[dict[str, Any]]:
    found = (yield run.call(METADATA_OF, k_id=session_id)).first
    if found is None:
        run.gone("sessions", session_id, "no row")
    return stored_mapping(run, "sessions", session_id, found[1])


def _merge(run: Running, session_id: str, patch: Mapping[str, Any]) -> Prepared:
    keys = merged_keys(run, "sessions", patch)
    rows = {"session_id": identity("sessions", session_id)}
    run.check(rows)
    at = now()

    def steps() -> Steps[None]:
        yield from run.held(rows)
        whole = patched((yield from _metadata(run, session_id)), keys)
        row = row_values(table("sessions"), {"node_metadata": whole, "updated_at": at}, "sqlite")
        yield from _one(run, METADATA, session_id, row)

    return steps


def _verification(run: Running, session_id: str, verification: Mapping[str, Any] | None) -> Prepared:
    rows = {"session_id": identity("sessions", session_id)}
    values = row_values(
        table("sessions"), {"artifact_verification_json": verification, "updated_at": now()}, "sqlite"
    )
    run.check(rows)
    return lambda: _one(run, VERIFICATION, session_id, values)


def _label(run: Running, session_id: str, user_label: str | None) -> Prepared:
    rows = {"session_id": identity("sessions", session_id)}
    values = row_values(table("sessions"), {"user_label": user_label}, "sqlite")
    run.check(rows)

    def steps() -> Steps[bool]:
        yield from _one(run, LABEL, session_id, values)
        return True

    return steps


def _one(run: Running, spec: Spec, session_id: str, values: Mapping[str, Any]) -> Steps[None]:
    """Changes the run's session; refuses when it is gone or another's."""
    if not (yield run.call(spec, k_id=session_id, **values)).changed:
        yield from run.still_own("sessions", session_id)


def _signal(
    run: Running, *, session_id: str, kind: str, op_id: str = "", ts: float, payload: Mapping[str, Any]
) -> Prepared:
    rows = {"session_id": identity("sessions", session_id)}
    row: dict[str, Any] = {"id": new_id(), "session_id": session_id, "kind": kind, "op_id": op_id}
    row |= {"ts": moment("session_signals", "ts", ts), "payload": payload}
    values = row_values(table("session_signals"), row, "sqlite")
    run.check(rows)

    def steps() -> Steps[int]:
        yield from run.held(rows)
        number = int((yield run.call(NEXT_SIGNAL, k_session_id=session_id)).rows[0][0])
        yield run.call(NEW_SIGNAL, **values, v_seq=number)
        return number

    return steps


# -- operations ------------------------------------------------------------------------------------------

CREATE_SESSION = Operation(
    name="create_session",
    does="Adds a session, with its first transition and its invocation's count.",
    transaction="session",
    reached_from=(
        "recorder: set-up",
        "record: the session line",
        "copy-run: the run",
        "probe: set-up",
    ),
    requires=(
        NewId("sessions", "id"),
        Own("progressions", "progression_id"),
        Own("messages", "first_msg_id", optional=True),
        Own("messages", "last_msg_id", optional=True),
        _INVOCATION,
    ),
    writes=(
        NEW_SESSION,
        FIRST_REASON,
        ANY_TRANSITION,
        TRANSITION,
        COUNTED,
        OWNER_OF["sessions"],
        OWNER_OF["invocations"],
    ),
    keeps=("status-with-history", "one-owner"),
    prepare=_create_session,
    without=("the registration of its project: the name stays on the session's row",),
)

UPDATE_SESSION = Operation(
    name="update_session",
    does="Changes columns of this run's session, with its status when one is named; metadata by key.",
    transaction="session update",
    reached_from=(
        "recorder: teardown, and a session-start or session-end event",
        "record: usage on the end line",
        "copy-run: usage",
    ),
    requires=(
        Own("sessions", "session_id", held_by_update=True),
        Own("messages", "first_msg_id", optional=True),
        Own("messages", "last_msg_id", optional=True),
        _INVOCATION,
    ),
    writes=(TEARDOWN, CHANGED, METADATA_OF, OWNER_OF["sessions"], OWNER_OF["invocations"]),
    borrows={"update_status": OF_A_STATUS},
    keeps=("clocks-forward", "status-with-history", "one-owner"),
    prepare=_update_session,
    leaves="an administrative event, and nothing else, when the lifecycle rejects a status",
)

UPDATE_ARTIFACT_VERIFICATION = Operation(
    name="update_artifact_verification",
    does="Keeps on the session what was observed of its expected files.",
    transaction="verification",
    reached_from=(
        "recorder: teardown",
        "record: the expected files, on the end line",
    ),
    requires=(Own("sessions", "session_id", held_by_update=True),),
    writes=(VERIFICATION, OWNER_OF["sessions"]),
    keeps=("clocks-forward", "one-owner"),
    prepare=_verification,
)

MERGE_SESSION_NODE_METADATA = Operation(
    name="merge_session_node_metadata",
    does="Merges a patch into the session's metadata, after a provider's error.",
    transaction="metadata",
    reached_from=("recorder: a provider's error",),
    requires=(Own("sessions", "session_id"),),
    writes=(METADATA_OF, METADATA),
    keeps=("clocks-forward", "one-owner"),
    prepare=_merge,
)

SET_SESSION_USER_LABEL = Operation(
    name="set_session_user_label",
    does="Gives this run's session a person's label, or takes it away.",
    transaction="label",
    reached_from=("copy-run: a person's label",),
    requires=(Own("sessions", "session_id", held_by_update=True),),
    writes=(LABEL, OWNER_OF["sessions"]),
    keeps=("one-owner",),
    prepare=_label,
    optional=True,
)

INSERT_SESSION_SIGNAL = Operation(
    name="insert_session_signal",
    does="Adds the session's next signal; a number another writer took is an error, never a retry.",
    transaction="signal",
    reached_from=(
        "recorder: the signal sink",
        "record: a signal line",
        "copy-run: a signal",
        "probe: its signal",
    ),
    requires=(Own("sessions", "session_id"),),
    writes=(NEXT_SIGNAL, NEW_SIGNAL),
    keeps=("one-owner",),
    prepare=_signal,
)
