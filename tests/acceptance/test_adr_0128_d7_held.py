"""ADR-0128 D7 and A.0: one file is not held natively and in compatibility mode by one process."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from persistence import Mode, StateDB
from persistence.errors import ForeignLineageError, StateCompatibilityRefused
from persistence.lineage import claim, connection_identity, examine, held_here
from persistence.location import locate
from tests.persistence.lineage.craft import MANAGED, complete, in_child, meta, state_of

ROOT = Path(__file__).resolve().parents[2]


def identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def spellings(path: Path) -> list[str]:
    link = path.parent / "link.db"
    if not link.exists():
        link.symlink_to(path)
    return [str(path), f"{path.parent}/./{path.name}", f"sqlite:///{path}", f"file:{path}?mode=rw", str(link)]


@pytest.mark.adr("0128-A0-05", "0128-A0-06", "0128-A0-07")
@pytest.mark.parametrize("lineage", ["acme-desk", "lionagi"])
async def test_a_file_held_in_compatibility_mode_is_not_opened_natively(
    lineage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    path = meta(complete(folder), "lineage", lineage)
    names = spellings(path)
    before = state_of(folder)
    opened: list[object] = []
    monkeypatch.setattr("persistence.writing.native.opening._connect", opened.append)
    with claim(identity(path), "compatibility", "desk profile v1, owner kim"):
        for name in names:
            with pytest.raises(StateCompatibilityRefused) as refused:
                async with StateDB(name, mode=Mode.NATIVE):
                    raise AssertionError("it was opened")
            assert "desk profile v1, owner kim" in refused.value.message
            assert refused.value.where is not None and refused.value.where in refused.value.message
            assert refused.value.code == "held-here"
            verdict = examine(locate(name)).native
            assert verdict.opens is False and isinstance(verdict.refusal, StateCompatibilityRefused)
    assert opened == []  # no writable connection ever existed
    assert state_of(folder) == before


@pytest.mark.adr("0128-D7-76", "0128-D7-77")
async def test_a_file_a_native_handle_holds_is_not_admitted(tmp_path: Path) -> None:
    path = complete(tmp_path)
    async with StateDB(path, mode=Mode.NATIVE):
        for name in spellings(path):
            location = locate(name)
            refusal = held_here(identity(path), "compatibility", location.display)
            assert isinstance(refusal, StateCompatibilityRefused)
            assert "native" in refusal.message and location.display in refusal.message
            assert examine(location, surroundings=False).compatibility.refusal is not None
            with pytest.raises(StateCompatibilityRefused), claim(identity(path), "compatibility", name):
                raise AssertionError("it was claimed")
    # Closed, it is free again.
    assert held_here(identity(path), "compatibility", "x") is None
    with claim(identity(path), "compatibility", "x"):
        pass


@pytest.mark.adr("0128-D7-77")
def test_the_file_is_the_one_the_connection_opened_not_its_name(tmp_path: Path) -> None:
    path = complete(tmp_path)
    connection = sqlite3.connect(path)
    connection.execute("SELECT count(*) FROM sqlite_master")
    opened = connection_identity(connection)
    assert opened == identity(path)
    with claim(opened, "native", "by its connection"):
        # The name is another file's now; the one that is held is still known by what it is.
        path.rename(tmp_path / "moved.db")
        complete(tmp_path)
        assert held_here(identity(tmp_path / "moved.db"), "compatibility", "x") is not None
        assert held_here(identity(path), "compatibility", "x") is None
    connection.close()
    memory = sqlite3.connect(":memory:")
    assert connection_identity(memory) is None
    memory.close()


@pytest.mark.adr("0128-D7-78")
def test_a_native_handle_of_another_process_is_not_seen(tmp_path: Path) -> None:
    path = complete(tmp_path)
    code = (
        "import asyncio, sys\n"
        "from persistence import Mode, StateDB\n"
        "async def run():\n"
        "    async with StateDB(sys.argv[1], mode=Mode.NATIVE):\n"
        "        print('open', flush=True)\n"
        "        sys.stdin.read()\n"
        "asyncio.run(run())\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert other.stdout is not None and other.stdin is not None
    try:
        assert other.stdout.readline().strip() == "open"
        assert held_here(identity(path), "compatibility", "x") is None
        report = examine(locate(path))
        assert report.openers is not None  # but who has it open is told, where the system says
        assert other.pid in {opener.pid for opener in report.openers}
    finally:
        other.stdin.close()
        other.wait(20)
        other.stdout.close()


@pytest.mark.adr("0128-D7-40", "0128-D7-41")
def test_a_second_process_is_refused_by_the_row(tmp_path: Path) -> None:
    path = meta(complete(tmp_path), "lineage", "acme-desk")
    code = (
        "import asyncio, sys\n"
        "from persistence import Mode, StateDB\n"
        "async def run():\n"
        "    async with StateDB(sys.argv[1], mode=Mode.NATIVE):\n"
        "        pass\n"
        "try:\n"
        "    asyncio.run(run())\n"
        "except Exception as error:\n"
        "    print(type(error).__name__)\n"
    )
    before = state_of(tmp_path)
    with claim(identity(path), "compatibility", "this process"):
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, cwd=ROOT
        )
    assert done.stdout.strip() == "ForeignLineageError"
    assert state_of(tmp_path) == before


@pytest.mark.adr("0128-D7-40")
async def test_a_store_of_another_application_is_refused(tmp_path: Path) -> None:
    path = meta(complete(tmp_path), "lineage", "acme-desk")
    with pytest.raises(ForeignLineageError) as refused:
        async with StateDB(path, mode=Mode.NATIVE):
            raise AssertionError("it was opened")
    assert refused.value.lineage == "acme-desk"
    assert refused.value.where and refused.value.observed and refused.value.remedy


def test_two_claims_at_once_never_both_succeed(tmp_path: Path) -> None:
    path = complete(tmp_path)
    held, refused = [], []
    together = threading.Barrier(8)

    def take(number: int) -> None:
        kind = "native" if number % 2 else "compatibility"
        together.wait()
        try:
            with claim(identity(path), kind, f"handle {number}"):  # type: ignore[arg-type]
                held.append(kind)
                together.wait()
        except StateCompatibilityRefused:
            refused.append(number)
            together.wait()

    threads = [threading.Thread(target=take, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(held)) == 1
    assert len(held) == len(refused) == 4


def test_a_hard_link_is_the_same_file(tmp_path: Path) -> None:
    path = complete(tmp_path)
    os.link(path, tmp_path / "other.db")
    with claim(identity(path), "native", "x"):
        assert held_here(identity(tmp_path / "other.db"), "compatibility", "y") is not None


@pytest.mark.adr("0128-D7-36")
@pytest.mark.parametrize("done", range(len(MANAGED) + 1))
def test_a_managing_application_writes_its_row_in_the_transaction_that_creates_its_schema(
    done: int, tmp_path: Path
) -> None:
    """Stopped after any of its statements, a scratch store is without both or has both."""
    path = tmp_path / "store.db"
    path.touch()
    statements = [one if isinstance(one, tuple) else (one, ()) for one in MANAGED[:done]]
    in_child(
        f"c = sqlite3.connect(sys.argv[1], isolation_level=None)\nfor s in {statements!r}: c.execute(*s)",
        path,
    )
    connection = sqlite3.connect(path)
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    report = examine(locate(path), surroundings=False)
    if done == len(MANAGED):
        assert tables == {"schema_meta", "principals"} and report.application == "acme-desk"
    else:
        assert tables == set() and report.application is None
