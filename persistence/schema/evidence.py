"""What is said to have happened: artifacts, status transitions, administrative events."""

from __future__ import annotations

from sqlalchemy import Table

from persistence.schema.columns import index, json, link, metadata, real, string, unique_index

__all__ = ["admin_events", "artifacts", "status_transitions"]

artifacts = Table(
    "artifacts",
    metadata,
    string("id", key=True),
    string("invocation_id", link("invocations.id", on_delete="CASCADE")),
    string("session_id", link("sessions.id")),
    real("created_at", required=True),
    real("updated_at", required=True),
    string("kind", required=True),
    string("name", required=True),
    json("content", required=True),
    string("file_path"),
    index("idx_artifacts_created", "created_at"),
    index("idx_artifacts_invocation", "invocation_id", where="invocation_id IS NOT NULL"),
    index("idx_artifacts_invocation_time", "invocation_id", "created_at", where="invocation_id IS NOT NULL"),
    index("idx_artifacts_kind", "kind"),
    index("idx_artifacts_session", "session_id", where="session_id IS NOT NULL"),
    index("idx_artifacts_session_time", "session_id", "created_at", where="session_id IS NOT NULL"),
    unique_index(
        "idx_artifacts_natural_key_both",
        "invocation_id",
        "session_id",
        "kind",
        "name",
        where="invocation_id IS NOT NULL AND session_id IS NOT NULL",
    ),
    unique_index(
        "idx_artifacts_natural_key_inv_only",
        "invocation_id",
        "kind",
        "name",
        where="invocation_id IS NOT NULL AND session_id IS NULL",
    ),
    unique_index(
        "idx_artifacts_natural_key_ses_only",
        "session_id",
        "kind",
        "name",
        where="session_id IS NOT NULL AND invocation_id IS NULL",
    ),
    unique_index(
        "idx_artifacts_natural_key_unattached",
        "kind",
        "name",
        where="invocation_id IS NULL AND session_id IS NULL",
    ),
)

status_transitions = Table(
    "status_transitions",
    metadata,
    string("id", key=True),
    string("entity_type", required=True),
    string("entity_id", required=True),
    string("previous_status"),
    string("status", required=True),
    string("reason_code", required=True),
    string("reason_summary"),
    json("evidence_refs"),
    string("source", required=True),
    string("actor"),
    real("created_at", required=True),
    json("metadata"),
    index("idx_status_transitions_created", "created_at"),
    index("idx_status_transitions_entity", "entity_type", "entity_id", "created_at"),
    index("idx_status_transitions_reason", "reason_code", "created_at"),
)

admin_events = Table(
    "admin_events",
    metadata,
    string("id", key=True),
    real("created_at", required=True),
    string("action", required=True),
    string("target_id"),
    json("details", required=True),
    string("actor", required=True, default="admin"),
    index("idx_admin_events_action", "action"),
    index("idx_admin_events_created", "created_at"),
    index("idx_admin_events_target", "target_id", where="target_id IS NOT NULL"),
)
