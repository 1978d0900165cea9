"""`profile derive|lint|show|list|diff` on the command line."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import click
import pytest

from inspector.cli.profiles import OperationName, ProfileName
from tests.persistence.profiles.documents import DOCUMENT, changed
from tests.persistence.profiles.test_derive import filled, made

NAME = "acme-desk-fresh-run"


def test_from_a_store_to_a_profile(command: Any, tmp_path: Path) -> None:
    store, document = made(tmp_path / "desk.db"), tmp_path / "desk.toml"
    done = command("profile", "derive", store, "--name", "desk")
    assert done.status == 0 and done.out.startswith("# A starting document") and "5 reasons" in done.err
    document.write_text(done.out)
    linted = command("profile", "lint", document)
    assert linted.status == 3 and linted.out.count("still to be written") == 5
    assert f"{document}:" in linted.out and "5 of them reasons to be written" in linted.out
    assert command("admit", store, "--profile", document, "--owner", "kim").status == 3
    document.write_text(filled(done.out))
    linted = command("profile", "lint", document, "--json")
    assert linted.status == 0 and linted.json["clean"] is True and linted.json["profile"] == "desk@1"
    assert command("admit", store, "--profile", document, "--owner", "kim").status == 0


def test_derive_as_json_and_for_some_operations(command: Any, tmp_path: Path) -> None:
    store = made(tmp_path / "desk.db")
    words = ("--operations", "create_progression, append_to_progression", "--operation", "insert_message")
    done = command("profile", "derive", store, *words, "--version", "3", "--json")
    assert done.status == 0 and set(done.json) == {"format", "tool", "version", "document", "to_fill"}
    assert done.json["to_fill"] == 5 and "version = 3\n" in done.json["document"]
    assert (
        'operations = ["create_progression", "append_to_progression", "insert_message"]'
        in done.out.replace('\\"', '"')
    )
    unfit = command("profile", "derive", store, "--operation", "create_branch")
    assert unfit.status == 3 and "profile-unfit" in unfit.err and unfit.out == ""
    assert command("profile", "derive", tmp_path / "none.db").status == 4


def test_lint_names_line_and_key(command: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(changed(("version = 2", "version = 0"), ('key = "id"', 'key = "\x5cu001b]0;x"')))
    done = command("profile", "lint", path)
    assert done.status == 3 and f"{path}:4: ✗ version: versions are counted from 1" in done.out
    assert "\x1b" not in done.out
    rows = command("profile", "lint", path, "--json").json["rows"]
    assert [(row["kind"], row["line"], row["key"]) for row in rows] == [
        ("fault", 4, "version"),
        ("fault", rows[1]["line"], "owner.key"),
    ]
    assert command("profile", "lint", tmp_path / "none.toml").status == 3
    assert command("profile", "lint").status == 2


def test_show_in_words(command: Any) -> None:
    done = command("profile", "show", NAME)
    assert done.status == 0 and done.out.startswith(f"{NAME}@1\n")
    for words in (
        "for stores of  acme-desk",
        "owner_id, one of principals.id",
        "desk_flags     —               0 means not flagged on the desk.",
        "owner_id       insert, owner",
        "principals: only read",
        "→ (session_id, owner_id) to sessions(id, owner_id) ON DELETE CASCADE",
        "tables outside that point at these",
    ):
        assert words in done.out, words
    assert max(map(len, done.out.split("\n"))) < 120


def test_show_as_json_is_the_document(command: Any) -> None:
    found = command("profile", "show", NAME, "--json").json["profile"]
    assert found["identity"] == f"{NAME}@1" and found["source"].endswith(".toml")
    assert found["tables"]["messages"]["unwritten"] == {"desk_flags": "0 means not flagged on the desk."}
    assert found["owner"] == {"column": "owner_id", "principals": "principals", "key": "id"}


def test_show_as_a_document(command: Any, tmp_path: Path) -> None:
    done = command("profile", "show", NAME, "--toml")
    (tmp_path / "copy.toml").write_text(done.out)
    assert command("profile", "diff", NAME, tmp_path / "copy.toml").out.endswith("\nno difference\n")
    assert command("profile", "show", NAME, "--toml", "--manifest").status == 2


def test_show_with_the_manifest(command: Any) -> None:
    done = command("profile", "show", NAME, "--manifest")
    assert done.status == 0 and "\noperation create_session\n" in done.out
    assert "insert sessions, carries the owner" in done.out and "without a statement" in done.out
    found = command("profile", "show", NAME, "--manifest", "--json").json["manifest"]
    assert found["operations"][0]["name"] == "create_progression"


def test_show_as_a_page(command: Any, tmp_path: Path) -> None:
    page = command("profile", "show", NAME, "--manifest", "--markdown").out
    assert page.startswith(f"# Profile `{NAME}@1`\n") and "## Operation `create_session`" in page
    assert "| `owner_id` | `TEXT` | ✓ |  | ✓ |  |" in page
    assert "| `desk_flags` | `INTEGER` |  |  |  | 0 means not flagged on the desk. |" in page
    assert "## Table `principals`\n\nOnly read." in page and "```sql\nINSERT INTO sessions" in page
    hostile = tmp_path / "x.toml"
    hostile.write_text(changed(('"0 means not shaded"', '"a | <b> `c` \\u001b[1m *d*"')))
    page = command("profile", "show", hostile, "--markdown").out
    assert "a \\| \\<b\\> \\`c\\` ␛\\[1m \\*d\\*" in page and "\x1b" not in page


def test_list_says_where_each_is_from(command: Any, own_places: Path) -> None:
    folder = own_places / "config" / "profiles"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(DOCUMENT)
    (folder / "torn.toml").write_text("name = '\x1b'")
    rows = command("profile", "list", "--json").json["rows"]
    assert [(row["name"], row["origin"]) for row in rows] == [
        ("small-desk", "user"),
        (None, "user"),
        (NAME, "shipped"),
        ("lionagi-shape-fresh-run", "shipped"),
    ]
    assert rows[0]["path"] == str(folder / "mine.toml") and "unreadable" in rows[1]
    said = command("profile", "list")
    assert said.status == 0 and "small-desk@2" in said.out and "✗" in said.out and "\x1b" not in said.out


def test_a_name_that_means_two(command: Any, own_places: Path) -> None:
    folder = own_places / "config" / "profiles"
    folder.mkdir(parents=True)
    text = command("profile", "show", NAME, "--toml").out
    (folder / "mine.toml").write_text(text)
    done = command("profile", "show", NAME)
    assert done.status == 3 and "profile-ambiguous" in done.err
    assert str(folder / "mine.toml") in done.err and "shipped" in done.err


def test_diff_of_profiles_and_of_a_store(command: Any, tmp_path: Path) -> None:
    left, right = tmp_path / "a.toml", tmp_path / "b.toml"
    left.write_text(DOCUMENT)
    right.write_text(changed(("version = 2", "version = 3"), ('"0 means not shaded"', '"0 means light"')))
    done = command("profile", "diff", left, right)
    assert done.status == 0 and "\nversion\n  - 2\n  + 3\n" in done.out
    assert "tables.messages.unwritten.shade\n  - 0 means not shaded\n  + 0 means light\n" in done.out
    rows = command("profile", "diff", left, right, "--json").json
    assert rows["a"] == "small-desk@2" and rows["b"] == "small-desk@3" and "store" not in rows
    assert rows["rows"][0] == {"where": "version", "before": "2", "after": "3", "code": None}

    store = made(tmp_path / "desk.db")
    left.write_text(filled(command("profile", "derive", store).out))
    assert command("profile", "diff", left, store).out.endswith("no difference\n")
    connection = sqlite3.connect(store)
    connection.execute("ALTER TABLE people ADD COLUMN age REAL")
    connection.close()
    found = command("profile", "diff", left, store, "--json").json
    assert found["store"]["route"] == "settled" and found["rows"][0]["code"] == "column-extra"
    assert command("profile", "diff", left, tmp_path / "none.db").status == 4


@pytest.mark.parametrize(
    ("kind", "begun", "expected"),
    [
        (ProfileName(), "acme", NAME),
        (ProfileName(), "lionagi-", "lionagi-shape-fresh-run"),
        (OperationName(), "insert_mess", "insert_message"),
    ],
)
def test_names_are_completed(kind: click.ParamType, begun: str, expected: str) -> None:  # type: ignore[type-arg]
    context = click.Context(click.Command("x"))
    found = [one.value for one in kind.shell_complete(context, click.Option(["--x"]), begun)]
    assert expected in found


def test_the_commands_of_the_group_are_completed() -> None:
    from click.shell_completion import ShellComplete

    from inspector.cli.program import program

    class Bare(ShellComplete):
        name = "bare"
        source_template = ""

    complete = Bare(program, {}, "store-inspector", "_X")
    assert [one.value for one in complete.get_completions(["profile"], "")] == [
        "derive",
        "diff",
        "lint",
        "list",
        "show",
    ]
    assert NAME in [one.value for one in complete.get_completions(["admit", "x.db", "--profile"], "ac")]
