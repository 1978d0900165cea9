"""Traceability: tests say which requirements they prove, and `--adr-coverage` prints what is proved.

A test that proves requirements is marked with their ids, `@pytest.mark.adr("0128-D7-03")`; an id that is
not in requirements.toml fails the run. With `--adr-coverage` the marked tests of the whole suite run,
whatever part of it was named, and the summary goes by decision.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.requirements import decision_of, requirements

_TESTS = Path(__file__).resolve().parent.parent


class Proofs:
    """What became of the tests marked with each id; its hook runs where the reports come together."""

    def __init__(self) -> None:
        self.passed: set[str] = set()
        self.failed: set[str] = set()
        self.skipped: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        ids = {value for name, value in report.user_properties if name == "adr"}
        if report.failed:
            self.failed |= ids
        elif report.skipped:
            self.skipped |= ids
        elif report.when == "call":
            self.passed |= ids

    @property
    def proved(self) -> set[str]:
        return self.passed - self.failed


_PROOFS = pytest.StashKey[Proofs]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("store-inspector")
    group.addoption(
        "--adr-coverage",
        action="store_true",
        help="run every test that proves a requirement of the ADRs, and print what is proved by decision",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_PROOFS] = Proofs()
    config.pluginmanager.register(config.stash[_PROOFS])
    if config.getoption("--adr-coverage"):
        config.args = [str(_TESTS)]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    known = requirements()
    unknown: list[str] = []
    kept, left = [], []
    for item in items:
        ids = [identifier for mark in item.iter_markers("adr") for identifier in mark.args]
        unknown += [f"{item.nodeid}: {identifier!r}" for identifier in ids if identifier not in known]
        unknown += [f"{item.nodeid}: no id" for mark in item.iter_markers("adr") if not mark.args]
        item.user_properties += [("adr", identifier) for identifier in dict.fromkeys(ids)]
        (kept if ids else left).append(item)
    if unknown:
        raise pytest.UsageError(
            "tests are marked with requirements that tests/acceptance/requirements.toml does not have:\n  "
            + "\n  ".join(unknown)
        )
    if config.getoption("--adr-coverage"):
        items[:] = kept
        config.hook.pytest_deselected(items=left)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if config.getoption("--adr-coverage"):
        for line in coverage_lines(config.stash[_PROOFS]):
            terminalreporter.write_line(line)


def coverage_lines(proofs: Proofs) -> list[str]:
    """What is proved and what is not, by decision and the issue that is to prove it."""
    by_decision: dict[str, list[str]] = defaultdict(list)
    for identifier in requirements():
        by_decision[decision_of(identifier)].append(identifier)
    lines = ["", f"requirements: {len(proofs.proved)} of {len(requirements())} proved"]
    for decision, ids in sorted(by_decision.items()):
        done = [identifier for identifier in ids if identifier in proofs.proved]
        lines += ["", f"{decision}: {len(done)} of {len(ids)} proved"]
        if done:
            lines.append(f"  proved: {_numbers(done)}")
        waiting: dict[str, list[str]] = defaultdict(list)
        for identifier in ids:
            if identifier in proofs.failed:
                waiting["failed"].append(identifier)
            elif identifier in proofs.skipped - proofs.passed:
                waiting["skipped here"].append(identifier)
            elif identifier not in proofs.passed:
                waiting[f"not proved, issue {requirements()[identifier].issue}"].append(identifier)
        lines += [f"  {why}: {_numbers(missing)}" for why, missing in waiting.items()]
    return lines


def _numbers(ids: list[str]) -> str:
    return " ".join(identifier.rpartition("-")[2] for identifier in ids)
