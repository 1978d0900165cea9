"""Runs the guard's tests on the lowest and the newest supported driver, in environments of their own (D8.8).

    python -m tests.matrix.run [--keep FOLDER]

The standard library alone; `uv`, where there is one, makes the environments in a second.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = ("tests/matrix/test_matrix.py", "tests/acceptance/test_adr_0128_d3.py")

# SQLAlchemy runs on Python 3.13 from 2.0.31 on.
LOWEST = {"sqlalchemy": "2.0.0" if sys.version_info < (3, 13) else "2.0.31", "aiosqlite": "0.22.0"}
VERSIONS: dict[str, dict[str, str]] = {"lowest": LOWEST, "newest": {}}
TESTING = ("pytest==8.4.2", "pytest-asyncio==1.5.0")
LEFT_OUT = ("textual", "rich")  # the guard is below every screen


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


def environment(folder: Path, pins: dict[str, str]) -> Path:
    """A new virtual environment with them; its Python."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    uv = shutil.which("uv")
    if uv is not None:
        _run([uv, "venv", "-q", "--python", sys.executable, str(folder)])
        _run([uv, "pip", "install", "-q", "--upgrade", "--python", str(python), *wanted(pins)])
    else:
        venv.create(folder, with_pip=True)
        _run([str(python), "-m", "pip", "install", "-q", "--upgrade", *wanted(pins)])
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def tested(name: str, folder: Path) -> tuple[str, int]:
    """What the tests said under one set of versions, and pytest's exit status."""
    python = environment(folder / name, VERSIONS[name])
    ini = str(ROOT / "tests" / "matrix" / "pytest.ini")
    bare = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "PYTHONPATH"))}
    done = subprocess.run(
        [str(python), "-m", "pytest", "-c", ini, "--rootdir", str(ROOT), *FILES],
        cwd=ROOT,
        env=bare,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    asked = "import sqlalchemy, aiosqlite; print(sqlalchemy.__version__, aiosqlite.__version__)"
    versions = subprocess.run(
        [str(python), "-c", asked], capture_output=True, text=True, check=True
    ).stdout.split()
    told = f"{name}: SQLAlchemy {versions[0]}, aiosqlite {versions[1]}"
    return f"{told}\n{done.stdout}{done.stderr}", done.returncode


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", type=Path, help="make the environments here, and leave them")
    asked = parser.parse_args()
    folder = asked.keep or Path(tempfile.mkdtemp(prefix="store-inspector-matrix-"))
    try:
        with ThreadPoolExecutor(len(VERSIONS)) as pool:
            answers = list(pool.map(lambda name: tested(name, folder), VERSIONS))
    finally:
        if asked.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    for told, _ in answers:
        print(told)
    return max(status for _, status in answers)


if __name__ == "__main__":
    sys.exit(main())
