"""Runs the guard's tests under every supported Python there is, with the lowest and the newest drivers.

    python -m tests.matrix.run [--keep FOLDER]

ADR-0128 D8, item 8. Each has an environment of its own. The standard library alone; `uv`, where there is one,
makes them in a second.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FILES = ("tests/matrix/test_matrix.py", "tests/acceptance/test_adr_0128_d3.py")
FEW = FILES[:1]
"""What the other Pythons run: the suite's own runs it all."""

PYTHONS = ("3.11", "3.12", "3.13")
# The first SQLAlchemy that runs there.
LOWEST = {"3.11": "2.0.0", "3.12": "2.0.22", "3.13": "2.0.31"}
OLDEST_DRIVER = "0.22.0"
TESTING = ("pytest==8.4.2", "pytest-asyncio==1.5.0")
LEFT_OUT = ("textual", "rich")  # the guard is below every screen


class Cell(NamedTuple):
    """One environment: an interpreter of this version, and whether it gets the lowest or the newest."""

    python: str
    version: str
    lowest: bool
    files: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"python {self.version}, {'lowest' if self.lowest else 'newest'}"

    @property
    def pins(self) -> dict[str, str]:
        return {"sqlalchemy": LOWEST[self.version], "aiosqlite": OLDEST_DRIVER} if self.lowest else {}


def cells() -> Iterator[Cell]:
    """Each Python that is supported and is here, the running one first, with both sets of versions."""
    here = ".".join(map(str, sys.version_info[:2]))
    for version in sorted(PYTHONS, key=lambda one: one != here):
        python = sys.executable if version == here else _interpreter(version)
        if python is None:
            print(f"python {version}: not here")
            continue
        for lowest in (True, False):
            yield Cell(python, version, lowest, FILES if version == here else FEW)


def _interpreter(version: str) -> str | None:
    found = [shutil.which(f"python{version}")]
    roots = (Path.home() / ".pyenv" / "versions", Path.home() / ".local" / "share" / "uv" / "python")
    for root in roots:
        found += [str(path) for path in sorted(root.glob(f"*{version}.*/bin/python{version}"), reverse=True)]
    asked = "import sys, sqlite3, venv; print('%d.%d' % sys.version_info[:2])"
    for python in found:
        if python is not None:
            done = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=False)
            if done.stdout.strip() == version:
                return python
    return None


def wanted(pins: dict[str, str]) -> list[str]:
    """What to install: the project's own requirements, with these two pinned."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found = []
    for requirement in project["dependencies"]:
        name = requirement.split("[")[0].split(">")[0].split("=")[0]
        if name in LEFT_OUT:
            continue
        extra = "[asyncio]" if name == "sqlalchemy" else ""
        found.append(f"{name}{extra}=={pins[name]}" if name in pins else requirement)
    return [*found, *TESTING]


def environment(folder: Path, cell: Cell) -> Path:
    """A new virtual environment with them; its Python."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    uv = shutil.which("uv")
    if uv is not None:
        _run([uv, "venv", "-q", "--python", cell.python, str(folder)])
        _run([uv, "pip", "install", "-q", "--upgrade", "--python", str(python), *wanted(cell.pins)])
    else:
        _run([cell.python, "-m", "venv", str(folder)])
        _run([str(python), "-m", "pip", "install", "-q", "--upgrade", *wanted(cell.pins)])
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def tested(cell: Cell, folder: Path) -> tuple[str, int]:
    """What the tests said in one environment, and pytest's exit status."""
    python = environment(folder / cell.name.replace(", ", "-").replace(" ", "-"), cell)
    ini = str(ROOT / "tests" / "matrix" / "pytest.ini")
    bare = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "PYTHONPATH"))}
    done = subprocess.run(
        [str(python), "-m", "pytest", "-c", ini, "--rootdir", str(ROOT), *cell.files],
        cwd=ROOT,
        env=bare,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    asked = (
        "import sqlalchemy, aiosqlite, sqlite3\n"
        "print(f'SQLAlchemy {sqlalchemy.__version__}, aiosqlite {aiosqlite.__version__}, '"
        "f'SQLite {sqlite3.sqlite_version}')"
    )
    found = subprocess.run([str(python), "-c", asked], capture_output=True, text=True, check=True)
    return f"{cell.name}: {found.stdout.strip()}\n{done.stdout}{done.stderr}", done.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keep", type=Path, help="make the environments here, and leave them")
    asked = parser.parse_args()
    folder = asked.keep or Path(tempfile.mkdtemp(prefix="store-inspector-matrix-"))
    try:
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda cell: tested(cell, folder), cells()))
    finally:
        if asked.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    for told, _ in answers:
        print(told)
    return max(status for _, status in answers)


if __name__ == "__main__":
    sys.exit(main())
