"""What commands answer: the JSON of DESIGN 10, exact values, cursors, and text that is safe to print."""

from __future__ import annotations

import base64
import csv
import io
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from .conftest import HOSTILE

CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_doctor_says_what_a_store_is(command: Any, harbour: Path) -> None:
    done = command("doctor", harbour, "--json")
    answer = done.json
    assert done.status == 0 and done.err == ""
    assert (answer["format"], answer["tool"]) == (1, "store-inspector")
    store = answer["store"]
    assert (store["lineage"], store["version"], store["backend"]) == ("lionagi", "4", "sqlite")
    assert store["route"] == "settled" and re.fullmatch(r"2\d{3}-\d\d-\d\dT.*\.\d{3}Z", store["read_at"])
    assert store["size"] == harbour.stat().st_size
    assert answer["facts"]["journal_mode"] == "wal" and answer["facts"]["known_tables"] == 32
    assert [file["exists"] for file in answer["files"]][:1] == [True]
    assert {"key": "lineage", "value": "lionagi"} in answer["schema_meta"]
    verdicts = answer["verdicts"]
    assert verdicts["read_only"]["opens"] is True and verdicts["native"]["opens"] is True
    assert verdicts["compatibility"][0]["refusal"]["code"] == "compatibility-own"


def test_doctor_in_words(command: Any, harbour: Path) -> None:
    done = command("doctor", harbour)
    assert done.status == 0 and "lionagi, version 4" in done.out and "settled" in done.out
    assert harbour.name in done.out and "schema_meta" in done.out


def test_doctor_says_the_same_as_the_engine(command: Any, shared_stores: Path, tmp_path: Path) -> None:
    """It reads with the standard library alone; what it finds is what the facade finds."""
    import asyncio

    from inspector.reports import shapes
    from inspector.reports.doctor import doctor_shape
    from persistence import StateDB

    async def facts(path: Path) -> Any:
        async with StateDB(path) as db:
            return await db.facts()

    for source in sorted(shared_stores.glob("lionagi-*.db")):
        store = Path(shutil.copy(source, tmp_path))
        answer = command("doctor", store, "--json").json
        known = asyncio.run(facts(store))
        whole = shapes.value({"store": shapes.store_shape(known), **doctor_shape(known)})
        for name in ("auto_vacuum", "free_pages"):
            whole["facts"].pop(name, None)  # asked of a connection
        del answer["store"]["read_at"], whole["store"]["read_at"]
        for part in ("store", "facts", "files", "schema_meta"):
            assert answer[part] == whole[part], (source, part)


def test_lists_have_rows_next_and_complete(command: Any, harbour: Path) -> None:
    answer = command("runs", harbour, "--json", "--limit", 3).json
    assert len(answer["rows"]) == 3 and answer["complete"] is False and answer["reason"] == "limit 3"
    assert answer["store"]["lineage"] == "lionagi" and list(answer["rows"][0]) == answer["columns"]
    whole = command("runs", harbour, "--json", "--limit", 0).json
    assert whole["complete"] is True and whole["next"] is None and len(whole["rows"]) > 300


def test_cursors_walk_the_whole_list_once(command: Any, harbour: Path) -> None:
    whole = [row["id"] for row in command("runs", harbour, "--json", "--limit", 0).json["rows"]]
    seen: list[str] = []
    cursor: str | None = None
    while True:
        more = ["--after", cursor] if cursor else []
        answer = command("runs", harbour, "--json", "--limit", 100, *more).json
        seen += [row["id"] for row in answer["rows"]]
        cursor = answer["next"]
        if cursor is None:
            break
    assert seen == whole


@pytest.mark.parametrize("cursor", ["x", "WyJ0Il0", "!!!", "e30"])
def test_a_cursor_nobody_wrote_is_usage(command: Any, odd: Path, cursor: str) -> None:
    done = command("tables", odd, "t", "--json", "--after", cursor)
    assert done.status == 2


