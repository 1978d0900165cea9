"""What admission of the managed store costs beside the compatibility open of the real lionagi 0.36.0.

    python -m tests.benchmarks.admission [--python PYTHON_WITH_LIONAGI] [--rounds 5] [--json FILE]

Rounds of the two alternate in one run, each in a process of its own on the same store, so that what else the
machine does falls on both; the median counts. What a process takes that does it once and ends, imports
included, is told beside it. Exits with 1 when admission takes longer, and says so plainly when no real
lionagi can be run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["main", "measure"]

ROOT = Path(__file__).resolve().parents[2]
PROFILE = "acme-desk-fresh-run"
OWNER = "kim"


def ours(path: Path, times: int) -> list[float]:
    """Milliseconds of each admission under the shipped profile."""
    from persistence.location import locate
    from persistence.profiles import admit, load_profile

    profile = load_profile(PROFILE, directories=())
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        report = admit(locate(path), profile, owner=OWNER)
        taken.append((time.perf_counter() - started) * 1000)
        report.check()
    return taken


async def theirs(path: Path, facts: dict[str, Any], times: int) -> list[float]:
    """Milliseconds of each compatibility open of the real one, its profile made from the same facts."""
    import sqlite3

    from lionagi.state.compat import (  # type: ignore[import-not-found]
        CompatibilityProfile,
        OwnerRule,
        TableWrites,
        read_closure,
    )
    from lionagi.state.db import StateDB  # type: ignore[import-not-found]

    connection = sqlite3.connect(path)
    closure = read_closure(connection, facts["closure_tables"])
    connection.close()
    profile = CompatibilityProfile(
        name=facts["name"],
        version=facts["version"],
        closure=closure,
        writes={
            table: TableWrites(
                insert=frozenset(rule["insert"]),
                update=frozenset(rule["update"]),
                unwritten=rule["unwritten"],
            )
            for table, rule in facts["writes"].items()
        },
        operations=frozenset(facts["operations"]),
        store_versions=frozenset(facts["store_versions"]),
        owner=OwnerRule(**facts["owner"]),
    )
    taken = []
    for _ in range(times):
        db = StateDB(path, compatibility=profile, owner=OWNER)
        started = time.perf_counter()
        await db.open()
        taken.append((time.perf_counter() - started) * 1000)
        await db.close()
    return taken


def _child(python: str, side: str, path: Path, times: int) -> list[float] | str:
    """The times of one round, or why it could not be run."""
    found = subprocess.run(
        [python, __file__, "--side", side, "--store", str(path), "--times", str(times)],
        capture_output=True,
        text=True,
        check=False,
        cwd=path.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(path.parent)},
    )
    if found.returncode:
        return (found.stderr.strip().splitlines() or ["it ended without a word"])[-1]
    times_taken: list[float] = json.loads(found.stdout.splitlines()[-1])
    return times_taken


def measure(peer: str, rounds: int = 5, times: int = 15) -> dict[str, Any]:
    """Medians of both in milliseconds: of one, after a first, and of a process for one. `peer`: why not."""
    from tests.persistence.profiles.acme import build

    found: dict[str, list[float]] = {"ours": [], "theirs": []}
    whole: dict[str, list[float]] = {"ours": [], "theirs": []}
    refused: str | None = None
    with tempfile.TemporaryDirectory() as folder:
        path = build(Path(folder) / "store.db")
        for _ in range(rounds):
            for side, python in (("ours", sys.executable), ("theirs", peer)):
                if side == "theirs" and refused is not None:
                    continue
                answer = _child(python, side, path, times)
                if isinstance(answer, str):
                    if side == "ours":
                        raise RuntimeError(answer)
                    refused = answer
                else:
                    found[side] += answer[1:]
                    started = time.perf_counter()
                    _child(python, side, path, 1)
                    whole[side].append((time.perf_counter() - started) * 1000)
    figures: dict[str, Any] = {"peer": refused}
    for side, taken in found.items():
        if taken:
            figures[side] = statistics.median(taken)
            figures[f"{side}_process"] = statistics.median(whole[side])
    if refused is None:
        figures["ratio"] = figures["ours"] / figures["theirs"]
    return figures


def _said(figures: dict[str, Any], side: str) -> str:
    return f"{figures[side]:7.1f} ms (a process for one: {figures[f'{side}_process']:.0f} ms)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints; 1 when admission takes longer than the other's open."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", default=os.environ.get("STORE_INSPECTOR_INTEROP_PYTHON", sys.executable))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--times", type=int, default=15)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--side", choices=("ours", "theirs"), help=argparse.SUPPRESS)
    parser.add_argument("--store", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.side is not None:
        if asked.side == "ours":
            print(json.dumps(ours(asked.store, asked.times)))
            return 0
        facts = json.loads((ROOT / "tests/persistence/profiles/acme_profile_facts.json").read_text("utf-8"))
        print(json.dumps(asyncio.run(theirs(asked.store, facts, asked.times))))
        return 0
    figures = measure(asked.python, asked.rounds, asked.times)
    if asked.json is not None:
        asked.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    print(f"admission                     {_said(figures, 'ours')}")
    if figures["peer"] is not None:
        print(f"lionagi could not be run: {figures['peer']}")
        return 0
    print(f"lionagi's compatibility open  {_said(figures, 'theirs')}")
    print(f"ratio                         {figures['ratio']:7.2f}")
    return int(figures["ratio"] > 1)


if __name__ == "__main__":
    raise SystemExit(main())
