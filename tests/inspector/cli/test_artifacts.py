"""`artifacts`: by key shape with their paths now, a run's own, and its expected files then and now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.inspector.artifacts.recorded import SESSION, make_artifacts
from tests.persistence.stores import marks_of


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return make_artifacts(tmp_path)


def test_artifacts_are_listed_by_the_shape_of_their_key(command: Any, store: Path) -> None:
    rows = command("artifacts", store, "--json").json["rows"]
    assert [row["key"] for row in rows] == ["both", "session", "session", "invocation", "none"]
    only = command("artifacts", store, "--key", "invocation", "--json").json["rows"]
    assert [row["name"] for row in only] == ["by invocation"]
    assert "present, 12 B" in command("artifacts", store, "--key", "session").out
    own = command("artifacts", store, SESSION[:8], "--json").json["rows"]
    assert {row["name"] for row in own} == {"both", "by session", "led out"}


@pytest.mark.adr("0055-D4-01")
def test_expected_files_then_and_now_as_an_observation(command: Any, store: Path) -> None:
    before = marks_of(store)
    answer = command("artifacts", store, SESSION[:8], "--verify", "--json").json
    told = answer["verification"]
    assert told["observation"] == "an observation, not evidence"
    assert (told["recorded"]["status"], told["now"]["status"]) == ("passed", "failed")
    assert [(row["path"], row["changed"]) for row in answer["rows"]] == [
        ("report.md", "10 B before"), ("data.csv", "gone"), ("link", None), ("report.md", "came"),
    ]  # fmt: skip
    said = command("artifacts", store, SESSION, "--verify")
    assert "data.csv" in said.out and "recorded passed" in said.err and "not evidence" in said.err
    assert marks_of(store) == before


@pytest.mark.parametrize(
    ("words", "status"),
    [(["--verify"], 2), (["nobody", "--verify"], 3), (["--key", "x"], 2), (["s", "--key", "none"], 2)],
)
def test_what_cannot_be_answered(command: Any, store: Path, words: list[str], status: int) -> None:
    assert command("artifacts", store, *words).status == status
