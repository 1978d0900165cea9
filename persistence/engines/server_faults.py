"""What went wrong with a PostgreSQL server, as the typed errors people are told; credentials never shown."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

from persistence.errors import (
    BusyError,
    DeadlineError,
    MissingTableError,
    ReadOnlyStoreError,
    StoreConnectionError,
    StoreError,
    StoreMovedError,
    StorePermissionError,
)

__all__ = ["server_fault", "sqlstate"]


def _chain(error: BaseException) -> list[BaseException]:
    """The error and what it was made of, SQLAlchemy's wrappers included."""
    found: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in found:
        found.append(following)
        following = getattr(following, "orig", None) or following.__cause__
    return found


def sqlstate(error: BaseException) -> str:
    """The server's five-character code of an error; empty when it has none."""
    return next((str(code) for part in _chain(error) if (code := getattr(part, "sqlstate", None))), "")


def server_fault(error: BaseException, where: str, *, seconds: float | None = None) -> StoreError | None:
    """The typed error for what a server, its driver or the network answered; None: it is none of theirs."""
    chain = _chain(error)
    for part in chain:
        if isinstance(part, StoreError):
            return part
    code = sqlstate(error)
    inner = chain[-1]
    found: dict[str, Any] = {
        "where": where,
        "observed": f"{str(inner).splitlines()[0] if str(inner) else type(inner).__name__}"
        + (f" ({code})" if code else ""),
    }
    if code:
        return _by_state(code, found, seconds)
    if isinstance(inner, TimeoutError | asyncio.TimeoutError):
        return StoreConnectionError(
            "The server did not answer in time.",
            code="no-answer",
            remedy="See that the host and port are right and that nothing between drops the connection.",
            **found,
        )
    if isinstance(inner, ssl.SSLError):
        return StoreConnectionError(
            "No encrypted connection to the server could be made.",
            code="no-encryption",
            remedy="See sslmode and sslrootcert of the URL; they mean what libpq's do.",
            **found,
        )
    if isinstance(inner, OSError):
        return StoreConnectionError(
            "The server could not be reached.",
            remedy="See that it runs, that host and port are right, and that no firewall is between.",
            **found,
        )
    return _by_driver(inner, found)


def _by_driver(inner: BaseException, found: dict[str, Any]) -> StoreError | None:
    import asyncpg

    if isinstance(inner, asyncpg.exceptions.ClientConfigurationError):
        return StoreConnectionError(
            "The database URL cannot be used.", code="bad-connection-options", **found
        )
    if isinstance(inner, asyncpg.DataError) or "invalid input for query argument" in str(inner):
        return StoreError("A value cannot be given to the server.", code="bad-parameter", **found)
    if isinstance(inner, asyncpg.InterfaceError | asyncpg.InternalClientError):
        return StoreConnectionError(
            "The connection to the server was lost.",
            code="connection-lost",
            remedy="Refresh to connect again.",
            **found,
        )
    return None


def _by_state(code: str, found: dict[str, Any], seconds: float | None) -> StoreError:
    if code in ("28P01", "28000"):
        return StoreConnectionError(
            "The server did not accept the user or the password.",
            code="authentication",
            remedy="Leave the password to PGPASSWORD or ~/.pgpass; in a URL @, /, # and % are written %40, "
            "%2F, %23 and %25.",
            **found,
        )
    if code == "3D000":
        return StoreConnectionError(
            "The server has no such database.",
            code="no-such-database",
            remedy="See the last part of the URL.",
            **found,
        )
    if code == "42501":
        return StorePermissionError(
            "This user may not read that on the server.",
            remedy="The owner of the database can GRANT SELECT, and USAGE on its schema.",
            **found,
        )
    if code in ("42P01", "3F000"):
        return MissingTableError("The store has no such table.", **found)
    if code == "42703":
        return MissingTableError("The store has no such column.", code="no-such-column", **found)
    if code == "57014":
        shown = "its time" if seconds is None else f"{seconds:g} s"
        return DeadlineError(
            f"The read took longer than {shown} and was ended. The store is as it was.",
            remedy="Ask for less, or allow more time.",
            **found,
        )
    if code in ("55P03", "40P01") or code.startswith("53"):
        return BusyError(
            "The server is busy, or somebody holds what was to be read.", remedy="Try again.", **found
        )
    if code == "25006":
        return ReadOnlyStoreError(
            "The store is open for reading only; this statement does more than read.",
            remedy="Ask with a SELECT.",
            **found,
        )
    if code.startswith("40"):
        return StoreMovedError("The store changed under the read.", remedy="Try again.", **found)
    if code == "26000":
        return StoreConnectionError(
            "A pooler between here and the server mixed up prepared statements.",
            code="pooler",
            remedy="Connect to the server itself, or set the pooler to session mode.",
            **found,
        )
    if code.startswith(("08", "57")):
        return StoreConnectionError(
            "The server ended the connection.", code="connection-lost", remedy="Refresh.", **found
        )
    if code.startswith("22"):
        return StoreError("A value cannot be given to the server.", code="bad-parameter", **found)
    return StoreError("The server could not run this statement.", code="bad-query", **found)
