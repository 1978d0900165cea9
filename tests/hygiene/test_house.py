"""The house rules that can be read off the tree: sizes, sinks, SQL, data files, documentation."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOP = {
    ".ci", ".gitignore", "CHANGELOG.md", "LICENSE", "README.md", "inspector", "persistence", "pyproject.toml",
    "screenshots", "tests", "themes",
}  # fmt: skip
LONGEST = 500
LONGEST_CLASS = 300


def tracked() -> list[Path]:
    """The files of the project: what git knows, or (outside a repository) what lies in its rooms."""
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0 and done.stdout:
        found = [ROOT / name for name in done.stdout.split("\0") if name]
    else:
        found = [path for top in TOP for path in ([ROOT / top] if (ROOT / top).is_file()
                                                  else (ROOT / top).rglob("*"))]  # fmt: skip
    return sorted(path for path in found if path.is_file() and "__pycache__" not in path.parts)


def sources(*rooms: str) -> Iterator[tuple[Path, str]]:
    for room in rooms:
        for path in sorted((ROOT / room).rglob("*.py")):
            yield path.relative_to(ROOT), path.read_text("utf-8")


def test_the_top_level_is_fixed() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in tracked()} <= TOP


@pytest.mark.parametrize("room", ["inspector", "persistence", "themes", "screenshots", "tests"])
def test_one_idea_a_file(room: str) -> None:
    """Past 500 lines a file holds two; a class of more than 300 does."""
    for path, text in sources(room):
        assert text.count("\n") <= LONGEST, path
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef) and node.end_lineno is not None:
                assert node.end_lineno - node.lineno < LONGEST_CLASS, f"{path}: {node.name}"


def test_no_data_goes_into_markup() -> None:
    """Textual and Rich parse a `str`: data would restyle, link, or crash. Everything goes through safe.py."""
    sinks = re.compile(
        r"""markup\s*=\s*True|Content\.from_markup\(|Text\.from_markup\("""
        r"""|\b(?:Static|Label|Button|Option|Collapsible|Checkbox|notify)\(\s*f["']|matcher\.highlight\("""
    )
    for path, text in sources("inspector"):
        for number, line in enumerate(text.split("\n"), 1):
            if sinks.search(line):
                assert "markup=False" in line, f"{path}:{number}: {line.strip()}"


def _strings(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


SQL = re.compile(
    r"^\s*(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s.+\sSET|DELETE\s+FROM|PRAGMA|CREATE\s+TABLE)\b"
)


def test_the_application_writes_no_sql_and_opens_no_store() -> None:
    """The demo apart, which plays other programs in child processes."""
    for path, text in sources("inspector"):
        if path.parts[1] == "demo":
            continue
        for number, said in _strings(text):
            assert not SQL.match(said), f"{path}:{number}"
        assert "sqlite3.connect" not in text, path
        for name in _imports(text):
            assert name.split(".")[0] not in ("sqlalchemy", "aiosqlite", "asyncpg"), path
            assert not name.startswith(("persistence.engines", "persistence.files")), path


def _imports(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_only_the_demos_children_write_stores() -> None:
    """What writes a store runs as `python -m`, in a process of its own; nothing else imports it."""
    parents = {"__init__", "gallery", "session"}
    children = {f"inspector.demo.{path.stem}" for path in (ROOT / "inspector" / "demo").glob("*.py")}
    children -= {f"inspector.demo.{name}" for name in parents}
    assert "inspector.demo.live" in children
    children.add("inspector.demo.acme_desk")
    for path, text in sources("inspector"):
        if path.parts[1] != "demo" or (path.stem in parents and path.parts[2] != "acme_desk"):
            for name in _imports(text):
                assert not any(name == child or name.startswith(f"{child}.") for child in children), path


def test_no_machine_of_ours_is_named() -> None:
    """Paths of a developer's machine do not belong into a project."""
    private = re.compile(r"/work/(?:main|shared)|/home/(?!kim|user|\.)\w+/|/Users/\w+/|/root/")
    for path in tracked():
        if path.suffix in (".png", ".db"):
            continue
        text = path.read_text("utf-8", "replace")
        found = private.search(text)
        assert found is None or path == Path(__file__), f"{path}: {found and found.group()}"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        return set(archive.namelist())


def test_the_wheel_carries_every_file_the_program_reads(wheel: set[str]) -> None:
    for room in ("inspector", "persistence", "themes"):
        for path in (ROOT / room).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert str(path.relative_to(ROOT)) in wheel, path
    assert any(name.endswith(".tcss") for name in wheel)


def test_the_wheel_carries_nothing_else(wheel: set[str]) -> None:
    rooms = {name.split("/")[0] for name in wheel}
    assert {name for name in rooms if not name.endswith(".dist-info")} == {
        "inspector",
        "persistence",
        "themes",
    }


def test_every_command_and_setting_is_documented() -> None:
    from inspector.cli.program import COMMANDS, program
    from inspector.settings import SETTINGS

    readme = (ROOT / "README.md").read_text("utf-8")
    for name in COMMANDS:
        assert f"`{name}" in readme or f"store-inspector {name}" in readme, name
    for setting in SETTINGS:
        assert f"`{setting.name}`" in readme, setting.name
    import click

    for name in COMMANDS:
        command = program.get_command(click.Context(program), name)
        assert command is not None and command.help, name
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.help, f"{name} {option.opts}"


def test_every_environment_variable_is_documented() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    named = set()
    for _, text in sources("inspector", "persistence"):
        named |= set(re.findall(r"\bSTORE_INSPECTOR_[A-Z_]*[A-Z]\b", text))
    from inspector.settings import SETTINGS

    named -= {setting.variable for setting in SETTINGS}  # `STORE_INSPECTOR_` and the name, as the README says
    for name in named:
        assert name in readme, name
    assert "STORE_INSPECTOR_" in readme


def test_the_readme_has_its_two_commands() -> None:
    """One line each: one that ends with the demo open in the terminal, one with the tests passed."""
    readme = (ROOT / "README.md").read_text("utf-8")
    lines = [line for line in readme.split("\n") if line.startswith("python3 -m venv ")]
    assert len(lines) == 2
    assert lines[0].endswith("store-inspector demo") and "pytest" in lines[1]
