"""Each variant of the managed store: the verdict is the reference's own, or differs for a reason given.

`FIRST` is what a refusal names first; a variant that is not in it is admitted.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.persistence.profiles.acme import admitted, build, first, profile_of, variants

FIRST: dict[str, tuple[str, str | None, str | None]] = {
    "col-extra-nullable": ("column-extra", "sessions", "desk_color"),
    "col-extra-notnull": ("column-extra", "sessions", "desk_color"),
    "col-extra-notnull-default": ("column-extra", "sessions", "desk_color"),
    "col-extra-by-alter": ("column-extra", "sessions", "desk_color"),
    "col-missing": ("column-missing", "sessions", "desk_note"),
    "col-renamed": ("column-missing", "sessions", "desk_note"),
    "col-order": ("column-order", "sessions", "desk_pinned"),
    "col-type": ("column-type", "messages", "desk_flags"),
    "col-nullable": ("column-null", "progressions", "collection"),
    "col-default-changed": ("column-default", "progressions", "collection"),
    "col-default-case": ("column-default", "sessions", "source_kind"),
    "col-default-removed": ("column-default", "session_signals", "op_id"),
    "col-owner-default-other": ("column-default", "progressions", "owner_id"),
    "col-generated-virtual": ("column-extra", "messages", "flag_bit"),
    "col-generated-stored": ("column-extra", "messages", "flag_bit"),
    "uq-missing": ("unique-missing", "session_signals", "session_id, seq"),
    "uq-extra": ("unique-extra", "messages", "msg_once"),
    "uq-extra-expression": ("unique-extra", "sessions", "sess_name"),
    "uq-partial-literal-case": ("unique-changed", "sessions", "one_live_cc_session"),
    "uq-partial-dropped-predicate": ("unique-changed", "sessions", "one_live_cc_session"),
    "uq-collate": ("unique-changed", "sessions", "one_live_cc_session"),
    "uq-column-order": ("unique-changed", "session_signals", "session_id, seq"),
    "pk-composite": ("primary-key", "progressions", "id"),
    "pk-autoincrement": ("primary-key", "message_types", "type_id"),
    "check-widened": ("check-changed", "sessions", "source_kind"),
    "check-removed": ("check-missing", "sessions", "source_kind"),
    "check-added": ("check-extra", "sessions", "desk_note"),
    "check-literal-case": ("check-changed", "sessions", "source_kind"),
    "check-equivalent": ("check-changed", "sessions", "source_kind"),
    "fk-removed": ("link-missing", "sessions", "progression_id"),
    "fk-on-delete": ("link-changed", "session_signals", "session_id"),
    "fk-on-update": ("link-changed", "messages", "lion_class"),
    "fk-parent": ("link-changed", "sessions", "first_msg_id"),
    "fk-composite-split": ("link-changed", "branches", "session_id, owner_id"),
    "fk-composite-reordered": ("unique-extra", "sessions", "s_oi"),
    "fk-deferrable": ("link-changed", "branches", "session_id, owner_id"),
    "fk-incoming-added": ("incoming-extra", "messages", "bookmarks.message_id"),
    "fk-incoming-removed": ("incoming-missing", "sessions", "tickets.session_id"),
    "trg-closure-own-table": ("trigger-extra", "sessions", "sess_feed"),
    "trg-closure-owner-copied": ("trigger-extra", "sessions", "sess_event"),
    "trg-closure-owner-constant": ("trigger-extra", "sessions", "sess_event"),
    "trg-closure-owner-default": ("trigger-extra", "sessions", "sess_event"),
    "trg-closure-update-all": ("trigger-extra", "messages", "msg_touch"),
    "trg-closure-delete": ("trigger-extra", "messages", "msg_trim"),
    "trg-closure-raise-abort": ("trigger-extra", "sessions", "sess_guard"),
    "trg-closure-raise-ignore": ("trigger-extra", "sessions", "sess_guard"),
    "trg-closure-or-replace": ("trigger-extra", "sessions", "sess_feed"),
    "trg-closure-select-only": ("trigger-extra", "sessions", "sess_look"),
    "trg-elsewhere-writes-closure": ("trigger-extra", "sessions", "tk"),
    "view-closure": ("view-extra", "sessions", "live_sessions"),
    "view-on-view": ("view-extra", "sessions", "v1"),
    "view-instead-of": ("trigger-extra", "messages", "tvi"),
    "vt-fts-content": ("virtual-extra", "messages", "msg_fts"),
    "opt-without-rowid": ("table-option", "progressions", "WITHOUT ROWID"),
    "opt-strict": ("table-option", "progressions", "STRICT"),
    "conflict-replace": ("conflict-clause", "session_signals", "session_id, seq"),
    "conflict-ignore": ("conflict-clause", "session_signals", "session_id, seq"),
    "conflict-notnull-replace": ("conflict-clause", "progressions", "collection"),
    "collate-owner-nocase": ("column-collation", "progressions", "owner_id"),
    "collate-id-nocase": ("column-collation", "sessions", "id"),
    "collate-principal-nocase": ("column-collation", "principals", "id"),
    "table-missing": ("table-missing", "admin_events", None),
    "journal-delete": ("journal-mode", None, "journal mode"),
    "journal-truncate": ("journal-mode", None, "journal mode"),
    "lineage-missing": ("lineage-absent", None, "lineage"),
    "lineage-lionagi": ("lineage-own", None, "lineage"),
    "lineage-empty": ("lineage-nobody", None, "lineage"),
    "lineage-blank": ("lineage-nobody", None, "lineage"),
    "lineage-blob": ("lineage-nobody", None, "lineage"),
    "lineage-other-app": ("lineage-other", None, "lineage"),
    "lineage-case": ("lineage-other", None, "lineage"),
    "meta-view": ("lineage-absent", None, "lineage"),
    "meta-dropped": ("lineage-absent", None, "lineage"),
    "version-8": ("version-unlisted", None, "version"),
    "version-missing": ("version-unlisted", None, "version"),
    "version-padded": ("version-unlisted", None, "version"),
    "owner-absent": ("owner-unknown", "principals", "nobody"),
    "owner-case": ("owner-unknown", "principals", "KIM"),
    "owner-case-nocase-key": ("owner-unknown", "principals", "KIM"),
    "owner-none": ("owner-missing", None, "owner_id"),
    "owner-empty": ("owner-missing", None, "owner_id"),
    "file-missing": ("no-store", None, None),
    "file-empty": ("not-a-store", None, None),
}

_SAME = "SQLite makes no difference between the two"
_BOUND = "a profile is bound to the application it names"

DEVIATIONS: dict[str, str] = {
    "col-type-synonym": f"{_SAME}: INT and INTEGER keep values alike where neither is the row id (a notice)",
    "col-default-parens": f"{_SAME}: DEFAULT (0) and DEFAULT 0",
    "uq-as-index": f"{_SAME}: a unique constraint is a unique index over all rows",
    "uq-named": f"{_SAME}: the name of a constraint is heard of in messages alone",
    "check-named": f"{_SAME}: the name of a constraint is heard of in messages alone",
    "fk-implicit-parent": f"{_SAME}: a parent without columns means its primary key",
    "fk-not-deferrable": f"{_SAME}: NOT DEFERRABLE is the default",
    "fk-no-action-spelled": f"{_SAME}: NO ACTION is the default",
    "collate-owner-binary": f"{_SAME}: BINARY is the default collation",
    "spell-quoted-type": f"{_SAME}: a type's name in quotes",
    "spell-constraint-moved": f"{_SAME}: a foreign key on the column or on the table",
    "trg-elsewhere-literal": "a string in a trigger names no table",
    "trg-elsewhere-column-name": "a column called like a table is not the table",
    "lineage-other-app": _BOUND,
    "lineage-case": _BOUND,
}
"""Where the verdict under the profile of the unchanged store is not the reference's, and why."""

