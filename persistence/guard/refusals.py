"""What the guard says when it refuses: one typed error, with the code that tells which layer it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persistence.errors import StateCompatibilityRefused

if TYPE_CHECKING:
    from persistence.profiles.records import Profile

__all__ = ["MARK", "Refusals"]

MARK = "store-inspector guard: "
"""What the message of every TEMP trigger of the guard begins with."""

_WAY = "Write through the operations the profile names; nothing else is written by this handle."
_AGAIN = "Open the store again: it is then admitted anew, or refused with the reason."

_REMEDIES = {
    "guard-connection": _WAY,
    "guard-statement": _WAY,
    "guard-row": _WAY,
    "guard-denied": _WAY,
    "guard-outside": _WAY,
    "guard-owner": "See which principal the row belongs to; this handle writes only rows of its own owner.",
    "guard-poisoned": "Nothing was written. See what was denied first; the next operation starts afresh.",
    "guard-ended": "Nothing was written. Ask again; if it stays so, see what was observed.",
    "guard-changes": "See whether the row is still there and still this owner's; nothing was written.",
    "guard-lost": _AGAIN,
    "guard-trigger": (
        "The author of the profile declares what the trigger writes, or the managing application does this "
        "writing itself."
    ),
    "guard-not-installed": _AGAIN,
    "store-replaced": _AGAIN,
    "schema-hidden": _AGAIN,
    "lineage-moved": "Ask the people who run the store what happened to it; here it can be read.",
    "owner-gone": "Ask the people who run the managing application to restore the principal.",
    "commit-unknown": "Look whether the rows are there before they are written again.",
    "journal-beside": (
        "Let the program that owns the store open it once, so that it undoes what was interrupted."
    ),
    "not-in-profile": "A profile that names the operation would have to be proved and chosen.",
    "journal-mode": (
        "The managing application chooses the journal mode; when it uses a write-ahead log the store can be "
        "admitted."
    ),
}


class Refusals:
    """Makes the refusals of one connection: its store, profile and the operation that runs are known."""

    __slots__ = ("operation", "profile", "where")

    def __init__(self, where: str, profile: Profile) -> None:
        self.where = where
        self.profile = profile.identity
        self.operation: str | None = None

    def refused(
        self, message: str, *, code: str, expected: str | None = None, observed: str | None = None
    ) -> StateCompatibilityRefused:
        """The refusal of what the running operation, or whoever else it was, asked for."""
        return StateCompatibilityRefused(
            message,
            code=code,
            operation=self.operation,
            profile=self.profile,
            where=self.where,
            rule="guard",
            expected=expected,
            observed=observed,
            remedy=_REMEDIES[code],
        )
