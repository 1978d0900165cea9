"""`probe`: the preview without --confirm, the run with it, and a dry run that opens no writer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.inspector.actions.managed import all_hold, entries, marks, rows
from tests.inspector.cli.managed import AS_KIM, GO, managed_store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return managed_store(tmp_path)


def test_without_confirm_it_prints_the_preview_and_ends_with_3(
    command: Any, store: Path, own_places: Path
) -> None:
    before = marks(store)
    done = command("probe", store, *AS_KIM, "--allow-writes")
    assert done.status == 3 and marks(store) == before
    assert "6 ✗ type the lineage to go on: acme-desk" in done.out
    assert "INSERT INTO sessions" in done.out and "commits 'status'" in done.out and "owner=kim" in done.out
    assert "(lineage-not-typed)" in done.err and "--confirm acme-desk" in done.err
    assert "nothing was written" in done.err
    (told,) = entries(own_places / "state")
    assert (told.action, told.event) == ("probe", "refused")


def test_with_confirm_it_writes_the_run_and_shuts_the_gate(
    command: Any, store: Path, own_places: Path
) -> None:
    done = command("probe", store, *AS_KIM, *GO)
    assert done.status == 0, done.err
    assert "6 ✓ lineage typed: acme-desk" in done.out and "INSERT" not in done.out
    assert "✓ done: run " in done.err and "8 transactions" in done.err and "progression x2" in done.err
    assert (
        len(rows(store, "SELECT 1 FROM sessions WHERE name = 'store-inspector probe' AND owner_id = 'kim'"))
        == 1
    )
    assert all_hold(store)
    assert [each.event for each in entries(own_places / "state")] == ["begun", "done"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((*AS_KIM, "--confirm", "acme-desk"), "writes-not-allowed"),
        (GO, "no-profile"),
        (("--profile", "acme-desk-fresh-run", *GO), "owner-missing"),
        (("--profile", "acme-desk-fresh-run", "--owner", "nobody", *GO), "owner-unknown"),
        ((*AS_KIM, "--allow-writes", "--confirm", "lionagi"), "lineage-not-typed"),
        (("--profile", "./no such.toml", "--owner", "kim", *GO), "no-such-profile"),
    ],
)
def test_every_refusal_ends_with_3_and_is_in_the_journal(
    command: Any, store: Path, own_places: Path, words: tuple[str, ...], code: str
) -> None:
    before = marks(store)
    done = command("probe", store, *words, "--json")
    assert done.status == 3 and marks(store) == before
    assert done.json["refusal"]["code"] == code and done.json["refusal"]["committed"] == []
    assert done.json["outcome"]["event"] == "refused" and done.json["outcome"]["committed"] == []
    assert [each["held"] for each in done.json["gate"]].count(False) >= 1
    (told,) = entries(own_places / "state")
    assert told.refusal is not None and told.refusal["code"] == code


def test_the_json_has_the_gate_the_preview_and_the_outcome(command: Any, store: Path) -> None:
    done = command("probe", store, *AS_KIM, *GO, "--json")
    assert done.status == 0
    assert {"format", "tool", "version", "store", "gate", "preview", "outcome"} == set(done.json)
    assert done.json["store"]["lineage"] == "acme-desk" and done.json["store"]["route"]
    assert [step["held"] for step in done.json["gate"]] == [True] * 6
    preview = done.json["preview"]
    assert preview["counts"]["create_progression"] == 2 and preview["transactions"] == 8
    for call in preview["calls"]:
        for statement in call["statements"]:
            assert preview["statements"][statement["statement"]] and statement["parameters"]
    said = [
        value
        for call in preview["calls"]
        for each in call["statements"]
        for value in each["parameters"].values()
    ]
    assert {"later"} in [set(value) for value in said if isinstance(value, dict)]
    outcome = done.json["outcome"]
    assert outcome["event"] == "done" and outcome["run"] and outcome["seconds"] >= 0
    assert {"transaction": "progression", "count": 2} in outcome["committed"]


def test_a_dry_run_needs_neither_word_and_writes_nothing(command: Any, store: Path, own_places: Path) -> None:
    before = marks(store)
    done = command("probe", store, *AS_KIM, "--dry-run")
    assert done.status == 0 and marks(store) == before
    assert "The writer was not opened" in done.err and "INSERT INTO sessions" in done.out
    assert [each.event for each in entries(own_places / "state")] == ["tried"]
    refused = command("probe", store, "--profile", "acme-desk-fresh-run", "--owner", "nobody", "--dry-run")
    assert refused.status == 3 and "(owner-unknown)" in refused.err


def test_a_store_that_is_not_there_is_refused_and_not_made(command: Any, tmp_path: Path) -> None:
    done = command("probe", tmp_path / "none.db", *AS_KIM, *GO, "--json")
    assert done.status == 4 and done.json["refusal"]["code"] == "no-store"
    assert not (tmp_path / "none.db").exists()


def test_a_store_of_lionagis_own_is_refused(command: Any, harbour: Path) -> None:
    before = marks(harbour)
    done = command("probe", harbour, *AS_KIM, "--allow-writes", "--confirm", "lionagi", "--json")
    assert done.status == 3 and done.json["refusal"]["code"].startswith("lineage-")
    assert marks(harbour) == before


def test_the_configuration_may_name_the_profile_and_the_owner(
    command: Any, store: Path, own_places: Path
) -> None:
    (own_places / "config").mkdir(parents=True, exist_ok=True)
    (own_places / "config" / "config.toml").write_text('profile = "acme-desk-fresh-run"\nowner = "lee"\n')
    assert command("probe", store, "--dry-run", "--json").json["preview"]["owner"] == "lee"
    assert command("probe", store, "--owner", "kim", *GO).status == 0
    assert rows(store, "SELECT DISTINCT owner_id FROM sessions WHERE name LIKE '%probe'") == [("kim",)]


def test_a_policy_file_forbids_it(
    command: Any, store: Path, own_places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspector.actions import policy

    monkeypatch.setattr(policy, "exposed_version", lambda: "3.40.1")
    (own_places / "config").mkdir(parents=True, exist_ok=True)
    (own_places / "config" / "config.toml").write_text("[writes]\nforbid_exposed_sqlite = true\n")
    done = command("probe", store, *AS_KIM, *GO)
    assert done.status == 3 and "(writes-forbidden)" in done.err and "config.toml" in done.err
