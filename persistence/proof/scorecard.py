"""What a proof found: nine items, each held or not, with its figures (ADR-0128 D8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["NAMES", "Item", "Scorecard"]

NAMES: Mapping[int, str] = {
    1: "fresh and migrated shapes",
    2: "the run lifecycle, read back",
    3: "preservation of everything else",
    4: "attempts that must be refused",
    5: "two principals",
    6: "a schema that changes",
    7: "concurrency with a writer and a checkpointer",
    8: "the versions it ran on",
    9: "recovery when our writes stop",
}


@dataclass(frozen=True, slots=True)
class Item:
    """One item of ADR-0128 D8. `failures` says what did not hold (empty: it held), `notes` what bounds it."""

    number: int
    failures: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return NAMES[self.number]

    @property
    def held(self) -> bool:
        return not self.failures

    def as_dict(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "name": self.name,
            "held": self.held,
            "figures": dict(self.figures),
            "failures": list(self.failures),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Scorecard:
    """A whole proof. `readback` names the managing application's command, None where there was none."""

    profile: str
    stores: tuple[str, ...]
    owners: tuple[str, ...]
    readback: str | None
    items: tuple[Item, ...]
    seconds: float

    @property
    def held(self) -> bool:
        return bool(self.items) and all(item.held for item in self.items)

    def as_dict(self) -> dict[str, Any]:
        return {
            "profile": self.profile,
            "stores": list(self.stores),
            "owners": list(self.owners),
            "readback": self.readback,
            "held": self.held,
            "items": [item.as_dict() for item in self.items],
            "seconds": round(self.seconds, 3),
        }
