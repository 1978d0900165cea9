"""Connecting to a PostgreSQL server: what its URL says (P1).

`sslmode` and what goes with it are taken out of the URL before the driver sees it, and options only libpq
knows are left out and said. No message repeats the URL, so that no password is in one.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from persistence.engines.server_faults import server_fault
from persistence.errors import StoreConnectionError
from persistence.records import Notice

if TYPE_CHECKING:
    import asyncpg

    from persistence.location import StoreLocation

__all__ = ["SSL_MODES", "Address", "address", "connect", "driver_url"]

SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
"""What `sslmode` may be, from least to most; `require` encrypts without verifying."""

CONNECT_WITHIN = 10.0
"""Seconds a server has to let us in."""

_SSL = ("sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword", "sslcrl")
# What libpq takes in a URL and the driver would send to the server as a setting of its own.
_LIBPQ_ONLY = (
    "connect_timeout", "channel_binding", "gssencmode", "keepalives", "keepalives_idle",
    "keepalives_interval", "keepalives_count", "tcp_user_timeout", "sslcompression", "requiressl",
    "requirepeer", "ssl_min_protocol", "require_auth", "fallback_application_name", "load_balance_hosts",
    "prepared_statement_cache_size", "prepared_statement_name_func", "async_fallback",
)  # fmt: skip


class Address(NamedTuple):
    """Where a server is: the URL the driver is given, how its connection is secured, what was left out.

    `secured` is None where the URL says nothing (the driver prefers TLS where the server has it), False for
    none, a word the driver takes, or a context.
    """

    dsn: str
    secured: ssl.SSLContext | str | bool | None = None
    notices: tuple[Notice, ...] = ()

    def arguments(self) -> dict[str, Any]:
        """What the driver's `connect` is given."""
        return {"dsn": self.dsn} if self.secured is None else {"dsn": self.dsn, "ssl": self.secured}


def address(location: StoreLocation) -> Address:
    """The address a location names. StoreConnectionError for TLS options that mean nothing."""
    dsn, taken, notices = driver_url(location.url or "")
    return Address(dsn, _secured(taken, location.display), notices)


def driver_url(url: str) -> tuple[str, dict[str, str], tuple[Notice, ...]]:
    """The URL as the driver reads it, the TLS options taken out of it, and notices of what is not used."""
    head, _, query = ("postgresql" + url[url.index("://") :] if "://" in url else url).partition("?")
    kept: list[str] = []
    left: list[str] = []
    taken: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        name, given, value = part.partition("=")
        if name in _SSL and given:
            taken[name] = unquote(value)
        else:
            (left if name in _LIBPQ_ONLY or not given else kept).append(part)
    notices = tuple(
        Notice("url-option", f"{part.partition('=')[0]} in the URL is not used here.") for part in left
    )
    return head + ("?" + "&".join(kept) if kept else ""), taken, notices


def _secured(taken: dict[str, str], where: str) -> ssl.SSLContext | str | bool | None:
    mode = taken.get("sslmode")
    if mode is None:
        return None
    if mode not in SSL_MODES:
        raise StoreConnectionError(
            "The URL's sslmode is none that is known.",
            code="bad-connection-options",
            where=where,
            expected=", ".join(SSL_MODES),
            observed=mode[:40],
            remedy="require encrypts without verifying; verify-full also verifies the server's name.",
        )
    if mode in ("disable", "allow", "prefer"):
        return False if mode == "disable" else mode
    try:
        context = ssl.create_default_context(cafile=_file(taken.get("sslrootcert"), "root.crt"))
        if (crl := _file(taken.get("sslcrl"), "root.crl")) is not None:
            context.load_verify_locations(crl)
            context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
        if (certificate := _file(taken.get("sslcert"), "postgresql.crt")) is not None:
            key = _file(taken.get("sslkey"), "postgresql.key")
            context.load_cert_chain(certificate, key, taken.get("sslpassword"))
    except (OSError, ssl.SSLError) as error:
        raise StoreConnectionError(
            "A certificate the URL names could not be read.",
            code="bad-connection-options",
            where=where,
            observed=error.strerror or type(error).__name__,
            remedy="See sslrootcert, sslcert and sslkey of the URL; they mean what libpq's do.",
        ) from None
    context.check_hostname = mode == "verify-full"
    if mode == "require":
        context.verify_mode = ssl.CERT_NONE
    return context


def _file(named: str | None, usual: str) -> str | None:
    """The file named, else the one libpq looks for, else None."""
    if named:
        return named
    place = Path("~/.postgresql").expanduser() / usual
    return str(place) if place.is_file() else None


async def connect(location: StoreLocation, *, settings: dict[str, str] | None = None) -> asyncpg.Connection:
    """A connection to the database a location names. Raises the typed errors of `server_faults`."""
    import asyncpg

    named = {"application_name": "store-inspector", **(settings or {})}
    arguments = address(location).arguments()
    try:
        return await asyncpg.connect(**arguments, server_settings=named, timeout=CONNECT_WITHIN)
    except Exception as error:
        fault = server_fault(error, location.display)
        if fault is None:
            raise
        raise fault from None
