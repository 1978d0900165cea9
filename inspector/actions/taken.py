"""Ids that a managed store has already: a fresh run cannot be made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from inspector.actions.plan import NAMED, Obstacle

if TYPE_CHECKING:
    from persistence.statedb import StateDB

__all__ = ["KINDS_OF_ROW", "taken"]

KINDS_OF_ROW = ("session", "branch", "progression", "message")
"""What of a run has an id of its own."""

_AT_ONCE = 500


async def taken(target: StateDB, ids: Mapping[str, Sequence[str]], says: str) -> list[Obstacle]:
    """What stands in the way: the ids, by kind of row, that the store has. `says` is why it does."""
    found: dict[str, list[str]] = {}
    found["session"] = [each for each in ids.get("session", ()) if await target.get_session(each) is not None]
    found["branch"] = [each for each in ids.get("branch", ()) if await target.get_branch(each) is not None]
    found["progression"] = [
        each for each in ids.get("progression", ()) if (await target.transcript(each)).state != "missing"
    ]
    messages, found["message"] = ids.get("message", ()), []
    for first in range(0, len(messages), _AT_ONCE):
        found["message"] += await target.get_messages(messages[first : first + _AT_ONCE])
    names = [f"{kind} {each}" for kind in KINDS_OF_ROW for each in found[kind]]
    if not names:
        return []
    return [
        Obstacle(
            code="id-taken",
            says=says,
            count=len(names),
            named=tuple(names[:NAMED]),
            expected="ids that are free",
        )
    ]
