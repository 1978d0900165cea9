"""The operational schema by name, without SQLAlchemy: what `doctor` and the lineage rules need to know.

Facts read by machine from stores that lionagi releases made (PRAGMA table_xinfo of 0.26.0, 0.26.18,
0.28.0, 0.30.2, 0.32.0, 0.34.1 and 0.36.0) and from the values 0.36.0's checks and validation take.
"""

from __future__ import annotations

from functools import cache

__all__ = [
    "COLUMNS_SINCE",
    "DEFINITION_KINDS",
    "GROUPS",
    "INVOCATION_KINDS",
    "JSON_COLUMNS",
    "LINEAGE",
    "MESSAGE_TYPES",
    "OTHER_COMPONENT_TABLES",
    "REASON_CODES",
    "RELEASES",
    "SCHEMA_VERSION",
    "SOURCE_KINDS",
    "STATUSES",
    "STATUS_SOURCES",
    "TABLES",
    "TERMINAL",
    "VERSION_SINCE",
    "columns_of",
    "entity_type",
    "ever_had",
    "group_of",
    "since",
]

LINEAGE = "lionagi"
"""The value of schema_meta's `lineage` row in this lineage's stores; 0.36.0 is the first to write it."""

SCHEMA_VERSION = 4
"""The version 0.36.0 stamps, as text, into schema_meta's `version` row."""

VERSION_SINCE: dict[str, int] = {"0.26.0": 1, "0.31.1": 2, "0.34.1": 3, "0.35.5": 4}
"""The first release seen to stamp each version."""

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

OTHER_COMPONENT_TABLES: tuple[str, ...] = (
    "studio_operator_conversations",
    "studio_operator_effects",
    "studio_operator_frames",
    "studio_operator_proposals",
    "studio_operator_turns",
    "studio_operator_views",
)
"""Tables another lionagi component creates on its own in the state file, maybe before any StateDB open."""

RELEASES: tuple[str, ...] = ("0.26.0", "0.26.18", "0.28.0", "0.30.2", "0.32.0", "0.34.1", "0.36.0")
"""The releases whose stores were read, oldest first; each only ever added tables and columns."""

