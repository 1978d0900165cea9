"""ADR-0128 D1: three modes, and reading is read-only whatever is configured."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from persistence import Mode, StateDB
from tests.persistence.stores import make_filled, marks_of

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.adr("0128-D1-02")
def test_there_are_three_modes_and_a_handle_is_in_one(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    assert set(Mode) == {Mode.NATIVE, Mode.READ_ONLY, Mode.COMPATIBILITY}
    handles = [StateDB(path), StateDB(path, mode=Mode.NATIVE), StateDB(path, profile="p", owner="kim")]
    assert [handle.mode for handle in handles] == [Mode.READ_ONLY, Mode.NATIVE, Mode.COMPATIBILITY]
    assert all(isinstance(handle.mode, Mode) for handle in handles)
    # What would put a handle between two modes is refused when it is made.
    for wrong in ({"mode": Mode.NATIVE, "profile": "p"}, {"mode": Mode.COMPATIBILITY}, {"mode": "both"}):
        with pytest.raises(ValueError):
            StateDB(path, **wrong)  # type: ignore[arg-type]
    assert not path.exists()


@pytest.mark.adr("0128-D1-16")
@pytest.mark.parametrize(
    "command",
    [["runs"], ["run", "{store}", "s000"], ["tables"], ["tables", "{store}", "sessions"], ["doctor"]],
)
def test_status_list_and_detail_open_read_only(tmp_path: Path, own_places: Path, command: list[str]) -> None:
    (tmp_path / "store").mkdir()
    path = make_filled(tmp_path / "store" / "state.db")
    (own_places / "config").mkdir(parents=True, exist_ok=True)
    for name in ("settings.toml", "config.toml"):
        (own_places / "config" / name).write_text('mode = "native"\n[store]\nmode = "native"\n')
    before = marks_of(path)
    words = [str(path) if word == "{store}" else word for word in command]
    if str(path) not in words:
        words.append(str(path))
    done = subprocess.run(
        [sys.executable, "-m", "inspector", *words, "--json"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["format"] == 1
    assert marks_of(path) == before


@pytest.mark.adr("0128-D1-16")
def test_nothing_that_reads_asks_for_another_mode() -> None:
    """In the sources: outside the gated actions no call opens a store in a mode of its own choosing."""
    for file in sorted((ROOT / "inspector").rglob("*.py")):
        if file.relative_to(ROOT / "inspector").parts[0] in ("actions", "demo"):
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ("NATIVE", "COMPATIBILITY"):
                raise AssertionError(f"{file}:{node.lineno} opens a store in mode {node.attr}")
            if isinstance(node, ast.keyword) and node.arg == "mode" and isinstance(node.value, ast.Constant):
                assert node.value.value not in ("native", "compatibility"), f"{file}:{node.value.lineno}"