STRICT: dict[str, str] = {
    "check-equivalent": "that two expressions always agree is not for a comparison of tokens to prove",
    "uq-column-order": "the order of a key's columns decides which look-ups it serves, so it is declared",
    "fk-composite-reordered": "the link is the same, but the unique index made beside it is not declared",
    "col-order": "what names no columns (a view's *, an insert without them) means something else",
}
"""What stays refused, as by the reference, though rows are accepted alike."""

_OF_MANAGER = "the trigger runs on the manager's own writes alone, and the profile declares it"

DEVIATIONS_ITSELF: dict[str, str] = {
    "trg-closure-own-table": "each insert would be refused by the guard: the trigger writes outside",
    "trg-elsewhere-writes-closure": _OF_MANAGER,
    "view-instead-of": _OF_MANAGER,
    "collate-principal-nocase": "a principal's key that ignores case does not tell owners apart",
    "lineage-other-app": _BOUND,
    "lineage-case": _BOUND,
    "version-8": "the declared versions narrow this profile too; the reference's took them from the store",
    "version-missing": "as for another version",
    "version-padded": "as for another version",
}
"""The same under a profile made from the variant itself."""

_NEEDS_A_FILE = tuple(name for name, variant in variants().items() if variant.file != "store")
_DOCUMENT = tuple(
    name for name, variant in variants().items() if variant.oracle_itself == "no profile can be made"
)


@pytest.mark.parametrize("name", variants())
def test_variant_under_the_profile_of_the_unchanged_store(name: str, tmp_path: Path) -> None:
    variant = variants()[name]
    path = build(tmp_path / "store.db", variant)
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}
    report = admitted(path, owner=variant.owner)
    assert report.admitted == ((variant.oracle == "admitted") != (name in DEVIATIONS))
    assert report.admitted == (name not in FIRST)
    if name in FIRST:
        assert first(report) == FIRST[name]
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before


@pytest.mark.parametrize("name", [name for name in variants() if name not in (*_NEEDS_A_FILE, *_DOCUMENT)])
def test_variant_under_a_profile_made_from_itself(name: str, tmp_path: Path) -> None:
    variant = variants()[name]
    path = build(tmp_path / "store.db", variant)
    report = admitted(path, profile_of(path), owner=variant.owner)
    theirs = variant.oracle_itself == "admitted"
    assert report.admitted == (theirs != (name in DEVIATIONS_ITSELF)), report.refusing


def test_every_deviation_is_one() -> None:
    assert set(STRICT) <= set(FIRST)
    assert FIRST["fk-composite-reordered"] == ("unique-extra", "sessions", "s_oi")
    assert set(DEVIATIONS) <= set(variants())
    assert set(FIRST) <= set(variants())
    assert len(variants()) == 129
    assert sum(variant.oracle == "admitted" for variant in variants().values()) == 35
