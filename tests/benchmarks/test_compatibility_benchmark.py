"""The benchmark of live messages runs; its times are not asserted."""

from __future__ import annotations

from tests.benchmarks.compatibility import AT_FULL, FULL, NORMAL, OURS, RATIO, measure


def test_each_way_keeps_the_messages_and_is_compared() -> None:
    found = measure(None, 3, 1)
    ways = {name for name in found if RATIO not in name}
    assert ways == {*OURS, AT_FULL, NORMAL, FULL}
    assert all(figure > 0 for figures in found.values() for figure in figures.values())
    alike = {AT_FULL + RATIO + FULL}
    assert set(found) - ways == {mine + RATIO + bare for mine in OURS for bare in (NORMAL, FULL)} | alike
