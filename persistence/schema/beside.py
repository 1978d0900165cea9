"""What 0.36.0 keeps in no group of ADR-0055 (DECISIONS 5): terminal deliveries and attention dispositions."""

from __future__ import annotations

from sqlalchemy import Table

from persistence.schema.columns import index, integer, link, metadata, one_of, real, string, unique_index

__all__ = [
    "attention_disposition_history",
    "attention_disposition_revisions",
    "attention_dispositions",
    "terminal_deliveries",
]

terminal_deliveries = Table(
    "terminal_deliveries",
    metadata,
    string("transition_id", link("status_transitions.id"), key=True),
    string("consumer", key=True),
    real("acked_at", required=True),
    index("idx_terminal_deliveries_consumer", "consumer", "acked_at"),
)

attention_dispositions = Table(
    "attention_dispositions",
    metadata,
    string("item_id", key=True),
    string("state", required=True),
    string("note"),
    real("created_at", required=True),
    real("updated_at", required=True),
    real("expires_at"),
    string("actor", required=True),
    string("source_status", required=True),
    integer("revision", required=True, default="1"),
    one_of("ck_attention_dispositions_state", "state", "acknowledged", "resolved", "expected", "snoozed"),
)

attention_disposition_revisions = Table(
    "attention_disposition_revisions",
    metadata,
    string("item_id", key=True),
    integer("revision", required=True),
)

attention_disposition_history = Table(
    "attention_disposition_history",
    metadata,
    string("id", key=True),
    string("item_id", required=True),
    integer("sequence", required=True),
    string("prior_state"),
    string("new_state", required=True),
    string("note"),
    string("actor", required=True),
    string("source_status"),
    real("created_at", required=True),
    index("idx_attention_disposition_history_item", "item_id", "created_at"),
    unique_index("idx_attention_disposition_history_sequence", "sequence"),
)
