"""The directory of a proof: locked while it lives, and removed by the next one when its own was killed."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from persistence.proof.scratch import Scratch

pytest.importorskip("fcntl")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def left(folder: Path, name: str, *, mode: int = 0o700) -> Path:
    made = folder / name
    made.mkdir(mode=0o700)
    (made / "in-use").touch()
    (made / "pristine-1").mkdir()
    (made / "pristine-1" / "store.db").write_text("somebody's rows")
    made.chmod(mode)
    return made


def test_what_a_killed_proof_left_is_removed_by_the_next(folder: Path) -> None:
    gone = left(folder, "store-inspector-proof-killed")
    others = left(folder, "store-inspector-proof-others", mode=0o755)
    elsewhere = left(folder, "somebody-elses")
    link = folder / "store-inspector-proof-link"
    link.symlink_to(elsewhere)
    with Scratch() as scratch:
        assert not gone.exists() and others.exists() and elsewhere.exists() and link.is_symlink()
        assert scratch.root.stat().st_mode & 0o777 == 0o700
    assert not scratch.root.exists()


def test_a_living_one_is_left_alone(folder: Path) -> None:
    with Scratch() as first, Scratch() as second:
        assert first.root.exists() and second.root.exists()
    assert not first.root.exists() and not second.root.exists()
