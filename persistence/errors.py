"""Every refusal as a type with structured fields, never only a sentence.

A refusal says *what* happened (`code`, `message`), *where* (`where`), what was `expected`, what was
`observed`, and what the person can do next (`remedy`). The command line, the screens and the JSON
answers (DESIGN 10) all show these same fields. A remedy never advises deleting or rebuilding anything.
"""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = [
    "BusyError",
    "CancelledReadError",
    "CopyRefusedError",
    "DeadlineError",
    "LocationError",
    "MissingTableError",
    "NotAStoreError",
    "ReadOnlyStoreError",
    "StoreConnectionError",
    "StoreDamagedError",
    "StoreError",
    "StoreMissingError",
    "StoreMovedError",
    "StorePermissionError",
    "UnreadableValueError",
]


class StoreError(Exception):
    """A typed refusal or failure of the persistence layer (DESIGN 2 and 10).

    `exit_status` is what a command exits with when it ends in this error: 2 usage, 3 a typed refusal,
    4 no such store, no connection or busy. `code` is the stable word by which people look it up
    (`store-inspector explain CODE`); each concrete error sets a default and may narrow it.
    """

    default_code: ClassVar[str] = "store-error"
    exit_status: ClassVar[int] = 3

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        where: str | None = None,
        expected: str | None = None,
        observed: str | None = None,
        remedy: str | None = None,
        committed: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.where = where
        self.expected = expected
        self.observed = observed
        self.remedy = remedy
        self.committed = committed

    def as_dict(self) -> dict[str, Any]:
        """The shape every JSON answer gives a refusal (DESIGN 10)."""
        return {
            "type": type(self).__name__,
            "code": self.code,
            "message": self.message,
            "where": self.where,
            "expected": self.expected,
            "observed": self.observed,
            "remedy": self.remedy,
            "committed": list(self.committed),
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, dict(self.__dict__))


def _rebuild(kind: type[StoreError], message: str, state: dict[str, Any]) -> StoreError:
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    error.__dict__.update(state)
    return error


class LocationError(StoreError, ValueError):
    """The STORE argument does not name a store: nothing was opened."""

    default_code = "bad-location"
    exit_status = 2


class StoreMissingError(StoreError):
    """There is no such store; nothing was created, nor any folder."""

    default_code = "no-such-store"
    exit_status = 4


class StoreConnectionError(StoreError):
    """A database server could not be reached, or turned the connection away."""

    default_code = "no-connection"
    exit_status = 4


class BusyError(StoreError):
    """Another program held the store past the deadline. Busy, never corrupt."""

    default_code = "busy"
    exit_status = 4


class NotAStoreError(StoreError):
    """The path is not a SQLite database: a directory, a device, text, an archive, another format."""

    default_code = "not-a-database"


class StorePermissionError(StoreError):
    """The operating system does not let this user read the store."""

    default_code = "no-permission"


class StoreDamagedError(StoreError):
    """SQLite could not make sense of the file, or of a part of it."""

    default_code = "damaged"


class StoreMovedError(StoreError):
    """The store changed under every try to read it; each try was given up rather than shown torn."""

    default_code = "store-moving"
    exit_status = 4


class CopyRefusedError(StoreError):
    """A private copy was needed to read the store and could not be made (no room, not asked for)."""

    default_code = "no-copy"


class DeadlineError(StoreError):
    """A read ran into its deadline and was interrupted; the store is as it was."""

    default_code = "deadline"
    exit_status = 4


class CancelledReadError(StoreError):
    """A read was interrupted because its reader asked for that."""

    default_code = "cancelled"


class MissingTableError(StoreError):
    """The store has no such table or view (an older release, or another application's store)."""

    default_code = "no-such-table"


class UnreadableValueError(StoreError):
    """A stored value is not what it has to be, and the answer's shape has no place to mark it in."""

    default_code = "unreadable-value"


class ReadOnlyStoreError(StoreError):
    """A write was asked of a store that is open read-only; nothing was done (DESIGN 3.3)."""

    default_code = "read-only"
