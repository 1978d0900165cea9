"""What a command loads: proved in processes of their own, by `sys.modules`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def loaded(code: str, *arguments: str) -> set[str]:
    """The top-level modules (and dotted ones) that this code brought in."""
    script = f"import sys\nsys.argv = ['store-inspector', *sys.argv[1:]]\n{code}\n"
    script += "import json; sys.stderr.write(chr(30) + json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.rpartition(chr(30))[2]))


def by_command(*arguments: str) -> set[str]:
    return loaded("from inspector.cli import run\nassert run(sys.argv[1:]) == 0", *arguments)


def every_module(package: str) -> list[str]:
    folder = ROOT / package
    names = []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        names.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return names


def test_persistence_knows_nothing_of_the_application() -> None:
    """Every module of it, imported, loads neither the application nor what draws it."""
    found = loaded("import importlib\nfor name in sys.argv[1:]: importlib.import_module(name)",
                   *every_module("persistence"))  # fmt: skip
    for name in ("inspector", "textual", "rich", "click", "themes"):
        assert name not in found


def test_persistence_costs_nothing_until_it_is_used() -> None:
    found = loaded("import persistence, persistence.errors, persistence.location, persistence.records")
    assert not found & {"sqlalchemy", "aiosqlite", "asyncio", "asyncpg", "sqlite3"}


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["runs", "--help"], ["completion", "bash"]])
def test_help_and_version_load_next_to_nothing(words: list[str]) -> None:
    found = by_command(*words)
    heavy = {"textual", "rich", "sqlalchemy", "aiosqlite", "asyncpg", "asyncio", "sqlite3", "platformdirs"}
    assert not found & heavy
    if words == ["--version"]:
        assert "click" not in found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    from inspector.demo.session import build_gallery

    return build_gallery(tmp_path_factory.mktemp("gallery")).cards[0].store


@pytest.mark.parametrize(
    "words",
    [["doctor"], ["doctor", "--json"], ["tables"], ["tables", "--json"], ["runs"], ["runs", "--json"]],
    ids="-".join,
)
def test_commands_draw_nothing(words: list[str], store: str) -> None:
    found = by_command(words[0], store, *words[1:])
    assert not found & {"textual", "asyncpg", "platformdirs", "inspector.app"}


@pytest.mark.parametrize("words", [["doctor"], ["doctor", "--json"]], ids="-".join)
def test_doctor_is_quick(words: list[str], store: str) -> None:
    """Whose store it is needs the standard library alone; each of these costs as much as all the rest."""
    found = by_command(words[0], store, *words[1:])
    assert not found & {"sqlalchemy", "aiosqlite", "asyncio", "platformdirs", "importlib.metadata", "rich"}


@pytest.fixture(scope="module")
def managed(store: str) -> str:
    return str(Path(store).with_name("managed.db"))


@pytest.mark.parametrize(
    "words",
    [
        ["admit", "STORE", "--profile", "acme-desk-fresh-run", "--owner", "kim"],
        ["profile", "list"],
        ["profile", "show", "acme-desk-fresh-run"],
        ["profile", "derive", "STORE"],
    ],
    ids=lambda words: "-".join(words[:2]),
)
def test_admission_needs_no_engine(words: list[str], managed: str) -> None:
    """Everything is asked through the standard library's `sqlite3`; SQL text alone needs a tokenizer."""
    found = by_command(*(managed if word == "STORE" else word for word in words))
    assert not found & {"textual", "rich", "sqlalchemy", "aiosqlite", "asyncio", "asyncpg", "platformdirs"}
    if words[1] in ("list", "show"):
        assert "sqlglot" not in found


def test_the_demo_is_built_without_what_it_does_not_need(tmp_path: Path) -> None:
    found = by_command("demo", "--build-only", "--dir", str(tmp_path / "gallery"))
    assert not found & {"textual", "sqlalchemy", "sqlite3", "asyncio"}


def test_the_first_paint_does_not_wait_for_sqlalchemy() -> None:
    """The application is imported and painted before the open worker loads the engine, on a thread."""
    found = loaded("import inspector.app, inspector.screens.open, inspector.screens.runs")
    assert not found & {"sqlalchemy", "aiosqlite", "asyncpg"}
