"""What a STORE argument means: a path, `~`, a `file:` URI, a database URL, the environment, the default.

Paths stay paths (DESIGN 3.1): the exact bytes the user gave, made absolute but never resolved, so that
the file opened is the file named. Identity (device and inode) is asked of the file system, not of text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from persistence.errors import LocationError

__all__ = ["StoreLocation", "default_path", "locate", "sqlite_uri"]

_SQLITE_SCHEMES = ("sqlite", "sqlite+aiosqlite", "sqlite+pysqlite")
_POSTGRES_SCHEMES = ("postgres", "postgresql", "postgresql+asyncpg")
_DRIVER_OPTIONS = (
    "uri", "timeout", "isolation_level", "detect_types", "check_same_thread", "cached_statements",
)  # fmt: skip
_TRUE = ("true", "yes", "on", "y", "t", "1")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.\-]*)://")
_LOOKS_LIKE_CREDENTIALS = re.compile(r"^[^/\s:@]+:[^/\s@]*@[^/\s]+")


@dataclass(frozen=True, slots=True)
class StoreLocation:
    """Where a store is.

    `path` is set for SQLite (absolute, as bytes), `url` for PostgreSQL (with its credentials: never shown).
    `display` is what may be shown: credentials masked, the home directory as the user has it. `origin` says
    which text decided: the argument, an environment variable, or the default.
    """

    backend: Literal["sqlite", "postgresql"]
    display: str
    origin: str
    path: bytes | None = None
    url: str | None = field(default=None, repr=False)
    notices: tuple[str, ...] = ()

    @property
    def fspath(self) -> str:
        """The path as the file system encoding has it (`surrogateescape`)."""
        if self.path is None:
            raise LocationError("A server database has no path.", where=self.display)
        return os.fsdecode(self.path)

    @property
    def name(self) -> str:
        """The last part of the path, or the database's name."""
        if self.path is not None:
            return os.fsdecode(os.path.basename(self.path.rstrip(b"/")))
        from urllib.parse import urlsplit  # 2 ms, for servers alone

        return urlsplit(self.url or "").path.lstrip("/") or "postgres"


def default_path(environ: Mapping[str, str]) -> str:
    """`$LIONAGI_HOME/state.db`, else `~/.lionagi/state.db`."""
    home = environ.get("LIONAGI_HOME") or os.path.join("~", ".lionagi")
    return os.path.join(home, "state.db")


def locate(
    store: str | bytes | os.PathLike[str] | os.PathLike[bytes] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
) -> StoreLocation:
    """The location a STORE argument names; nothing is opened and nothing is created.

    None means `LIONAGI_STATE_DB_URL` (its name in any case), else the default path. Raises LocationError.
    """
    environ = os.environ if environ is None else environ
    if store is None:
        for name, value in environ.items():
            if name.upper() == "LIONAGI_STATE_DB_URL" and value.strip():
                return _from_text(value, f"${name}")
        return _from_path(os.fsencode(default_path(environ)), "default", expand=True)
    if isinstance(store, os.PathLike):
        return _from_path(os.fsencode(store), "argument", expand=False)
    if isinstance(store, bytes):
        return _from_path(store, "argument", expand=True)
    return _from_text(store, "argument")


def _from_text(text: str, origin: str) -> StoreLocation:
    if not text:
        raise LocationError("The store's name is empty.", remedy="Name a file or a database URL.")
    if text == ":memory:":
        raise LocationError(
            "An in-memory database belongs to the process that made it and cannot be looked into.",
            observed=":memory:",
            remedy="Name a file or a database URL.",
        )
    scheme = _SCHEME.match(text)
    if text.startswith("file:"):
        path, notices = _uri_path(text)
        return _from_path(path, origin, expand=False, notices=notices)
    if scheme is None:
        if _LOOKS_LIKE_CREDENTIALS.match(text):
            raise LocationError(
                "This looks like credentials for a server, without the scheme of a database URL.",
                observed=mask(text),
                remedy="Write it as postgresql://user@host/database; a password is best left to PGPASSWORD "
                "or ~/.pgpass. A file of this name is written ./NAME.",
            )
        return _from_path(os.fsencode(text), origin, expand=True)
    word = scheme.group(1).lower()
    if word in _SQLITE_SCHEMES:
        return _from_sqlite_url(text, scheme.end(), origin)
    if word in _POSTGRES_SCHEMES:
        return _from_postgres_url(text, scheme.end(), origin)
    raise LocationError(
        f"No store is kept behind {word}://.",
        observed=mask(text),
        expected="a path, a file: URI, sqlite:/// or postgresql://",
        remedy="Name a SQLite file or a PostgreSQL database.",
    )


def _from_sqlite_url(text: str, start: int, origin: str) -> StoreLocation:
    """The file SQLAlchemy opens for this URL, however it spells the path (ADR-0128 D7).

    Without `uri=true` the part behind the third slash is a path, made absolute by text alone, and `~` is
    an ordinary name; with it, SQLite reads it, as a URI when it begins with `file:`.
    """
    rest = text[start:]
    part, _, query = rest[1:].partition("?")
    if not rest.startswith("/") or not part or part == ":memory:":
        raise LocationError(
            "The SQLite URL names no file.",
            observed=mask(text),
            remedy="sqlite:///relative/path.db or sqlite:////absolute/path.db",
        )
    database = _decoded(part) if "%" in part else part
    options = [tuple(option.partition("=")[::2]) for option in query.split("&") if option]
    wanted = [(name, value) for name, value in options if name not in _DRIVER_OPTIONS]
    if any(name == "uri" and value.lower() in _TRUE for name, value in options):
        name = database + ("?" + "&".join("=".join(option) for option in sorted(wanted)) if wanted else "")
        if name.startswith("file:"):
            path, notices = _uri_path(name)
            return _from_path(path, origin, expand=False, notices=notices)
        return _from_path(os.fsencode(name), origin, expand=False)
    notices = tuple(f"{name} in the URL is not used: the store is opened read-only" for name, _ in wanted)
    if database.startswith("~"):
        notices += ("~ in a URL is a name like any other, not the home directory",)
    return _from_path(os.path.abspath(os.fsencode(database)), origin, expand=False, notices=notices)