def test_a_cursor_is_good_for_its_own_list_only(command: Any, odd: Path) -> None:
    cursor = command("tables", odd, "t", "--json", "--limit", 1).json["next"]
    done = command("tables", odd, "t", "--json", "--order", "w", "--after", cursor)
    assert done.status == 2 and "another list or order" in done.err


def test_truncation_is_told_on_stderr(command: Any, odd: Path) -> None:
    done = command("tables", odd, "t", "--limit", 2)
    assert done.out.count("\n") == 3 and "only the first 2 rows;" in done.err and "--after" in done.err
    assert "first" not in command("tables", odd, "t").err


def test_values_are_exact_in_json(command: Any, odd: Path) -> None:
    rows = {row["id"]: row for row in command("tables", odd, "t", "--json").json["rows"]}
    assert rows[1]["v"] == HOSTILE
    assert base64.b64decode(rows[2]["v"]["base64"]) == b"\x00\xff\x10" and rows[2]["w"] == ""
    assert rows[3]["v"] == 2**63 - 1 and rows[3]["w"] is None
    assert rows[4]["v"] == 0.1 and rows[5]["v"] == {"number": "Infinity"}
    assert rows[7]["v"].encode("utf-8", "surrogateescape") == b"caf\xe9"


def test_json_is_ascii_whatever_it_holds(command: Any, odd: Path) -> None:
    for words in (["tables", odd, "t", "--json"], ["tables", odd, "t", "--jsonl"], ["doctor", odd, "--json"]):
        done = command(*words)
        assert done.out.isascii() and not CONTROLS.search(done.out)


@pytest.mark.parametrize("words", [["doctor"], ["tables"], ["tables", "t"], ["tables", "t", "--markdown"]])
def test_nothing_stored_speaks_to_a_terminal(command: Any, odd: Path, words: list[str]) -> None:
    name, *rest = words
    done = command(name, odd, *rest)
    assert done.status == (3 if name == "doctor" else 0)  # its tables are no lionagi release's
    assert not CONTROLS.search(done.out) and not CONTROLS.search(done.err)
    if rest == ["t"]:
        assert "␛]52;c" in done.out and "[bold]x[/bold]" in done.out  # shown for what it is


def test_csv_is_exact_and_tells_null_from_empty(odd: Path, capfdbinary: Any) -> None:
    from inspector.cli import run

    assert run(["tables", str(odd), "t", "--csv"]) == 0
    raw = capfdbinary.readouterr().out
    lines = raw.split(b"\n")
    assert lines[0] == b"id,v,w" and b'2,base64:AP8Q,""' in lines and b"3,9223372036854775807," in lines
    assert b"7,caf\xe9,not utf-8" in lines
    text = raw.decode("utf-8", "surrogateescape")
    read = list(csv.reader(io.StringIO(text.replace("\0", "\x01"), newline="")))
    assert read[1][1].replace("\x01", "\0") == HOSTILE
    assert read[4][2] == 'caf\u00e9, "quoted"\nline' and read[5][2] == " lead"


def test_filters_narrow(command: Any, harbour: Path) -> None:
    failed = command("runs", harbour, "--json", "--status", "failed", "--limit", 0).json["rows"]
    assert failed and {row["status"] for row in failed} == {"failed"}
    words = command("runs", harbour, "status:failed", "--json", "--limit", 0).json["rows"]
    assert words == failed
    pilot = command("runs", harbour, "--agent", "pilot", "--project", "night-ferry", "--json").json["rows"]
    assert pilot and {row["agent_name"] for row in pilot} == {"pilot"}
    found = command("runs", harbour, "Thursday", "ferry", "--json").json["rows"]
    assert "Can the night ferry sail on Thursday?" in [row["name"] for row in found]


def test_a_filter_that_makes_no_sense_is_usage(command: Any, harbour: Path) -> None:
    assert command("runs", harbour, "--since", "the other day").status == 2
    assert "is status meant?" in command("runs", harbour, "statos:failed").err


