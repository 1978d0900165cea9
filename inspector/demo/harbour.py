"""`harbour.db`: a lionagi store in good health, sixty days of a small harbour's work."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from inspector.demo import hero
from inspector.demo.crowd import crowd
from inspector.demo.ids import hex_id, uuid
from inspector.demo.office import write_office
from inspector.demo.runs import BranchTold, RunTold, write_run
from inspector.demo.store import StoreWriter
from inspector.demo.world import AGENTS, MODELS, PROJECTS

__all__ = ["build", "told"]

DAY = 86_400.0


def build(path: Path, files: Path, clock: float) -> dict[str, int]:
    """Writes the store, and the files its artifacts name into `files`. Counts of what is in it."""
    store, counts = told(files, clock)
    store.make(path, clock - 61 * DAY)
    return counts


def told(files: Path, clock: float) -> tuple[StoreWriter, dict[str, int]]:
    """Everything the store holds, and counts of it; the files its artifacts name are written into `files`."""
    store = StoreWriter()
    for name, (source, github) in PROJECTS.items():
        store.add(
            "projects",
            name=name,
            source=source,
            path=f"/srv/{name}",
            github=github,
            created_at=clock - 60 * DAY,
            updated_at=clock - DAY,
            last_seen_at=clock - 3600,
        )
    invocations = _invocations(store, clock)
    count = messages = 0
    for run in [*crowd(clock), *_told(files, clock, invocations)]:
        messages += len(write_run(store, run))
        count += 1
    _artifacts(store, files, clock, invocations)
    write_office(store, files, clock, invocations)
    return store, {"runs": count, "messages": messages}


def _invocations(store: StoreWriter, clock: float) -> list[str]:
    told = (
        ("ferry-check", "completed", "Thursday's night passage, with a second opinion", 7800.0, 6100.0),
        ("nightly-board", "completed", "Tide board, every night at 04:00", 30_000.0, 29_500.0),
        ("observing-night", "running", "Comet, variables, flats", 1500.0, None),
        ("almanac", "failed", "Almanac 2027, all pages", 5 * DAY, 5 * DAY - 900),
    )
    ids = []
    for number, (skill, status, prompt, began, ended) in enumerate(told):
        ids.append(uuid("invocation", number))
        store.add(
            "invocations",
            id=ids[-1],
            skill=skill,
            plugin="harbour" if number % 2 else None,
            prompt=prompt,
            started_at=clock - began,
            ended_at=None if ended is None else clock - ended,
            status=status,
            session_count=1 + number % 2,
            created_at=clock - began,
            updated_at=clock - (ended or 60),
            node_metadata={"argv": ["li", "agent", skill], "origin": "cli"},
            status_reason_code="run.started.ok" if ended is None else f"run.{status}.ok",
        )
    return ids


def _told(files: Path, clock: float, invocations: list[str]) -> list[RunTold]:
    """The runs that are told one by one, the newest of them the one in the pictures."""
    today = datetime.fromtimestamp(clock, UTC).date()
    contract = {
        "expected": [
            {"id": "plan", "path": "passage-plan.md", "required": True, "description": "the passage plan"},
            {
                "id": "notice",
                "path": "notice-118.md",
                "required": True,
                "description": "what passengers read",
            },
            {
                "id": "curve",
                "path": "tide-curve.csv",
                "required": False,
                "description": "the curve, by minute",
            },
        ]
    }
    verified = {
        "status": "passed",
        "checked_at": clock - 6316.5,
        "missing_required": [],
        "missing_optional": [contract["expected"][2]],
        "produced": [
            {"id": "plan", "path": "passage-plan.md", "size": 612, "present": True},
            {"id": "notice", "path": "notice-118.md", "size": 341, "present": True},
        ],
    }
    ferry = RunTold(
        seed="ferry",
        at=clock - 7800,
        name=hero.TITLE,
        agent="pilot",
        model=MODELS[2],
        project="night-ferry",
        status="completed",
        branches=[
            BranchTold("main", hero.told(hero.MAIN, today)),
            BranchTold("second opinion", hero.told(hero.CHECKS, today), starts=1369, dangling=1),
            BranchTold("proofreading", hero.told(hero.NOTICE, today), starts=1447),
        ],
        user="kaede",
        ends=1483.25,
        invocation=invocations[0],
        artifacts_path=str(files / "ferry"),
        contract=contract,
        verification=verified,
        tokens=(41_870, 2_655),
        label="for the Monday meeting",
        phase="done",
        signals=[
            (0.1, "run.started", {"attempt": 1}),
            (31.0, "op.progress", {"step": "tide", "done": 1, "of": 4}),
            (62.0, "op.retry", {"tool": "forecast_wind", "after_s": 30, "why": "upstream timed out"}),
            (96.0, "op.progress", {"step": "wind", "done": 2, "of": 4}),
            (1378.0, "branch.forked", {"name": "second opinion", "from": "main"}),
            (1452.0, "branch.forked", {"name": "proofreading", "from": "main"}),
            (1469.0, "op.progress", {"step": "notice", "done": 4, "of": 4}),
            (1483.0, "run.finished", {"status": "completed", "artifacts": 2}),
        ],
    )
    return [
        ferry,
        _long_log(clock),
        _night(clock, invocations[2]),
        _forgotten(clock),
        _board(files, clock, invocations[1]),
        _imported(clock),
    ]


def _simple(agent: str, asks: str) -> list[tuple[float, str, Any]]:
    return [(0, "system", AGENTS[agent]), (3, "user", (asks, []))]


def _long_log(clock: float) -> RunTold:
    hours = [
        f"{hour:02d}:{minute:02d}  visibility {4 + (hour * 7 + minute) % 9} nm, lamp steady, fog signal silent"
        for hour in range(24)
        for minute in range(0, 60, 5)
    ]
    steps = _simple("lookout", "Copy the whole watch log of Friday, line by line. Do not shorten it.")
    steps.append((41, "say", "The log as it was kept, one line every five minutes:\n\n" + "\n".join(hours)))
    return RunTold(
        "log", clock - 2 * DAY - 4000, "Watch log of Friday, unabridged", "lookout", MODELS[1], "lighthouse",
        "completed", [BranchTold("main", steps)], user="tomasz", ends=58.5, tokens=(840, 11_020),
    )  # fmt: skip


def _night(clock: float, invocation: str) -> RunTold:
    steps = _simple("stargazer", "Watch the comet tonight and tell me when the tail splits again.")
    steps += [
        (8, "say", "The comet is at 41° and rising. I take a frame every two minutes and compare."),
        (4, "call", ("expose", {"target": "C/2026 K2", "seconds": 90, "filter": "clear"})),
        (92, "result", ("expose", {"target": "C/2026 K2"}, {"frame": "k2-0417", "fwhm": 2.1, "sky": 20.9})),
        (6, "say", "Frame **k2-0417** is sharp. No split yet: one tail, 2.4° long, position angle 61°."),
    ]
    return RunTold(
        "night", clock - 1500, "Comet watch, tonight", "stargazer", MODELS[0], "observatory", "running",
        [BranchTold("main", steps)], user="oluwaseun", invocation=invocation, tokens=(3_900, 410),
        phase="exposing", signals=[(0.2, "run.started", {"attempt": 1})],
    )  # fmt: skip


def _forgotten(clock: float) -> RunTold:
    steps = _simple("lookout", "Tell me when the fog lifts at Gull Head.")
    steps.append((7, "say", "Visibility 0.3 nm. I look again every ten minutes and tell you."))
    return RunTold(
        "fog", clock - 2.3 * DAY, "Fog watch, Gull Head", "lookout", MODELS[1], "lighthouse", "running",
        [BranchTold("main", steps, dangling=2)], user="tomasz", phase="waiting",
        signals=[(0.3, "run.started", {"attempt": 1})],
    )  # fmt: skip


def _board(files: Path, clock: float, invocation: str) -> RunTold:
    promised = {"id": "board", "path": "board.md", "required": True, "description": "the tide board"}
    steps = _simple("tidekeeper", "Write the tide board for tomorrow.")
    steps += [
        (5, "call", ("lookup_tide", {"port": "Sable Point", "datum": "LAT"})),
        (2, "result", ("lookup_tide", {"port": "Sable Point"}, {"error": "gauge offline since 03:12"})),
        (9, "say", "The gauge is offline. I do not write a board from the almanac alone after a storm."),
    ]
    return RunTold(
        "board", clock - 29_900, "Tide board, tomorrow", "tidekeeper", MODELS[1], "tide-board", "failed",
        [BranchTold("main", steps)], kind="play", playbook="tide-board", ends=33.1, invocation=invocation,
        artifacts_path=str(files / "board"), contract={"expected": [promised]},
        verification={"status": "failed", "checked_at": clock - 29_860, "missing_required": [promised],
                      "missing_optional": [], "produced": []},
        tokens=(1_210, 96), reason=("run.failed.missing_artifact", "board.md was promised and is not there"),
        signals=[(0.1, "run.started", {"attempt": 1}), (33.0, "run.finished", {"status": "failed"})],
    )  # fmt: skip


def _imported(clock: float) -> RunTold:
    steps = _simple("scribe", "Kannst du die Hafenordnung auf Arabisch und Griechisch zusammenfassen?")
    steps.append((12, "say", "**العربية**: السرعة القصوى داخل الميناء ثلاث عقد.\n\n"
                             "**Ελληνικά**: Μέγιστη ταχύτητα μέσα στο λιμάνι: τρεις κόμβοι."))  # fmt: skip
    return RunTold(
        "imported", clock - 40 * DAY, "Hafenordnung, zusammengefasst", "scribe", MODELS[1], None, None,
        [BranchTold("main", steps)], user="kaede", ends=None, source="imported_fs",
    )  # fmt: skip


_FILES = {
    "ferry/passage-plan.md": "# Night passage, Halcyon\n\n| | |\n| --- | --- |\n| departure | 19:45 |\n"
    "| over the bar | 4.31 m |\n| under the keel | 1.0 m |\n| gusts until 20:00 | 33 kn |\n"
    "| berth | Llanfair Quay 3 |\n\nIf the gusts pass 34 kn before departure, wait for the next window.\n",
    "ferry/notice-118.md": "The night ferry leaves at 19:45 instead of 20:15.\n\n夜行フェリーは19時45分に出航します。\n",
    "agents/tidekeeper.md": f"# tidekeeper\n\n{AGENTS['tidekeeper']}\n\n- ask when gauge and almanac differ\n"
    "- never round up\n",
    "playbooks/tide-board.yaml": "name: tide-board\nsteps:\n  - lookup_tide\n  - compare\n  - write_board\n",
}


def _artifacts(store: StoreWriter, files: Path, clock: float, invocations: list[str]) -> None:
    for name, text in _FILES.items():
        target = files / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    (files / "board").mkdir(exist_ok=True)
    ferry, board = uuid("session", "ferry"), uuid("session", "board")
    told: tuple[tuple[str, str, str | None, str | None, Any, str | None, float], ...] = (
        ("plan", "passage plan", invocations[0], ferry, {"departure": "19:45", "under_keel_m": 1.0},
         "passage-plan.md", 6340),
        ("notice", "118/26", None, ferry, {"languages": ["en", "ja"], "channels": ["board", "radio"]},
         "notice-118.md", 6335),
        ("table", "tide curve", invocations[0], ferry, {"rows": 1440, "step": "1 min"},
         "tide-curve.csv", 6330),
        ("board", "tide board", invocations[1], board, {"high": ["06:58", "19:20"], "low": ["00:52", "13:11"]},
         "board.md", 29_870),
        ("finding", "buoy 7 has drifted", None, None, {"metres": 41, "bearing": 118, "seen_by": "lookout"}, None,
         3 * DAY),
        ("table", "meteor counts", None, None, {"hours": [3, 7, 19, 31, 22], "limiting_magnitude": 5.8}, None,
         9 * DAY),
    )  # fmt: skip
    for number, (kind, name, invocation, session, content, path, ago) in enumerate(told):
        store.add(
            "artifacts",
            id=hex_id("artifact", number, length=12),
            invocation_id=invocation,
            session_id=session,
            created_at=clock - ago - 30,
            updated_at=clock - ago,
            kind=kind,
            name=name,
            content=content,
            file_path=path,
        )
