"""The operational schema by name, without SQLAlchemy: what `doctor` and the lineage rules need to know."""

from __future__ import annotations

__all__ = ["GROUPS", "TABLES", "group_of"]

GROUPS: dict[str, tuple[str, ...]] = {
    "conversation": ("message_types", "messages", "progressions", "sessions", "branches"),
    "execution": ("invocations", "shows", "plays", "teams", "team_messages"),
    "scheduling": ("schedules", "schedule_runs", "workers"),
    "definitions": ("definitions", "engine_defs", "workflow_defs"),
    "control": (
        "schema_meta",
        "projects",
        "session_signals",
        "engine_runs",
        "session_controls",
        "run_tags",
        "approvals",
        "approval_evidence",
    ),
    "evidence": ("artifacts", "status_transitions", "admin_events"),
    "delivery": ("dispatch_outbox",),
    "beside": (
        "terminal_deliveries",
        "attention_dispositions",
        "attention_disposition_revisions",
        "attention_disposition_history",
    ),
}
"""The tables by ADR-0055 D1's groups (`control` is its state/control); `beside` are the four 0.36.0 has
in no group (DECISIONS 5)."""

TABLES: tuple[str, ...] = tuple(name for names in GROUPS.values() for name in names)

_GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}


def group_of(table: str) -> str | None:
    """The group a table of the operational schema belongs to; None for any other table."""
    return _GROUP_OF.get(table)
