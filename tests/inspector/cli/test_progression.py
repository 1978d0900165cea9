"""`progression`: every list with its marks, the positions of one, the list as it lies there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.inspector.built import make_world
from tests.persistence.stores import put


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = make_world(tmp_path_factory.mktemp("world") / "state.db")
    put(store, "progressions", {"id": "bad", "created_at": 1.0, "collection": "{no json"})
    return store


def test_the_positions_of_one(command: Any, built: Path) -> None:
    answer = command("progression", built, "p-main", "--json").json
    told = answer["progression"]
    assert (told["state"], told["length"], told["missing"], told["duplicates"]) == ("list", 14, 1, 1)
    assert [row["position"] for row in answer["rows"]] == list(range(1, 15))
    assert answer["rows"][5]["marks"] == "missing"
    part = command("progression", built, "p-main", "--json", "--limit", 3).json
    rest = command("progression", built, "p-main", "--json", "--after", part["next"]).json
    assert part["rows"] + rest["rows"] == answer["rows"]


def test_every_list_and_the_raw_one(command: Any, built: Path) -> None:
    said = command("progression", built)
    assert said.status == 0 and "1 missing" in said.out
    raw = command("progression", built, "p-main", "--raw")
    assert json.loads(raw.out)[5] == "4b1f09c2-gone"


def test_what_is_no_list_says_which_it_is(command: Any, built: Path) -> None:
    bad = command("progression", built, "bad")
    assert bad.status == 0 and "not JSON" in bad.err
    assert command("progression", built, "nobody", "--json").json["refusal"]["code"] == "no-such-progression"
    assert command("progression", built, "--raw").status == 2
