"""Where this program's own files live: configuration, state, cache.

`STORE_INSPECTOR_CONFIG_DIR`, `STORE_INSPECTOR_STATE_DIR` and `STORE_INSPECTOR_CACHE_DIR` override what the
platform says. Nothing is created by asking; a directory that cannot be written to never keeps a store from
being looked at: what would have been remembered is then not.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

__all__ = [
    "APPLICATION",
    "Kind",
    "cache_dir",
    "config_dir",
    "config_file",
    "profiles_dir",
    "state_dir",
    "write_atomically",
]

APPLICATION = "store-inspector"

Kind = Literal["config", "state", "cache"]

_XDG = {"config": ".config", "state": ".local/state", "cache": ".cache"}


def config_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Where `config.toml` is."""
    return _place("config", environ)


def config_file(environ: Mapping[str, str] | None = None) -> Path:
    return config_dir(environ) / "config.toml"


def profiles_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Where the user's own compatibility profiles are."""
    return config_dir(environ) / "profiles"


def state_dir(environ: Mapping[str, str] | None = None) -> Path:
    """Where recent stores, and later the journal of actions, are."""
    return _place("state", environ)


def cache_dir(environ: Mapping[str, str] | None = None) -> Path:
    """What may be lost at any time."""
    return _place("cache", environ)


def _place(kind: Kind, environ: Mapping[str, str] | None) -> Path:
    environ = os.environ if environ is None else environ
    if given := environ.get(f"STORE_INSPECTOR_{kind.upper()}_DIR"):
        return Path(given).expanduser()
    if os.name == "posix" and os.uname().sysname == "Linux":
        # The same answer platformdirs gives, without its import (a short command would notice).
        base = environ.get(f"XDG_{kind.upper()}_HOME", "")
        return (Path(base) if Path(base).is_absolute() else Path("~", _XDG[kind]).expanduser()) / APPLICATION
    import platformdirs

    find = {
        "config": platformdirs.user_config_path,
        "state": platformdirs.user_state_path,
        "cache": platformdirs.user_cache_path,
    }[kind]
    return find(APPLICATION, appauthor=False)


def write_atomically(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Replaces the file in one step, through a link when it is one; makes its directory. Raises OSError.

    A file that is there keeps its permissions; a new one gets `mode`.
    """
    path = Path(os.path.realpath(path))
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode & 0o7777
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
