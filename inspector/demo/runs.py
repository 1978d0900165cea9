"""Runs as rows: a session with its branches, messages, progressions, transitions and signals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspector.demo.ids import hex_id, uuid
from inspector.demo.store import StoreWriter
from persistence.schema.known import MESSAGE_TYPES

__all__ = ["REASONS", "BranchTold", "RunTold", "message_row", "write_run"]

REASONS = {
    "completed": ("run.completed.ok", "the agent said it was done"),
    "completed_empty": ("run.completed_empty.no_evidence", "it ended without a result"),
    "failed": ("run.failed.exception", "upstream timed out three times"),
    "timed_out": ("run.timed_out.deadline", "no answer within 30 min"),
    "aborted": ("run.aborted.user", "stopped at the keyboard"),
    "cancelled": ("run.cancelled.orchestrator", "the play it belonged to was redone"),
}
_CLASSES = dict(MESSAGE_TYPES)
_ROLES = {"system": ("system", 1), "user": ("user", 2), "say": ("assistant", 3), "call": ("action", 4),
          "result": ("action", 5)}  # fmt: skip


@dataclass(slots=True)
class BranchTold:
    """One branch: (seconds after the one before, kind, content) in order."""

    name: str
    steps: Sequence[tuple[float, str, Any]]
    starts: float = 0.0  # seconds after the run
    dangling: int = 0  # ids at its end that no message has


@dataclass(slots=True)
class RunTold:
    """One run as it is told; `seed` makes its ids."""

    seed: str
    at: float
    name: str | None
    agent: str
    model: tuple[str, str, float]
    project: str | None
    status: str | None
    branches: Sequence[BranchTold]
    user: str = "ines"
    kind: str = "agent"
    ends: float | None = None  # seconds after the run began; None: it has not ended
    invocation: str | None = None
    playbook: str | None = None
    artifacts_path: str | None = None
    contract: Any = None
    verification: Any = None
    tokens: tuple[int, int] | None = None
    label: str | None = None
    source: str = "live"
    phase: str | None = None
    signals: Sequence[tuple[float, str, Any]] = field(default_factory=tuple)
    reason: tuple[str, str] | None = None

    @property
    def id(self) -> str:
        return uuid("session", self.seed)


def message_row(message: str, at: float, kind: str, content: Any, branch: str, user: str) -> dict[str, Any]:
    """A message's columns."""
    role, number = _ROLES[kind]
    body: dict[str, Any]
    sender, recipient = branch, user
    match kind, content:
        case "system", text:
            body, recipient = {"system_message": text, "system_datetime": None}, branch
        case "user", (text, context):
            body = {"instruction": text, "context": context} if context else {"instruction": text}
            sender, recipient = user, branch
        case "say", text:
            body = {"assistant_response": text}
        case "call", (function, arguments):
            body, recipient = {"function": function, "arguments": arguments}, function
        case "result", (function, arguments, output):
            body = {"function": function, "arguments": arguments, "output": output}
            sender, recipient = function, branch
        case _:
            raise ValueError(kind)
    return {
        "id": message,
        "created_at": at,
        "node_metadata": {"lion_class": _CLASSES[number]},
        "content": body,
        "sender": sender,
        "recipient": recipient,
        "role": role,
        "lion_class": number,
    }


def write_run(store: StoreWriter, run: RunTold) -> list[str]:
    """Inserts the run; the ids of its messages in the order they were said."""
    said: list[tuple[float, str]] = []
    branches: list[tuple[BranchTold, str, str, list[str], float]] = []
    for number, branch in enumerate(run.branches):
        key = uuid("branch", run.seed, number)
        ids, last = _messages(store, run, branch, number, key)
        said += ids
        listed = [message for _, message in ids]
        listed += [uuid("lost", run.seed, number, n) for n in range(branch.dangling)]
        branches.append((branch, key, uuid("progression", run.seed, number), listed, last))
    said.sort()
    order = [message for _, message in said]
    last_at = said[-1][0] if said else run.at
    _session(store, run, order, last_at)
    for branch, key, progression, listed, last in branches:
        store.progression(progression, run.at + branch.starts, listed)
        store.add(
            "branches",
            id=key,
            created_at=run.at + branch.starts,
            node_metadata={"forked_from": None if branch is run.branches[0] else run.branches[0].name},
            user=run.user,
            name=branch.name,
            session_id=run.id,
            progression_id=progression,
            system_msg_id=listed[0] if branch.steps and branch.steps[0][1] == "system" else None,
            model=run.model[0],
            provider=run.model[1],
            agent_name=run.agent,
            status=run.status,
            started_at=run.at + branch.starts,
            ended_at=None if run.ends is None else min(last + 2, run.at + run.ends),
        )
    _history(store, run)
    return order