COLUMNS_SINCE: dict[str, dict[str, str]] = {
    "message_types": {
        "0.26.0": "type_id lion_class",
    },
    "messages": {
        "0.26.0": "id created_at node_metadata content embedding sender recipient channel role lion_class",
    },
    "progressions": {
        "0.26.0": "id created_at collection",
    },
    "sessions": {
        "0.26.0": (
            "id created_at node_metadata name user progression_id first_msg_id last_msg_id updated_at "
            "playbook_name agent_name invocation_kind show_topic show_play_name artifacts_path "
            "source_kind status started_at ended_at"
        ),
        "0.26.18": (
            "last_message_at current_phase invocation_id model provider effort agent_hash project "
            "project_source status_reason_code status_reason_summary status_evidence_refs "
            "artifact_contract_json artifact_verification_json"
        ),
        "0.28.0": "input_tokens output_tokens total_cost_usd num_turns duration_ms",
        "0.30.2": "cc_session_id",
        "0.32.0": "run_id",
        "0.36.0": "user_label ended_at_is_approximate",
    },
    "branches": {
        "0.26.0": "id created_at node_metadata user name session_id progression_id system_msg_id",
        "0.26.18": "model provider agent_name status started_at ended_at",
    },
    "invocations": {
        "0.26.18": (
            "id skill plugin prompt started_at ended_at status session_count created_at updated_at "
            "node_metadata status_reason_code status_reason_summary status_evidence_refs"
        ),
    },
    "shows": {
        "0.26.0": (
            "id topic goal repo base_branch integration_branch status show_dir status_source created_at "
            "updated_at"
        ),
        "0.26.18": "status_reason_code status_reason_summary status_evidence_refs",
    },
    "plays": {
        "0.26.0": (
            "id show_id name playbook effort status attempt session_id started_at ended_at exit_code "
            "worktree branch merge_sha merged_at gate_passed gate_feedback depends_on sort_order "
            "created_at updated_at"
        ),
        "0.26.18": "status_reason_code status_reason_summary status_evidence_refs",
    },
    "teams": {
        "0.26.18": (
            "id name created_at updated_at member_count members node_metadata status status_reason_code "
            "status_reason_summary status_evidence_refs"
        ),
    },
    "team_messages": {
        "0.26.18": "id team_id created_at sender recipient content summary read_by session_id",
    },
    "schedules": {
        "0.26.18": (
            "id name description enabled trigger_type cron_expr interval_sec github_repo github_filter "
            "github_cursor poll_interval_sec action_kind action_model action_prompt action_agent "
            "action_playbook action_project action_extra_args on_success on_fail last_fired_at "
            "next_fire_at missed_fire_policy overlap_policy project created_at updated_at"
        ),
        "0.28.0": "action_flow_yaml max_runs budget_usd budget_tokens threshold_config last_alert_at",
        "0.30.2": (
            "action_cwd action_command action_command_args rate_limit last_healthy_poll_at "
            "poller_consecutive_401 spec_version managed_by owner_key authored_spec resolved_target "
            "resolved_digest resolved_timezone notify_on notify_command"
        ),
        "0.32.0": (
            "predispatch_refusal_event predispatch_refusal_count effective_timezone effective_timezone_source"
        ),
        "0.36.0": "last_evaluated_at",
    },
    "schedule_runs": {
        "0.26.18": (
            "id schedule_id invocation_id trigger_context action_kind action_args status exit_code "
            "chain_parent_id chain_depth fired_at ended_at error_detail created_at updated_at "
            "status_reason_code status_reason_summary status_evidence_refs"
        ),
        "0.30.2": (
            "queued_at leased_by lease_expires_at concurrency_key lease_attempts required_capabilities "
            "execution_target library_ref library_content_hash dispatched_at resume_packet"
        ),
    },
    "workers": {
        "0.30.2": "worker_id advertised_capabilities execution_targets last_heartbeat_at leased_run_id",
    },
    "definitions": {
        "0.26.0": "id kind name path content version created_at message",
    },
    "engine_defs": {
        "0.28.0": "id name kind model max_depth max_agents options description created_at updated_at",
    },
    "workflow_defs": {
        "0.28.0": "id name description spec_json created_at updated_at",
    },
    "schema_meta": {
        "0.26.0": "key value",
    },
    "projects": {
        "0.26.18": "name source path github description created_at updated_at last_seen_at",
    },
    "session_signals": {
        "0.28.0": "id session_id seq kind op_id ts payload",
    },
    "engine_runs": {
        "0.28.0": "id kind spec_json status started_at ended_at session_id export_dir error",
        "0.36.0": "invocation_id signal_session_id parent_session_id outcome_json",
    },
    "session_controls": {
        "0.28.0": "id session_id verb payload created_at applied_at result",
        "0.34.1": "claimed_at",
    },
    "run_tags": {
        "0.28.0": "session_id tag created_at",
    },
    "approvals": {
        "0.30.2": (
            "id action_kind params_hash session_id status proposed_at granted_at consumed_at expires_at"
        ),
    },
    "approval_evidence": {
        "0.30.2": (
            "id sequence event_type approval_id action_kind status_from status_to params_hash "
            "justification_class justification_reason created_at content_hash previous_hash chain_hash "
            "hmac_sig"
        ),
    },
    "artifacts": {
        "0.26.18": "id invocation_id session_id created_at updated_at kind name content file_path",
    },
    "status_transitions": {
        "0.26.18": (
            "id entity_type entity_id previous_status status reason_code reason_summary evidence_refs "
            "source actor created_at metadata"
        ),
    },
    "admin_events": {
        "0.26.18": "id created_at action target_id details actor",
    },
    "dispatch_outbox": {
        "0.28.0": (
            "id kind deliver_to payload dedup_key status attempt max_attempts next_attempt_at "
            "ack_required ack_token session_id schedule_run_id last_error created_at expires_at "
            "updated_at"
        ),
    },
    "terminal_deliveries": {
        "0.30.2": "transition_id consumer acked_at",
    },
    "attention_dispositions": {
        "0.34.1": "item_id state note created_at updated_at expires_at actor source_status revision",
    },
    "attention_disposition_revisions": {
        "0.34.1": "item_id revision",
    },
    "attention_disposition_history": {
        "0.34.1": "id item_id sequence prior_state new_state note actor source_status created_at",
    },
}
"""By table: the columns each release added, as words. A release not named there added none."""

