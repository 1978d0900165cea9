"""Where profiles are found by name: a path, the user's directory, the shipped catalogue (DECISIONS 6 and 22).

Nothing ever picks one: a name that means two documents is refused, and both are named.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persistence.errors import ProfileError
from persistence.profiles.document import NAME, parse
from persistence.profiles.records import Profile

__all__ = [
    "SHIPPED",
    "Entry",
    "entries",
    "find",
    "load_profile",
    "names_a_profile",
    "read_text",
    "user_directory",
]

SHIPPED = Path(__file__).parent / "shipped"
_LARGEST = 4 * 1024 * 1024
"""Bytes; a document of more describes no profile."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of the catalogue by its head alone: `name` is None, and `why` said, where that has no sense.

    `origin` is `shipped` or `user`, `path` the file.
    """

    path: Path
    origin: str
    name: str | None = None
    version: int | None = None
    lineage: str | None = None
    operations: tuple[str, ...] = ()
    why: str | None = None

    @property
    def identity(self) -> str:
        return self.path.stem if self.name is None else f"{self.name}@{self.version}"


def load_profile(
    name: str | os.PathLike[str], *, directories: Sequence[str | os.PathLike[str]] | None = None
) -> Profile:
    """The profile of a path (anything with a slash, or ending in `.toml`), or of a name or `name@version`.

    Names are looked for in `directories` (None: the user's, `user_directory()`) and in the shipped catalogue.
    Raises ProfileError: not found, found twice, not readable, or wrong in itself.
    """
    path = find(name, directories=directories)
    return parse(read_text(path), str(path))


def find(
    name: str | os.PathLike[str], *, directories: Sequence[str | os.PathLike[str]] | None = None
) -> Path:
    """The path of the document that `load_profile` would read; it need not be there when a path was given."""
    if isinstance(name, os.PathLike) or "/" in name or os.sep in name or name.endswith(".toml"):
        return Path(name).expanduser()
    return _named(name, directories).path


def names_a_profile(name: str) -> bool:
    """Whether a word is taken for a profile where a store could stand as well: it ends in `.toml`, or is the
    name of a document that is found."""
    wanted, at, version = name.partition("@")
    if name.endswith(".toml"):
        return True
    return NAME.match(wanted) is not None and any(
        one.name == wanted and (not at or str(one.version) == version) for one in entries()
    )


def entries(directories: Sequence[str | os.PathLike[str]] | None = None) -> tuple[Entry, ...]:
    """Every document that can be found by name: the user's first, each place in the order of names."""
    places = [user_directory()] if directories is None else [Path(folder) for folder in directories]
    found = [entry for folder in places for entry in _documents(folder, "user")]
    return (*found, *_documents(SHIPPED, "shipped"))


def user_directory() -> Path:
    """Where the user's own profiles are: `profiles` in the configuration directory."""
    if given := os.environ.get("STORE_INSPECTOR_CONFIG_DIR"):
        return Path(given).expanduser() / "profiles"
    if os.name == "posix" and os.uname().sysname == "Linux":
        base = Path(os.environ.get("XDG_CONFIG_HOME", ""))
        return (base if base.is_absolute() else Path("~/.config").expanduser()) / "store-inspector/profiles"
    import platformdirs

    return platformdirs.user_config_path("store-inspector", appauthor=False) / "profiles"


def read_text(path: Path) -> str:
    """The text of a document. Raises ProfileError where there is none, it is no text, or too long for one."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise _unreadable(path, f"more than {_LARGEST:,} bytes")
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise ProfileError(
            "There is no such profile.",
            code="no-such-profile",
            where=str(path),
            remedy="Check the path; `store-inspector profile list` names the profiles found by name.",
        ) from None
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"byte {error.start} is not UTF-8") from error


def _unreadable(path: Path, observed: str) -> ProfileError:
    return ProfileError(
        "The profile cannot be read.",
        code="profile-unreadable",
        where=str(path),
        expected="a TOML document in UTF-8",
        observed=observed,
        remedy="Name the document itself, and see that this user may read it.",
    )


def _named(name: str, directories: Sequence[str | os.PathLike[str]] | None) -> Entry:
    wanted, at, version = name.partition("@")
    if not NAME.match(wanted) or (at and not version.isdecimal()):
        raise ProfileError(
            "This is not a profile's name.",
            code="no-such-profile",
            expected="a name, name@version, or the path of a document (ending in .toml, or with a slash)",
            observed=name,
            remedy="`store-inspector profile list` names the profiles found by name.",
        )
    known = entries(directories)
    found = [
        one for one in known if one.name == wanted and (not at or str(one.version) == version.lstrip("0"))
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise ProfileError(
            "The name means more than one profile, and none is picked.",
            code="profile-ambiguous",
            expected="one profile",
            observed="\n".join(f"{one.identity}: {one.path} ({one.origin})" for one in found),
            remedy="Name one with its version (name@version) where the versions differ, else by its path.",
        )
    # A document that could not be read under the very name is meant, and its fault is what to tell.
    broken = [one for one in known if one.name is None and one.path.stem in (wanted, name)]
    if broken:
        return broken[0]
    there = ", ".join(one.identity for one in known if one.name is not None)
    raise ProfileError(
        "There is no such profile.",
        code="no-such-profile",
        expected=f"one of {there}" if there else None,
        observed=name,
        remedy="`store-inspector profile list` names them; a document elsewhere is named by its path.",
    )


def _documents(folder: Path, origin: str) -> Iterator[Entry]:
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".toml")
    except OSError:
        return
    for path in paths:
        yield _entry(path, origin)


def _entry(path: Path, origin: str) -> Entry:
    """The document's head: what stands above its first table, which is quickly read."""
    try:
        text = read_text(path)
        lines = text.split("\n")
        end = next((number for number, line in enumerate(lines) if line.startswith("[")), len(lines))
        head = tomllib.loads("\n".join(lines[:end]))
    except ProfileError as error:
        return Entry(path, origin, why=error.observed or error.message)
    except (ValueError, RecursionError) as error:
        return Entry(path, origin, why=str(error))
    name, version = head.get("name"), head.get("version")
    if not isinstance(name, str) or isinstance(version, bool) or not isinstance(version, int):
        return Entry(path, origin, why="it does not say its name and version")
    return Entry(path, origin, name, version, _text(head.get("lineage")), _texts(head.get("operations")))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(word for word in value if isinstance(word, str)) if isinstance(value, list) else ()
