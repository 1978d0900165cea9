"""The operation manifest (ADR-0128 D4, appendix A): every write there is in compatibility mode.

It drives execution, the statement guard, the preview and the reference page. Tables are an index into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from persistence.guard.writeset import WriteSet
from persistence.profiles.needs import INVARIANTS
from persistence.profiles.records import Profile
from persistence.writing.compatibility import branches, lifecycle, messages, sessions
from persistence.writing.compatibility.book import Book
from persistence.writing.compatibility.declarations import Operation

__all__ = [
    "OPERATIONS",
    "WITHOUT_STATEMENTS",
    "book_of",
    "by_table",
    "compiled",
    "needs",
    "reference",
]

OPERATIONS: Final[Mapping[str, Operation]] = {
    operation.name: operation
    for operation in (
        messages.CREATE_PROGRESSION,
        sessions.CREATE_SESSION,
        messages.INSERT_MESSAGE,
        branches.CREATE_BRANCH,
        messages.PERSIST_LIVE_MESSAGE,
        messages.APPEND_TO_PROGRESSION,
        messages.INSERT_MESSAGES,
        sessions.INSERT_SESSION_SIGNAL,
        sessions.UPDATE_SESSION,
        sessions.UPDATE_ARTIFACT_VERIFICATION,
        sessions.MERGE_SESSION_NODE_METADATA,
        sessions.SET_SESSION_USER_LABEL,
        lifecycle.UPDATE_STATUS,
        branches.UPDATE_BRANCH,
        branches.FINALIZE_BRANCH,
    )
}
"""In the order a run meets them."""

WITHOUT_STATEMENTS: Final[Mapping[str, str]] = {
    "session-start event with the run's handle": "set-up has written every column its handler would write",
    "branch-create event with the run's handle": "set-up has written every column its handler would write",
    "terminal callbacks": "they run after the commit, and issue no statement",
    "steer tombstone sweep": "it opens a native handle of its own, so it is not run on a managed store",
    "project registration": "not admitted: the project's name stays on the session's row",
}
"""What a run reaches besides, and why the store sees nothing of it (A.2)."""


_KEPT = 4
_books: list[Book] = []  # the last used first: compiling one takes longer than opening a store


def book_of(profile: Profile) -> Book:
    """The statements of the operations the profile names. Operations the manifest lacks are none.

    Equal profiles have one book; nothing in it belongs to a store or an owner.
    """
    found = next((book for book in _books if book.shape.profile == profile), None)
    if found is None:
        found = Book(profile, [OPERATIONS[name] for name in profile.operations if name in OPERATIONS])
    _books[:] = [found, *(book for book in _books if book is not found)][:_KEPT]
    return found


def compiled(profile: Profile, owner: str | None) -> WriteSet:
    """What the guard of a connection lets run: the profile's statements, held to this owner."""
    return book_of(profile).write_set(owner)


def needs(operation: str) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """By table, the columns an operation inserts and updates, the owner's apart: what a profile that names it
    has to let be written. KeyError for an operation the manifest lacks."""
    found: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for spec in OPERATIONS[operation].statements:
        if spec.verb != "select":
            inserts, updates = found.get(spec.table, ((), ()))
            more, others = spec.needs
            found[spec.table] = _joined(inserts, more), _joined(updates, others)
    return found


def by_table(operations: Iterable[str] = OPERATIONS) -> dict[str, tuple[str, ...]]:
    """The tables these operations touch, and which of them touch each."""
    found: dict[str, dict[str, None]] = {}
    for name in operations:
        for spec in OPERATIONS[name].statements:
            found.setdefault(spec.table, {})[name] = None
    return {table: tuple(names) for table, names in sorted(found.items())}


def reference(profile: Profile) -> dict[str, Any]:
    """The manifest under a profile as plain data, for a page people read."""
    book = book_of(profile)
    return {
        "profile": profile.identity,
        "lineage": profile.lineage,
        "owner": None if profile.owner is None else profile.owner.column,
        "operations": [_described(book, operation) for operation in book.operations.values()],
        "tables": {table: list(names) for table, names in by_table(book.operations).items()},
        "without_statements": dict(WITHOUT_STATEMENTS),
    }


def _described(book: Book, operation: Operation) -> dict[str, Any]:
    return {
        "name": operation.name,
        "does": operation.does,
        "reached_from": list(operation.reached_from),
        "rows": [one.says for one in operation.requires],
        "transaction": operation.transaction,
        "when_it_refuses": operation.leaves,
        "without": list(operation.without),
        "keeps": [{"invariant": word, "says": INVARIANTS[word]} for word in operation.keeps],
        "statements": [
            {
                "verb": entry.verb,
                "table": entry.table,
                "sql": entry.text,
                "parameters": list(entry.names),
                "carries_owner": bool(entry.owner),
                "changes": list(entry.changes),
                "when": spec.when,
            }
            for spec, entry in book.entries(operation)
        ],
        "tests": list(operation.tests),
    }


def _joined(before: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*before, *more)))
