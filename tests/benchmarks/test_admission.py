"""The comparison of admission runs, and says plainly when there is nobody to compare with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks import admission


def test_it_measures_ours_and_says_why_the_other_could_not_be_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nobody = tmp_path / "python"
    nobody.write_text("#!/bin/sh\necho 'no such module: lionagi' >&2\nexit 1\n")
    nobody.chmod(0o755)
    kept = tmp_path / "figures.json"
    assert (
        admission.main(["--python", str(nobody), "--rounds", "1", "--times", "2", "--json", str(kept)]) == 0
    )
    figures = json.loads(kept.read_text("utf-8"))
    assert figures["ours"] > 0
    assert "theirs" not in figures and "ratio" not in figures
    assert "no such module: lionagi" in capsys.readouterr().out
