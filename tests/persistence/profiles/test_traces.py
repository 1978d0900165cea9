"""No system call of an admission could have changed the store, whatever it answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from persistence.engines import landlock
from tests import strace
from tests.persistence.engines.states import Writer, traces, writer
from tests.persistence.profiles.acme import build, variants

ROOT = Path(__file__).resolve().parents[3]

_ADMIT = """
import json, sys
from persistence.location import locate
from tests.persistence.profiles.acme import admitted
from pathlib import Path
for path in sys.argv[1:]:
    report = admitted(Path(path))
    route = None if report.read is None else report.read.route
    print(json.dumps([report.admitted, route, [one.code for one in report.refusing]]))
"""


def _killed(folder: Path, *statements: str, keep_index: bool = True) -> Path:
    folder.mkdir()
    path = build(folder / "store.db")
    Writer(path, "PRAGMA wal_autocheckpoint=0", *statements).kill()
    if not keep_index:
        (folder / "store.db-shm").unlink()
    return path


@pytest.mark.strace
def test_no_call_changes_anything(tmp_path: Path) -> None:
    reason = strace.why_not()
    if reason is not None:
        pytest.skip(reason)
    extra = "ALTER TABLE sessions ADD COLUMN extra TEXT"
    (tmp_path / "rest").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "live").mkdir()
    live = build(tmp_path / "live" / "store.db")
    stores = [
        build(tmp_path / "rest" / "store.db"),
        build(tmp_path / "other" / "store.db", variants()["col-missing"]),
        _killed(tmp_path / "log", extra),
        _killed(tmp_path / "index gone", extra, keep_index=False),
        live,
    ]
    log = tmp_path / "trace"
    with (
        writer(live, "INSERT INTO schema_meta VALUES ('a', 'b')"),
        tempfile.TemporaryDirectory() as temporary,
    ):
        before = [traces(path.parent) for path in stores]
        done = subprocess.run(
            strace.traced(log, [sys.executable, "-c", _ADMIT, *map(str, stores)]),
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=True,
            timeout=120,
            env={**os.environ, "TMPDIR": temporary},
        )
        assert [traces(path.parent) for path in stores] == before
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        [True, "settled", []],
        [False, "settled", ["column-missing"]],
        [False, "live log", ["column-extra"]],
        [False, "copy", ["column-extra"]],
        [True, "live log", []],
    ]
    for path in stores:
        assert strace.changes(log, path.parent, opened=landlock.available()) == []