def _messages(
    store: StoreWriter, run: RunTold, branch: BranchTold, number: int, key: str
) -> tuple[list[tuple[float, str]], float]:
    at = run.at + branch.starts
    ids: list[tuple[float, str]] = []
    for position, (after, kind, content) in enumerate(branch.steps):
        at += after
        message = uuid("message", run.seed, number, position)
        store.add("messages", **message_row(message, at, kind, content, key, run.user))
        ids.append((at, message))
    return ids, at


def _session(store: StoreWriter, run: RunTold, order: list[str], last_at: float) -> None:
    progression = uuid("progression", run.seed, "all")
    store.progression(progression, run.at, order)
    code, summary = run.reason or REASONS.get(run.status or "", ("run.started.ok", ""))
    tokens = run.tokens or (None, None)
    store.add(
        "sessions",
        id=run.id,
        run_id=f"{run.agent}-{hex_id('run', run.seed, length=8)}",
        created_at=run.at,
        node_metadata={"cwd": f"/srv/{run.project or 'sable-point'}", "host": "north-mole"},
        name=run.name,
        user_label=run.label,
        user=run.user,
        progression_id=progression,
        first_msg_id=order[0] if order else None,
        last_msg_id=order[-1] if order else None,
        updated_at=last_at if run.ends is None else run.at + run.ends,
        playbook_name=run.playbook,
        agent_name=run.agent,
        invocation_kind=run.kind,
        artifacts_path=run.artifacts_path,
        source_kind=run.source,
        status=run.status,
        started_at=run.at,
        ended_at=None if run.ends is None else run.at + run.ends,
        last_message_at=last_at if order else None,
        current_phase=run.phase,
        invocation_id=run.invocation,
        model=run.model[0],
        provider=run.model[1],
        effort="high" if run.model[2] > 5 else None,
        agent_hash=hex_id("agent", run.agent, length=16),
        project=run.project,
        project_source="git_remote" if run.project else None,
        status_reason_code=code,
        status_reason_summary=summary,
        status_evidence_refs=[{"kind": "message", "id": order[-1]}] if order and run.ends else None,
        artifact_contract_json=run.contract,
        artifact_verification_json=run.verification,
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        total_cost_usd=None if tokens[1] is None else round(tokens[1] * run.model[2] / 1e6 + 0.002, 4),
        num_turns=sum(step[1] == "say" for branch in run.branches for step in branch.steps),
        duration_ms=None if run.ends is None else round(run.ends * 1000),
    )


def _history(store: StoreWriter, run: RunTold) -> None:
    steps: list[tuple[float, str | None, str, str, str]] = [
        (0.0, None, "running", "run.started.ok", "the session was set up")
    ]
    if run.status is not None and run.ends is not None:
        code, summary = run.reason or REASONS[run.status]
        steps.append((run.ends, "running", run.status, code, summary))
    for number, (after, before, status, code, summary) in enumerate(_known(run, steps)):
        store.add(
            "status_transitions",
            id=hex_id("transition", run.seed, number),
            entity_type="session",
            entity_id=run.id,
            previous_status=before,
            status=status,
            reason_code=code,
            reason_summary=summary,
            evidence_refs=[],
            source="executor" if number else "system",
            actor="live-hook" if number else "create_session",
            created_at=run.at + after,
            metadata={},
        )
    for number, (after, kind, payload) in enumerate(run.signals, 1):
        store.add(
            "session_signals",
            id=hex_id("signal", run.seed, number),
            session_id=run.id,
            seq=number,
            kind=kind,
            op_id=f"op-{number // 2}" if kind.startswith("op.") else "",
            ts=run.at + after,
            payload=payload,
        )


def _known(run: RunTold, steps: Iterable[Any]) -> Iterable[Any]:
    return () if run.status is None else steps
