"""The store's own rows, projects, and what steers a session: signals, controls, engine runs, approvals."""

from __future__ import annotations

from sqlalchemy import Table, UniqueConstraint, text

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

__all__ = [
    "approval_evidence",
    "approvals",
    "engine_runs",
    "projects",
    "run_tags",
    "schema_meta",
    "session_controls",
    "session_signals",
]

schema_meta = Table(
    "schema_meta",
    metadata,
    string("key", key=True),
    string("value", required=True),
)

projects = Table(
    "projects",
    metadata,
    string("name", key=True),
    string("source", required=True),
    string("path"),
    string("github"),
    string("description"),
    real("created_at", required=True),
    real("updated_at", required=True),
    real("last_seen_at"),
    index("idx_projects_source", "source"),
    index("idx_projects_updated", "updated_at"),
)

session_signals = Table(
    "session_signals",
    metadata,
    string("id", key=True),
    string("session_id", link("sessions.id", on_delete="CASCADE"), required=True),
    integer("seq", required=True),
    string("kind", required=True),
    string("op_id", required=True, default=""),
    real("ts", required=True),
    json("payload", required=True, default="{}"),
    UniqueConstraint("session_id", "seq", name="idx_session_signals_seq"),
    index("idx_session_signals_session_ts", "session_id", "ts"),
)

engine_runs = Table(
    "engine_runs",
    metadata,
    string("id", key=True),
    string("kind", required=True),
    json("spec_json", required=True),
    string("status", required=True, default="running"),
    real("started_at", required=True),
    real("ended_at"),
    string("session_id", link("sessions.id", on_delete="SET NULL")),
    string("invocation_id", link("invocations.id", on_delete="SET NULL")),
    string("signal_session_id", link("sessions.id", on_delete="SET NULL")),
    string("parent_session_id", link("sessions.id", on_delete="SET NULL")),
    json("outcome_json"),
    string("export_dir"),
    string("error"),
    one_of("ck_engine_runs_status", "status", "running", "completed", "failed", "cancelled"),
    index("idx_engine_runs_invocation", "invocation_id", where="invocation_id IS NOT NULL"),
    index("idx_engine_runs_kind", "kind"),
    index("idx_engine_runs_parent_session", "parent_session_id", where="parent_session_id IS NOT NULL"),
    index("idx_engine_runs_session", "session_id", where="session_id IS NOT NULL"),
    index("idx_engine_runs_signal_session", "signal_session_id", where="signal_session_id IS NOT NULL"),
    index("idx_engine_runs_started", "started_at"),
    index("idx_engine_runs_started_id", text("started_at DESC"), text("id DESC")),
    index("idx_engine_runs_status", "status"),
)

session_controls = Table(
    "session_controls",
    metadata,
    string("id", key=True),
    string("session_id", link("sessions.id", on_delete="CASCADE"), required=True),
    string("verb", required=True),
    json("payload"),
    real("created_at", required=True),
    real("applied_at"),
    real("claimed_at"),
    string("result"),
    one_of("ck_session_controls_verb", "verb", "pause", "resume", "message", "stop"),
    index("idx_session_controls_pending", "session_id", "applied_at", where="applied_at IS NULL"),
)

run_tags = Table(
    "run_tags",
    metadata,
    string("session_id", link("sessions.id", on_delete="CASCADE"), key=True),
    string("tag", key=True),
    real("created_at", required=True),
    index("idx_run_tags_tag", "tag"),
)

approvals = Table(
    "approvals",
    metadata,
    string("id", key=True),
    string("action_kind", required=True),
    string("params_hash", required=True),
    string("session_id", link("sessions.id")),
    string("status", required=True, default="pending"),
    real("proposed_at", required=True),
    real("granted_at"),
    real("consumed_at"),
    real("expires_at", required=True),
    one_of("ck_approvals_status", "status", "pending", "granted", "consumed", "expired", "denied"),
    index("idx_approvals_session", "session_id", where="session_id IS NOT NULL"),
    index("idx_approvals_status", "status", where="status IN ('pending', 'granted')"),
)

approval_evidence = Table(
    "approval_evidence",
    metadata,
    string("id", key=True),
    integer("sequence", required=True),
    string("event_type", required=True),
    string("approval_id", link("approvals.id"), required=True),
    string("action_kind", required=True),
    string("status_from"),
    string("status_to", required=True),
    string("params_hash", required=True),
    string("justification_class"),
    string("justification_reason"),
    real("created_at", required=True),
    string("content_hash", required=True),
    string("previous_hash", required=True),
    string("chain_hash", required=True),
    string("hmac_sig"),
    one_of(
        "ck_approval_evidence_event_type",
        "event_type",
        "proposed",
        "granted",
        "denied",
        "consumed",
        "expired",
    ),
    index("idx_approval_evidence_approval", "approval_id"),
    unique_index("idx_approval_evidence_sequence", "sequence"),
)
