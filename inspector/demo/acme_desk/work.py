"""The desk at work: tickets and runs of its own, and checkpoints, for as long as it is let."""

from __future__ import annotations

import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inspector.demo.acme_desk.runs import Run
from inspector.demo.acme_desk.store import opened, transaction

__all__ = ["checkpoint_loop", "write_loop"]

SAID = ("The lamp is out again.", "Have you looked at the fuse?", "It was the fuse.", "Then I close this.")


def write_loop(
    path: Path,
    owner: str = "lee",
    *,
    rounds: int | None = None,
    seconds: float | None = None,
    pause: float = 0.0,
) -> dict[str, Any]:
    """Opens tickets, notes them and records runs, a transaction a step; ends after a whole step.

    The answer counts what was committed, how often another writer was waited for in vain, and the
    milliseconds the longest transaction took with its waiting.
    """
    told = {"tickets": 0, "notes": 0, "runs": 0, "messages": 0, "busy": 0, "longest_ms": 0.0}
    with opened(path) as connection:
        for number, _ in enumerate(_while(rounds, seconds)):
            for step, what in enumerate(_round(connection, owner, f"{owner}-{time.time_ns()}", number)):
                if step and pause:
                    time.sleep(pause)
                began = time.perf_counter()
                try:
                    with transaction(connection):
                        counted = what()
                except sqlite3.OperationalError as error:
                    if "locked" not in str(error):
                        raise
                    told["busy"] += 1
                    break  # this run is left where it is; the next round begins another
                for name in counted:
                    told[name] += 1
                took = round((time.perf_counter() - began) * 1000, 3)
                told["longest_ms"] = max(told["longest_ms"], took)
    return told


def _round(connection: sqlite3.Connection, owner: str, key: str, number: int) -> Iterator[Any]:
    """The steps of one round; each is run in a transaction and says what it made."""
    run = Run(connection, key, owner)
    now = time.time

    def begin() -> list[str]:
        run.begin(now(), f"The lamp, {number + 1}", agent_name="desk-helper")
        connection.execute(
            "INSERT INTO tickets (subject, session_id, opened_by) VALUES (?, ?, ?)",
            (f"Lamp {number + 1}", run.id, owner),
        )
        return ["runs", "tickets"]

    def say(text: str) -> list[str]:
        run.say(now(), "say", {"assistant_response": text})
        return ["messages"]

    def note() -> list[str]:
        (ticket,) = connection.execute("SELECT id FROM tickets WHERE session_id = ?", (run.id,)).fetchone()
        connection.execute("INSERT INTO ticket_notes (ticket_id, body) VALUES (?, ?)", (ticket, SAID[1]))
        connection.execute("UPDATE ticket_notes SET body = body || ' Twice.' WHERE ticket_id = ?", (ticket,))
        return ["notes"]

    def end() -> list[str]:
        run.end(now(), "completed", "run.completed.ok", "the lamp burns")
        return []

    yield begin
    for text in SAID[:-1]:
        yield lambda text=text: say(text)
    yield note
    yield lambda: [*say(SAID[-1]), *end()]


def checkpoint_loop(
    path: Path,
    *,
    rounds: int | None = None,
    seconds: float | None = None,
    mode: str = "PASSIVE",
    pause: float = 0.05,
) -> dict[str, Any]:
    """Folds the log into the file again and again; counts how often, how often it could not, and the longest log."""
    told = {"checkpoints": 0, "busy": 0, "frames": 0, "most_frames": 0}
    with opened(path) as connection:
        for _ in _while(rounds, seconds):
            try:
                busy, frames, moved = connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
                busy, frames, moved = 1, 0, 0
            told["checkpoints"] += 1
            told["busy"] += bool(busy)
            told["frames"] += max(0, moved)
            told["most_frames"] = max(told["most_frames"], frames)
            time.sleep(pause)
    return told


def _while(rounds: int | None, seconds: float | None) -> Iterator[None]:
    """Once a round, until so many are done, so long has passed, or the process is asked to end."""
    asked: list[int] = []
    for which in (signal.SIGTERM, signal.SIGINT):
        signal.signal(which, lambda number, frame: asked.append(number))
    until = None if seconds is None else time.monotonic() + seconds
    done = 0
    while not asked and (rounds is None or done < rounds) and (until is None or time.monotonic() < until):
        yield
        done += 1
