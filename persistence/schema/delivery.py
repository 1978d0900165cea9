"""What is to be handed on: the dispatch outbox."""

from __future__ import annotations

from sqlalchemy import Table

from persistence.schema.columns import (
    index,
    integer,
    json,
    link,
    metadata,
    one_of,
    real,
    string,
    unique_index,
)

__all__ = ["dispatch_outbox"]

dispatch_outbox = Table(
    "dispatch_outbox",
    metadata,
    string("id", key=True),
    string("kind", required=True),
    string("deliver_to", required=True),
    json("payload", required=True),
    string("dedup_key"),
    string("status", required=True, default="pending"),
    integer("attempt", required=True, default="0"),
    integer("max_attempts", required=True, default="8"),
    real("next_attempt_at", required=True),
    integer("ack_required", required=True, default="0"),
    string("ack_token"),
    string("session_id", link("sessions.id")),
    string("schedule_run_id", link("schedule_runs.id")),
    string("last_error"),
    real("created_at", required=True),
    real("expires_at"),
    real("updated_at"),
    one_of(
        "ck_dispatch_outbox_status",
        "status",
        "pending",
        "delivering",
        "delivered",
        "acked",
        "dead_letter",
        "expired",
    ),
    index(
        "idx_dispatch_outbox_due", "status", "next_attempt_at", where="status IN ('pending', 'delivering')"
    ),
    unique_index("idx_dispatch_outbox_dedup", "dedup_key", where="dedup_key IS NOT NULL"),
)
