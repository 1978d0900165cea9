"""Every refusal as a type with structured fields, never only a sentence.

A refusal says *what* happened (`code`, `message`), *where* (`where`), what was `expected`, what was
`observed`, and what the person can do next (`remedy`). The command line, the screens and the JSON
answers (DESIGN 10) all show these same fields. A remedy never advises deleting or rebuilding anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

__all__ = [
    "ArtifactPathError",
    "BusyError",
    "CancelledReadError",
    "ConstraintError",
    "CopyRefusedError",
    "DeadlineError",
    "ForeignLineageError",
    "LineageRefusal",
    "LocationError",
    "LostRaceError",
    "MissingTableError",
    "NoSuchRowError",
    "NotAStoreError",
    "ProfileError",
    "ReadOnlyStoreError",
    "SchemaApplicationError",
    "SchemaTooNewError",
    "StateCompatibilityRefused",
    "StoreConnectionError",
    "StoreDamagedError",
    "StoreError",
    "StoreMissingError",
    "StoreMovedError",
    "StorePermissionError",
    "TransitionRejectedError",
    "UnreadableStoreError",
    "UnreadableValueError",
    "UnrecognizedStoreError",
    "ValueRefusedError",
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

    def after(self, committed: Iterable[str]) -> Self:
        """The same error, met after these were committed: it names them, and what it says of nothing
        written is said of its own operation alone. One that names what was committed stays as it is."""
        before = tuple(committed)
        if before and not self.committed:
            self.committed = before
            self.message = _of_this_alone(self.message)
            self.remedy = None if self.remedy is None else _of_this_alone(self.remedy)
            self.args = (self.message, *self.args[1:])
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, dict(self.__dict__))


def _of_this_alone(words: str) -> str:
    for done in ("written", "done"):
        for nothing in ("Nothing", "nothing"):
            words = words.replace(f"{nothing} was {done}", f"{nothing} of this operation was {done}")
    return words


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


class ArtifactPathError(StoreError, ValueError):
    """An expected-file contract has a fault; it names the entry, and no file was looked at (ADR-0055 D5)."""

    default_code = "artifact-path"


class ValueRefusedError(StoreError, ValueError):
    """A value the store could not keep as it is (NaN, a NUL, a lone surrogate, a number too wide, a kind
    the column has no room for), or an argument outside its vocabulary. Nothing was written."""

    default_code = "value-refused"


class NoSuchRowError(StoreError, LookupError):
    """A write names a row that is not there. Nothing was written."""

    default_code = "no-such-row"


class ConstraintError(StoreError):
    """A key, check or foreign key of the store refused the row; the transaction was rolled back."""

    default_code = "constraint"


class LostRaceError(StoreError, RuntimeError):
    """Another writer got there first, as often as this one tried. Nothing was written."""

    default_code = "lost-race"


class TransitionRejectedError(StoreError):
    """A status change that its entity's rules do not allow; an admin event tells of the attempt."""

    default_code = "transition-rejected"


class SchemaApplicationError(StoreError):
    """The schema could not be applied; it is one transaction, so the store is as it was."""

    default_code = "schema-not-applied"


class ProfileError(StoreError, ValueError):
    """A compatibility profile that cannot be used: not found, not told apart or wrong in itself (D2).

    Nothing was opened. `faults` are all there are in its document, as (line or None, key, message).
    """

    default_code = "profile-invalid"

    def __init__(
        self, message: str, *, faults: tuple[tuple[int | None, str, str], ...] = (), **fields: Any
    ) -> None:
        super().__init__(message, **fields)
        self.faults = faults

    def as_dict(self) -> dict[str, Any]:
        faults = [{"line": line, "key": key, "message": message} for line, key, message in self.faults]
        return {**super().as_dict(), "faults": faults}


class LineageRefusal(StoreError):
    """A writable open refused by whose store it is (ADR-0128 D7); the store is as it was.

    `where` is the store, `observed` what was seen, `rule` the name of the rule that refused. `lineage` and
    `version` are the values of its rows as they are (None: no such row, or not read).
    """

    def __init__(
        self,
        message: str,
        *,
        rule: str | None = None,
        lineage: Any = None,
        version: Any = None,
        **fields: Any,
    ) -> None:
        super().__init__(message, **fields)
        self.rule = rule
        self.lineage = lineage
        self.version = version

    def as_dict(self) -> dict[str, Any]:
        said = {"rule": self.rule, "lineage": _plain(self.lineage), "version": _plain(self.version)}
        return {**super().as_dict(), **said}


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else repr(value)


class ForeignLineageError(LineageRefusal):
    """The store's lineage row names another application, which alone may migrate it."""

    default_code = "foreign-lineage"


class UnrecognizedStoreError(LineageRefusal):
    """Nothing the store says makes it one that this lineage's own history produced."""

    default_code = "unrecognized-store"


class UnreadableStoreError(LineageRefusal):
    """What lies beside the file could not be read or contradicts it, so its own rows decide nothing."""

    default_code = "unreadable-store"


class SchemaTooNewError(LineageRefusal):
    """The store is intact, and its schema is a newer one than this program writes."""

    default_code = "schema-too-new"


class StateCompatibilityRefused(LineageRefusal):
    """Compatibility mode does not do this (ADR-0128 D6): `operation`, `profile`, `reason`, and
    in `committed` the phases that were committed before, if any."""

    default_code = "compatibility-refused"

    def __init__(
        self, message: str, *, operation: str | None = None, profile: str | None = None, **fields: Any
    ) -> None:
        super().__init__(message, **fields)
        self.operation = operation
        self.profile = profile

    @property
    def reason(self) -> str:
        """Why, in a sentence: the message."""
        return self.message

    def as_dict(self) -> dict[str, Any]:
        return {**super().as_dict(), "operation": self.operation, "profile": self.profile}
