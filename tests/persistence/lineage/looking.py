"""What the tests of the reads share: looking at a store, and a temporary directory of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from persistence.engines import copies
from persistence.lineage import LineageReport, examine
from persistence.location import locate


def look(path: Path) -> LineageReport:
    return examine(locate(path), surroundings=False)


def ways(report: LineageReport) -> list[str]:
    reading = ("immutable", "readonly_shm", "shared lock", "private copy")
    return [step.way for step in report.reads if step.way in reading]


def deciding(report: LineageReport) -> str:
    (step,) = [step for step in report.reads if step.decides]
    return step.way


def between(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object], times: int) -> list[int]:
    """Does something to the store in the middle of each of the first copies; the calls counted."""
    calls: list[int] = []
    real = copies._copy_all

    def copy_all(*arguments: Any) -> None:
        calls.append(len(calls))
        real(*arguments)
        if len(calls) <= times:
            act()

    monkeypatch.setattr(copies, "_copy_all", copy_all)
    return calls
