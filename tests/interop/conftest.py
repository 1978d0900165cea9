"""A Python that has the real lionagi, and the stores it makes.

In this order: the Python that STORE_INSPECTOR_INTEROP_PYTHON names, the running one when the `interop`
extra is installed in it, else a virtual environment of its own, made once and kept under the system's
temporary directory by version. Where none can be had the tests skip, and say why.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

RELEASE = "0.36.0"
FILL = Path(__file__).with_name("fill.py")
INSTALL_WITHIN = 240.0


def _has_release(python: str) -> bool:
    code = f"import importlib.metadata as m, sys; sys.exit(m.version('lionagi') != {RELEASE!r})"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


def _installed_here() -> bool:
    try:
        return importlib.metadata.version("lionagi") == RELEASE
    except importlib.metadata.PackageNotFoundError:
        return False


def _own_environment() -> str:
    """The Python of the kept environment, made if need be; its error's text when that failed."""
    version = ".".join(map(str, sys.version_info[:3]))
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir(), f"store-inspector-interop-{user}", f"lionagi-{RELEASE}-py{version}")
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    if hasattr(os, "getuid") and folder.parent.stat().st_uid != user:
        pytest.skip(f"{folder.parent} belongs to somebody else")
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    with _alone(folder.with_suffix(".lock")):
        failed = folder.with_suffix(f".failed-{os.environ.get('PYTEST_XDIST_TESTRUNUID', os.getpid())}")
        if failed.exists():
            pytest.skip(failed.read_text("utf-8"))
        if not (python.exists() and _has_release(str(python))):
            try:
                _make(folder, python)
            except (subprocess.SubprocessError, OSError) as error:
                said = getattr(error, "stderr", None) or b""
                why = f"lionagi {RELEASE} could not be installed for the interop tests: {error}"
                failed.write_text(f"{why}\n{said[-800:].decode('utf-8', 'replace')}", "utf-8")
                pytest.skip(failed.read_text("utf-8"))
    return str(python)


def _make(folder: Path, python: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, capture_output=True)
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries", "1"]
    subprocess.run(
        [*map(str, pip), "--timeout", "15", f"lionagi=={RELEASE}"],
        check=True,
        capture_output=True,
        timeout=INSTALL_WITHIN,
    )


class _alone:  # noqa: N801 (used as a statement)
    """One process at a time (workers of one run share the environment); a stale lock is taken over."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        end = time.monotonic() + INSTALL_WITHIN + 60
        while True:
            try:
                os.close(os.open(self._path, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                if time.monotonic() > end:
                    self._path.unlink(missing_ok=True)
                time.sleep(0.2)
            else:
                return

    def __exit__(self, *_: object) -> None:
        self._path.unlink(missing_ok=True)


@pytest.fixture(scope="session")
def lionagi_python() -> str:
    """A Python that can import the real lionagi."""
    named = os.environ.get("STORE_INSPECTOR_INTEROP_PYTHON")
    if named:
        if not _has_release(named):
            pytest.fail(f"STORE_INSPECTOR_INTEROP_PYTHON names a Python without lionagi {RELEASE}: {named}")
        return named
    if _installed_here():
        return sys.executable
    return _own_environment()


@dataclass(frozen=True)
class RealStore:
    """A store lionagi made, and what its own read methods answered about it."""

    path: Path
    answers: dict[str, Any]


def environment(folder: Path) -> dict[str, str]:
    """What the other program sees: a home of its own, nothing of this project's."""
    kept = {
        name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR") if name in os.environ
    }
    return {**kept, "HOME": str(folder), "LIONAGI_HOME": str(folder)}


@pytest.fixture(scope="session")
def made(lionagi_python: str, tmp_path_factory: pytest.TempPathFactory) -> RealStore:
    """A closed store; tests must not change it (they read it, and it is proved that reading does not)."""
    folder = tmp_path_factory.mktemp("real")
    (folder / "store").mkdir()
    path = folder / "store" / "state.db"
    command = [lionagi_python, str(FILL), str(path), str(folder / "answers.json")]
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return RealStore(path, json.loads((folder / "answers.json").read_text("utf-8")))


class Writer:
    """lionagi holding its store open in another process, adding rows when asked."""

    def __init__(self, process: subprocess.Popen[str], store: RealStore) -> None:
        self._process = process
        self.store = store

    def add(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write("more\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "added\n"

    def leave(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(60) == 0


@pytest.fixture
def writer(lionagi_python: str, tmp_path: Path) -> Iterator[Writer]:
    """A store that real lionagi has open and keeps open."""
    (tmp_path / "store").mkdir()
    path = tmp_path / "store" / "state.db"
    command = [lionagi_python, str(FILL), str(path), str(tmp_path / "answers.json"), "--hold"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "filled\n"
        yield Writer(process, RealStore(path, json.loads((tmp_path / "answers.json").read_text("utf-8"))))
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
