"""The limits a proof's concurrency is held to are declared before it, in a file that says only them."""

from __future__ import annotations

from pathlib import Path

import pytest

from persistence.proof.limits import DEFAULTS, Limits, LimitsError, load_limits


def test_what_is_not_named_keeps_its_default(tmp_path: Path) -> None:
    file = tmp_path / "limits.toml"
    file.write_text("[limits]\nhold_p99_ms = 50\nlog_bytes = 1000000\n")
    assert load_limits(file) == Limits(hold_p99_ms=50.0, log_bytes=1_000_000)
    assert load_limits(file).hold_p50_ms == DEFAULTS.hold_p50_ms


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        ("[limits]\nhold = 1\n", "limits.hold", "no limit of the name"),
        ("[limits]\nbusy_rate = true\n", "limits.busy_rate", "a number from 0"),
        ("[limits]\nbusy_rate = -0.1\n", "limits.busy_rate", "a number from 0"),
        ("[limits]\nhold_max_ms = nan\n", "limits.hold_max_ms", "a number from 0"),
        ("[limits]\nhold_max_ms = inf\n", "limits.hold_max_ms", "a number from 0"),
        ("[limits]\nlog_bytes = 1.5\n", "limits.log_bytes", "a number from 0"),
        ('[limits]\nmessages = "many"\n', "limits.messages", "a number from 0"),
        ("hold_p99_ms = 1\n", "limits.toml", "one table"),
        ("[limits]\n[others]\n", "limits.toml", "one table"),
        ("limits = 1\n", "limits.toml", "one table"),
        ("[limits\n", "limits.toml", "not TOML"),
    ],
)
def test_a_file_that_is_not_one_is_refused_by_key(tmp_path: Path, text: str, where: str, said: str) -> None:
    file = tmp_path / "limits.toml"
    file.write_text(text)
    with pytest.raises(LimitsError, match=said) as caught:
        load_limits(file)
    assert where in str(caught.value.where)


def test_no_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(LimitsError, match="cannot be read"):
        load_limits(tmp_path / "none.toml")
