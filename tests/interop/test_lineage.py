"""Whose store it is, where lionagi itself made it or looks at it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from persistence.lineage import examine
from persistence.location import locate
from tests.interop.conftest import RealStore, environment
from tests.persistence.lineage.cases import CASES
from tests.persistence.lineage.craft import copy_of, state_of

# Cases whose native verdict is one the real program gives on these very files (not only on its own fixtures).
ASKED = (
    "lineage-lionagi",
    "lineage-other",
    "lineage-blank",
    "lineage-missing",
    "version-higher-with-lineage",
    "version-plus-with-lineage",
    "version-word-no-lineage",
    "meta-no-key-column",
    "tables-unknown-no-lineage-sessions",
    "tables-unknown-no-lineage-no-sessions",
    "journal-hides-foreign",
    "wal-file-lionagi-log-foreign",
    "wal-foreign-only-in-log-noshm",
    "wal-garbage-log",
    "wal-too-new-in-log",
)

OPEN = """
import asyncio, json, sys
from lionagi.state.db import StateDB

async def ask(path):
    db = StateDB(path=path)
    try:
        await db.open()
    except Exception as error:
        return type(error).__name__
    await db.close()
    return "opened"

print(json.dumps([asyncio.run(ask(path)) for path in sys.argv[1:]]))
"""


@pytest.mark.adr("0128-D7-01")
def test_a_store_lionagi_made_is_its_own(made: RealStore) -> None:
    before = state_of(made.path.parent)
    report = examine(locate(made.path))
    assert (report.application, report.version) == ("lionagi", "4")
    assert report.native.opens is True and report.native.notices == ()
    assert state_of(made.path.parent) == before


def test_the_real_program_says_the_same_of_our_crafted_stores(lionagi_python: str, tmp_path: Path) -> None:
    ours, paths = [], []
    for name in ASKED:
        folder = tmp_path / name
        folder.mkdir()
        CASES[name].build(folder)
        report = examine(locate(folder / "store.db"), surroundings=False)
        ours.append("opened" if report.native.opens else type(report.native.refusal).__name__)
        # It changes what it opens: it gets a copy.
        paths.append(copy_of(folder, tmp_path / f"{name}-theirs") / "store.db")
    done = subprocess.run(
        [lionagi_python, "-c", OPEN, *map(str, paths)],
        env=environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    theirs = json.loads(done.stdout.splitlines()[-1])
    assert dict(zip(ASKED, ours, strict=True)) == dict(zip(ASKED, theirs, strict=True))