def _decoded(database: str) -> str:
    """The database part of a URL with its %-escapes as the installed SQLAlchemy reads them: from 2.1 on it
    decodes them, before it took them as they are."""
    from importlib.metadata import PackageNotFoundError, version  # 20 ms, for such URLs alone
    from urllib.parse import unquote

    try:
        release = tuple(int(number) for number in version("sqlalchemy").split(".")[:2])
    except (PackageNotFoundError, ValueError):
        return unquote(database)
    return unquote(database) if release >= (2, 1) else database


def _from_postgres_url(text: str, start: int, origin: str) -> StoreLocation:
    from urllib.parse import urlsplit

    url = "postgresql+asyncpg://" + text[start:]
    try:
        parts = urlsplit(url)
        if "," not in parts.netloc:  # several hosts are the driver's to read
            _ = parts.port
    except ValueError as error:
        raise LocationError(
            "The database URL cannot be read.",
            observed=mask(text),
            expected=None if "Port" in str(error) else str(error),
            remedy="Characters like @, /, # and % in a user name or password are written %40, %2F, %23, %25.",
        ) from None
    return StoreLocation("postgresql", mask("postgresql://" + text[start:]), origin, url=url)


def _uri_path(uri: str) -> tuple[bytes, tuple[str, ...]]:
    """The path of a `file:` URI as SQLite reads it, and what of the URI is not used."""
    rest = uri[len("file:") :]
    rest, _, _fragment = rest.partition("#")
    rest, _, query = rest.partition("?")
    options = [part for part in query.split("&") if part]
    if rest.startswith("//"):
        authority, slash, tail = rest[2:].partition("/")
        if authority not in ("", "localhost"):
            raise LocationError(
                "A file: URI that names another host cannot be opened.",
                observed=uri,
                expected="file:/path, file:///path or file:relative",
                remedy="Leave the host out.",
            )
        rest = slash + tail
    from urllib.parse import unquote_to_bytes

    path = unquote_to_bytes(os.fsencode(rest)).partition(b"\0")[0]
    if not path or path == b":memory:" or "mode=memory" in options or "vfs=memdb" in options:
        raise LocationError("The file: URI names no file.", observed=uri, remedy="Name a file.")
    unused = [part for part in options if part not in ("mode=ro", "uri=true")]
    return path, tuple(f"{part} in the URI is not used: the store is opened read-only" for part in unused)


def _from_path(path: bytes, origin: str, *, expand: bool, notices: tuple[str, ...] = ()) -> StoreLocation:
    if not path:
        raise LocationError("The store's name is empty.", remedy="Name a file or a database URL.")
    if b"\0" in path:
        raise LocationError("A path cannot hold a NUL.", remedy="Name a file.")
    given = path
    if expand:
        path = os.path.expanduser(path)
    if not os.path.isabs(path):
        # Joined, not normalized: `link/../x` is what the kernel makes of it, not what text makes of it.
        path = os.path.join(os.getcwdb(), path)
    home = os.fsencode(os.path.expanduser("~"))
    shown = given
    if home not in (b"", b"/") and path.startswith(home + b"/"):
        shown = b"~" + path[len(home) :]
    return StoreLocation("sqlite", os.fsdecode(shown), origin, path=path, notices=notices)


def mask(url: str) -> str:
    """The URL with its password, and whatever its query may hold of secrets, replaced by `***`.

    A password that should have been escaped and was not (`/`, `?`, `#`, `@` in it) is hidden all the same;
    then more may be hidden than the password.
    """
    head, sep, rest = url.partition("://")
    if not sep:
        head, rest = "", url
    before = rest.partition("?")[0]
    if "@" in before:
        end = before.rindex("@")
    elif re.match(r"[^/?#]*:(?!\d*(?:[/?#,]|$))", rest):  # what should be a port is none
        end = rest.rfind("@") if "@" in rest else len(rest)
    else:
        end = -1
    if end >= 0:
        user, colon, _password = rest[:end].partition(":")
        rest = f"{user}{':***' if colon else ''}{rest[end:]}"
    rest = re.sub(r"(?i)([?&#][\w.\-]*(?:pass|pwd|secret|token|key|user)[\w.\-]*=)[^&#]*", r"\1***", rest)
    return f"{head}{sep}{rest}"


def sqlite_uri(path: bytes, query: str, *, windows: bool = os.name == "nt") -> str:
    """The `file:` URI SQLite reads back to exactly these bytes, with `query` behind it.

    Every byte but unreserved ones and `/` is escaped, so `?`, `#`, `%`, spaces and bytes that are not
    UTF-8 stay what they are; a path that begins with `//` is kept from being read as a host. A Windows
    path is written with slashes, its drive behind one (https://www.sqlite.org/uri.html, section 3.1).
    """
    drive = ""
    if windows:
        path = path.replace(b"\\", b"/")
        if path[1:2] == b":":
            drive, path = f"/{path[:1].decode()}:", path[2:]
    text = drive + "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in path)
    if text.startswith("/"):
        text = "//" + text
    return f"file:{text}?{query}"
