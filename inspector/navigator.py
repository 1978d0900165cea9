"""Going from place to place: the screens kept as they were left, the history, and what lies above."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector import safe
from inspector.navigation import Address, History
from inspector.screens import PLACES, PlaceInfo, missing_reason, place_info
from inspector.screens.place import Place

if TYPE_CHECKING:
    from inspector.app import InspectorApp

__all__ = ["Navigator"]

KEPT = 8
"""How many places stay as they were left (cursor, scroll, filter) while others are looked at."""


class Navigator:
    """The places of one application. All of them are screens that stay installed until forgotten."""

    def __init__(self, app: InspectorApp) -> None:
        self.history = History()
        self._app = app
        self._kept: dict[tuple[str, str | None], Place] = {}
        self._leaving: list[Place] = []

    @property
    def current(self) -> Place | None:
        """The place that is shown, under whatever lies over it."""
        return next(
            (screen for screen in reversed(self._app.screen_stack) if isinstance(screen, Place)), None
        )

    @property
    def others(self) -> list[Place]:
        """The places kept besides the one that is shown."""
        return [place for place in self._kept.values() if place is not self.current]

    @property
    def numbered(self) -> list[PlaceInfo]:
        return [place for place in PLACES if place.key]

    @property
    def missing(self) -> dict[str, str]:
        """The places this store has nothing for, with the reason."""
        reasons = {place.name: missing_reason(place, self._app.tables) for place in PLACES}
        return {name: reason for name, reason in reasons.items() if reason is not None}

    def first(self, address: Address) -> Place:
        """The place the application starts with."""
        self.history.visit(address)
        return self.place(address)

    def go(self, address: Address, *, remember: bool = True) -> bool:
        """Shows what an address names; False (and a word to the reader) when there is nothing there."""
        info = place_info(address.place)
        reason = f"there is no place called {address.place}" if info is None else self.missing.get(info.name)
        if reason is not None:
            self._app.notify(safe.text(reason), severity="warning", markup=False)
            return False
        while self._app.screen is not self.current:
            self._app.pop_screen()  # what lies over the place
        known = address.key in self._kept
        place = self.place(address)
        if remember:
            self.history.visit(address)
        if place is not self._app.screen:
            self._app.switch_screen(place)
        if known and (address.view is not None or not remember):
            place.show_view(address.view)
        self._sweep()
        return True

    def place(self, address: Address) -> Place:
        """The screen for an address: as it was left, or a new one."""
        place = self._kept.pop(address.key, None)
        if place is None:
            info = place_info(address.place)
            if info is None:
                raise ValueError(f"no place called {address.place}")
            place = info.load()(address.target)
            if address.view is not None:
                place.show_view(address.view)
            self._app.install_screen(place, f"{Address(*address.key)}#{id(place)}")
        self._kept[address.key] = place
        while len(self._kept) > KEPT:
            self._drop(next(iter(self._kept)))
        return place

    def travel(self, step: int) -> bool:
        """`step` places back (negative) or forward in the history."""
        address = self.history.move(step)
        return address is not None and self.go(address, remember=False)

    def up(self) -> None:
        """To the place this one belongs to, or back from one without a number; else nowhere."""
        info = place_info(self.current.NAME) if self.current is not None else None
        if info is None or info.key:
            return
        if info.parent is not None:
            self.go(Address(info.parent))
        else:
            self.travel(-1)

    def forget(self) -> None:
        """Another store: nothing of what was looked at is shown again. The current screen goes when left."""
        for key in list(self._kept):
            self._drop(key)
        self.history.clear()

    def _drop(self, key: tuple[str, str | None]) -> None:
        place = self._kept.pop(key)
        if place in self._app.screen_stack:
            self._leaving.append(place)
            return
        self._app.uninstall_screen(place)
        if place.is_attached:
            place.remove()

    def _sweep(self) -> None:
        """Lets go of a forgotten screen that was still shown; once not installed, Textual removes it."""
        leaving, self._leaving = self._leaving, []
        for place in leaving:
            if place in self._app.screen_stack:
                self._leaving.append(place)
            else:
                self._app.uninstall_screen(place)
