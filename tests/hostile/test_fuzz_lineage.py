"""Two thousand spoiled stores, each examined as it must be; `fuzz_lineage` says how to run more."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.hostile.fuzz_lineage import Failure, Fuzz, bases, main, spoil

COUNT = 2000
SHARES = 4


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "fuzz").mkdir()
    return tmp_path / "fuzz"


@pytest.mark.parametrize("share", range(SHARES))
def test_spoiled_stores_never_open_what_they_should_not(share: int, root: Path) -> None:
    fuzz = Fuzz(root)
    fuzz.run(range(share, COUNT, SHARES))
    assert fuzz.verdicts.total() == COUNT // SHARES
    # The numbers reach every way a store can come out, so that none of it was decided by chance alone.
    assert {"opens", "ForeignLineageError", "UnreadableStoreError", "StoreDamagedError"} <= set(fuzz.verdicts)
    assert list((root.parent / "temporary").iterdir()) == []


def test_a_number_makes_the_same_store_again(root: Path) -> None:
    import random

    made = bases(root)
    names = sorted(made)
    for number in range(24):
        name = names[number % len(names)]
        others = [made[other] for other in names]
        twice = [spoil(made[name], others, random.Random(f"1-{number}")) for _ in range(2)]
        assert twice[0] == twice[1]


def test_a_wrong_verdict_is_caught(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from persistence.lineage import rules

    monkeypatch.setattr("persistence.lineage.examination.NATIVE", (rules.READ,))
    with pytest.raises(Failure, match="opens natively, but"):
        Fuzz(root).run(range(200))


def test_the_command_counts_and_says_what_it_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--count", "24", "--seed", "7"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("24 stores in ")
    assert "seed 7" in said
