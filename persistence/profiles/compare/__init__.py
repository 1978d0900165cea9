"""Declared against live, one comparator a concern: by meaning where SQLite makes none, else strictly.

`compare(declared, live)` is the whole comparison; the names load on first use (PEP 562).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from persistence.profiles.compare.whole import Comparison as Comparison
    from persistence.profiles.compare.whole import compare as compare

_HOME_OF = {"Comparison": "whole", "compare": "whole"}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
