"""`admit` and `doctor --profile`: the verdict, every finding, in every form, by an explicit choice."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from inspector.demo.acme_desk.shapes import AFTER, TABLES
from persistence.profiles import load_profile
from persistence.profiles.dump import dump
from tests.persistence.stores import marks_of

NAME = "acme-desk-fresh-run"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """acme-desk's store of today, with two principals; alone in a directory."""
    folder = tmp_path / "desk"
    folder.mkdir()
    path = folder / "desk.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    for statement in (*TABLES[7].values(), *AFTER[7]):
        connection.execute(statement)
    connection.execute("INSERT INTO schema_meta VALUES ('lineage', 'acme-desk'), ('version', '7')")
    connection.execute("INSERT INTO principals VALUES ('kim', 'Kim', 'person', 1.0)")
    connection.close()
    return path


def change(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


@pytest.mark.adr("0128-D2-16")
def test_an_admitted_store(command: Any, desk: Path) -> None:
    before = marks_of(desk)
    done = command("admit", desk, "--profile", NAME, "--owner", "kim")
    assert done.status == 0 and done.err == ""
    assert "✓ admitted under acme-desk-fresh-run@1, as kim" in done.out
    assert "45 columns, 1 primary key, 2 unique keys, 1 check" in done.out
    assert marks_of(desk) == before


@pytest.mark.adr("0128-D5-03", "0128-D2-26")
def test_a_store_that_is_not_admitted_says_all_of_it(command: Any, desk: Path) -> None:
    change(desk, "ALTER TABLE sessions ADD COLUMN priority INTEGER", "CREATE INDEX quick ON messages (role)")
    before = marks_of(desk)
    done = command("admit", desk, "--profile", NAME, "--owner", "nobody", "--trace")
    assert done.status == 3 and done.err == ""
    assert "2 findings, 1 notice: column-extra (sessions.priority) first" in done.out
    for words in (
        "\nsessions\n  ✗ priority  There is a column the profile does not know  (column-extra)\n",
        "\n      expected    no such column\n",
        "\n  ✗ nobody  The owner is not a principal of this store  (owner-unknown)\n",
        "\n  ▲ quick  The indexes differ  (index-plain)\n",
        "what to do",
        "more: store-inspector explain column-extra",
        "\nreads\n",
        "[structure; ADR-0128 D2]",
    ):
        assert words in done.out, words
    assert marks_of(desk) == before


def test_the_answer_as_json(command: Any, desk: Path) -> None:
    done = command(
        "admit", desk, "--profile", NAME, "--owner", "kim", "--operation", "create_session", "--json"
    )
    assert done.status == 0 and set(done.json) == {"format", "tool", "version", "store", "admission"}
    found = done.json["admission"]
    assert found["admitted"] is True and found["findings"] == [] and found["operations"] == ["create_session"]
    assert (found["profile"], found["owner"], found["journal_mode"]) == (f"{NAME}@1", "kim", "wal")
    assert found["holds"]["sessions"]["columns"] == 45 and found["trace"][-1]["rule"] == "structure"
    store = done.json["store"]
    assert (store["lineage"], store["version"], store["route"]) == ("acme-desk", "7", "settled")
    change(desk, "CREATE VIEW told AS SELECT id FROM sessions")
    done = command("admit", desk, "--profile", NAME, "--owner", "kim", "--json")
    (finding,) = done.json["admission"]["findings"]
    assert done.status == 3 and (finding["code"], finding["severity"]) == ("view-extra", "refuses")
    assert (finding["table"], finding["object"]) == ("sessions", "told")
    assert finding["why"] and finding["remedy"]
    refusal = done.json["refusal"]
    assert (refusal["type"], refusal["code"]) == ("StateCompatibilityRefused", "view-extra")
    assert (refusal["profile"], refusal["committed"]) == (f"{NAME}@1", [])


def test_the_answer_as_markdown(command: Any, desk: Path) -> None:
    change(desk, "CREATE TRIGGER told AFTER INSERT ON sessions BEGIN\n  SELECT '```', 1;\nEND")
    done = command("admit", desk, "--profile", NAME, "--owner", "kim", "--markdown")
    assert done.status == 3 and done.out.startswith(f"## Admission of `{desk}`\n")
    assert "#### ✗ `told` There is a trigger the profile does not know `trigger-extra`" in done.out
    assert "  ````\n  CREATE TRIGGER told" in done.out  # longer than what is inside


@pytest.mark.adr("0128-D2-15")
def test_without_a_profile_there_is_no_admission(command: Any, desk: Path) -> None:
    """None is picked, though one would fit (DECISIONS 6)."""
    done = command("admit", desk, "--owner", "kim", "--json")
    assert done.status == 3 and done.json["admission"]["findings"][0]["code"] == "no-profile"


@pytest.mark.adr("0128-D2-03")
def test_the_configuration_names_profile_and_owner(
    command: Any, desk: Path, tmp_path: Path, own_places: Path
) -> None:
    config = own_places / "config"
    config.mkdir(exist_ok=True)
    (config / "config.toml").write_text(f'profile = "{NAME}"\nowner = "kim"\n')
    assert command("admit", desk).status == 0
    refused = command("admit", desk, "--owner", "nobody", "--json").json["admission"]
    assert [one["code"] for one in refused["findings"]] == ["owner-unknown"]
    empty = command("admit", desk, "--owner", "", "--json").json["admission"]
    assert empty["owner"] == "" and not empty["admitted"]
    assert command("admit", desk, "--profile", "no-such").status == 3
    # A profile without owners is not given one that only the configuration names.
    ownerless = command("admit", desk, "--profile", "lionagi-shape-fresh-run", "--json").json["admission"]
    assert ownerless["owner"] is None
    (folder := config / "profiles").mkdir()
    (folder / "mine.toml").write_text(dump(load_profile(NAME)).replace(NAME, "mine"))
    assert "mine@1" in command("admit", desk, "--profile", "mine").out
    shown = {row["name"]: row for row in command("config", "show", "--json").json["rows"]}
    assert shown["owner"]["value"] == "kim" and shown["profile"]["value"] == NAME


@pytest.mark.adr("0128-D2-14", "0128-D2-17")
def test_endings(command: Any, desk: Path, tmp_path: Path) -> None:
    missing = command("admit", tmp_path / "none.db", "--profile", NAME, "--owner", "kim", "--json")
    assert missing.status == 4 and missing.json["refusal"]["code"] == "no-store"
    assert not (tmp_path / "none.db").exists()
    unknown = command("admit", desk, "--profile", "acme-desk-fresh-runs")
    assert unknown.status == 3 and "no-such-profile" in unknown.err and unknown.out == ""
    odd = command("admit", desk, "--profile", NAME, "--owner", "kim", "--operation", "prune", "--json")
    assert odd.status == 3 and odd.json["refusal"]["code"] == "operation-unlisted"
    assert command("admit").status == 2
    torn = tmp_path / "torn.toml"
    torn.write_text("name =\n")
    done = command("admit", desk, "--profile", torn)
    assert done.status == 3 and f"{torn}:1" in done.err
    assert command("admit", "postgresql://kim@host/x", "--profile", NAME).status == 3


def test_hostile_stores_stay_data(command: Any, desk: Path) -> None:
    name = '\x1b]0;owned\x07\u202e[bold]`<b>"'
    quoted = name.replace('"', '""')
    change(
        desk,
        f'CREATE VIEW "{quoted}" AS SELECT id FROM sessions',
        f'ALTER TABLE messages ADD "{quoted}" TEXT',
    )
    for form in ([], ["--markdown"], ["--trace"]):
        out = command("admit", desk, "--profile", NAME, "--owner", f"{name}", *form).out
        assert "\x1b" not in out and "\x07" not in out and "\u202e" not in out and "view-extra" in out
    findings = command("admit", desk, "--profile", NAME, "--owner", "kim", "--json").json["admission"][
        "findings"
    ]
    assert {one["object"] for one in findings} == {name}


def test_a_page_of_its_own(desk: Path) -> None:
    from inspector.reports.admission import html
    from persistence.location import locate
    from persistence.profiles.admission import admit

    name = "<script>alert(1)</script>"
    change(desk, f'CREATE VIEW "{name}" AS SELECT id FROM sessions')
    page = html(admit(locate(desk), load_profile(NAME), owner="kim"))
    assert page.startswith("<!doctype html>") and "<script" not in page
    assert "&lt;script&gt;" in page and "default-src 'none'" in page
    assert "not admitted" in page and "no such view" in page


def test_doctor_under_a_profile(command: Any, desk: Path) -> None:
    done = command("doctor", desk, "--profile", NAME, "--owner", "kim")
    assert done.status == 0 and "✓ admitted under" in done.out and "compatibility" in done.out
    found = command("doctor", desk, "--profile", NAME, "--json")
    assert found.status == 3
    plain, under = found.json["verdicts"]["compatibility"]
    assert plain["profile"] is None and plain["opens"] is None
    assert under["profile"] == f"{NAME}@1" and under["opens"] is False
    assert under["refusal"]["code"] == "owner-missing"
    assert found.json["admission"]["admitted"] is False
    alone = json.loads(command("doctor", desk, "--json").out)
    assert "admission" not in alone and len(alone["verdicts"]["compatibility"]) == 1
    assert command("doctor", desk, "--owner", "kim").status == 2
