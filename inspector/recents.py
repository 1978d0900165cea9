"""The stores opened last: what they were, how big, and how it went. Passwords are never kept.

One JSON file in the state directory, replaced in one step. A file that cannot be read or written means that
nothing is remembered, never that a store does not open.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from inspector import places

if TYPE_CHECKING:
    from persistence.location import StoreLocation

__all__ = ["Recent", "forget", "load", "remember"]


@dataclass(frozen=True, slots=True)
class Recent:
    """A store that was opened. `store` is the argument that opens it again, without any password.

    `kind` and `verdict` are words for people (`lionagi 4`, `opens`); `size` is bytes, `opened` seconds.
    """

    store: str
    display: str
    backend: str
    kind: str
    size: int | None
    verdict: str
    opened: float

    @property
    def is_there(self) -> bool:
        """Whether the file is still there, by `stat` alone; a server's store counts as there."""
        return self.backend != "sqlite" or os.path.exists(self.store)  # noqa: PTH110 (odd bytes)


def load() -> tuple[Recent, ...]:
    """The remembered stores, newest first."""
    try:
        found = json.loads(_file().read_bytes())
    except (OSError, ValueError, RecursionError):
        return ()
    rows = found.get("stores") if isinstance(found, dict) else None
    read = (_read(row) for row in rows) if isinstance(rows, list) else ()
    return tuple(recent for recent in read if recent is not None)


def remember(
    location: StoreLocation, *, kind: str, size: int | None, verdict: str, limit: int = 20
) -> tuple[Recent, ...]:
    """Puts a store first among the remembered ones. Returns them as they now are."""
    if limit <= 0:
        return load()
    store = location.fspath if location.path is not None else _without_secrets(location.url or "")
    new = Recent(store, location.display, location.backend, kind, size, verdict, time.time())
    kept = (new, *(recent for recent in load() if recent.store != store))[:limit]
    _save(kept)
    return kept


def forget(store: str) -> tuple[Recent, ...]:
    """Takes one store out of the remembered ones; the store itself is left alone."""
    kept = tuple(recent for recent in load() if recent.store != store)
    _save(kept)
    return kept


def _file() -> Path:
    return places.state_dir() / "recents.json"


def _save(recents: Iterable[Recent]) -> None:
    body = {"format": 1, "stores": [asdict(recent) for recent in recents]}
    try:
        # ASCII, so that a path which is not UTF-8 survives as the surrogates it was decoded to.
        places.write_atomically(_file(), json.dumps(body, indent=1).encode("ascii") + b"\n")
    except OSError:
        return  # an unwritable directory never blocks


def _read(row: Any) -> Recent | None:
    if not isinstance(row, dict):
        return None
    texts = {name: row.get(name) for name in ("store", "display", "backend", "kind", "verdict")}
    size, opened = row.get("size"), row.get("opened")
    if not all(isinstance(text, str) for text in texts.values()) or not texts["store"]:
        return None
    if not isinstance(size, int | None) or not isinstance(opened, int | float):
        return None
    recent = Recent(**texts, size=size, opened=float(opened))  # type: ignore[arg-type]
    # An older file, or somebody's editor, may hold what this program would not have written.
    return replace(recent, store=_without_secrets(recent.store)) if "://" in recent.store else recent


def _without_secrets(url: str) -> str:
    """The URL without its password and without what its query may hold of secrets."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    credentials, at, host = parts.netloc.rpartition("@")
    query = re.sub(r"(?i)(^|&)(password|sslpassword|token|secret)=[^&]*", "", parts.query).lstrip("&")
    netloc = credentials.partition(":")[0] + at + host
    scheme = "postgresql" if parts.scheme.startswith("postgres") else parts.scheme
    return urlunsplit((scheme, netloc, parts.path, query, ""))
