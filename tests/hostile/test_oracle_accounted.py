"""Each of the 173 attempts made on lionagi 0.36.0's compatibility mode is a test of ours, by its name."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance import test_adr_0128_d6 as by_method
from tests.hostile import test_attacks_oracle as by_driver
from tests.persistence.compatibility import test_oracle as by_operation

NAMES = (Path(__file__).parent / "oracle_attempts.txt").read_text("ascii").split()

VARIANTS = ("-own", "-foreign", "-symlink", "-caught")
"""What an attempt was repeated with: each of these runs in the test of the attempt itself."""


def _tables() -> set[str]:
    """The names that are parameters of a test, each with what has to come of it beside it."""
    named = {*by_driver.RAW, *by_driver.MOVES, *by_operation.OPERATIONS}
    for way in ("execute", "fetch"):
        named |= {f"{way}-{name}" for name in by_driver.WRITES}
        named |= {f"{way}-{name.removeprefix(f'{way}-')}" for name in by_driver.READS}
    return named | {f"method-{name}" for name in (*by_method.OUTSIDE, *by_method.NOT_OF_THE_FACADE)}


def _told() -> str:
    """What the tests of several attempts at once say of themselves."""
    modules = (by_driver, by_operation)
    tests = [thing for module in modules for name, thing in vars(module).items() if name.startswith("test_")]
    return " ".join(str(test.__doc__) for test in tests)


def test_each_attempt_is_a_test() -> None:
    assert len(NAMES) == len(set(NAMES)) == 173
    tables, told = _tables(), _told()
    missing = []
    for name in NAMES:
        plain = next((name.removesuffix(end) for end in VARIANTS if name.endswith(end)), name)
        if not {name, plain} & tables and name not in told and plain not in told:
            missing.append(name)
    assert missing == []
