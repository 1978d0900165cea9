"""The verifier against what the reference answered, and against links and files that move while it looks."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from persistence import beneath
from persistence.artifacts import (
    ArtifactPathError,
    observe_artifact_contract,
    resolve_artifact_contract,
    verify_artifact_contract,
)
from persistence.beneath import Root

ORACLE: dict[str, Any] = json.loads(Path(__file__).with_name("oracle-boundary.json").read_text("utf-8"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The tree the reference was asked about, with an outside beside it."""
    inside, outside = tmp_path / "root", tmp_path / "outside"
    (inside / "dir").mkdir(parents=True)
    outside.mkdir()
    (outside / "o.txt").write_text("outside")
    (inside / "a.txt").write_text("hello")
    (inside / "empty.txt").touch()
    (inside / "dir" / "b.txt").write_text("hi")
    (inside / "link.txt").symlink_to("a.txt")
    (inside / "outlink.txt").symlink_to(outside / "o.txt")
    (inside / "outdir").symlink_to(outside)
    (inside / "dangle.txt").symlink_to("nothing")
    os.mkfifo(inside / "fifo")
    for name in ("[b].txt", "sp ace ü.txt", "back\\slash"):
        (inside / name).write_text("x")
    return inside


def _root_of(case: dict[str, Any], root: Path) -> str | None:
    given = case["root"]
    return given.replace("<root>", str(root)) if given else given


@pytest.mark.filterwarnings("ignore::persistence.artifacts.ArtifactContractWarning")
@pytest.mark.parametrize("case", ORACLE["artifact_verification"], ids=lambda case: str(case["name"]))
def test_the_reference_answers_the_same(case: dict[str, Any], root: Path) -> None:
    contract = case["contract"]
    if contract == "path of 5000 a":
        contract = {"expected": [{"id": "x", "path": "a" * 5000}]}
    if "error" in case:
        with pytest.raises(ArtifactPathError):
            verify_artifact_contract(contract, artifacts_root=_root_of(case, root))
        return
    answer = verify_artifact_contract(contract, artifacts_root=_root_of(case, root))
    if answer is None:
        assert case["result"] is None
        return
    seen = {
        "status": answer["status"],
        "missing_required": [entry["id"] for entry in answer["missing_required"]],
        "missing_optional": [entry["id"] for entry in answer["missing_optional"]],
        "produced": [[one["id"], one["path"], one["size"], one["present"]] for one in answer["produced"]],
    }
    assert seen == case["result"]


@pytest.mark.parametrize("case", ORACLE["contract_merge"], ids=lambda case: str(case["name"]))
def test_contracts_merge_as_the_reference_merges_them(case: dict[str, Any]) -> None:
    merged = resolve_artifact_contract(playbook_artifacts=case["playbook"], agent_defaults=case["agent"])
    assert merged == case["result"]


def _why(root: Path, path: str) -> tuple[str, str | None, int | None]:
    contract = {"expected": [{"id": "x", "path": path}]}
    (one,) = observe_artifact_contract(contract, artifacts_root=str(root)).entries
    return one.seen.state, one.seen.why, one.seen.size


def test_what_is_behind_a_link_out_of_the_root_is_not_even_sized(root: Path) -> None:
    (root / "proclink").symlink_to("/proc/self")
    (root / "up").symlink_to("../outside/o.txt")
    (root / "dir" / "deep").symlink_to("../../outside")
    (root / "absolute").symlink_to("/etc/passwd")
    for path in ("outlink.txt", "outdir/o.txt", "proclink/environ", "up", "dir/deep/o.txt", "absolute"):
        assert _why(root, path) == ("outside", "a link leads out of the root", None), path


def test_links_that_stay_inside_are_walked(root: Path) -> None:
    (root / "dir" / "back").symlink_to("..")
    (root / "again").symlink_to(root / "dir")  # absolute, and still inside
    (root / "chain").symlink_to("again/back/link.txt")
    contract = {"expected": [{"id": "x", "path": "chain"}, {"id": "y", "path": "again/b.txt"}]}
    answer = verify_artifact_contract(contract, artifacts_root=str(root))
    assert answer is not None
    assert [(one["path"], one["size"]) for one in answer["produced"]] == [("a.txt", 5), ("dir/b.txt", 2)]


def test_a_root_named_through_a_link_is_the_directory_it_names(root: Path, tmp_path: Path) -> None:
    (tmp_path / "named").symlink_to(root)
    (root / "whole").symlink_to(tmp_path / "named" / "a.txt")
    contract = {"expected": [{"id": "x", "path": "a.txt"}, {"id": "y", "path": "whole"}]}
    answer = verify_artifact_contract(contract, artifacts_root=str(tmp_path / "named"))
    assert answer is not None
    assert answer["status"] == "passed"


