"""What a store holds beside its runs: definitions and their versions, schedules, shows, teams, engines, audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector.demo.ids import hex_id, uuid
from inspector.demo.store import StoreWriter
from inspector.demo.world import AGENTS

__all__ = ["write_office"]

DAY = 86_400.0


def write_office(store: StoreWriter, files: Path, clock: float, invocations: list[str]) -> None:
    _definitions(store, files, clock)
    _schedules(store, clock, invocations)
    _show(store, clock)
    _team(store, clock)
    _engines(store, clock, invocations)
    _audit(store, clock)


def _definitions(store: StoreWriter, files: Path, clock: float) -> None:
    keeper = AGENTS["tidekeeper"]
    first = keeper.replace(" Never round a height in the ferry's favour.", "")
    versions: tuple[tuple[str, str, str, tuple[tuple[str, str | None], ...]], ...] = (
        ("agent", "tidekeeper", str(files / "agents" / "tidekeeper.md"), (
            (f"# tidekeeper\n\n{first}\n", None),
            (f"# tidekeeper\n\n{keeper}\n", "say what rounding must not do"),
            (f"# tidekeeper\n\n{keeper}\n\n- ask when gauge and almanac differ\n", "ask instead of guessing"),
            (f"# tidekeeper\n\n{keeper}\n\n- ask when gauge and almanac differ\n- never round up\n", ""),
        )),
        ("playbook", "tide-board", str(files / "playbooks" / "tide-board.yaml"), (
            ("name: tide-board\nsteps:\n  - lookup_tide\n  - write_board\n", None),
            ("name: tide-board\nsteps:\n  - lookup_tide\n  - compare\n  - write_board\n  - announce\n",
             "compare before writing; announce on the radio"),
        )),
        ("agent", "pilot", "agents/pilot.md", ((f"# pilot\n\n{AGENTS['pilot']}\n", None),)),
        ("skill", "twelfths", "skills/twelfths/SKILL.md",
         (("The rule of twelfths: 1, 2, 3, 3, 2, 1 twelfths of the range in the six hours.\n", None),)),
    )  # fmt: skip
    for kind, name, path, texts in versions:
        for number, (content, message) in enumerate(texts, 1):
            store.add(
                "definitions",
                id=uuid("definition", kind, name, number),
                kind=kind,
                name=name,
                path=path,
                content=content,
                version=number,
                created_at=clock - (50 - 11 * number) * DAY,
                message=message,
            )


def _schedules(store: StoreWriter, clock: float, invocations: list[str]) -> None:
    told: tuple[tuple[str, str, dict[str, Any], str, int], ...] = (
        ("nightly tide board", "cron", {"cron_expr": "0 4 * * *"}, "play", 1),
        ("lamp check", "interval", {"interval_sec": 6 * 3600}, "agent", 1),
        ("storm notices", "github_poll", {"github_repo": "sable-point/night-ferry", "poll_interval_sec": 120},
         "agent", 0),
    )  # fmt: skip
    ids = []
    for number, (name, trigger, how, action, enabled) in enumerate(told):
        ids.append(uuid("schedule", number))
        store.add(
            "schedules",
            id=ids[-1],
            name=name,
            description=f"{name}, since the autumn",
            enabled=enabled,
            trigger_type=trigger,
            action_kind=action,
            action_agent=("tidekeeper", "lookout", "scribe")[number],
            action_playbook="tide-board" if action == "play" else None,
            action_prompt=("Write the tide board.", "Look at the lamp.", "Write the notice.")[number],
            on_success={"notify": ["harbour-office"]} if number == 0 else None,
            last_fired_at=clock - 8 * 3600,
            next_fire_at=clock + 16 * 3600 if enabled else None,
            project=("tide-board", "lighthouse", None)[number],
            created_at=clock - 58 * DAY,
            updated_at=clock - 8 * 3600,
            **how,
        )
    for ago in range(44, -1, -1):
        at = clock - ago * DAY - 8 * 3600
        status = {0: "failed", 12: "timed_out", 32: "skipped", 33: "skipped"}.get(ago, "completed")
        reason = {"failed": "run.failed.missing_artifact", "timed_out": "run.timed_out.deadline",
                  "skipped": "schedule.skipped.precondition"}.get(status, "run.completed.ok")  # fmt: skip
        store.add(
            "schedule_runs",
            id=uuid("schedule-run", ago),
            schedule_id=ids[0],
            invocation_id=invocations[1] if ago == 0 else None,
            trigger_context={"fired": "cron", "due": at},
            action_kind="play",
            action_args={"argv": ["li", "play", "tide-board"]},
            status=status,
            exit_code={"completed": 0, "failed": 1}.get(status),
            fired_at=at,
            ended_at=at + 40 + ago if status != "skipped" else at,
            error_detail="board.md was promised and is not there" if status == "failed" else None,
            created_at=at,
            updated_at=at + 41 + ago,
            status_reason_code=reason,
        )


def _show(store: StoreWriter, clock: float) -> None:
    show = uuid("show", 0)
    store.add(
        "shows",
        id=show,
        topic="regatta-weekend",
        goal="Tide board, berth plan and notices for the regatta, in one go",
        repo="sable-point/tide-board",
        base_branch="main",
        integration_branch="show/regatta",
        status="active",
        show_dir="/srv/shows/regatta-weekend",
        status_source="fs",
        created_at=clock - 12 * DAY,
        updated_at=clock - 2 * DAY,
        status_reason_code="show.active.created",
    )
    plays: tuple[tuple[str, str, list[str]], ...] = (("tides", "merged", []), ("berths", "merged", ["tides"]), ("notices", "gate_failed", ["berths"]),
             ("posters", "pending", ["notices"]))  # fmt: skip
    for number, (name, status, after) in enumerate(plays):
        store.add(
            "plays",
            id=uuid("play", number),
            show_id=show,
            name=name,
            playbook="tide-board",
            status=status,
            attempt=2 if status == "gate_failed" else 1,
            session_id=uuid("session", "ferry") if name == "notices" else None,
            worktree=f"/wt/regatta/{name}",
            branch=f"play/{name}",
            gate_passed={"merged": 1, "gate_failed": 0}.get(status),
            gate_feedback="The Portuguese notice gives the depth in feet."
            if status == "gate_failed"
            else None,
            depends_on=after,
            sort_order=number,
            created_at=clock - 12 * DAY,
            updated_at=clock - (9 - number) * DAY,
        )


def _team(store: StoreWriter, clock: float) -> None:
    team = uuid("team", 0)
    members = ["tidekeeper", "pilot", "lookout"]
    store.add(
        "teams",
        id=team,
        name="north mole",
        created_at=clock - 30 * DAY,
        updated_at=clock - DAY,
        member_count=len(members),
        members=members,
    )
    said = (("lookout", "all", "Fog at Gull Head, 0.3 nm."), ("pilot", "lookout", "Tell me when it lifts."),
            ("tidekeeper", "all", "Gauge offline since 03:12; almanac values only."))  # fmt: skip
    for number, (sender, to, content) in enumerate(said):
        store.add(
            "team_messages",
            id=uuid("team-message", number),
            team_id=team,
            created_at=clock - 2.3 * DAY + 900 * number,
            sender=sender,
            recipient=to,
            content=content,
            summary=None,
            read_by=members[: number + 1],
            session_id=uuid("session", "fog") if number < 2 else None,
        )


def _engines(store: StoreWriter, clock: float, invocations: list[str]) -> None:
    store.add("engine_defs", id=uuid("engine", 0), name="almanac", kind="typesetting", model="polaris-2",
              max_depth=2, max_agents=6, options={"paper": "A5", "pages": 384}, description="Sets the almanac.",
              created_at=clock - 55 * DAY, updated_at=clock - 20 * DAY)  # fmt: skip
    store.add("workflow_defs", id=uuid("workflow", 0), name="board and berths", description="Tide, then berths.",
              spec_json={"nodes": ["tide", "berths", "notice"], "edges": [["tide", "berths"]]},
              created_at=clock - 55 * DAY, updated_at=clock - 20 * DAY)  # fmt: skip
    for number, (status, error) in enumerate((("failed", "page 211: table wider than the page"),
                                              ("completed", None))):  # fmt: skip
        store.add(
            "engine_runs",
            id=uuid("engine-run", number),
            kind="typesetting",
            spec_json={"from": 1, "to": 384, "attempt": number + 1},
            status=status,
            started_at=clock - 5 * DAY + 7200 * number,
            ended_at=clock - 5 * DAY + 7200 * number + 880,
            invocation_id=invocations[3] if number == 0 else None,
            outcome_json={"pages": 384} if status == "completed" else None,
            error=error,
        )


def _audit(store: StoreWriter, clock: float) -> None:
    events = (("doctor.run", None, {"checks": 14, "passed": 14}), ("session.label", uuid("session", "ferry"),
              {"label": "for the Monday meeting"}), ("prune.preview", None, {"sessions": 0}))  # fmt: skip
    for number, (action, target, details) in enumerate(events):
        store.add("admin_events", id=hex_id("admin", number, length=12), created_at=clock - (3 - number) * DAY,
                  action=action, target_id=target, details=details, actor="ines")  # fmt: skip
    store.add("session_controls", id=hex_id("control", 0), session_id=uuid("session", "night"), verb="message",
              payload={"text": "Flats before dawn, please."}, created_at=clock - 600)  # fmt: skip
    for tag in ("keep", "ferry"):
        store.add("run_tags", session_id=uuid("session", "ferry"), tag=tag, created_at=clock - 6000)
    store.add("dispatch_outbox", id=uuid("dispatch", 0), kind="notice", deliver_to="radio-office",
              payload={"number": "118/26"}, status="acked", attempt=1, next_attempt_at=clock - 6000,
              session_id=uuid("session", "ferry"), created_at=clock - 6100, updated_at=clock - 5990)  # fmt: skip
