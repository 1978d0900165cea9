"""What can be opened without typing: the demo's stores, the recent ones, the default one, one a `.env` names.

Everything here looks with `stat` and reads this program's own files; no store is opened. Call it on a thread:
a directory may be on a network that answers slowly.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from inspector import recents

if TYPE_CHECKING:
    from inspector.demo.gallery import Card
    from inspector.recents import Recent
    from persistence.location import StoreLocation

__all__ = ["Choices", "Named", "complete", "gather", "named_by_dotenv"]

DOTENV = (".env", ".env.local", ".secrets.env")
"""The files a lionagi program reads its settings from; this program reads none of its own from them."""

SHOWN = 200  # names of a directory that are offered at most


@dataclass(frozen=True, slots=True)
class Named:
    """A store something names: the default location, or a `.env` file (`by` says which)."""

    location: StoreLocation
    by: str
    there: bool


@dataclass(frozen=True, slots=True)
class Choices:
    cards: tuple[Card, ...]
    recents: tuple[tuple[Recent, bool], ...]  # (it, whether it is still there)
    default: Named | None
    dotenv: Named | None


def gather(gallery: Path | None = None) -> Choices:
    """Everything there is to choose from."""
    from inspector.demo.gallery import read_index
    from persistence.errors import LocationError
    from persistence.location import locate

    default = None
    try:
        location = locate(None)
    except LocationError:
        pass  # $LIONAGI_STATE_DB_URL says something that is no store; opening it would say what
    else:
        default = Named(location, location.origin, _there(location))
    return Choices(
        cards=read_index(gallery) if gallery is not None else (),
        recents=tuple((recent, recent.is_there) for recent in recents.load()),
        default=default,
        dotenv=_here(),
    )


def _here() -> Named | None:
    try:
        return named_by_dotenv(Path.cwd())
    except OSError:  # the working directory is gone
        return None


def named_by_dotenv(folder: Path) -> Named | None:
    """The store that a `.env` file of this directory names, if one does; the file is not otherwise used."""
    from persistence.errors import LocationError
    from persistence.location import default_path, locate

    for name in DOTENV:
        try:
            with (folder / name).open("rb") as file:
                text = file.read(65_536).decode("utf-8", "replace")
        except OSError:
            continue
        values = dict(_assignments(text))
        store = values.get("LIONAGI_STATE_DB_URL")
        if not store and values.get("LIONAGI_HOME"):
            store = default_path(values)
        if store:
            try:
                location = locate(store)
            except LocationError:
                continue
            return Named(location, name, _there(location))
    return None


_ASSIGNMENT = re.compile(
    r"""^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^#\n]*?))\s*(?:\#.*)?$""",
    re.MULTILINE,
)


def _assignments(text: str) -> Iterator[tuple[str, str]]:
    for name, double, single, plain in _ASSIGNMENT.findall(text):
        yield name.upper(), double or single or plain


def _there(location: StoreLocation) -> bool:
    return location.path is None or os.path.exists(location.path)  # noqa: PTH110 (bytes)


def complete(text: str, folder: str | None = None) -> tuple[str, Sequence[str]]:
    """What a half-typed path can become: (the path as far as it is certain, the names it can go on with).

    Names of directories end in `/`. Only directories are read, no file is opened. Sidecars are not offered,
    nor names that cannot be typed (control characters, bytes that are no UTF-8): the field shows what it
    holds as it is.
    """
    head, slash, part = text.rpartition("/")
    where = os.path.expanduser(head + slash) or folder or "."  # noqa: PTH111 (a `~` inside a name stays)
    found: list[str] = []
    try:
        with os.scandir(where) as entries:
            for entry in entries:
                name = entry.name
                hidden = name.startswith(".") and not part.startswith(".")
                sidecar = name.endswith(("-wal", "-shm", "-journal"))
                if name.startswith(part) and name.isprintable() and not hidden and not sidecar:
                    found.append(f"{name}/" if entry.is_dir() else name)
    except (OSError, ValueError):
        return text, ()
    found.sort(key=lambda name: (not _looks_like_a_store(name), name.lower()))
    certain = os.path.commonprefix(found)  # noqa: RUF071 (letters, as a shell completes)
    return f"{head}{slash}{certain}" if len(certain) > len(part) else text, found[:SHOWN]


def _looks_like_a_store(name: str) -> bool:
    return name.endswith((".db", ".sqlite", ".sqlite3", ".db3"))
