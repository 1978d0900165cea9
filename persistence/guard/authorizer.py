"""The authorizer of a compatibility connection: it denies whatever it does not list (ADR-0128 D3).

What it lists is twice bounded. The profile is the ceiling: inserts into its tables, updates of its columns,
reads of its closure. Below that it lists only what the manifest's own statements were seen to ask for when
they were compiled on this very connection, triggers of the store included.
"""

from __future__ import annotations

import sqlite3
from typing import TypeAlias

from persistence.engines.guard import authorize as authorize_read
from persistence.profiles.records import Profile, folded

__all__ = ["Action", "Authorizer", "Ceiling", "words"]

Action: TypeAlias = tuple[int, str | None, str | None, str | None, str | None]

_RECURSIVE = 33  # SQLITE_RECURSIVE; the sqlite3 module has it from 3.11 on
_FUNCTIONS = frozenset(("json_each", "json_tree"))  # tables that are functions
_MASTER = frozenset(("sqlite_master", "sqlite_schema"))
_DENIED_FUNCTIONS = frozenset(("load_extension", "fts3_tokenizer", "readfile", "writefile", "edit", "regexp"))
_CHECKS = frozenset(("schema_version", "data_version", "journal_mode"))


class Ceiling:
    """What a profile can allow at all, whatever a statement asks for."""

    __slots__ = ("_inserts", "_readable", "_triggers", "_updates")

    def __init__(self, profile: Profile) -> None:
        self._inserts = {folded(name) for name, rule in profile.writes.items() if rule.insert}
        self._updates = {
            folded(name): {folded(column) for column in rule.update} for name, rule in profile.writes.items()
        }
        self._readable = {*profile.closure.tables, "schema_meta", *_FUNCTIONS, *_MASTER}
        # A key that leads into the closure from outside is looked at when a row it may name is added.
        self._readable |= {folded(incoming.table) for incoming in profile.closure.incoming}
        if profile.owner is not None:
            self._readable.add(folded(profile.owner.principals))
        # What a declared trigger of the store reads is its manager's; what it writes is bounded as ours is.
        self._triggers = {folded(shape.name) for shape in profile.closure.objects if shape.kind == "trigger"}

    def allows(self, action: Action) -> bool:
        kind, first, second, database, trigger = action
        if kind in (sqlite3.SQLITE_SELECT, _RECURSIVE):
            return True
        if kind == sqlite3.SQLITE_FUNCTION:
            return folded(second or "") not in _DENIED_FUNCTIONS
        table = folded(first or "")
        if kind == sqlite3.SQLITE_READ:
            return table in self._readable or folded(trigger or "") in self._triggers
        if database != "main":
            return False
        if kind == sqlite3.SQLITE_INSERT:
            return table in self._inserts
        if kind == sqlite3.SQLITE_UPDATE:
            if table == "sqlite_master":
                # Asked when json_each is first used on a connection, as its table is declared. A real
                # update of it fails all the same: the schema is not writable.
                return True
            return folded(second or "") in self._updates.get(table, ())
        return False


class Authorizer:
    """SQLite's questions about one connection, and what was denied first since `clear`."""

    __slots__ = ("_known", "_seen", "denied", "door", "inspecting")

    def __init__(self) -> None:
        self._known: frozenset[Action] = frozenset()
        self._seen: set[Action] | None = None
        self.denied: str | None = None
        self.door: str | None = None  # the one of BEGIN, COMMIT, ROLLBACK that the engine does now
        self.inspecting = False  # admission reads the closure: every read is allowed, and no write

    def __call__(
        self, kind: int, first: str | None, second: str | None, database: str | None, trigger: str | None
    ) -> int:
        """SQLITE_OK or SQLITE_DENY, never SQLITE_IGNORE."""
        action = (kind, first, second, database, trigger)
        if self._seen is not None:
            self._seen.add(action)
            return sqlite3.SQLITE_OK
        if action in self._known:
            return sqlite3.SQLITE_OK
        if kind == sqlite3.SQLITE_TRANSACTION and first is not None and first == self.door:
            return sqlite3.SQLITE_OK
        if kind == sqlite3.SQLITE_PRAGMA and second is None and folded(first or "") in _CHECKS:
            return sqlite3.SQLITE_OK
        if self.inspecting and authorize_read(kind, first, second, database, trigger) == sqlite3.SQLITE_OK:
            return sqlite3.SQLITE_OK
        if self.denied is None:
            self.denied = words(action)
        return sqlite3.SQLITE_DENY

    def record(self) -> set[Action]:
        """From now on, until `know`, everything is allowed and written down in what is returned.

        For compiling alone: nothing may be run meanwhile.
        """
        self._seen = set()
        return self._seen

    def know(self, actions: frozenset[Action] | None = None) -> None:
        """Ends `record`; what is given becomes the list."""
        self._seen = None
        if actions is not None:
            self._known = actions

    def clear(self) -> None:
        """A new transaction: nothing was denied yet."""
        self.denied = None


_NAMES = {
    value: name.removeprefix("SQLITE_").replace("_", " ")
    for name, value in vars(sqlite3).items()
    if name.startswith(("SQLITE_CREATE_", "SQLITE_DROP_"))
    or name
    in (
        "SQLITE_ALTER_TABLE", "SQLITE_ANALYZE", "SQLITE_ATTACH", "SQLITE_DELETE", "SQLITE_DETACH",
        "SQLITE_FUNCTION", "SQLITE_INSERT", "SQLITE_PRAGMA", "SQLITE_READ", "SQLITE_REINDEX",
        "SQLITE_SAVEPOINT", "SQLITE_SELECT", "SQLITE_TRANSACTION", "SQLITE_UPDATE",
    )
}  # fmt: skip


def words(action: Action) -> str:
    kind, first, second, database, trigger = action
    said = [_NAMES.get(kind, f"action {kind}"), *(part for part in (first, second) if part)]
    if database not in (None, "main"):
        said.append(f"in {database}")
    if trigger is not None:
        said.append(f"by trigger {trigger}")
    return " ".join(said)
