"""Compiled once a run: what every process of a run imports, and the tests that every worker collects.

Where Python is told to leave no bytecode beside the sources (PYTHONDONTWRITEBYTECODE), each worker and each
child would compile every module anew. A run keeps the bytecode in a directory of its own instead.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from _pytest.assertion import rewrite


def keep_for_this_run(scratch: str) -> None:
    """Before anything is imported, in the process that starts the others: they inherit the directory."""
    if not sys.dont_write_bytecode or "PYTEST_XDIST_WORKER" in os.environ:
        return
    folder = str(Path(scratch, "bytecode"))
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = folder
    sys.dont_write_bytecode = False


def compile_a_share(config: pytest.Config) -> None:
    """Each worker compiles its share of the tests before it collects them all, so that none does so twice."""
    worker = getattr(config, "workerinput", None)
    if worker is None or sys.dont_write_bytecode:
        return
    own, workers = int(worker["workerid"].removeprefix("gw")), int(worker["workercount"])
    folders = [Path(argument) for argument in config.args if Path(argument).is_dir()]
    files = sorted({file for folder in folders for file in folder.rglob("*.py")})
    for file in files[own::workers]:
        _compile(file.resolve(), config)


def _compile(file: Path, config: pytest.Config) -> None:
    folder = rewrite.get_cache_dir(file)
    target = folder / (file.stem + rewrite.PYC_TAIL)
    if rewrite.try_makedirs(folder) and rewrite._read_pyc(file, target) is None:
        stat, code = rewrite._rewrite_test(file, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, stat, target)
