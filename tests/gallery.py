"""The demo's gallery as pictures have it: built once a run, by whichever worker asks first, and copied."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

import pytest

from inspector.demo.session import build_gallery

__all__ = ["CLOCK", "copied_gallery"]

CLOCK = 1_795_953_600.0


def copied_gallery(factory: pytest.TempPathFactory, folder: Path) -> Path:
    """A gallery of one's own at `folder`, which is made. Paths in its rows stay those of the first."""
    shutil.copytree(_built(factory), folder, symlinks=True)
    return folder


def _built(factory: pytest.TempPathFactory) -> Path:
    base = factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "gallery-of-all"
    with (shared.parent / "gallery-of-all.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not shared.is_dir():
            made = build_gallery(shared.with_name("gallery-being-built"), CLOCK).folder
            made.rename(shared)
    return shared
