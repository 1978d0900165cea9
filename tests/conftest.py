"""What every test stands on: a scrubbed environment, a still clock, real stores when there are some."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bytecode import compile_a_share, keep_for_this_run

ROOT = Path(__file__).resolve().parent.parent

# Pictures are only ever updated on this stack: another Python or Textual draws something differently.
PINNED = {"python": "3.11", "textual": "8.2.8"}

CLOCK = 1_795_953_600.0
"""The moment tests and pictures are made at: 2026-11-29 12:00:00 UTC, a Sunday."""

_KEPT = (
    "STORE_INSPECTOR_SHARED_STORES",
    "STORE_INSPECTOR_INTEROP_PYTHON",
    "STORE_INSPECTOR_TEST_PG_URL",
    "TEXTUAL_SNAPSHOT_TEMPDIR",  # pytest-textual-snapshot tells its workers
)
_PREFIXES = ("TEXTUAL", "LIONAGI_", "XDG_", "STORE_INSPECTOR_", "CLICOLOR", "TERM_")
_NAMES = ("TMUX", "NO_COLOR", "FORCE_COLOR", "COLORTERM", "COLUMNS", "LINES", "PAGER", "LESS", "PGPASSWORD")

_scratch = tempfile.mkdtemp(prefix="store-inspector-tests-")


def _scrub() -> None:
    """Before anything is imported: what a person has set must not reach a picture or a test."""
    for name in list(os.environ):
        if name not in _KEPT and (name in _NAMES or name.upper().startswith(_PREFIXES)):
            del os.environ[name]
    home = Path(_scratch, "home")
    for folder in ("config", "state", "cache", "data"):
        (home / folder).mkdir(parents=True, exist_ok=True)
        os.environ[f"XDG_{folder.upper()}_HOME"] = str(home / folder)
    os.environ.update(HOME=str(home), TERM="xterm-256color", TZ="UTC", PYTHONHASHSEED="0")
    os.environ.update(LANG="C.UTF-8", LC_ALL="C.UTF-8")
    time.tzset()
    keep_for_this_run(_scratch)


_scrub()

pytest_plugins = ["tests.acceptance.plugin", "tests.pace", "tests.postgres", "tests.native", "tests.managed"]


def pytest_configure(config: pytest.Config) -> None:
    # A store that was opened keeps its descriptors as long as the process lives; a test run opens thousands.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = 65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536)
    if soft != resource.RLIM_INFINITY and soft < enough:
        resource.setrlimit(resource.RLIMIT_NOFILE, (enough, hard))
    if not getattr(config.option, "update_snapshots", False):
        return
    seen = {
        "python": ".".join(platform.python_version_tuple()[:2]),
        "textual": importlib.metadata.version("textual"),
    }
    if seen != PINNED:
        raise pytest.UsageError(f"snapshots are updated on {PINNED} only; this is {seen}")


def pytest_sessionstart(session: pytest.Session) -> None:
    compile_a_share(session.config)


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(_scratch, ignore_errors=True)


@pytest.fixture(autouse=True)
def own_places(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Configuration, state and cache of this test alone, in new empty directories."""
    base = tmp_path_factory.mktemp("places", numbered=True)
    for kind in ("config", "state", "cache"):
        monkeypatch.setenv(f"STORE_INSPECTOR_{kind.upper()}_DIR", str(base / kind))
    yield base


@pytest.fixture
def frozen_clock() -> Iterator[float]:
    """`inspector.formats.now` stands still at CLOCK, in UTC."""
    from inspector.formats import at_time

    with at_time(CLOCK):
        yield CLOCK


@pytest.fixture(scope="session")
def shared_stores() -> Path:
    """The directory of stores that real releases made; skips where there is none. Copy before use."""
    given = os.environ.get("STORE_INSPECTOR_SHARED_STORES")
    folder = Path(given) if given else ROOT.parent / "shared" / "stores"
    if not any(folder.glob("lionagi-*.db")):
        pytest.skip("no real stores here (STORE_INSPECTOR_SHARED_STORES)")
    return folder


@pytest.fixture
def as_program() -> list[str]:
    """The command line that starts the program under test."""
    return [sys.executable, "-m", "inspector"]
