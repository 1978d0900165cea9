"""ADR-0055 D5: file verification records observations, not bytes."""

from __future__ import annotations

import inspect
import os
import time
import typing
from pathlib import Path
from typing import Any

import pytest

from persistence import Mode, StateDB, artifacts
from persistence.artifacts import (
    ArtifactContractWarning,
    ArtifactPathError,
    ExpectedArtifact,
    ProducedArtifact,
    VerificationResult,
    observe_artifact_contract,
    resolve_artifact_contract,
    verify_artifact_contract,
)


def _entry(path: str = "a.txt", **more: Any) -> dict[str, Any]:
    return {"id": "x", "path": path, **more}


def _verify(root: Path | None, *entries: Any) -> VerificationResult:
    answer = verify_artifact_contract(
        {"expected": list(entries)}, artifacts_root=None if root is None else str(root)
    )
    assert answer is not None
    return answer


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("hello")
    (tmp_path / "b.bin").write_bytes(b"\0\xff")
    return tmp_path


@pytest.mark.adr("0055-D5-02")
def test_expected_artifact_is_a_partial_typed_dict() -> None:
    assert typing.is_typeddict(ExpectedArtifact)
    assert not ExpectedArtifact.__total__
    assert set(ExpectedArtifact.__annotations__) == {"id", "path", "required", "description", "source"}


@pytest.mark.adr("0055-D5-03")
def test_produced_artifact_has_four_keys() -> None:
    hints = typing.get_type_hints(ProducedArtifact)
    assert hints == {"id": str, "path": str, "size": int, "present": bool}


@pytest.mark.adr("0055-D5-04", "0055-D5-05")
def test_a_result_has_five_keys_and_one_of_four_statuses(root: Path) -> None:
    hints = typing.get_type_hints(VerificationResult)
    assert set(hints) == {"status", "checked_at", "missing_required", "missing_optional", "produced"}
    assert set(typing.get_args(hints["status"])) == {"passed", "failed", "warning", "skipped"}
    assert hints["missing_required"] == hints["missing_optional"] == list[ExpectedArtifact]
    assert hints["produced"] == list[ProducedArtifact]
    answer = _verify(
        root, _entry(), {"id": "y", "path": "no"}, {"id": "z", "path": "none", "required": False}
    )
    assert set(answer) == set(hints)
    assert isinstance(answer["checked_at"], float)


