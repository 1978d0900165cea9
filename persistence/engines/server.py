"""Connecting to a PostgreSQL server: what its URL says (P1).

`sslmode` and what goes with it are taken out of the URL before the driver sees it. No message repeats the
URL, so that no password is in one.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from persistence.engines.server_faults import server_fault
from persistence.errors import LocationError

if TYPE_CHECKING:
    import asyncpg

    from persistence.location import StoreLocation

__all__ = ["SSL_MODES", "Address", "address", "connect"]

SSL_MODES = ("disable", "require", "verify-ca", "verify-full")


class Address:
    """Where a server is: the URL the driver is given, and how its connection is secured.

    `ssl` is None where the URL says nothing (the driver prefers TLS where the server has it), False for
    none, or a context.
    """

    __slots__ = ("dsn", "ssl")

    def __init__(self, dsn: str, secured: ssl.SSLContext | bool | None) -> None:
        self.dsn = dsn
        self.ssl = secured

    def arguments(self) -> dict[str, Any]:
        return {"dsn": self.dsn} if self.ssl is None else {"dsn": self.dsn, "ssl": self.ssl}


def address(location: StoreLocation) -> Address:
    """The address a location names. LocationError for an sslmode that is none."""
    parts = urlsplit(location.url or "")
    kept, mode, root = [], None, None
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name == "sslmode":
            mode = value
        elif name == "sslrootcert":
            root = value
        else:
            kept.append((name, value))
    dsn = urlunsplit(("postgresql", parts.netloc, parts.path, urlencode(kept), ""))
    return Address(dsn, _secured(mode, root, location.display))


def _secured(mode: str | None, root: str | None, where: str) -> ssl.SSLContext | bool | None:
    if mode is None:
        return None
    if mode not in SSL_MODES:
        raise LocationError(
            "The URL's sslmode is none that is known.",
            where=where,
            expected=", ".join(SSL_MODES),
            observed=mode[:40],
            remedy="require encrypts without verifying; verify-full also verifies the server's name.",
        )
    if mode == "disable":
        return False
    try:
        context = ssl.create_default_context(cafile=unquote(root) if root else None)
    except OSError as error:
        raise LocationError(
            "The URL's sslrootcert could not be read.", where=where, observed=error.strerror or str(error)
        ) from None
    context.check_hostname = mode == "verify-full"
    if mode == "require":
        context.verify_mode = ssl.CERT_NONE
    return context


async def connect(location: StoreLocation, *, settings: dict[str, str] | None = None) -> asyncpg.Connection:
    """A connection to the database a location names. Raises the typed errors of `server_faults`."""
    import asyncpg

    named = {"application_name": "store-inspector", **(settings or {})}
    try:
        return await asyncpg.connect(**address(location).arguments(), server_settings=named, timeout=10)
    except Exception as error:
        fault = server_fault(error, location.display)
        if fault is None:
            raise
        raise fault from None
