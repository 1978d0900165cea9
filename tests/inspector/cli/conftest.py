"""Commands run in this process, and the stores they are run on."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from inspector.cli import run
from tests.gallery import copied_gallery


@dataclass
class Done:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Done]


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str]) -> Command:
    """Runs a command as `store-inspector` would and returns what it said. Output is no terminal."""

    def go(*arguments: object) -> Done:
        capfd.readouterr()
        status = run([str(argument) for argument in arguments])
        said = capfd.readouterr()
        return Done(status, said.out, said.err)

    return go


@pytest.fixture(scope="session")
def built_gallery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied_gallery(tmp_path_factory, tmp_path_factory.mktemp("gallery") / "stores")


@pytest.fixture
def harbour(built_gallery: Path, tmp_path: Path) -> Path:
    """The demo's lionagi store, a copy of one's own."""
    return Path(shutil.copy(built_gallery / "harbour.db", tmp_path))


HOSTILE = "\x1b]52;c;cGF3bmVk\x07[bold]x[/bold] \u202egnp.exe\x00\x9b31m"


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """A SQLite file with everything in it that is hard to print."""
    path = tmp_path / "odd [red]store[bold].db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, v, w TEXT)")
        rows = [
            (1, HOSTILE, "=1+1"),
            (2, b"\x00\xff\x10", ""),
            (3, 2**63 - 1, None),
            (4, 0.1, 'caf\u00e9, "quoted"\nline'),
            (5, float("inf"), " lead"),
            (6, -1, "-1"),
        ]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        connection.execute("INSERT INTO t VALUES (7, CAST(X'636166E9' AS TEXT), 'not utf-8')")
    connection.close()
    return path
