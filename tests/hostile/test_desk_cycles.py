"""A recording process killed 200 times beside acme-desk at work, which reads all that was acknowledged."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.demo.acme_desk.store import initialize, opened
from tests.hostile.desk_cycles import Told, check

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.adr("0128-A3-01", "0128-A3-02", "0128-A3-05", "0128-A3-06", "0128-D8-16", "0128-D8-19")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks and kills")
@pytest.mark.parametrize("part", range(2))
def test_two_hundred_kills_beside_the_desk(part: int) -> None:
    """A hundred in each part, fifty on a store."""
    command = [sys.executable, "-m", "tests.hostile.desk_cycles", "--count", "100", "--seed", str(part)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    last = re.search(r"100 kills, (\d+) sessions and (\d+) messages told of", done.stdout)
    assert last is not None and int(last[1]) > 40 and int(last[2]) > 100, done.stdout


HALF = (
    "INSERT INTO status_transitions (id, entity_type, entity_id, status, reason_code, source, created_at,"
    " owner_id) VALUES ('t', 'session', 'kim-old-sess', 'running', 'run.started.ok', 'x', 1.0, 'kim')"
)


@pytest.mark.parametrize(
    ("told", "statement", "words"),
    [
        (Told({"kim-old-sess": ["never"]}), None, "lost or out of order"),
        (Told({"lee-sess": ["lee-msg"]}), None, "AssertionError"),
        (Told({"none": []}), None, "not shown"),
        (Told({"kim-old-sess": []}), HALF, "a session's status is not its newest transition's"),
    ],
)
def test_the_check_itself_can_fail(told: Told, statement: str | None, words: str, tmp_path: Path) -> None:
    path = tmp_path / "desk.db"
    initialize(path, sample=True)
    if statement is not None:
        with opened(path) as connection:
            connection.execute(statement)
    with pytest.raises(AssertionError) as caught:
        check(path, told, {})
    assert words in f"{caught.type.__name__}: {caught.value}"
