"""Progressions, messages, and the live message: the operations a run makes most (ADR-0128 A.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from persistence.engines.statements import Steps
from persistence.errors import ValueRefusedError
from persistence.writing.compatibility.columns import absent, later, longer, not_ended
from persistence.writing.compatibility.declarations import (
    OWNER_OF,
    Insert,
    NewId,
    Operation,
    Own,
    Read,
    Rule,
    Update,
)
from persistence.writing.compatibility.given import identity, moment, only_own_fields
from persistence.writing.compatibility.running import Prepared, Running
from persistence.writing.native.messages import collection_text, entry, message_values
from persistence.writing.native.rows import now

__all__ = [
    "APPEND_TO_PROGRESSION",
    "CREATE_PROGRESSION",
    "INSERT_MESSAGE",
    "INSERT_MESSAGES",
    "PERSIST_LIVE_MESSAGE",
]

_REWRITTEN: Final = (
    "node_metadata",
    "content",
    "embedding",
    "sender",
    "recipient",
    "channel",
    "role",
    "lion_class",
)

NEW_PROGRESSION = Insert("progressions", ("id", "created_at", "collection"))
_NUMBER: Final = {"v_lion_class": "the number of its class"}
APPEND = Update("progressions", {"collection": longer}, where=absent)
TYPE_OF = Read("message_types", ("type_id",), by="lion_class", assumed=None)
NEW_TYPE = Insert(
    "message_types", ("lion_class",), skips=None, when="only if there is no class of this name yet"
)
NEW_MESSAGE = Insert("messages", ("id", "created_at", *_REWRITTEN), later=_NUMBER)
REWRITE = Update(
    "messages", dict.fromkeys(_REWRITTEN), when="only if the message is this run's already", later=_NUMBER
)
SYSTEM_MESSAGE = Update("branches", {"system_msg_id": None})
TOUCH = Update(
    "sessions",
    {name: later(name) for name in ("last_message_at", "updated_at")},
    where=not_ended,
    reads=("status",),
)
STATUS_OF = Read(
    "sessions", ("status",), owned=True, when="only if the session has ended, or is not this run's any more"
)

_MESSAGE = (TYPE_OF, NEW_TYPE, NEW_MESSAGE, REWRITE, OWNER_OF["messages"])
_TYPES = Rule("message_types", "the class of a message: added when there is none of its name; no owner")
_NEW_OR_OWN = Rule("messages", "id: one that no row has, or a message of this run, which is rewritten")


# -- steps -----------------------------------------------------------------------------------------------


def written(run: Running, values: dict[str, Any], lion_class: str | None) -> Steps[None]:
    """The message: new, or this run's own and then rewritten; when it was made stays."""
    if lion_class is not None:
        rows = (yield run.call(TYPE_OF, k_lion_class=lion_class)).rows
        values["v_lion_class"] = rows[0][0] if rows else (yield from _new_class(run, lion_class))
    message_id = values["v_id"]
    row = ("messages", message_id)
    if not run.created.made(row) and row not in run.made:
        if not (yield run.call(NEW_MESSAGE, **values)).changed:
            yield from run.taken("messages", message_id)
        run.made.append(row)
    elif not (yield run.call(REWRITE, k_id=message_id, **values)).changed:
        yield from run.still_own("messages", message_id)


def _new_class(run: Running, name: str) -> Steps[int]:
    yield run.call(NEW_TYPE, v_lion_class=name)
    number: int = (yield run.call(TYPE_OF, k_lion_class=name)).rows[0][0]
    return number


def appended(run: Running, progression_id: str, message_id: str) -> Steps[None]:
    """The id goes to the end of the collection unless it is in it."""
    if not (yield run.call(APPEND, k_id=progression_id, v_message_id=message_id)).changed:
        yield from run.still_own("progressions", progression_id)


def touched(run: Running, session_id: str, at: float) -> Steps[None]:
    """The session's clocks move forward; a session that has ended takes no more messages."""
    if (yield run.call(TOUCH, k_id=session_id, v_last_message_at=at, v_updated_at=at)).changed:
        return
    yield from run.still_own("sessions", session_id)
    status = (yield run.call(STATUS_OF, k_id=session_id)).rows[0][1]
    run.refuse(
        "the session has ended, and takes no more messages",
        code="session-ended",
        row=("sessions", session_id),
        expected="a session that has not ended",
        observed=f"status {status!r}",
        remedy="Keep the messages before the status that ends the run.",
    )


# -- operations ------------------------------------------------------------------------------------------


def _create_progression(
    run: Running, progression_id: str, collection: Sequence[str] | None = None
) -> Prepared:
    collection_text(collection)  # refused now, or not at all
    ids = list(dict.fromkeys(collection or ()))
    rows = {"progression_id": identity("progressions", progression_id), "collection": ids}
    run.check(rows)
    values = {
        "v_id": progression_id,
        "v_created_at": now(),
        "v_collection": collection_text(ids),
    }

    def steps() -> Steps[None]:
        yield from run.held(rows)
        yield from run.insert(NEW_PROGRESSION, values)

    return steps


def _append(run: Running, progression_id: str, message_id: str) -> Prepared:
    rows = {"progression_id": identity("progressions", progression_id), "message_id": entry(message_id)}
    run.check(rows)

    def steps() -> Steps[None]:
        yield from run.held(rows)
        yield from appended(run, progression_id, message_id)

    return steps


