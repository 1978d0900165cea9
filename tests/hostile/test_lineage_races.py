"""A store examined while another process opens, writes, checkpoints and closes it: one state, or said so."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from persistence.errors import UnreadableStoreError
from persistence.lineage import examine
from persistence.location import locate
from tests.persistence.lineage.craft import complete, edit

# Each round commits one of two pairs whole: (lionagi, 4) or (acme-desk, 7), with pages enough to spill. After
# a dozen it rests: a log that comes and goes with every commit can only be read while it does not.
WRITER = """
import sqlite3, sys, time
path, mode, keep = sys.argv[1:4]
print("ready", flush=True)
number, connection = 0, None
while True:
    if connection is None:
        connection = sqlite3.connect(path, isolation_level=None, timeout=5)
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute("PRAGMA cache_size=4")
    number += 1
    lineage, version = (("acme-desk", "7"), ("lionagi", "4"))[number % 2]
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE schema_meta SET value = ? WHERE key = 'lineage'", (lineage,))
    connection.execute("UPDATE message_types SET lion_class = lion_class || ''")
    connection.execute("INSERT INTO filler VALUES (?)", ("x" * 30000,))
    connection.execute("UPDATE schema_meta SET value = ? WHERE key = 'version'", (version,))
    connection.execute("DELETE FROM filler")
    connection.execute("COMMIT")
    if number % 7 == 0 and mode == "wal":
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if keep == "0":
        connection.close()
        connection = None
    time.sleep(0.05 if number % 12 == 0 else 0.002)
"""


@contextmanager
def writing(path: Path, mode: str, keep: bool) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", WRITER, os.fspath(path), mode, str(int(keep))],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.adr("0128-D7-44", "0128-D7-62")
@pytest.mark.parametrize("keep", [True, False], ids=["stays open", "opens and closes"])
@pytest.mark.parametrize("mode", ["delete", "persist", "truncate", "wal"])
def test_what_is_seen_is_one_committed_state(
    mode: str, keep: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "store").mkdir()
    path = edit(complete(tmp_path / "store"), f"PRAGMA journal_mode={mode}", "CREATE TABLE filler (pad)")
    seen: Counter[object] = Counter()
    with writing(path, mode, keep):
        for _ in range(20):
            report = examine(locate(path), surroundings=False)
            if isinstance(report.native.refusal, UnreadableStoreError):
                assert report.native.refusal.code == "store-moving"
                seen["moving"] += 1
                continue
            assert (report.application, report.version) in (("lionagi", "4"), ("acme-desk", "7"))
            assert report.native.opens is (report.application == "lionagi")
            seen[report.application] += 1
    assert seen["moving"] <= (0 if mode != "wal" or keep else 2)
    assert list((tmp_path / "temporary").iterdir()) == []
    names = {entry.name for entry in path.parent.iterdir()}
    assert names <= {"store.db", "store.db-journal", "store.db-wal", "store.db-shm"}
