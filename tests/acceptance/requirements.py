"""The numbered requirements of ADR-0055 and ADR-0128, as data."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Requirement", "decision_of", "requirements"]

FILE = Path(__file__).with_name("requirements.toml")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One behaviour: `issue` says which issue proves it, `where` on which side of the product it is seen."""

    id: str
    where: str
    issue: str
    says: str
    words: str


@cache
def requirements() -> dict[str, Requirement]:
    """Every requirement by id, in document order."""
    with FILE.open("rb") as file:
        entries = tomllib.load(file)["requirement"]
    found = {entry["id"]: Requirement(**entry) for entry in entries}
    assert len(found) == len(entries), "an id is used twice"
    return found


def decision_of(identifier: str) -> str:
    """The decision (or context problem) an id belongs to: `ADR-0128 D7` of `0128-D7-03`."""
    adr, decision, _number = identifier.split("-")
    return f"ADR-{adr} {decision}"