@pytest.mark.adr("0055-D5-06")
def test_the_signature() -> None:
    parameters = inspect.signature(verify_artifact_contract).parameters
    assert list(parameters) == ["contract", "artifacts_root"]
    assert parameters["artifacts_root"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters["artifacts_root"].default is inspect.Parameter.empty


@pytest.mark.adr("0055-D5-08")
def test_no_contract_is_no_result_and_no_look(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a file was looked at")

    for name in ("stat", "open", "lstat"):
        monkeypatch.setattr(os, name, refuse)
    assert verify_artifact_contract(None, artifacts_root=str(root)) is None


@pytest.mark.adr("0055-D5-09")
@pytest.mark.parametrize("name", ["", " ", "a b", "é", "a.b", "a/b", None, 5, "x\n"])
def test_ids_are_words(root: Path, name: Any) -> None:
    with pytest.raises(ArtifactPathError) as refused:
        _verify(root, {"id": name, "path": "a.txt"})
    assert "entry 0" in str(refused.value)
    assert _verify(root, {"id": "aZ_0-9", "path": "a.txt"})["status"] == "passed"


@pytest.mark.adr("0055-D5-10")
def test_ids_are_unique(root: Path) -> None:
    with pytest.raises(ArtifactPathError, match=r"entry 1 \(x\)"):
        _verify(root, _entry(), _entry("b.bin"))


@pytest.mark.adr("0055-D5-11")
@pytest.mark.parametrize("more", [{}, {"path": ""}, {"path": None}, {"path": 5}])
def test_a_path_is_needed(root: Path, more: dict[str, Any]) -> None:
    with pytest.raises(ArtifactPathError, match="has no path"):
        _verify(root, {"id": "x", **more})


@pytest.mark.adr("0055-D5-12")
@pytest.mark.parametrize("path", ["/etc/passwd", "a\0b", "*.txt", "?.txt", "[a].txt", "{a}.txt", "d/*/x"])
def test_unsafe_paths(root: Path, path: str) -> None:
    with pytest.raises(ArtifactPathError):
        _verify(root, _entry(path))
    assert issubclass(ArtifactPathError, ValueError)


@pytest.mark.adr("0055-D5-13")
@pytest.mark.parametrize("path", ["..", "../a.txt", "d/../a.txt", "d/..", "./../x"])
def test_parent_segments(root: Path, path: str) -> None:
    with pytest.raises(ArtifactPathError, match=r"\.\. part"):
        _verify(root, _entry(path))


@pytest.mark.adr("0055-D5-14")
@pytest.mark.parametrize("path", ["../outside.txt", "a/../../outside.txt", "/outside.txt", "~/outside.txt"])
def test_paths_that_leave_the_root(root: Path, path: str) -> None:
    with pytest.raises(ArtifactPathError):
        _verify(root, _entry(path))


@pytest.mark.adr("0055-D5-15")
def test_the_entry_keys() -> None:
    assert artifacts.ENTRY_KEYS == ("id", "path", "required", "description", "source")


@pytest.mark.adr("0055-D5-16")
def test_unknown_keys_are_warned_about_and_ignored(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.warns(ArtifactContractWarning, match="'mime'"):
        with_it = _verify(root, _entry(mime="image/png"), {"id": "y", "path": "no"})
    assert "'mime'" in caplog.text
    without = _verify(root, _entry(), {"id": "y", "path": "no"})
    assert {**with_it, "checked_at": 0} == {**without, "checked_at": 0}


@pytest.mark.adr("0055-D5-17")
def test_a_playbook_entry_replaces_the_agent_s_whole_entry() -> None:
    merged = resolve_artifact_contract(
        agent_defaults={"expected": [_entry(required=False, description="agent"), {"id": "y", "path": "y"}]},
        playbook_artifacts={"expected": [_entry("b.bin"), {"id": "z", "path": "z"}]},
    )
    assert merged is not None
    assert [entry["id"] for entry in merged["expected"]] == ["x", "y", "z"]
    assert merged["expected"][0] == {
        "id": "x",
        "path": "b.bin",
        "required": True,
        "description": "",
        "source": "playbook",
    }
    assert merged["expected"][1]["source"] == "agent_profile"


@pytest.mark.adr("0055-D5-18", "0055-D5-19")
def test_defaults(root: Path) -> None:
    (missing,) = _verify(root, _entry("no"))["missing_required"]
    assert missing["required"] is True
    assert missing["description"] == ""


@pytest.mark.adr("0055-D5-20")
def test_only_regular_files_of_some_size_are_present(root: Path) -> None:
    (root / "empty").touch()
    (root / "directory").mkdir()
    os.mkfifo(root / "fifo")
    names = ("empty", "directory", "fifo")
    answer = _verify(root, *({"id": name, "path": name} for name in names))
    assert [entry["id"] for entry in answer["missing_required"]] == list(names)


@pytest.mark.adr("0055-D5-21", "0055-D5-22")
@pytest.mark.parametrize("given", [None, "nowhere", "a.txt"])
def test_without_a_usable_root_all_is_missing(root: Path, given: str | None) -> None:
    base = None if given is None else root / given
    assert _verify(base, _entry())["status"] == "failed"
    both = _verify(base, _entry(), {"id": "y", "path": "b.bin", "required": False})
    assert both["status"] == "failed"
    assert (len(both["missing_required"]), len(both["missing_optional"]), both["produced"]) == (1, 1, [])
    assert _verify(base, _entry(required=False))["status"] == "warning"
    assert _verify(base)["status"] == "passed"


@pytest.mark.adr("0055-D5-23", "0055-D5-24", "0055-D5-25")
def test_statuses_with_a_valid_root(root: Path) -> None:
    optional, missing = {"id": "o", "path": "none", "required": False}, {"id": "m", "path": "no"}
    assert _verify(root, _entry(), optional, missing)["status"] == "failed"
    assert _verify(root, _entry(), optional)["status"] == "warning"
    assert _verify(root, _entry())["status"] == "passed"
    assert _verify(root)["status"] == "passed"


@pytest.mark.adr("0055-D5-26")
def test_what_is_recorded(root: Path) -> None:
    (root / "deep").mkdir()
    (root / "deep" / "c.txt").write_text("12345678")
    before = time.time()
    answer = _verify(root, _entry("deep/c.txt"))
    assert answer["produced"] == [{"id": "x", "path": "deep/c.txt", "size": 8, "present": True}]
    assert before <= answer["checked_at"] <= time.time()


@pytest.mark.adr("0055-D5-27", "0055-P5-01")
def test_no_file_is_opened_and_no_kind_of_content_asked_for(root: Path) -> None:
    """Files nobody may read are present all the same: their directory is all that is looked into."""
    for name in ("a.txt", "b.bin"):
        (root / name).chmod(0)
        os.utime(root / name, ns=(1, 1))
    opened: list[str] = []
    real = os.open

    def watch(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        opened.append(os.fspath(path))
        return real(path, flags, *rest, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", watch)
        answer = _verify(root, _entry(), {"id": "y", "path": "b.bin"})
    assert answer["status"] == "passed"
    assert opened == [str(root)]
    assert all((root / name).stat().st_atime_ns == 1 for name in ("a.txt", "b.bin"))
    assert set(answer["produced"][0]) == {"id", "path", "size", "present"}


@pytest.mark.adr("0055-P5-02")
def test_a_result_stays_what_was_observed(root: Path) -> None:
    before = {path.name for path in root.iterdir()}
    answer = _verify(root, _entry())
    (root / "a.txt").write_text("something longer")
    assert answer["produced"][0]["size"] == 5
    (root / "a.txt").unlink()
    assert answer["status"] == "passed"
    assert {path.name for path in root.iterdir()} == before - {"a.txt"}


@pytest.mark.adr("0055-P5-02")
async def test_a_stored_result_stays_and_the_bytes_are_nowhere_else(
    native_file: Path, root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secret = b"what only the file holds: 7c1f94"
    (root / "a.txt").write_bytes(secret)
    folder = tmp_path_factory.mktemp("store")
    path = folder / "state.db"
    path.write_bytes(native_file.read_bytes())
    async with StateDB(path, mode=Mode.NATIVE) as db:
        await db.create_progression("p")
        await db.create_session({"id": "s", "progression_id": "p"})
        answer = _verify(root, _entry())
        await db.update_artifact_verification("s", dict(answer))
        assert not any(secret in kept.read_bytes() for kept in folder.iterdir())
        (root / "a.txt").write_bytes(b"other")
        assert await db.get_artifact_verification("s") == answer
        (root / "a.txt").unlink()
        assert await db.get_artifact_verification("s") == answer
        assert answer["produced"][0]["size"] == len(secret)


def test_the_observation_says_why(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret"
    outside.write_text("secret")
    (root / "out").symlink_to(outside)
    observed = observe_artifact_contract({"expected": [_entry("out")]}, artifacts_root=str(root))
    assert observed.result["status"] == "failed"
    assert observed.entries[0].seen.why == "a link leads out of the root"
    assert observed.entries[0].seen.size is None
