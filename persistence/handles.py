"""One handle for everybody in this process who opens the same store the same way (ADR-0128 D1).

Handles are the same only when store, mode, profile and owner are: a native and a compatibility handle on
one file, or two of different owners, are never one object. A handle belongs to the event loop it was opened
in, and is closed when the last who shares it leaves.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from persistence import files
from persistence.location import StoreLocation, locate
from persistence.mode import Mode

if TYPE_CHECKING:
    from persistence.profiles.records import Profile
    from persistence.statedb import StateDB

__all__ = ["shared_handle"]


class _Shared:
    """A handle, how many share it, the turn they take to open it, and the file it was opened on."""

    def __init__(self, db: StateDB) -> None:
        self.db = db
        self.users = 0
        self.turn = asyncio.Lock()
        self.identity: Hashable = None


_shared: dict[Hashable, _Shared] = {}


@asynccontextmanager
async def shared_handle(
    store: str | bytes | os.PathLike[str] | os.PathLike[bytes] | StoreLocation | None = None,
    *,
    mode: Mode = Mode.READ_ONLY,
    profile: str | os.PathLike[str] | Profile | None = None,
    owner: str | None = None,
) -> AsyncIterator[StateDB]:
    """The open `StateDB` of this store, mode, profile and owner, shared with whoever else asked for it.

    Profiles are the same when their documents say the same, however they were named.
    """
    from persistence.statedb import StateDB

    location = store if isinstance(store, StoreLocation) else locate(store)
    document = None if profile is None else await _document(profile)
    db = StateDB(location, mode=mode, profile=document, owner=owner)  # checks what was passed
    said = None if document is None else repr(replace(document, source=""))
    key = (asyncio.get_running_loop(), _name(location), db.mode, said, db.owner)
    found = _shared.get(key)
    if found is None or found.identity not in (None, _identity(location)):
        found = _shared[key] = _Shared(db)  # nobody has it, or another file has taken its name
    found.users += 1
    try:
        async with found.turn:
            await found.db.open()
            found.identity = _identity(location)
        yield found.db
    finally:
        found.users -= 1
        if not found.users:
            # Whoever asks from now on gets a handle of their own; this one is not opened again.
            if _shared.get(key) is found:
                del _shared[key]
            await found.db.close()


async def _document(profile: str | os.PathLike[str] | Profile) -> Profile:
    from persistence.engines.thread import in_thread
    from persistence.profiles.catalogue import load_profile
    from persistence.profiles.records import Profile

    return profile if isinstance(profile, Profile) else await in_thread(lambda: load_profile(profile))


def _name(location: StoreLocation) -> Hashable:
    """The store as the system names it, however it was spelled."""
    return location.url if location.path is None else files.resolve(location.path)


def _identity(location: StoreLocation) -> Hashable:
    if location.path is None:
        return None
    found = files.status(location.path)
    return None if found is None else (found.st_dev, found.st_ino)
