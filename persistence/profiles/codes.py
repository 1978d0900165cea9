"""The closed list of what an admission can find: how severe, why it matters, who does what.

Each code has a page in `inspector/reports/explanations/`, so that `explain CODE` works; a code is never used
again for another meaning.
"""

from __future__ import annotations

from typing import NamedTuple

from persistence.profiles.records import Finding, Severity

__all__ = ["CODES", "Code", "finding"]


class Code(NamedTuple):
    """`why` it matters, in one sentence, and the `remedy`: who has to do what."""

    severity: Severity
    why: str
    remedy: str


_AUTHOR = (
    "The author of the profile checks what the change means for the operations, and makes a new version "
    "of the profile for it; until then this store stays read-only here."
)
_MANAGER = (
    "Ask the people who run the managing application whether the change was meant: its own migration "
    "brings the store to the shape the profile was made for, or the profile's author makes a version for "
    "this shape."
)
_UNSAFE = (
    "No profile admits this: the managing application would have to change it, or do the writing itself. "
    "Reading here goes on working."
)

CODES: dict[str, Code] = {
    # -- the store, the profile and what was asked ------------------------------------------------------
    "no-profile": Code(
        "refuses",
        "A store another application manages is written only under a profile that was chosen by name.",
        "Name the profile made for this store, by --profile or in the configuration file; none is ever "
        "picked.",
    ),
    "no-store": Code(
        "refuses",
        "Admission is for a store that exists; none is ever made here.",
        "Check the path, or let the managing application make its store first.",
    ),
    "not-a-store": Code(
        "refuses",
        "Only a SQLite file that holds a store can be admitted.",
        "Name the managing application's SQLite store itself.",
    ),
    "store-unread": Code(
        "refuses",
        "What cannot be read without doubt cannot be compared, and nothing is written on a guess.",
        "Follow what is observed: let the program that owns the store open it once, or ask again when it "
        "is less busy. `doctor` shows every read.",
    ),
    "held-natively": Code(
        "refuses",
        "A native handle of this process on the file would write around the profile.",
        "Close the native handle of this process, then ask again.",
    ),
    "lineage-absent": Code(
        "refuses",
        "Without a lineage row no application has said that it manages the store.",
        "A release of the managing application that writes its lineage row makes the store admissible.",
    ),
    "lineage-own": Code(
        "refuses",
        "The store is lionagi's own, and compatibility writes are for stores of other applications.",
        "Open it natively.",
    ),
    "lineage-nobody": Code(
        "refuses",
        "The lineage row names no application that a profile could be bound to.",
        "The people who run the store find out which application wrote the row, and what it should say.",
    ),
    "lineage-other": Code(
        "refuses",
        "The profile was made for another application, whose rows may mean something else under the same "
        "names.",
        "Choose a profile made for the application that the store names, or ask its people for one.",
    ),
    "version-unlisted": Code(
        "refuses",
        "The profile's author narrowed it to store versions, and this one is not among them.",
        "Choose a version of the profile made for this store version, or ask the profile's author for one.",
    ),
    "journal-mode": Code(
        "refuses",
        "Writing beside the managing application needs a write-ahead log, and a compatibility open never "
        "switches it on.",
        "The people who run the store let their application switch the journal mode to WAL.",
    ),
    "operation-unlisted": Code(
        "refuses",
        "The profile does not name the operation that was asked for, so nobody has checked what it would "
        "do here.",
        "Ask for operations the profile names (`profile show`), or for a profile that names this one.",
    ),
    "owner-missing": Code(
        "refuses",
        "Rows of this store belong to a principal, and a column's default is never taken for one.",
        "Name the owner, by --owner or in the configuration file; the managing application's people know "
        "which.",
    ),
    "owner-unknown": Code(
        "refuses",
        "The owner that was named is not a principal of this store, so its rows would belong to nobody.",
        "Check the spelling (the case counts), or let the managing application make the principal first.",
    ),
    "owner-unruled": Code(
        "refuses",
        "An owner was named, and the profile has no rule that says where an owner is written.",
        "Leave the owner out, or choose a profile with an owner rule.",
    ),
    # -- tables and columns -----------------------------------------------------------------------------
    "table-missing": Code(
        "refuses",
        "The operations depend on a table that the store does not have.",
        _MANAGER,
    ),
    "table-kind": Code(
        "refuses",
        "Something other than a plain table stands under a name the operations read or write.",
        _MANAGER,
    ),
    "column-missing": Code(
        "refuses",
        "The operations depend on a column that the table does not have.",
        _MANAGER,
    ),
    "column-extra": Code(
        "refuses",
        "Nobody has said that leaving this column out of a row is right: its readers may expect a value.",
        _AUTHOR,
    ),
    "column-order": Code(
        "refuses",
        "The columns stand in another order, which changes what a trigger, view or insert without names "
        "does.",
        _MANAGER,
    ),
    "column-type": Code(
        "refuses",
        "SQLite keeps values of this column in another form than the profile says.",
        _MANAGER,
    ),
    "column-type-spelling": Code(
        "notice",
        "The type is spelled otherwise; SQLite keeps the values just the same.",
        "Nothing has to be done. The profile's author may note the other spelling.",
    ),
    "column-null": Code(
        "refuses",
        "Whether the column may be empty differs: rows may be refused, or read wrongly.",
        _MANAGER,
    ),
    "column-default": Code(
        "refuses",
        "A row that leaves the column out gets another value than the profile's author checked.",
        _MANAGER,
    ),
    "column-generated": Code(
        "refuses",
        "The column is computed otherwise than the profile says, so written rows would mean something else.",
        _MANAGER,
    ),
    "column-collation": Code(
        "refuses",
        "Texts of this column compare otherwise, so other rows count as the same.",
        _MANAGER,
    ),
    "conflict-clause": Code(
        "refuses",
        "A clash with an existing row would be resolved otherwise than by refusing the write.",
        _MANAGER,
    ),
    "table-option": Code(
        "refuses",
        "The table is of another kind (STRICT, WITHOUT ROWID), which changes what it accepts or how rows "
        "are found.",
        _MANAGER,
    ),
    # -- keys, checks, links, indexes -------------------------------------------------------------------
    "primary-key": Code(
        "refuses",
        "Rows of this table are told apart otherwise than the profile says.",
        _MANAGER,
    ),
    "unique-missing": Code(
        "refuses",
        "A key the operations rely on is gone, so rows could be there twice.",
        _MANAGER,
    ),
    "unique-extra": Code(
        "refuses",
        "Every row the operations write has to keep a new key that nobody has checked.",
        _AUTHOR,
    ),
    "unique-changed": Code(
        "refuses",
        "A key is made up otherwise than the profile says, so other rows can count as the same.",
        _MANAGER,
    ),
    "check-missing": Code(
        "refuses",
        "A rule that values of this table had to keep is no longer there.",
        _MANAGER,
    ),
    "check-extra": Code(
        "refuses",
        "A new rule can refuse values that the operations write.",
        _AUTHOR,
    ),
    "check-changed": Code(
        "refuses",
        "A rule for the values of this table differs from the one the profile was made for.",
        _MANAGER,
    ),
    "link-missing": Code(
        "refuses",
        "Rows of this table need no longer point at an existing row, as the operations rely on.",
        _MANAGER,
    ),
    "link-extra": Code(
        "refuses",
        "Rows of this table have to point at a row the operations know nothing about.",
        _AUTHOR,
    ),
    "link-changed": Code(
        "refuses",
        "What rows of this table point at, or what then happens to them, differs.",
        _MANAGER,
    ),
    "incoming-missing": Code(
        "refuses",
        "Another table no longer points at rows of this one, as the profile says it does.",
        _MANAGER,
    ),
    "incoming-extra": Code(
        "refuses",
        "Another table points at rows of this one, so changes here can reach it.",
        _AUTHOR,
    ),
    "incoming-changed": Code(
        "refuses",
        "How another table points at rows of this one differs, and so what changes here do to it.",
        _MANAGER,
    ),
    "index-computed": Code(
        "refuses",
        "This index computes something from each row, and a row for which that fails cannot be written.",
        _AUTHOR,
    ),
    "index-plain": Code(
        "notice",
        "The indexes differ; that changes how fast rows are found, and nothing else.",
        "Nothing has to be done.",
    ),
    # -- triggers, views, virtual tables ----------------------------------------------------------------
    "trigger-missing": Code(
        "refuses",
        "The store no longer does by itself what the profile says it does on a write.",
        _MANAGER,
    ),
    "trigger-extra": Code(
        "refuses",
        "The store does something by itself on a write that nobody has checked.",
        _AUTHOR,
    ),
    "trigger-changed": Code(
        "refuses",
        "What the store does by itself on a write differs from what the profile was made for.",
        _MANAGER,
    ),
    "view-missing": Code(
        "refuses",
        "A view that shows rows of these tables to readers is no longer there.",
        _MANAGER,
    ),
    "view-extra": Code(
        "refuses",
        "A view shows rows of these tables to readers nobody has thought of.",
        _AUTHOR,
    ),
    "view-changed": Code(
        "refuses",
        "What a view shows of these tables differs from what the profile was made for.",
        _MANAGER,
    ),
    "virtual-missing": Code(
        "refuses",
        "A virtual table over these tables (a search index, for one) is no longer there.",
        _MANAGER,
    ),
    "virtual-extra": Code(
        "refuses",
        "A virtual table (a search index, for one) stands on these tables, and writes would pass it by.",
        _AUTHOR,
    ),
    "virtual-changed": Code(
        "refuses",
        "A virtual table over these tables is set up otherwise than the profile says.",
        _MANAGER,
    ),
    "uninterpreted": Code(
        "refuses",
        "Part of the structure could not be interpreted, and what is not understood is not written to.",
        "Send this report to the profile's author; the managing application's people can say what the "
        "part is for.",
    ),
    # -- what no profile can declare away ---------------------------------------------------------------
    "trigger-deletes": Code(
        "refuses",
        "A trigger would delete rows as part of a write from here.",
        _UNSAFE,
    ),
    "trigger-owner": Code(
        "refuses",
        "A trigger would write rows that have an owner without carrying over the owner of the row written.",
        _UNSAFE,
    ),
    "trigger-outside": Code(
        "refuses",
        "A trigger would write a table the profile allows no writes to, so each such write would be refused.",
        _UNSAFE,
    ),
    "trigger-resolution": Code(
        "refuses",
        "A trigger can swallow or replace rows silently, so a write would seem to succeed that did not.",
        _UNSAFE,
    ),
    "trigger-recurses": Code(
        "refuses",
        "A trigger could set itself off again, since triggers run within triggers on a connection from here.",
        _UNSAFE,
    ),
    "conflict-declared": Code(
        "refuses",
        "The table resolves clashes by replacing or dropping rows, possibly those of others.",
        _UNSAFE,
    ),
    "owner-inexact": Code(
        "refuses",
        "Owners are not told apart exactly here (case or blanks do not count), so rows could pass as "
        "another's.",
        _UNSAFE,
    ),
}
"""Every code. What is compared first comes first; a report keeps this order within a table."""


def finding(
    code: str,
    *,
    table: str | None = None,
    object: str | None = None,
    expected: str | None = None,
    observed: str | None = None,
) -> Finding:
    """A finding of this code, with its severity, reason and remedy. Raises KeyError for a code not listed."""
    meant = CODES[code]
    return Finding(code, meant.severity, table, object, expected, observed, meant.why, meant.remedy)
