"""A writer that is killed at random, 200 times over: every acknowledged write is there, and no half one.

In a process of its own: a test run has threads, and what is forked from it could not be trusted.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks and kills")
@pytest.mark.parametrize("part", range(4))
def test_two_hundred_kills(part: int, native_file: Path, tmp_path: Path) -> None:
    """Fifty in each part, on a store of its own."""
    path = tmp_path / "begun.db"
    shutil.copyfile(native_file, path)
    command = [sys.executable, "-m", "tests.hostile.crash_cycles", "--count", "50", "--seed", str(part)]
    command += ["--store", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    last = re.search(r"50 kills, (\d+) sessions and (\d+) messages told of", done.stdout)
    assert last is not None and int(last[1]) > 20 and int(last[2]) > 50, done.stdout
