"""What fails while a store is examined is named, and leaves nothing; `faults_lineage` has all of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.hostile.faults_lineage import ROOT, STORES, Fault, faults, run
from tests.persistence.lineage.craft import state_of
from tests.persistence.lineage.probe import examine_elsewhere
from tests.strace import why_not

traced = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


def _all(chosen: list[Fault]) -> list[str]:
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(run, chosen))
    return [f"{outcome.fault}: {wrong}" for outcome in outcomes if (wrong := outcome.wrong()) is not None]


@traced
@pytest.mark.strace
def test_each_call_that_fails_once_is_named_or_overcome() -> None:
    chosen = [fault for fault in faults("without an index", times=1) if fault.when == "1"]
    assert len(chosen) > 15
    assert {"openat", "pread64", "copy_file_range", "mkdir", "pwrite64"} <= {fault.call for fault in chosen}
    assert _all(chosen) == []


@traced
@pytest.mark.strace
def test_each_call_that_fails_for_ever_is_named() -> None:
    chosen = [fault for fault in faults("with a journal", times=1) if fault.when == "1+"]
    assert len(chosen) > 15
    assert _all(chosen) == []


def test_a_fault_that_is_not_named_would_be_seen() -> None:
    from tests.hostile.faults_lineage import Outcome

    fault = Fault("at rest", "openat", "EMFILE", "1+")
    good = {"native": "StoreError", "code": "too-many-files"}
    assert Outcome(fault, good, "", False, ()).wrong() is None
    assert Outcome(fault, {**good, "code": "damaged"}, "", False, ()).wrong() is not None
    assert Outcome(fault, {**good, "native": "opened"}, "", False, ()).wrong() is not None
    assert Outcome(fault, good, "", True, ()).wrong() is not None
    assert Outcome(fault, None, "Traceback", False, ()).wrong() is not None
    mkdir = Fault("with a log", "mkdir", "ENOSPC", "1")
    assert Outcome(mkdir, {**good, "code": "no-room"}, "", False, ("x",)).wrong() is not None


# -- without strace -----------------------------------------------------------------------------------

SLOW = """
import os, sys, tempfile, time
tempfile.tempdir = sys.argv[2]
from persistence.engines import copies
real = copies._copy_file
def copy_file(source, target, size, step):
    real(source, target, size, step)
    print("copying", flush=True)
    time.sleep(60)
copies._copy_file = copy_file
from persistence.lineage import examine
from persistence.location import locate
examine(locate(sys.argv[1]))
"""


@pytest.mark.adr("0128-D7-56")
@pytest.mark.parametrize("name", ["without an index", "with a journal"])
def test_killed_while_it_copies_it_leaves_one_directory_that_the_next_start_removes(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "temporary").mkdir()
    path = STORES[name](tmp_path / "store")
    before = state_of(tmp_path / "store")
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(path), str(tmp_path / "temporary")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "copying"
    process.send_signal(signal.SIGKILL)
    process.wait(20)
    process.stdout.close()
    assert state_of(tmp_path / "store") == before  # nothing beside the store
    (left,) = (tmp_path / "temporary").iterdir()
    assert left.stat().st_mode & 0o777 == 0o700
    assert (left / "store").exists()
    (answer,) = examine_elsewhere([(tmp_path, str(path))], TMPDIR=str(tmp_path / "temporary"))
    assert answer["native"] == "ForeignLineageError"
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.parametrize("name", STORES)
def test_no_descriptor_to_spare_is_said(name: str, tmp_path: Path) -> None:
    import resource

    path = STORES[name](tmp_path)
    before = state_of(tmp_path)
    code = (
        "import json, os, resource, sys\n"
        "from tests.persistence.lineage.probe import answer\n"
        "import persistence.lineage.examination, persistence.engines.copies, persistence.lineage.journals\n"
        "import tempfile, ctypes, fcntl, persistence.magic, persistence.engines.gate\n"
        "taken = []\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))\n"
        "try:\n"
        "    while True: taken.append(os.open(os.devnull, os.O_RDONLY))\n"
        "except OSError: pass\n"
        "print(json.dumps(answer(sys.argv[1])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 40
    assert '"code": "too-many-files"' in done.stdout, done.stdout + done.stderr
    assert state_of(tmp_path) == before


def test_no_room_for_the_copy_is_said(tmp_path: Path) -> None:
    path = STORES["without an index"](tmp_path)
    code = (
        "import json, resource, sys\n"
        "from tests.persistence.lineage.probe import answer\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "print(json.dumps(answer(sys.argv[1])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert '"native": "UnreadableStoreError"' in done.stdout, done.stdout + done.stderr
    assert any(f'"code": "{code}"' in done.stdout for code in ("no-room", "io-error"))


def test_a_temporary_directory_that_is_not_there_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from persistence.lineage import examine
    from persistence.location import locate

    path = STORES["without an index"](tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    refusal = examine(locate(path), surroundings=False).native.refusal
    assert refusal is not None and refusal.code == "no-copy"
    assert "TMPDIR" in (refusal.remedy or "")


def test_an_interrupt_from_the_keyboard_ends_it_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "temporary").mkdir()
    path = STORES["without an index"](tmp_path / "store")
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(path), str(tmp_path / "temporary")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "copying"
    started = time.monotonic()
    os.kill(process.pid, signal.SIGINT)
    process.wait(20)
    process.stdout.close()
    assert time.monotonic() - started < 20
    assert list((tmp_path / "temporary").iterdir()) == []
