"""The plugin itself: unknown ids fail, and only what passed counts as proved."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.requirements import decision_of, requirements

ROOT = Path(__file__).resolve().parents[2]

CONFTEST = """
import sys
sys.path.insert(0, {root!r})
pytest_plugins = ["tests.acceptance.plugin"]
"""
MARKED = """
import pytest

@pytest.mark.adr("0055-P1-01", "0128-D7-79")
def test_passes(): pass

@pytest.mark.adr("0055-P1-02")
@pytest.mark.parametrize("right", [True, False])
def test_fails_once(right): assert right

@pytest.mark.adr("0055-P1-35")
def test_skipped(): pytest.skip("not here")
"""


def run(folder: Path, source: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(CONFTEST.format(root=str(ROOT)))
    (folder / "test_some.py").write_text(source)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  adr(*ids): proves\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments, "test_some.py"]
    bare = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=folder, env=bare, capture_output=True, text=True, check=False)


def test_every_requirement_is_numbered_once_and_has_an_issue() -> None:
    assert len(requirements()) == 490
    issues = {entry.issue for entry in requirements().values()}
    assert issues <= {"house", "lineage", "native", "admission", "writes", "later"}
    assert all(entry.says and entry.words and entry.where for entry in requirements().values())
    assert decision_of("0128-D7-03") == "ADR-0128 D7"


def test_an_unknown_id_fails_the_run(tmp_path: Path) -> None:
    done = run(tmp_path, MARKED.replace("0128-D7-79", "0128-D7-999"))
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "'0128-D7-999'" in done.stderr + done.stdout


def test_a_mark_without_an_id_fails_the_run(tmp_path: Path) -> None:
    done = run(tmp_path, "import pytest\n@pytest.mark.adr()\ndef test_nothing(): pass\n")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "no id" in done.stderr + done.stdout


def test_only_what_passed_is_proved() -> None:
    from tests.acceptance.plugin import Proofs, coverage_lines

    proofs = Proofs()
    proofs.passed = {"0055-P1-01", "0055-P1-02", "0128-D7-79"}
    proofs.failed = {"0055-P1-02"}
    proofs.skipped = {"0055-P1-35", "0128-D7-79"}
    lines = coverage_lines(proofs)
    assert "requirements: 2 of 490 proved" in lines
    problem = lines.index("ADR-0055 P1: 1 of 37 proved")
    assert lines[problem + 1] == "  proved: 01"
    assert lines[problem + 2] == "  failed: 02"
    assert any(line.startswith("  not proved, issue native: 03 ") for line in lines[problem:])
    assert "  skipped here: 35" in lines[problem:]
    lineage = next(line for line in lines if line.startswith("ADR-0128 D7: 1 of"))
    assert lines[lines.index(lineage) + 1] == "  proved: 79"


@pytest.mark.parametrize("workers", [[], ["-p", "xdist", "-n", "1"]])
def test_marks_reach_the_summary_with_and_without_workers(tmp_path: Path, workers: list[str]) -> None:
    summary = (
        "\ndef pytest_terminal_summary(terminalreporter, config):\n"
        "    from tests.acceptance import plugin\n"
        "    proofs = config.stash[plugin._PROOFS]\n"
        "    terminalreporter.write_line(f'seen {sorted(proofs.proved)} {sorted(proofs.skipped)}')\n"
    )
    (tmp_path / "tail.py").write_text(summary)
    done = run(tmp_path, MARKED, "-p", "tail", *workers)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "seen ['0055-P1-01', '0128-D7-79'] ['0055-P1-35']" in done.stdout
