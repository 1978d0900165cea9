"""Compatibility profiles (ADR-0128 D2): documents, reading a live closure, comparing both, admission.

The names load on first use (PEP 562).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from persistence.profiles.admission import admit as admit
    from persistence.profiles.admission import readmit as readmit
    from persistence.profiles.catalogue import load_profile as load_profile
    from persistence.profiles.records import AdmissionReport as AdmissionReport
    from persistence.profiles.records import Closure as Closure
    from persistence.profiles.records import Finding as Finding
    from persistence.profiles.records import Profile as Profile

_HOMES = {
    "admission": ("admit", "readmit"),
    "catalogue": ("load_profile",),
    "records": ("AdmissionReport", "Closure", "Finding", "Profile"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
