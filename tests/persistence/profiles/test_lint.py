"""`lint`: faults, reasons still to write, hazards no store is admitted with, and what is worth a look."""

from __future__ import annotations

from pathlib import Path

import pytest

from persistence.errors import ProfileError
from persistence.profiles.lint import Remark, lint, lint_text
from tests.persistence.profiles.documents import DOCUMENT, changed


def remarks(text: str, kind: str) -> list[Remark]:
    return [one for one in lint_text(text, "desk.toml").remarks if one.kind == kind]


def line_with(text: str, said: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if said in line)


def test_a_good_document_is_clean() -> None:
    plain = changed((', conflict = "FAIL" }', " }"))
    found = lint_text(plain, "desk.toml")
    assert found.clean and found.profile is not None and found.remarks == ()


def test_faults_and_reasons_to_write_are_kept_apart() -> None:
    text = changed(('"0 means not shaded"', '"TO FILL IN: why"'), ('key = "id"', 'key = "nobody"'))
    found = lint_text(text, "desk.toml")
    assert not found.clean and found.profile is None
    assert [(one.kind, one.key) for one in found.remarks] == [
        ("fault", "owner.key"),
        ("fill", "tables.messages.unwritten.shade"),
    ]
    assert found.remarks[1].line == line_with(text, "TO FILL IN")


HAZARDS = {
    "conflict-declared": (
        ('role = { type = "TEXT", nullable = false, conflict = "FAIL" }',
         'role = { type = "TEXT", nullable = false, conflict = "REPLACE" }'),
    ),
    "owner-inexact": (('id = { type = "TEXT", nullable = false }\ntitle',
                       'id = { type = "TEXT", nullable = false, collation = "NOCASE" }\ntitle'),),
    "trigger-deletes": (("BEGIN SELECT 1; END", "BEGIN DELETE FROM messages; END"),),
}  # fmt: skip


@pytest.mark.parametrize("code", list(HAZARDS))
def test_what_no_store_is_admitted_with_is_told_before_one_is_asked(code: str) -> None:
    text = changed(*HAZARDS[code])
    found = lint_text(text, "desk.toml")
    assert not found.clean and found.profile is not None
    told = [one for one in remarks(text, "hazard") if f"[{code}]" in one.message]
    assert told and told[0].key.startswith("tables.")
    assert told[0].line == line_with(text, f"[{told[0].key}]")


def test_notices_do_not_keep_it_from_being_used() -> None:
    text = changed(
        ('store_versions = ["3", "4"]\n', ""),
        ('"SQLite computes it"', '"computed"'),
        (', conflict = "FAIL" }', " }"),
        ("[tables.people]\n", "[tables.people]\ninsert = []\n"),
    )
    found = lint_text(text, "desk.toml")
    assert found.clean, found.remarks
    assert [(one.key, one.line) for one in found.remarks] == [
        ("store_versions", None),
        ("tables.people", line_with(text, "[tables.people]")),
        ("tables.messages.unwritten.size", line_with(text, '"computed"')),
    ]


def test_without_owners_that_is_said() -> None:
    text = changed(
        ('[owner]\ncolumn = "owner_id"\nprincipals = "people"\nkey = "id"\n', ""),
        ('"arrival-order", "one-owner"', '"arrival-order"'),
    )
    assert "owner" in [one.key for one in remarks(text, "notice")]


def test_by_path_and_by_name(tmp_path: Path, own_places: Path) -> None:
    path = tmp_path / "desk.toml"
    path.write_text(DOCUMENT)
    assert lint(path).profile == lint(str(path)).profile and lint(path).source == str(path)
    assert lint("acme-desk-fresh-run").clean
    with pytest.raises(ProfileError):
        lint(tmp_path / "none.toml")
    path.write_text("name =")
    assert [one.line for one in lint(path).remarks] == [1]
