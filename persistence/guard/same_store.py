"""Whether a store is still what was admitted, asked under the write lock of each transaction.

The file of the same device and inode, its lineage, its version, its schema, the owner. What has changed is
admitted again or refused (ADR-0128 D2, D3).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from persistence import files
from persistence.guard.connection import GuardedConnection
from persistence.lineage.rows import quoted
from persistence.profiles.records import AdmissionReport, Profile

__all__ = ["Ask", "Baseline", "Readmit", "SameStore"]

Readmit = Callable[[sqlite3.Connection], AdmissionReport]
"""Admission's second half, on the open connection and under its lock."""

Ask = Callable[..., list[tuple[Any, ...]]]
"""Rows of a statement of the guard's own, with its parameters."""

_META = (
    "SELECT key, value FROM main.schema_meta NOT INDEXED WHERE typeof(key) = 'text' "
    "AND +key COLLATE BINARY IN ('lineage', 'version') AND value IS NOT NULL LIMIT 64"
)
_SCHEMA = "SELECT type, name, tbl_name, sql FROM main.sqlite_master"
_NOTHING = "Nothing was written."


class Baseline(NamedTuple):
    """What the store was when it was last admitted; `moves` is `PRAGMA data_version` of this connection."""

    meta: tuple[tuple[Any, ...], ...]
    cookie: int
    schema: frozenset[tuple[Any, ...]]
    moves: int | None


class SameStore:
    """See the module. `ask` runs statements of the guard's own; `still_guarded` compiles what is guarded
    anew, and says whether every trigger of the guard still fires."""

    def __init__(
        self,
        connection: GuardedConnection,
        path: bytes,
        identity: files.Identity,
        profile: Profile,
        readmit: Readmit,
        ask: Ask,
        still_guarded: Callable[[], bool],
    ) -> None:
        self._connection = connection
        self._hold = connection.hold
        self._refusals = connection.hold.refusals
        self._path = path
        self._identity = identity
        self._readmit = readmit
        self._plain = ask
        self._still_guarded = still_guarded
        self._baseline: Baseline | None = None
        rule = profile.owner
        self._owner_exists = (
            None
            if rule is None or self._hold.owner is None
            else f"SELECT 1 FROM main.{quoted(rule.principals)} "  # noqa: S608 - quoted names of the profile
            f"WHERE {quoted(rule.key)} COLLATE BINARY = ?"
        )

    @property
    def questions(self) -> dict[str, int]:
        """Its statements, with their number of parameters: the authorizer has to know them."""
        found = {_META: 0, _SCHEMA: 0}
        return found if self._owner_exists is None else {**found, self._owner_exists: 1}

    def check(self) -> None:
        """Whether the store is still what was admitted; admits it again where that can be.

        While nobody else has committed (`PRAGMA data_version`), its rows are those that were read last.
        """
        found = files.status(self._path)
        if found is None or (found.st_dev, found.st_ino) != self._identity:
            self._refuse(
                f"Another file has taken the store's name, or the name is gone. {_NOTHING}",
                code="store-replaced",
                expected="the file that was opened",
                observed="no file" if found is None else "another file",
            )
        before = self._baseline
        cookie = self._plain("PRAGMA main.schema_version")[0][0]
        moves = self._plain("PRAGMA main.data_version")[0][0]
        if before is not None and before.moves == moves and before.cookie == cookie:
            return
        self._moved(before, self._look(cookie, moves))
        self._owned()

    def _owned(self) -> None:
        if self._owner_exists is None:
            return
        owner = self._hold.owner
        if not self._plain(self._owner_exists, (owner,)):
            self._baseline = None if self._baseline is None else self._baseline._replace(moves=None)
            self._refuse(
                f"The owner is no principal of the store any more. {_NOTHING}",
                code="owner-gone",
                expected=owner,
                observed="no such principal",
            )

    def _look(self, cookie: int, moves: int) -> Baseline:
        try:
            meta = tuple(self._plain(_META))
        except sqlite3.OperationalError as error:
            self._refuse(
                f"The store's lineage cannot be read. {_NOTHING}", code="lineage-moved", observed=str(error)
            )
        return Baseline(meta, cookie, frozenset(self._plain(_SCHEMA)), moves)

    def _moved(self, before: Baseline | None, now: Baseline) -> None:
        if before is not None:
            if now[:3] == before[:3]:  # somebody wrote, and nothing of this changed
                self._baseline = now
                return
            if _values(now, "lineage") != _values(before, "lineage"):
                self._refuse(
                    f"The store's lineage is another one than when it was admitted. {_NOTHING}",
                    code="lineage-moved",
                    expected=repr(_values(before, "lineage")),
                    observed=repr(_values(now, "lineage")),
                )
            if now.cookie == before.cookie and now.schema != before.schema:
                # This connection goes by the number, and would not know its own tables.
                self._refuse(
                    f"The schema has changed while its number was set back. {_NOTHING}",
                    code="schema-hidden",
                    expected="a new PRAGMA schema_version with a new schema",
                    observed=f"{now.cookie} as before",
                )
        self._admit_again()
        if before is not None and not self._still_guarded():
            self._refuse(
                f"The guard's own triggers are gone from this connection. {_NOTHING}", code="guard-lost"
            )
        self._baseline = now

    def _admit_again(self) -> None:
        authorizer = self._hold.authorizer
        authorizer.inspecting = True
        try:
            report = self._readmit(self._connection)
        finally:
            authorizer.inspecting = False
        report.check(self._refusals.operation or "open")

    def _refuse(
        self, message: str, *, code: str, expected: str | None = None, observed: str | None = None
    ) -> NoReturn:
        raise self._refusals.refused(message, code=code, expected=expected, observed=observed)


def _values(baseline: Baseline, key: str) -> list[Any]:
    return [value for name, value in baseline.meta if name == key]
