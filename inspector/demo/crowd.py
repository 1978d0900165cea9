"""The many runs of sixty days: believable work, mostly well, at the hours people work."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from inspector.demo.runs import BranchTold, RunTold
from inspector.demo.world import AGENTS, BOATS, JOBS, MODELS, PEOPLE, Job

__all__ = ["crowd"]

DAYS = 60
_ENDS = (
    ("completed", 78), ("failed", 9), ("timed_out", 3), ("cancelled", 4), ("aborted", 3),
    ("completed_empty", 3),
)  # fmt: skip
_FAILURES = (
    ("run.failed.provider_retryable", "upstream answered 529 and went on doing so"),
    ("run.failed.exception", "KeyError: 'datum'"),
    ("run.failed.missing_artifact", "board.md was promised and is not there"),
    ("run.failed.exit_nonzero", "render_page exited with 2"),
)
_ASKS = ("And the day after?", "Is that with the surge?", "Shorter, please.", "Go on.")
_FAULTS = ("upstream timed out after 30 s", "connection reset", "no such station")


def crowd(clock: float) -> Iterator[RunTold]:
    """Runs oldest first, the last one minutes before `clock` (seconds since 1970)."""
    chance = random.Random(1912)
    weights = [job.weight for job in JOBS]
    number = 0
    for ago in range(DAYS, -1, -1):
        day = datetime.fromtimestamp(clock, UTC) - timedelta(days=ago)
        times = []
        for _ in range(_how_many(day, ago, chance)):
            hour = chance.choices((4, 7, 9, 10, 11, 14, 15, 16, 19, 22), (6, 4, 7, 8, 5, 6, 7, 4, 3, 2))[0]
            at = day.replace(
                hour=hour, minute=chance.randrange(60), second=chance.randrange(60), microsecond=0
            )
            if at.timestamp() < clock - 2400:
                times.append(at)
        for at in sorted(times):
            number += 1
            yield _run(number, at, chance.choices(JOBS, weights)[0], chance)


def _how_many(day: datetime, ago: int, chance: random.Random) -> int:
    if 31 <= ago <= 34:
        return 0 if ago in (32, 33) else 1  # the storm: nobody was at work
    most = 4 if day.weekday() >= 5 else 8
    busier = 5 if 10 <= ago <= 16 else 0  # the week before the regatta
    return chance.randint(most // 2, most + busier)


def _run(number: int, at: datetime, job: Job, chance: random.Random) -> RunTold:
    words = _words(at, chance)
    status = chance.choices([name for name, _ in _ENDS], [weight for _, weight in _ENDS])[0]
    model = chance.choices(MODELS, (5, 6, 2))[0]
    branches = [BranchTold("main", _conversation(job, words, status, chance))]
    if job.kind in ("fanout", "flow"):
        for other in range(chance.randint(1, 3)):
            steps = _conversation(job, _words(at, chance), "completed", chance, short=True)
            branches.append(BranchTold(f"{('east', 'west', 'south')[other]}", steps, starts=6.0 + other))
    length = max(branch.starts + sum(step[0] for step in branch.steps) for branch in branches)
    ends = length + chance.uniform(2, 30) if status != "timed_out" else max(length + 60, 1800.0)
    said = sum(len(str(step[2])) for branch in branches for step in branch.steps)
    return RunTold(
        seed=f"crowd-{number}",
        at=at.timestamp() + chance.random(),
        name=_fill(job.name, words),
        agent=job.agent,
        model=model,
        project=job.project,
        status=status,
        branches=branches,
        user=chance.choice(PEOPLE),
        kind=job.kind,
        ends=round(ends, 3),
        playbook="tide-board" if job.kind == "play" else None,
        tokens=(said * 3 + chance.randrange(400), said // 4 + chance.randrange(90)),
        reason=chance.choice(_FAILURES) if status == "failed" else None,
        signals=_signals(ends, status, chance),
        source="imported_fs" if number % 61 == 0 else "live",
    )


def _conversation(
    job: Job, words: dict[str, str], status: str, chance: random.Random, *, short: bool = False
) -> list[tuple[float, str, Any]]:
    steps: list[tuple[float, str, Any]] = [(0.0, "system", AGENTS[job.agent])]
    steps.append((chance.uniform(1, 4), "user", (_fill(job.asks, words), [{"day": words["date"]}])))
    if status == "completed_empty":
        return steps
    steps.append((chance.uniform(3, 20), "say", job.plans))
    says = list(job.says)
    rounds = 1 if short else chance.randint(1, 3)
    for turn in range(rounds):
        arguments = _filled(job.arguments, words)
        steps.append((chance.uniform(1, 6), "call", (job.tool, arguments)))
        bad = status in ("failed", "timed_out", "aborted") and turn == rounds - 1
        steps.append((chance.uniform(1, 40), "result", (job.tool, arguments, _output(bad, words, chance))))
        if bad:
            break
        steps.append((chance.uniform(4, 25), "say", _fill(says[turn % len(says)], words)))
        if turn < rounds - 1 and chance.random() < 0.4:
            asks = chance.choice(
                ("And the day after?", "Is that with the surge?", "Shorter, please.", "Go on.")
            )
            steps.append((chance.uniform(20, 300), "user", (asks, [])))
    if status in ("completed", "cancelled"):
        steps.append((chance.uniform(3, 18), "say", _fill(job.closes, words)))
    return steps


def _output(bad: bool, words: dict[str, str], chance: random.Random) -> Any:
    if bad:
        return {
            "error": chance.choice(("upstream timed out after 30 s", "connection reset", "no such station"))
        }
    rows = [
        {"time": f"{hour:02d}:{chance.randrange(60):02d}", "value": round(chance.uniform(0.4, 7.4), 2)}
        for hour in sorted(chance.sample(range(24), chance.randint(2, 6)))
    ]
    return {"rows": rows, "date": words["date"], "source": chance.choice(("gauge", "almanac", "archive"))}


def _signals(ends: float, status: str, chance: random.Random) -> list[tuple[float, str, Any]]:
    out: list[tuple[float, str, Any]] = [(0.2, "run.started", {"attempt": 1})]
    steps = range(1, chance.randint(1, 4))
    out += [(ends * step / 5, "op.progress", {"done": step, "of": 4}) for step in steps]
    out.append((ends - 0.5, "run.finished", {"status": status}))
    return out


def _words(at: datetime, chance: random.Random) -> dict[str, str]:
    day = at + timedelta(days=1)
    return {
        "day": f"{day:%a} {day.day} {day:%b}",
        "date": day.date().isoformat(),
        "n": str(chance.randint(6, 96)),
        "boat": chance.choice(BOATS),
        "t1": f"{chance.randint(5, 12):02d}:{chance.randrange(60):02d}",
        "t2": f"{chance.randint(13, 21):02d}:{chance.randrange(60):02d}",
        "h1": f"{chance.uniform(5.6, 7.4):.2f}",
        "h2": f"{chance.uniform(0.5, 2.1):.2f}",
        "d": f"{chance.uniform(0.03, 0.19):.2f}",
        "w": str(chance.randint(9, 29)),
        "a": str(chance.randint(22, 71)),
        "p": str(chance.randint(3, 99)),
    }


def _fill(text: str, words: dict[str, str]) -> str:
    for word, said in words.items():
        text = text.replace(f"{{{word}}}", said)
    return text


def _filled(value: Any, words: dict[str, str]) -> Any:
    match value:
        case str():
            return _fill(value, words)
        case dict():
            return {name: _filled(inner, words) for name, inner in value.items()}
        case list():
            return [_filled(inner, words) for inner in value]
        case _:
            return value
