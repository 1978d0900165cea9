"""The whole of ADR-0128 D8 for one profile, on private scratch copies (never on a store somebody uses)."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from persistence.errors import CancelledReadError, StoreError
from persistence.location import StoreLocation
from persistence.profiles.records import Profile
from persistence.proof.attempts import attempts
from persistence.proof.bench import Bench, off
from persistence.proof.changes import changes
from persistence.proof.concurrency import concurrency
from persistence.proof.kept import kept
from persistence.proof.lifecycle import lifecycle, shapes
from persistence.proof.limits import DEFAULTS, Limits
from persistence.proof.ownership import ownership
from persistence.proof.readback import Readback
from persistence.proof.recovery import recovery
from persistence.proof.scorecard import NAMES, Item, Scorecard
from persistence.proof.scratch import Scratch
from persistence.proof.versions import versions

__all__ = ["Asked", "ProofStep", "prove"]

_ITEMS: Sequence[Callable[[Bench], Awaitable[Item]]] = (
    shapes,
    lifecycle,
    kept,
    attempts,
    ownership,
    changes,
    concurrency,
    versions,
    recovery,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What to prove: a profile on at least one store, for one or two principals (None without an owner rule).

    `seconds` is how long the concurrency of item 7 goes on.
    """

    profile: Profile
    stores: Sequence[StoreLocation]
    owners: Sequence[str | None] = (None,)
    readback: str | None = None
    limits: Limits = DEFAULTS
    seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class ProofStep:
    """Where a proof is: an item begun (`item` None), what it does now (`doing`), or an item done."""

    number: int
    doing: str
    item: Item | None = field(default=None)


async def prove(asked: Asked, tell: Callable[[ProofStep], None] = lambda _step: None) -> Scorecard:
    """Runs the nine items, one after another; a typed error within one is its failure, and the next goes on.

    Raises ValueError without a store, and the refusals of copying one. Cancelling it leaves nothing behind.
    """
    if not asked.stores:
        raise ValueError("a proof needs a store")
    began = time.monotonic()
    readback = None if asked.readback is None else Readback(asked.readback)
    items: list[Item] = []
    stop = False
    with Scratch() as scratch:
        tell(ProofStep(0, "copying the store"))
        try:
            pristines = [
                await off(lambda where=location: scratch.take(where, stopped=lambda: stop))  # type: ignore[misc]
                for location in asked.stores
            ]
        except BaseException:
            stop = True
            raise
        for number, work in enumerate(_ITEMS, 1):
            bench = Bench(
                asked.profile,
                tuple(asked.owners),
                readback,
                asked.limits,
                asked.seconds,
                scratch,
                pristines,
                lambda doing, number=number: tell(ProofStep(number, doing)),  # type: ignore[misc]
            )
            tell(ProofStep(number, NAMES[number]))
            items.append(await _item(number, work, bench))
            tell(ProofStep(number, NAMES[number], items[-1]))
    return Scorecard(
        asked.profile.identity,
        tuple(location.display for location in asked.stores),
        tuple(owner for owner in asked.owners if owner is not None),
        asked.readback,
        tuple(items),
        time.monotonic() - began,
    )


async def _item(number: int, work: Callable[[Bench], Awaitable[Item]], bench: Bench) -> Item:
    try:
        return await work(bench)
    except CancelledReadError:
        raise
    except StoreError as error:
        where = f" ({error.where})" if error.where else ""
        return Item(number, (f"{type(error).__name__} {error.code}: {error.message}{where}",))
