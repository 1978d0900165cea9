"""What each operation of the manifest needs a profile to allow, by table (ADR-0128 A.2, A.3).

A profile that names an operation declares these tables, and its write rules allow these columns. The words of
the operations are the facade's methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

__all__ = ["INVARIANTS", "NEEDS", "ONE_OWNER", "Need", "Needs", "needs_of"]


class Need(NamedTuple):
    """Of one table: the columns a statement inserts, those one updates, and those that are only read."""

    insert: tuple[str, ...] = ()
    update: tuple[str, ...] = ()
    read: tuple[str, ...] = ()


class Needs(NamedTuple):
    """Of one operation: its tables, and the reader invariants it keeps."""

    tables: Mapping[str, Need]
    keeps: tuple[str, ...] = ()


ONE_OWNER = "one-owner"

INVARIANTS: dict[str, str] = {
    "arrival-order": "A progression lists its messages in the order they arrived, none of them twice.",
    "clocks-forward": "A session's last_message_at and updated_at never move back.",
    "status-with-history": "A session's status and its newest transition change in one transaction.",
    ONE_OWNER: "A run's session, branch, progressions and messages share one owner.",
}
"""The reader invariants of A.3, by the words a profile names them with."""


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_TRANSITION = Need(
    insert=_names(
        "id entity_type entity_id previous_status status reason_code reason_summary evidence_refs source "
        "actor created_at metadata"
    )
)
_REASON = _names("status_reason_code status_reason_summary status_evidence_refs")
_MESSAGE = _names("id created_at node_metadata content embedding sender recipient channel role lion_class")
_MESSAGES = Need(insert=_MESSAGE, update=_MESSAGE[2:])
_TYPES = Need(insert=("lion_class",), read=("type_id",))

NEEDS: dict[str, Needs] = {
    "create_progression": Needs(
        {"progressions": Need(insert=_names("id created_at collection")), "messages": Need(read=("id",))},
        ("arrival-order", ONE_OWNER),
    ),
    "create_session": Needs(
        {
            "sessions": Need(
                insert=_names(
                    "id cc_session_id run_id created_at node_metadata name user progression_id first_msg_id "
                    "last_msg_id updated_at playbook_name agent_name invocation_kind show_topic "
                    "show_play_name artifacts_path artifact_contract_json artifact_verification_json "
                    "source_kind status started_at ended_at ended_at_is_approximate last_message_at "
                    "invocation_id model provider effort agent_hash project project_source duration_ms"
                ),
                update=_REASON,
            ),
            "progressions": Need(read=("id",)),
            "messages": Need(read=("id",)),
            "status_transitions": _TRANSITION,
            "invocations": Need(update=_names("session_count updated_at"), read=("id",)),
        },
        ("status-with-history", ONE_OWNER),
    ),
    "insert_message": Needs({"message_types": _TYPES, "messages": _MESSAGES}, (ONE_OWNER,)),
    "create_branch": Needs(
        {
            "branches": Need(
                insert=_names(
                    "id created_at node_metadata user name session_id progression_id system_msg_id model "
                    "provider agent_name"
                )
            ),
            "sessions": Need(read=("id",)),
            "progressions": Need(read=("id",)),
            "messages": Need(read=("id",)),
        },
        (ONE_OWNER,),
    ),
    "persist_live_message": Needs(
        {
            "message_types": _TYPES,
            "messages": _MESSAGES,
            "progressions": Need(update=("collection",), read=("id",)),
            "branches": Need(update=("system_msg_id",), read=_names("id session_id progression_id")),
            "sessions": Need(update=_names("last_message_at updated_at"), read=_names("id progression_id")),
        },
        ("arrival-order", "clocks-forward", ONE_OWNER),
    ),
    "append_to_progression": Needs(
        {"progressions": Need(update=("collection",), read=("id",)), "messages": Need(read=("id",))},
        ("arrival-order", ONE_OWNER),
    ),
    "insert_messages": Needs(
        {
            "message_types": _TYPES,
            "messages": _MESSAGES,
            "progressions": Need(update=("collection",), read=("id",)),
            "sessions": Need(update=_names("last_message_at updated_at"), read=("id",)),
        },
        ("arrival-order", "clocks-forward", ONE_OWNER),
    ),
    "insert_session_signal": Needs(
        {
            "session_signals": Need(insert=_names("id session_id seq kind op_id ts payload")),
            "sessions": Need(read=("id",)),
        },
        (ONE_OWNER,),
    ),
    "update_session": Needs(
        {
            "sessions": Need(
                update=_names(
                    "first_msg_id last_msg_id node_metadata input_tokens output_tokens total_cost_usd "
                    "num_turns updated_at"
                ),
                read=("id",),
            ),
            "messages": Need(read=("id",)),
            "invocations": Need(read=("id",)),
        },
        ("clocks-forward", "status-with-history", ONE_OWNER),
    ),
    "update_artifact_verification": Needs(
        {"sessions": Need(update=_names("artifact_verification_json updated_at"), read=("id",))},
        ("clocks-forward", ONE_OWNER),
    ),
    "merge_session_node_metadata": Needs(
        {"sessions": Need(update=_names("node_metadata updated_at"), read=("id",))},
        ("clocks-forward", ONE_OWNER),
    ),
    "update_status": Needs(
        {
            "sessions": Need(update=(*_names("status updated_at ended_at"), *_REASON), read=("id",)),
            "status_transitions": _TRANSITION,
            "admin_events": Need(insert=_names("id created_at action target_id details actor")),
        },
        ("clocks-forward", "status-with-history", ONE_OWNER),
    ),
    "finalize_branch": Needs(
        {"branches": Need(update=_names("status ended_at"), read=("id",))},
        (ONE_OWNER,),
    ),
    "update_branch": Needs(
        {
            "branches": Need(
                update=_names("name node_metadata system_msg_id model provider agent_name"), read=("id",)
            ),
            "messages": Need(read=("id",)),
        },
        (ONE_OWNER,),
    ),
    "set_session_user_label": Needs(
        {"sessions": Need(update=("user_label",), read=("id",))},
        (ONE_OWNER,),
    ),
}
"""In the order a run meets them."""


def needs_of(operations: Iterable[str]) -> dict[str, Need]:
    """What several operations need together, by table, in the order they first name it."""
    found: dict[str, Need] = {}
    for operation in operations:
        for table, need in NEEDS[operation].tables.items():
            before = found.get(table, Need())
            found[table] = Need(*(tuple(dict.fromkeys((*a, *b))) for a, b in zip(before, need, strict=True)))
    return found
