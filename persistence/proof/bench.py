"""What the items of a proof work with: the profile, its owners, and scratch copies to write into."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from persistence.profiles.records import Profile
from persistence.proof.limits import Limits
from persistence.proof.readback import Readback
from persistence.proof.scratch import Pristine, Scratch
from persistence.statedb import StateDB

__all__ = ["Bench", "off"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Bench:
    """`owners` are one or two principals; without an owner rule there is None alone. `tell` says what is done
    now. `pristines` are copies at rest of the stores given, the first of which most items use."""

    profile: Profile
    owners: Sequence[str | None]
    readback: Readback | None
    limits: Limits
    seconds: float
    scratch: Scratch
    pristines: Sequence[Pristine]
    tell: Callable[[str], None]

    @property
    def owner(self) -> str | None:
        return self.owners[0]

    async def fresh(self, pristine: Pristine | None = None) -> Path:
        """A new scratch copy."""
        return await off(lambda: self.scratch.fresh(pristine or self.pristines[0]))

    @asynccontextmanager
    async def open(self, path: Path, owner: str | None) -> AsyncIterator[StateDB]:
        """A scratch copy, open in compatibility mode for one owner."""
        async with StateDB(path, profile=self.profile, owner=owner) as db:
            yield db


async def off(work: Callable[[], T]) -> T:
    """Blocking work, off the event loop."""
    return await asyncio.to_thread(work)