def test_sorting(command: Any, harbour: Path) -> None:
    rows = command("runs", harbour, "--json", "--order", "name", "--limit", 0).json["rows"]
    names = [row["name"] for row in rows if row["name"] is not None]
    assert names == sorted(names)
    done = command("runs", harbour, "--order", "nonsense")
    assert done.status == 2 and "can be sorted by" in done.err


def test_tables_of_any_file(command: Any, built_gallery: Path) -> None:
    answer = command("tables", built_gallery / "stars.sqlite", "--json", "--count").json
    rows = {row["name"]: row for row in answer["rows"]}
    assert rows["stars"]["rows"] == 2000 and rows["stars"]["foreign_keys"] == "constellations"
    assert rows["brightest"]["kind"] == "view" and answer["store"]["lineage"] is None


def test_the_shape_of_a_table(command: Any, built_gallery: Path) -> None:
    store = built_gallery / "stars.sqlite"
    answer = command("tables", store, "observations", "--shape", "--json").json
    assert [row["name"] for row in answer["rows"]] == ["id", "star", "night", "magnitude", "frame", "note"]
    assert answer["table"]["foreign_keys"][0]["on_delete"] == "CASCADE"
    words = command("tables", store, "observations", "--shape").out
    assert "(star) → stars (id) on delete cascade" in words and "CREATE TABLE observations" in words


def test_rows_with_a_value(command: Any, built_gallery: Path) -> None:
    store = built_gallery / "stars.sqlite"
    rows = command("tables", store, "stars", "--where", "constellation=Lyr", "--json", "--limit", 0).json[
        "rows"
    ]
    assert rows and {row["constellation"] for row in rows} == {"Lyr"}
    one = command("tables", store, "stars", "--where", "id=7", "--json").json["rows"]
    assert [row["name"] for row in one] == ["R CrB"]
    assert command("tables", store, "stars", "--where", "nonsense=7").status == 2
    assert command("tables", store, "stars", "--where", "nonsense").status == 2


def test_a_table_that_is_not_there(command: Any, built_gallery: Path) -> None:
    done = command("tables", built_gallery / "stars.sqlite", "star", "--json")
    assert done.status == 3 and done.json["refusal"]["code"] == "no-such-table"
    assert "is stars meant?" in done.json["refusal"]["remedy"]


def test_the_default_store(command: Any, harbour: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_STATE_DB_URL", f"sqlite:///{harbour}")
    assert command("doctor", "--json").json["store"]["lineage"] == "lionagi"
    assert command("runs", "--json", "--limit", 1).json["rows"]


def test_config_shows_origins(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORE_INSPECTOR_THEME", "mono")
    rows = {row["name"]: row for row in command("config", "show", "--json").json["rows"]}
    assert rows["theme"]["value"] == "mono" and rows["theme"]["origin"] == "$STORE_INSPECTOR_THEME"
    assert rows["recents"]["origin"] == "default"
    assert "$STORE_INSPECTOR_THEME" in command("config", "show").out


def test_colour_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from inspector.cli.columns import coloured, columns_text
    from persistence.records import Column

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    columns = [Column("a", "a", "text"), Column("b", "b", "number")]
    assert columns_text(columns, [["x", 1]], stream=io.StringIO())[0][0] == "a  b"
    assert columns_text(columns, [["x", 1]], stream=Terminal())[0][0] == "\x1b[1ma  b\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert not coloured(Terminal())


@pytest.mark.parametrize("width", [20, 40, 80, 132])
def test_columns_fit_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspector import safe
    from inspector.cli.columns import columns_text
    from persistence.records import Column

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    columns = [Column(name, name, kind) for name, kind in (("id", "id"), ("said", "text"), ("n", "number"))]
    rows = [["0f3c" * 9, "潮汐 " * 60, 12_345], ["b", "short", 1]]
    lines, hidden = columns_text(columns, rows, stream=Terminal())
    assert all(safe.width(line) <= width for line in lines)
    assert (hidden == []) == (width >= 80) or width == 40
