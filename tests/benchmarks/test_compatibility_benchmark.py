"""The benchmark of live messages runs; its times are not asserted."""

from __future__ import annotations

from tests.benchmarks.compatibility import RATIO, measure


def test_each_way_keeps_the_messages_and_is_compared() -> None:
    found = measure(None, 3, 1)
    ways = {name for name in found if not name.startswith(RATIO)}
    bare = {"bare, as sqlite3 opens", "bare, ours' settings"}
    assert ways == {"ours", "ours, waiting for the disk"} | bare
    assert all(figure > 0 for figure in found.values())
    assert set(found) - ways == {f"{RATIO}{name}" for name in (*bare, "bare, both waiting for the disk")}