JSON_COLUMNS: dict[str, frozenset[str]] = {
    "messages": frozenset(("node_metadata", "content")),
    "progressions": frozenset(("collection",)),
    "sessions": frozenset(
        ("node_metadata", "status_evidence_refs", "artifact_contract_json", "artifact_verification_json")
    ),
    "branches": frozenset(("node_metadata",)),
    "invocations": frozenset(("node_metadata", "status_evidence_refs")),
    "shows": frozenset(("status_evidence_refs",)),
    "plays": frozenset(("depends_on", "status_evidence_refs")),
    "teams": frozenset(("members", "node_metadata", "status_evidence_refs")),
    "team_messages": frozenset(("read_by",)),
    "schedules": frozenset(
        (
            "github_filter",
            "action_extra_args",
            "action_command_args",
            "on_success",
            "on_fail",
            "rate_limit",
            "threshold_config",
            "authored_spec",
            "resolved_target",
            "notify_on",
        )
    ),
    "schedule_runs": frozenset(
        ("trigger_context", "action_args", "status_evidence_refs", "required_capabilities", "resume_packet")
    ),
    "workers": frozenset(("advertised_capabilities", "execution_targets")),
    "engine_defs": frozenset(("options",)),
    "workflow_defs": frozenset(("spec_json",)),
    "session_signals": frozenset(("payload",)),
    "engine_runs": frozenset(("spec_json", "outcome_json")),
    "session_controls": frozenset(("payload",)),
    "artifacts": frozenset(("content",)),
    "status_transitions": frozenset(("evidence_refs", "metadata")),
    "admin_events": frozenset(("details",)),
    "dispatch_outbox": frozenset(("payload",)),
}
"""The columns whose cells are JSON: those declared so, and progressions.collection, which is TEXT."""

_GROUP_OF = {name: group for group, names in GROUPS.items() for name in names}


def group_of(table: str) -> str | None:
    """The group a table of the operational schema belongs to; None for any other table."""
    return _GROUP_OF.get(table)


@cache
def columns_of(table: str, release: str) -> frozenset[str]:
    """The columns a release's store has in a table; empty when it has no such table.

    `release` is one of `RELEASES` (ValueError otherwise).
    """
    upto = RELEASES[: RELEASES.index(release) + 1]
    added = COLUMNS_SINCE.get(table, {})
    return frozenset(column for name in upto for column in added.get(name, "").split())


@cache
def ever_had(table: str) -> frozenset[str]:
    """Every column some release had in a table."""
    return columns_of(table, RELEASES[-1])


@cache
def since(table: str, column: str | None = None) -> str | None:
    """The first release read that has the table (or the column in it); None when none has."""
    for release, columns in COLUMNS_SINCE.get(table, {}).items():
        if column is None or column in columns.split():
            return release
    return None


MESSAGE_TYPES: tuple[tuple[int, str], ...] = (
    (0, "__unknown__"),
    (1, "lionagi.protocols.messages.system.System"),
    (2, "lionagi.protocols.messages.instruction.Instruction"),
    (3, "lionagi.protocols.messages.assistant_response.AssistantResponse"),
    (4, "lionagi.protocols.messages.action_request.ActionRequest"),
    (5, "lionagi.protocols.messages.action_response.ActionResponse"),
)
"""The rows a new store's message_types begins with; later classes get the next number when first met."""