def test_circles_and_directories_are_said(root: Path) -> None:
    (root / "round").symlink_to("about")
    (root / "about").symlink_to("round")
    (root / "todir").symlink_to("dir")
    assert _why(root, "round") == ("unreadable", "too many links, or a circle of them", None)
    assert _why(root, "todir") == ("other", "a directory", None)
    assert _why(root, "fifo") == ("other", "a fifo", None)
    assert _why(root, "empty.txt") == ("empty", "the file has zero bytes", 0)
    assert _why(root, "a.txt/below")[0] == "missing"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (None, "no root is named"),
        ("", "no root is named"),
        ("nowhere", "the root does not exist"),
        ("a.txt", "the root is not a directory"),
        ("fifo", "the root is not a directory"),
        ("a\0b", "the root: not a name this system's files can have"),
        ("\ud800", "the root: not a name this system's files can have"),
    ],
)
def test_an_unusable_root_says_why(root: Path, given: str | None, why: str) -> None:
    named = f"{root}/{given}" if given else given
    seen = observe_artifact_contract({"expected": [{"id": "x", "path": "a.txt"}]}, artifacts_root=named)
    assert seen.unusable_root == why
    assert seen.result["status"] == "failed"


@pytest.mark.parametrize("path", ["..\\x", "a\\..\\b", "\ud800x", "./", "././"])
def test_paths_no_file_beneath_the_root_has(root: Path, path: str) -> None:
    with pytest.raises(ArtifactPathError, match=r"entry 0 \(x\)"):
        verify_artifact_contract({"expected": [{"id": "x", "path": path}]}, artifacts_root=str(root))


def test_a_name_that_is_not_utf8_is_a_name(root: Path) -> None:
    (root / os.fsdecode(b"\xff.txt")).write_text("x")
    assert _why(root, "\udcff.txt") == ("file", None, 1)


@contextmanager
def _meanwhile(work: Callable[[], None]) -> Iterator[None]:
    stop = threading.Event()

    def run() -> None:
        while not stop.is_set():
            work()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_a_directory_swapped_for_a_link_out_is_never_followed(root: Path, tmp_path: Path) -> None:
    """Check and use are one step: however the swap falls, nothing outside is seen."""
    real, link, spot = root / "real", tmp_path / "link", root / "spot"
    real.mkdir()
    (real / "o.txt").write_text("in")  # two bytes inside, seven outside
    link.symlink_to(tmp_path / "outside")

    def swap() -> None:
        real.rename(spot)
        spot.rename(real)
        link.rename(spot)
        spot.rename(link)

    with _meanwhile(swap):
        states = {_why(root, "spot/o.txt")[::2] for _ in range(1_000)}
    assert states <= {("file", 2), ("outside", None), ("missing", None), ("unreadable", None)}
    assert ("outside", None) in states


def test_a_file_that_grows_while_looked_at_is_seen_at_one_moment(root: Path) -> None:
    target = root / "grows.txt"

    def work() -> None:
        target.write_bytes(b"x" * 10)
        target.unlink()

    with _meanwhile(work):
        seen = {_why(root, "grows.txt")[::2] for _ in range(500)}
    assert seen <= {("file", 10), ("empty", 0), ("missing", None)}


def test_a_swap_between_looking_and_entering_is_looked_at_anew(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The very step: it was a directory, and is a link out by the time it is entered."""
    real_open = os.open
    moved = []

    def late(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if path == "dir" and not moved:
            moved.append(True)
            (root / "dir").rename(tmp_path / "gone")
            (root / "dir").symlink_to(tmp_path / "outside")
        return real_open(path, flags, *rest, **named)

    monkeypatch.setattr(beneath.os, "open", late)
    assert _why(root, "dir/o.txt") == ("outside", "a link leads out of the root", None)


def test_without_descriptors_the_same_tree_is_seen_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def seen() -> list[tuple[str, str | None, int | None]]:
        with Root(str(root)) as looked:
            paths = (
                "a.txt",
                "dir/b.txt",
                "link.txt",
                "outlink.txt",
                "outdir/o.txt",
                "no",
                "empty.txt",
                "dir",
            )
            return [(one.state, one.path, one.size) for one in map(looked.look, paths)]

    walked = seen()
    monkeypatch.setattr(beneath, "_BY_DESCRIPTOR", False)
    assert seen() == walked


def test_no_descriptor_is_left(root: Path) -> None:
    before = sorted(Path("/proc/self/fd").iterdir())
    for path in ("dir/b.txt", "outdir/o.txt", "no/no", "link.txt"):
        _why(root, path)
    assert sorted(Path("/proc/self/fd").iterdir()) == before
