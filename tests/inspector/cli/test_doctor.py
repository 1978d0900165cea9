"""`doctor`: whose store it is, the verdict of each mode, and how that is known; whatever the store is."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inspector.cli.examined import Asked, plain
from inspector.reports.lineage import markdown
from persistence.lineage import examine
from persistence.location import locate
from tests.persistence.lineage.cases import CASES
from tests.persistence.lineage.craft import (
    beside,
    complete,
    edit,
    foreign,
    hot,
    logged,
    meta,
    small,
    state_of,
)

ROOT = Path(__file__).resolve().parents[3]


def encrypted(folder: Path) -> Path:
    import random

    path = folder / "store.db"
    path.write_bytes(random.Random(7).randbytes(8192))
    return path


def cut(folder: Path) -> Path:
    path = complete(folder)
    path.write_bytes(path.read_bytes()[: 4096 * 50])
    return path


def unreadable_log(folder: Path) -> Path:
    path = logged(folder, "lionagi", "acme-desk")
    beside(path, "-wal").write_bytes(b"\x99" * 9000)
    return path


STORES: dict[str, tuple[Callable[[Path], object], int, str]] = {
    "own": (complete, 0, "native"),
    "older": (lambda d: complete(d, "0.30.2"), 0, "native"),
    "new": (lambda d: (d / "store.db").touch(), 0, "native"),
    "foreign": (foreign, 3, "ForeignLineageError"),
    "too new": (lambda d: meta(complete(d), "version", "9"), 3, "SchemaTooNewError"),
    "unrecognized": (lambda d: small(d, "CREATE TABLE ledger (id)"), 3, "UnrecognizedStoreError"),
    "unreadable log": (unreadable_log, 3, "UnreadableStoreError"),
    "hidden by a journal": (lambda d: hot(d, "acme-desk", "lionagi"), 3, "ForeignLineageError"),
    "only in the log": (lambda d: logged(d, "-", "acme-desk"), 3, "ForeignLineageError"),
    "not a database": (lambda d: (d / "store.db").write_text("text\n" * 300), 3, "NotAStoreError"),
    "encrypted": (encrypted, 3, "NotAStoreError"),
    "cut": (cut, 3, "UnreadableStoreError"),
    "a directory": (lambda d: (d / "store.db").mkdir(), 3, "NotAStoreError"),
}


@pytest.mark.parametrize("form", [[], ["--json"], ["--trace"]], ids=["text", "json", "trace"])
@pytest.mark.parametrize("name", STORES)
def test_every_kind_of_store_is_reported_and_left_alone(
    name: str, form: list[str], command: Any, tmp_path: Path
) -> None:
    build, status, word = STORES[name]
    build(tmp_path)
    before = state_of(tmp_path)
    done = command("doctor", tmp_path / "store.db", *form)
    assert done.status == status
    assert "Traceback" not in done.out + done.err
    assert word in done.out
    assert state_of(tmp_path) == before
    if form == ["--json"]:
        verdicts = done.json["verdicts"]
        assert (verdicts["native"]["opens"] is True) == (status == 0)
        assert {"opens", "route", "refusal"} <= set(verdicts["read_only"])
        assert len(verdicts["compatibility"]) == 1
        if not verdicts["read_only"]["opens"]:
            assert done.json["refusal"] == verdicts["read_only"]["refusal"]
    else:
        refused = status == 3 and "✗ native" in done.out
        assert ("✓ native" in done.out) != refused
        assert ("what to do" in done.out) == refused
        assert ("rules, native" in done.out) == (form == ["--trace"])


def test_what_is_lacking_is_called_older_only_of_a_store_of_ours(command: Any, tmp_path: Path) -> None:
    for name, application, words in (
        ("own", "lionagi", "(an older release has no such tables)"),
        ("foreign", "acme-desk", "(lionagi has them)"),
    ):
        (tmp_path / name).mkdir()
        path = meta(complete(tmp_path / name), "lineage", application)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("DROP TABLE approval_evidence")
            connection.commit()
        assert f"not in this store {words}\n  approval_evidence" in command("doctor", path).out


def test_no_such_store_is_4_and_nothing_is_made(command: Any, tmp_path: Path) -> None:
    for words in (["doctor"], ["doctor", "--json"], ["doctor", "--trace"]):
        done = command(words[0], tmp_path / "none.db", *words[1:])
        assert done.status == 4
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a way to give up rights")
def test_a_store_that_may_not_be_read_is_reported(tmp_path: Path) -> None:
    from tests.persistence.lineage.probe import _as_others

    path = foreign(tmp_path)
    path.chmod(0)
    done = subprocess.run(
        [sys.executable, "-m", "inspector", "doctor", str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        preexec_fn=_as_others,
    )
    assert done.returncode == 3
    assert "StorePermissionError (no-permission)" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_the_json_has_the_documented_shape(command: Any, tmp_path: Path) -> None:
    path = edit(complete(tmp_path), ("INSERT INTO schema_meta VALUES ('note', ?)", ("x" * 9000,)))
    answer = command("doctor", path, "--json").json
    assert list(answer)[:3] == ["format", "tool", "version"]
    assert (answer["format"], answer["tool"]) == (1, "store-inspector")
    assert set(answer) == {
        "format", "tool", "version", "store", "facts", "files", "schema_meta",
        "lineage", "verdicts", "links", "backups", "openers", "trace",
    }  # fmt: skip
    lineage = answer["lineage"]
    assert (lineage["application"], lineage["version"]) == ("lionagi", "4")
    assert {"key": "lineage", "value": "lionagi"} in lineage["rows"]
    long = next(row for row in lineage["rows"] if row["key"] == "note")
    assert long["value"]["size"] == 9000 and len(long["value"]["preview"]) == 4096
    verdicts = answer["verdicts"]
    assert set(verdicts) == {"read_only", "native", "compatibility"}
    assert set(verdicts["read_only"]) == {"opens", "why", "refusal", "notices", "route"}
    assert set(verdicts["native"]) == {"opens", "why", "refusal", "notices", "by"}
    (compatibility,) = verdicts["compatibility"]
    assert set(compatibility) == {"profile", "opens", "why", "refusal", "notices"}
    assert {"type", "code", "message", "where", "expected", "observed", "remedy", "committed"} <= set(
        compatibility["refusal"]
    )
    reads = [step for step in answer["trace"] if step["step"] == "read"]
    rules = [step for step in answer["trace"] if step["step"] == "rule"]
    assert set(reads[0]) == {"step", "what", "way", "answer", "moved", "decides", "kernel_held"}
    assert set(rules[0]) == {"step", "mode", "rule", "question", "source", "answer", "refuses"}
    assert len(reads) + len(rules) == len(answer["trace"])
    assert [read["decides"] for read in reads].count(True) == 1


def test_a_refusal_in_json_carries_what_was_seen(command: Any, tmp_path: Path) -> None:
    done = command("doctor", meta(complete(tmp_path), "lineage", b"acme"), "--json")
    refusal = done.json["verdicts"]["native"]["refusal"]
    assert refusal["type"] == "ForeignLineageError"
    assert (refusal["rule"], refusal["lineage"]) == ("lineage-names", "b'acme'")
    assert done.json["lineage"]["application"] == {"base64": "YWNtZQ=="}


def test_several_rows_are_all_told(command: Any, tmp_path: Path) -> None:
    CASES["lineage-twice-other-last"].build(tmp_path)
    answer = command("doctor", tmp_path / "store.db", "--json").json
    assert answer["lineage"]["application"] == ["lionagi", "acme-desk"]


def test_what_lies_beside_the_file_is_told(command: Any, tmp_path: Path) -> None:
    path = complete(tmp_path)
    for name in (
        "store.db.pre-definitions.1795982434.bak",
        "store.db-mj12AB34CD",
        "store.db.old",
        "other.db",
    ):
        (tmp_path / name).write_bytes(b"x" * 100)
    answer = command("doctor", path, "--json").json
    told = {file["name"]: file["state"] for file in answer["backups"]}
    assert told == {
        "store.db.pre-definitions.1795982434.bak": "a backup a migration made",
        "store.db-mj12AB34CD": "a super-journal",
        "store.db.old": "named after the store",
    }
    text = command("doctor", path).out
    assert "pre-definitions" in text and "other.db" not in text


def test_who_has_it_open_is_told(command: Any, tmp_path: Path) -> None:
    from tests.persistence.engines.states import writer

    for mode in ("wal", "delete"):
        path = edit(complete(tmp_path), f"PRAGMA journal_mode={mode}")
        with writer(path, "PRAGMA user_version") as other:
            answer = command("doctor", path, "--json").json
            mine = [one for one in answer["openers"] if one["pid"] == other.process.pid]
            assert len(mine) == 1 and "store.db" in mine[0]["files"]
            assert f"(process {other.process.pid}" in command("doctor", path).out
        assert command("doctor", path, "--json").json["openers"] == []
        path.unlink()


def test_hostile_rows_do_not_reach_the_terminal(command: Any, tmp_path: Path) -> None:
    path = meta(complete(tmp_path), "lineage", "\x1b]52;c;cGF3bmVk\x07[bold]x[/bold]\u202egnp")
    for form in ([], ["--trace"], ["--json"]):
        done = command("doctor", path, *form)
        assert not set(done.out) & set(map(chr, [*range(9), *range(11, 32), 127, *range(128, 160), 0x202E]))
    text = markdown(examine(locate(path)))
    assert "\x1b" not in text and "\u202e" not in text


def test_the_markdown_is_a_whole_ticket(tmp_path: Path) -> None:
    path = foreign(tmp_path, name="a `b` | c.db")
    text = markdown(examine(locate(path)))
    for part in (
        "### Verdicts",
        "### schema_meta",
        "### Files",
        "### Trace",
        "acme-desk",
        "ForeignLineageError",
    ):
        assert part in text
    assert "what to do" in text
    assert text.count("```") == 2
    table = [line for line in text.splitlines() if line.startswith("| ")]
    assert all(line.replace("\\|", "").count("|") in (3, 4) for line in table)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["x.db"], Asked("x.db")),
        (["x.db", "--json"], Asked("x.db", True)),
        (["--trace", "x.db", "--json"], Asked("x.db", True, True)),
        ([], Asked()),
        (["--json"], Asked(None, True)),
        (["x.db", "y.db"], None),
        (["--help"], None),
        (["-h"], None),
        (["--", "x.db"], None),
        (["x.db", "--jsn"], None),
        (["x.db", "--json=yes"], None),
    ],
)
def test_the_plain_way_of_asking_takes_nothing_else(words: list[str], expected: Asked | None) -> None:
    assert plain(words) == expected


def test_both_ways_of_asking_answer_the_same(command: Any, tmp_path: Path) -> None:
    path = complete(tmp_path)
    plainly = command("doctor", path, "--json").json
    parsed = command("doctor", "--json", "--", path).json
    for answer in (plainly, parsed):
        del answer["store"]["read_at"]
    assert plainly == parsed


def test_a_large_copy_is_told_of_once(command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = logged(tmp_path, "-", "acme-desk", shm=False)
    assert command("doctor", path).err == ""
    monkeypatch.setattr("inspector.cli.examined.LARGE", 1000)
    done = command("doctor", path, "--json")
    assert done.err.count("private copy") == 1 and "Ctrl-C" in done.err
    assert done.json["verdicts"]["read_only"]["route"] == "copy"
