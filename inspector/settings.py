"""The settings: defaults < configuration file < environment < flags, each value with its origin.

The file is `config.toml` in the configuration directory (`inspector.places`), or the one
`STORE_INSPECTOR_CONFIG` names. Whatever is wrong with it is a notice, never an obstacle: a value that cannot
be used is left at what it was, a key nobody knows is told with the nearest one that exists.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inspector import places

__all__ = ["SETTINGS", "Setting", "Settings", "file_in_use", "load", "save_theme"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: what it is called, what it is when nobody says anything, and what it does."""

    name: str
    default: Any
    says: str
    read: Callable[[Any], Any]  # a value of the file, the environment or a flag; raises ValueError

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return f"STORE_INSPECTOR_{self.name.upper()}"


def _word(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("expected a word")
    return value.strip()


def _exact(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("expected a name, exactly as it is spelled")
    return value


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        if value.strip().lower() in ("1", "true", "yes", "on"):
            return True
        if value.strip().lower() in ("0", "false", "no", "off", ""):
            return False
    raise ValueError("expected true or false")


def _count(most: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise ValueError(f"expected a whole number from 0 to {most}")
        try:
            number = int(value)
        except ValueError:
            number = -1
        if not 0 <= number <= most:
            raise ValueError(f"expected a whole number from 0 to {most}")
        return number

    return read


def _one_of(*words: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if value not in words:
            raise ValueError(f"expected {' or '.join(words)}")
        return str(value)

    return read


def _keys(value: Any) -> dict[str, str]:
    """`{"app.quit": "ctrl+q"}`; in the environment `app.quit=ctrl+q,app.help=f1`."""
    if isinstance(value, str):
        pairs = [part.partition("=") for part in value.split(",") if part.strip()]
        value = {name.strip(): keys.strip() for name, _, keys in pairs}
    if not isinstance(value, dict) or not all(isinstance(keys, str) and keys for keys in value.values()):
        raise ValueError("expected a key for each binding")
    return dict(value)


def _policy(value: Any) -> dict[str, bool]:
    """`{"forbid_exposed_sqlite": true}`; in the environment `forbid_exposed_sqlite=true`."""
    if isinstance(value, str):
        pairs = [part.partition("=") for part in value.split(",") if part.strip()]
        value = {name.strip(): _truth(word) for name, _, word in pairs}
    known = ("forbid_exposed_sqlite",)
    if not isinstance(value, dict) or not all(
        name in known and isinstance(word, bool) for name, word in value.items()
    ):
        raise ValueError(f"expected true or false for {', '.join(known)}")
    return dict(value)


_TIMES = _one_of("relative", "exact")

SETTINGS: tuple[Setting, ...] = (
    Setting("theme", "lion-dark", "The theme: lion-dark, lion-light, high-contrast, mono or another.", _word),
    Setting(
        "times",
        "relative",
        "Times in tables as `relative` (3 h ago) or `exact`.",
        _one_of("relative", "exact"),
    ),
    Setting("follow", True, "Whether a store that is being written is followed as it grows.", _truth),
    Setting("mouse", True, "Whether the program takes the mouse (else the terminal selects text).", _truth),
    Setting("history", True, "Whether opened stores are remembered.", _truth),
    Setting("recents", 20, "How many opened stores are remembered.", _count(200)),
    Setting(
        "profile", None, "The compatibility profile, by name, name@version or path; none is picked.", _word
    ),
    Setting("owner", None, "The principal whose rows are written, where the profile has owners.", _exact),
    Setting("keymap", {}, "Keys for bindings by their id, as a table; the help names the ids.", _keys),
    Setting("writes", {}, "What gated writes are forbidden, as a table: `forbid_exposed_sqlite`.", _policy),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True)
class Settings:
    """The values in force, where each came from, and what there was to say about the sources."""

    theme: str
    times: str
    follow: bool
    mouse: bool
    history: bool
    recents: int
    profile: str | None
    owner: str | None
    keymap: Mapping[str, str]
    writes: Mapping[str, bool]
    origins: Mapping[str, str]
    notices: tuple[str, ...] = ()
    file: Path | None = None  # the file that was looked for, whether it is there or not

    def value(self, name: str) -> Any:
        return getattr(self, name)


def file_in_use(environ: Mapping[str, str] | None = None) -> Path:
    """The configuration file: the one `STORE_INSPECTOR_CONFIG` names, else the user's."""
    environ = os.environ if environ is None else environ
    given = environ.get("STORE_INSPECTOR_CONFIG")
    return Path(given).expanduser() if given else places.config_file(environ)


def load(flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings in force. Never raises: what cannot be used is named in `notices`.

    `flags` are what the command line said; None values are not said.
    """
    environ = os.environ if environ is None else environ
    values = {setting.name: setting.default for setting in SETTINGS}
    origins = dict.fromkeys(values, "default")
    notices: list[str] = []

    def take(name: str, value: Any, origin: str, where: str) -> None:
        try:
            values[name] = _BY_NAME[name].read(value)
        except ValueError as error:
            notices.append(f"{where}: {name} is not used: {error}")
        else:
            origins[name] = origin

    path = file_in_use(environ)
    try:
        found = tomllib.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        found = {}
    except OSError as error:
        found = {}
        notices.append(f"{path} is not used: {error.strerror or error}")
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8
        found = {}
        notices.append(f"{path} is not used: {error}")
    for name, value in found.items():
        if name in _BY_NAME:
            take(name, value, str(path), str(path))
        else:
            notices.append(f"{path}: there is no setting {name}{_nearest(name)}")
    for setting in SETTINGS:
        if (given := environ.get(setting.variable)) is not None:
            take(setting.name, given, f"${setting.variable}", f"${setting.variable}")
    for name, value in (flags or {}).items():
        if value is not None:
            take(name, value, "command line", "command line")
    return Settings(**values, origins=origins, notices=tuple(notices), file=path)


def _nearest(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name.lower(), _BY_NAME, n=1)
    return f"; is {close[0]} meant?" if close else ""


def save_theme(theme: str, environ: Mapping[str, str] | None = None) -> str | None:
    """Remembers the chosen theme in the configuration file, leaving everything else in it as it is.

    Returns None, or the sentence that says why it could not be remembered.
    """
    path = file_in_use(environ)
    try:
        before = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        before = ""
    except (OSError, ValueError) as error:
        return f"the theme is not remembered: {path} cannot be read ({error})"
    line = f"theme = {_quoted(theme)}"
    tables = re.search(r"(?m)^\s*\[", before)
    head, tail = (before[: tables.start()], before[tables.start() :]) if tables else (before, "")
    head, count = re.subn(r"(?m)^[ \t]*theme[ \t]*=.*$", lambda _: line, head, count=1)
    if not count:
        head = f"{head}{'' if not head or head.endswith(chr(10)) else chr(10)}{line}\n"
    after = head + tail
    try:
        # The text was changed, not the document: what it means must differ in the theme alone.
        if tomllib.loads(after) != {**(tomllib.loads(before) if before else {}), "theme": theme}:
            raise ValueError("the file says more than can be changed safely")
        places.write_atomically(path, after.encode("utf-8"), mode=0o644)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        return f"the theme is not remembered: {path} is left as it is ({reason})"
    return None


def _quoted(text: str) -> str:
    import json

    return json.dumps(text)  # a JSON string without surrogates is a TOML basic string