STATUSES: dict[str, tuple[str, ...]] = {
    "session": ("aborted", "cancelled", "completed", "completed_empty", "failed", "running", "timed_out"),
    "invocation": ("aborted", "cancelled", "completed", "completed_empty", "failed", "running", "timed_out"),
    "schedule_run": (
        "cancelled",
        "completed",
        "failed",
        "queued",
        "retry_wait",
        "running",
        "skipped",
        "timed_out",
        "waiting_dependency",
    ),
    "show": ("aborted", "active", "completed", "imported"),
    "play": (
        "aborted_after_finish",
        "blocked",
        "escalated",
        "gate_failed",
        "gated",
        "merged",
        "pending",
        "prepared",
        "redoing",
        "running",
        "running_complete",
    ),
    "team": ("active", "archived"),
}
"""The statuses of each entity that has reasons. A session's may also be NULL: not yet classified."""

TERMINAL: dict[str, frozenset[str]] = {
    "session": frozenset(("aborted", "cancelled", "completed", "completed_empty", "failed", "timed_out")),
    "invocation": frozenset(("aborted", "cancelled", "completed", "completed_empty", "failed", "timed_out")),
    "schedule_run": frozenset(("cancelled", "completed", "failed", "skipped", "timed_out")),
    "show": frozenset(("aborted", "completed")),
    "play": frozenset(("aborted_after_finish", "blocked", "escalated", "gate_failed", "merged")),
    "team": frozenset(("archived",)),
}
"""The statuses that are only left by an audited override."""

_ENTITY_ALIASES = {"run": "session", **{f"{name}s": name for name in STATUSES}}


def entity_type(name: str) -> str:
    """The word status_transitions has for an entity: `run` means session, plural table names are taken."""
    return _ENTITY_ALIASES.get(name, name)


INVOCATION_KINDS = ("agent", "engine", "fanout", "flow", "play", "show-play")
SOURCE_KINDS = ("imported_codex", "imported_fs", "live")
DEFINITION_KINDS = ("agent", "playbook", "skill")
STATUS_SOURCES = ("admin", "agent", "executor", "system")

_REASONS: dict[str, str] = {
    "dispatch.acked": "consumer",
    "dispatch.dead_letter": "ack_timeout max_attempts",
    "dispatch.delivered": "transport_ok",
    "dispatch.delivering": "attempt",
    "dispatch.expired": "deadline",
    "dispatch.pending": "enqueued retry_backoff",
    "legacy": "imported",
    "play.blocked": "dep_failed invalid_deps",
    "play.escalated": "gate_twice",
    "play.gate_failed": "verdict",
    "play.merged": "ok",
    "play.pending": "created ready waiting_on_deps",
    "run.aborted": "user",
    "run.cancelled": "force_kill manual_kill orchestrator sigint sigterm stale_auto system",
    "run.completed": "finalize_error gate_rejected ok spawn_refused",
    "run.completed_empty": "no_evidence",
    "run.failed": (
        "artifact_write cwd_inherit_refused escalated exception exit_nonzero "
        "lease_attempts_exhausted missing_artifact missing_cwd never_dispatched "
        "provider_nonretryable provider_retryable"
    ),
    "run.paused": "operator",
    "run.queued": "lease_expired",
    "run.skipped": "duration_exceeds_lease waiter_cap_exceeded",
    "run.started": "ok",
    "run.timed_out": "deadline",
    "schedule.budget": "exhausted",
    "schedule.deferred": "capacity",
    "schedule.fired": "due",
    "schedule.queued": "created",
    "schedule.skipped": "missed_fire overlap precondition",
    "schedule_definition.created": "observed",
    "schedule_definition.deleted": "observed",
    "schedule_definition.disabled": "budget_exhausted declared manual max_runs omitted unspecified",
    "schedule_definition.enabled": "observed",
    "session.orphaned": "no_process",
    "session.phantom": "missing_artifacts process_dead",
    "session.reopened": "by_resume",
    "session.stale": "no_heartbeat",
    "session.zombie": "stale_locks",
    "show.aborted": "operator",
    "show.active": "created",
    "show.blocked": "no_ready_plays",
    "show.completed": "all_plays_merged final_gate",
    "team.archived": "operator",
}

REASON_CODES: frozenset[str] = frozenset(
    f"{about}.{what}" for about, words in _REASONS.items() for what in words.split()
)
"""The closed list of reason codes a status may be given with."""