def _message(run: Running, msg: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    if isinstance(msg, Mapping):
        only_own_fields(run, "messages", msg)
    values, lion_class = message_values(msg, "sqlite")
    entry(values["v_id"])
    return values, lion_class


def _insert_message(run: Running, msg: Mapping[str, Any]) -> Prepared:
    values, lion_class = _message(run, msg)
    return lambda: written(run, values, lion_class)


def _persist_live_message(
    run: Running,
    msg: Mapping[str, Any],
    *,
    session_id: str,
    branch_progression_id: str | None = None,
    session_progression_id: str | None = None,
    system_branch_id: str | None = None,
    activity_at: float | None = None,
) -> Prepared:
    values, lion_class = _message(run, msg)
    rows = {
        "session_id": identity("sessions", session_id),
        "branch_progression_id": branch_progression_id,
        "session_progression_id": session_progression_id,
        "system_branch_id": system_branch_id,
    }
    run.check(rows)
    message_id = values["v_id"]
    at = moment("sessions", "updated_at", activity_at)

    def steps() -> Steps[None]:
        yield from written(run, values, lion_class)
        for progression in (branch_progression_id, session_progression_id):
            if progression is not None:
                yield from appended(run, progression, message_id)
        if system_branch_id is not None:
            system = run.call(SYSTEM_MESSAGE, k_id=system_branch_id, v_system_msg_id=message_id)
            if not (yield system).changed:
                yield from run.still_own("branches", system_branch_id)
        yield from touched(run, session_id, at)

    return steps


def _insert_messages(
    run: Running,
    msgs: Sequence[Mapping[str, Any]],
    *,
    progression_ids: Sequence[str] = (),
    session_id: str | None = None,
    activity_at: float | None = None,
) -> Prepared:
    if isinstance(msgs, str | bytes | Mapping) or isinstance(progression_ids, str | bytes):
        raise ValueRefusedError("Messages, and progressions, are given as sequences.", where="messages")
    messages = [_message(run, msg) for msg in msgs]
    rows = {"progression_ids": list(progression_ids), "session_id": session_id}
    run.check(rows)
    at = moment("sessions", "updated_at", activity_at)

    def steps() -> Steps[None]:
        for values, lion_class in messages:
            yield from written(run, values, lion_class)
        for progression in progression_ids:
            for values, _ in messages:
                yield from appended(run, progression, values["v_id"])
        if session_id is not None:
            yield from touched(run, session_id, at)

    return steps


CREATE_PROGRESSION = Operation(
    name="create_progression",
    does="Adds a progression: an order of messages, each once.",
    transaction="progression",
    reached_from=(
        "recorder: set-up",
        "record: a session or branch line",
        "copy-run: an order",
        "probe: set-up",
    ),
    requires=(NewId("progressions", "progression_id"), Own("messages", "collection")),
    writes=(NEW_PROGRESSION, OWNER_OF["progressions"]),
    keeps=("arrival-order", "one-owner"),
    prepare=_create_progression,
)

INSERT_MESSAGE = Operation(
    name="insert_message",
    does="Adds a message, or rewrites one of this run.",
    transaction="message",
    reached_from=(
        "recorder: set-up, the system message",
        "copy-run: a message",
    ),
    requires=(_NEW_OR_OWN, _TYPES),
    writes=_MESSAGE,
    keeps=("one-owner",),
    prepare=_insert_message,
)

APPEND_TO_PROGRESSION = Operation(
    name="append_to_progression",
    does="Puts a message of this run at the end of one of its progressions, unless it is in it.",
    transaction="append",
    reached_from=("a program, through the facade",),
    requires=(Own("progressions", "progression_id", held_by_update=True), Own("messages", "message_id")),
    writes=(APPEND, OWNER_OF["progressions"]),
    keeps=("arrival-order", "one-owner"),
    prepare=_append,
)

PERSIST_LIVE_MESSAGE = Operation(
    name="persist_live_message",
    does="Keeps a message as it comes: the row, its place in both orders, and the session's clocks.",
    transaction="live message",
    reached_from=(
        "recorder: a message, its retry queue, the flush at teardown",
        "record: a message line, or a branch line's system message",
        "probe: its message",
    ),
    requires=(
        _NEW_OR_OWN,
        _TYPES,
        Own("sessions", "session_id", held_by_update=True),
        Own("progressions", "branch_progression_id", optional=True, held_by_update=True),
        Own("progressions", "session_progression_id", optional=True, held_by_update=True),
        Own("branches", "system_branch_id", optional=True, held_by_update=True),
    ),
    writes=(
        *_MESSAGE,
        APPEND,
        SYSTEM_MESSAGE,
        TOUCH,
        STATUS_OF,
        OWNER_OF["progressions"],
        OWNER_OF["branches"],
        OWNER_OF["sessions"],
    ),
    keeps=("arrival-order", "clocks-forward", "one-owner"),
    prepare=_persist_live_message,
)

INSERT_MESSAGES = Operation(
    name="insert_messages",
    does="Adds messages and appends them to progressions of this run, as one.",
    transaction="messages",
    reached_from=("a program, through the facade",),
    requires=(
        _NEW_OR_OWN,
        _TYPES,
        Own("progressions", "progression_ids", optional=True, held_by_update=True),
        Own("sessions", "session_id", optional=True, held_by_update=True),
    ),
    writes=(*_MESSAGE, APPEND, TOUCH, STATUS_OF, OWNER_OF["progressions"], OWNER_OF["sessions"]),
    keeps=("arrival-order", "clocks-forward", "one-owner"),
    prepare=_insert_messages,
    optional=True,
)
