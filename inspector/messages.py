"""The typed messages workers and widgets post; only handlers of these touch widgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.message import Message

if TYPE_CHECKING:
    from inspector.navigation import Address
    from inspector.opened import OpenedStore
    from persistence.errors import StoreError
    from persistence.records import Progress

__all__ = [
    "ActionMoved",
    "GoTo",
    "LoadFailed",
    "LoadProgressed",
    "Loaded",
    "PlaceChanged",
    "StoreMoved",
    "StoreOpened",
    "StoreRead",
    "StoreRefused",
]


class StoreOpened(Message):
    """A store answered its first real read."""

    def __init__(self, opened: OpenedStore) -> None:
        super().__init__()
        self.opened = opened


class StoreRefused(Message):
    """A store could not be opened; `error` says why, and what to do."""

    def __init__(self, error: StoreError) -> None:
        super().__init__()
        self.error = error


class StoreMoved(Message):
    """Somebody committed to the store: its change token is another one."""

    def __init__(self, token: object) -> None:
        super().__init__()
        self.token = token


class StoreRead(Message):
    """A read finished: how and when the store was read may be new (the shell's first line)."""


class GoTo(Message):
    """Somebody wants to be at an address."""

    def __init__(self, address: Address) -> None:
        super().__init__()
        self.address = address


class PlaceChanged(Message):
    """What a place shows has changed: breadcrumb, status and keys are to be drawn again."""


class ActionMoved(Message):
    """An action at the gate is further, or over."""


class _Load(Message, bubble=False):
    """Comes from a load of `what`; the `ticket` tells a late answer from the one waited for."""

    def __init__(self, what: str, ticket: int) -> None:
        super().__init__()
        self.what = what
        self.ticket = ticket


class Loaded(_Load):
    """A load brought its value."""

    def __init__(self, what: str, ticket: int, value: Any) -> None:
        super().__init__(what, ticket)
        self.value = value


class LoadFailed(_Load):
    """A load ended in a typed error."""

    def __init__(self, what: str, ticket: int, error: StoreError) -> None:
        super().__init__(what, ticket)
        self.error = error


class LoadProgressed(_Load):
    """A load is still at it."""

    def __init__(self, what: str, ticket: int, progress: Progress) -> None:
        super().__init__(what, ticket)
        self.progress = progress
