"""Asking whether a profile would let a store in: what is chosen for it, and the work done on a thread.

Nothing here is ever chosen by itself (DECISIONS 6): a person names a profile and an owner, and until then
there is none.
"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from persistence.errors import CancelledReadError
from persistence.records import Preview, Progress

if TYPE_CHECKING:
    from inspector.loader import Report
    from persistence.location import StoreLocation
    from persistence.profiles import AdmissionReport, Profile
    from persistence.profiles.catalogue import Entry
    from persistence.records import Cell
    from persistence.statedb import StateDB

__all__ = [
    "MOST_PRINCIPALS",
    "Choice",
    "Principal",
    "Principals",
    "admitted",
    "found_profiles",
    "principals",
    "read_profile",
]

MOST_PRINCIPALS = 500
"""Principals of a store that are listed; any other is named by typing it."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person chose. `operations` None: all that the profile names."""

    profile: Profile | None = None
    owner: str | None = None
    operations: tuple[str, ...] | None = None

    @property
    def asked(self) -> tuple[str, ...]:
        """The operations an admission is asked for."""
        if self.operations is not None or self.profile is None:
            return self.operations or ()
        return self.profile.operations

    def under(self, profile: Profile) -> Choice:
        """With another profile; the owner stays where the new one has an owner too, the operations do not."""
        return Choice(profile, self.owner if profile.owner is not None else None)

    def owned_by(self, owner: str | None) -> Choice:
        return replace(self, owner=owner)

    def asking(self, operations: tuple[str, ...] | None) -> Choice:
        return replace(self, operations=operations)


class Principal(NamedTuple):
    """One who may own rows: the value of the key, and the rest of the row in a few words."""

    key: Cell
    about: tuple[tuple[str, Cell], ...]

    @property
    def name(self) -> str | None:
        """What an owner is named by; None when the key is no whole text."""
        return self.key if isinstance(self.key, str) else None


class Principals(NamedTuple):
    """The principals of a store; `complete`: these are all of them."""

    rows: tuple[Principal, ...]
    complete: bool


async def admitted(location: StoreLocation, choice: Choice, report: Report | None = None) -> AdmissionReport:
    """The admission of a store as it is now, on a read-only route. `choice.profile` is chosen.

    `report` is told of a long log and of a private copy; both are given up once nobody waits any more.
    """
    from persistence.profiles import admit

    profile = choice.profile
    if profile is None:
        raise ValueError("no profile is chosen")
    left = threading.Event()

    def tell(progress: Progress) -> None:
        if left.is_set():
            raise CancelledReadError("The admission was given up.")
        if report is not None:
            report(progress)

    def ask() -> AdmissionReport:
        return admit(
            location,
            profile,
            owner=choice.owner,
            operations=choice.asked,
            check=lambda done, total: tell(Progress(done, total, "frames of the log")),
            progress=tell,
        )

    try:
        return await asyncio.to_thread(ask)
    finally:
        left.set()


async def found_profiles() -> tuple[Entry, ...]:
    """Every profile that can be named: the user's, then the shipped ones."""
    from persistence.profiles.catalogue import entries

    return await asyncio.to_thread(entries)


async def read_profile(name: str) -> Profile:
    """The profile of a name or a path. Raises ProfileError."""
    from persistence.profiles import load_profile

    return await asyncio.to_thread(load_profile, name)


async def principals(db: StateDB, profile: Profile) -> Principals:
    """Who may own rows, by the profile's owner rule; none without a rule. Raises StoreError."""
    rule = profile.owner
    if rule is None:
        return Principals((), True)
    source = db.rows(rule.principals)
    window = await source.complete(await source.window(0, MOST_PRINCIPALS + 1))
    names = [column.name for column in source.columns]
    key = next((at for at, name in enumerate(names) if name.lower() == rule.key.lower()), None)
    if key is None:
        return Principals((), True)
    rows = tuple(
        Principal(
            row.cells[key],
            tuple((name, cell) for at, (name, cell) in enumerate(zip(names, row.cells, strict=True))
                  if at != key and isinstance(cell, str | Preview)),
        )
        for row in window.rows
    )  # fmt: skip
    return Principals(rows[:MOST_PRINCIPALS], len(rows) <= MOST_PRINCIPALS)
