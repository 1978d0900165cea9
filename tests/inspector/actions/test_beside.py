"""Actions beside acme-desk at work: it writes and folds its log in, in processes of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from inspector.actions.copying import CopyRun
from inspector.actions.probe import Probe
from persistence import StateDB
from tests.inspector.actions.managed import all_hold, desk, read_back, ready, rows, source

ROOT = Path(__file__).resolve().parents[3]


@contextmanager
def at_work(store: Path, mode: str) -> Iterator[None]:
    """acme-desk writes runs of lee's and tickets, and checkpoints, for as long as the block lasts."""
    writing = ["write", str(store), "--seconds", "60", "--pause", "0.002"]
    folding = ["checkpoint", str(store), "--seconds", "60", "--pause", "0.02", "--mode", mode]
    children = []
    for words in (writing, folding):
        command = [sys.executable, "-m", "inspector.demo.acme_desk", *words]
        nothing, told = subprocess.DEVNULL, subprocess.PIPE
        children.append(subprocess.Popen(command, cwd=ROOT, stdout=nothing, stderr=told))
    try:
        yield
        assert all(child.poll() is None for child in children), [child.communicate() for child in children]
    finally:
        for child in children:
            child.terminate()
            child.communicate(timeout=30)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return desk(tmp_path / "desk" / "managed.db")


@pytest.mark.parametrize("mode", ["PASSIVE", "TRUNCATE"])
async def test_a_copy_and_probes_are_whole_while_the_desk_writes_and_checkpoints(
    store: Path, tmp_path: Path, mode: str
) -> None:
    (tmp_path / "from").mkdir()
    taken_from = source(tmp_path / "from" / "state.db", 60)
    before = rows(store, "SELECT id, collection FROM progressions WHERE owner_id = 'lee'")
    with at_work(store, mode):
        async with StateDB(taken_from) as db:
            copied = await (await ready(CopyRun(db, "s001"), store, tmp_path / "state")).run()
        probes = [await (await ready(Probe(), store, tmp_path / "state")).run() for _ in range(3)]
    assert copied.event == "done", copied.error
    assert [each.event for each in probes] == ["done"] * 3, [each.error for each in probes]
    assert all_hold(store) and read_back(store, "s001")["problems"] == []
    assert set(before) <= set(rows(store, "SELECT id, collection FROM progressions WHERE owner_id = 'lee'"))
    assert rows(store, "SELECT count(*) FROM messages WHERE owner_id = 'kim'") == [(63,)]
    assert rows(store, "SELECT count(*) FROM sessions WHERE owner_id = 'lee'")[0][0] > 1  # it was at work
