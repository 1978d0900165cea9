"""What the configuration file says about writing: a policy can forbid, it never allows (DESIGN 9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from persistence.errors import StoreError

if TYPE_CHECKING:
    from inspector.settings import Settings

__all__ = ["WritePolicy", "exposed_version"]


@dataclass(frozen=True, slots=True)
class WritePolicy:
    """`forbid_exposed_sqlite`: no gated action under a SQLite that has the WAL-reset race. `doubt` is why
    it is not known what the policy is: then nothing is written."""

    forbid_exposed_sqlite: bool = False
    origin: str = "default"
    doubt: str | None = None

    @classmethod
    def of(cls, settings: Settings) -> WritePolicy:
        """The policy of the settings in force. A file that cannot be read says nothing, so it is a doubt."""
        wrong = (f"{settings.file} is not used", "writes is not used", "is writes meant?")
        doubt = next((said for said in settings.notices if any(word in said for word in wrong)), None)
        forbids = bool(settings.writes.get("forbid_exposed_sqlite", False))
        return cls(forbids, settings.origins["writes"], doubt)

    def refusal(self) -> StoreError | None:
        """Why nothing may be written by this policy now; None when something may."""
        if self.doubt is not None:
            return StoreError(
                "It is not known what the configuration says about writing, so nothing is written.",
                code="policy-unread",
                expected="a configuration that can be read",
                observed=self.doubt,
                remedy="Mend the configuration (store-inspector config show says what is wrong with it).",
            )
        exposed = exposed_version()
        if self.forbid_exposed_sqlite and exposed is not None:
            return StoreError(
                "The configuration forbids writing under a SQLite that has the WAL-reset race.",
                code="writes-forbidden",
                where=self.origin,
                expected="SQLite 3.51.3, 3.50.7 or 3.44.6, or one after them",
                observed=f"SQLite {exposed}",
                remedy="Run this program with a SQLite that has the fix. The setting is "
                "forbid_exposed_sqlite of [writes].",
            )
        return None


def exposed_version() -> str | None:
    """The version of the linked SQLite when it has the WAL-reset race; None when it has not."""
    import sqlite3

    from persistence.lineage.exposure import exposed_to_wal_reset

    exposed = exposed_to_wal_reset(sqlite3.sqlite_version_info)
    return sqlite3.sqlite_version if exposed else None
