"""What the application's own tests share."""

from __future__ import annotations

import pytest

LATER = frozenset({"admission", "query", "actions", "journal"})
"""Places that came, or come, after most pictures were taken."""


@pytest.fixture(autouse=True)
def places_of_pictures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new place changes the line of places in every picture, and not what the pictures are about.

    A module whose pictures are of such a place says so: `PLACES_TOO = ("admission",)`.
    """
    if "snap_compare" not in request.fixturenames:
        return
    from inspector.screens import PLACES

    hidden = LATER - set(getattr(request.module, "PLACES_TOO", ()))
    shown = tuple(place for place in PLACES if place.name not in hidden)
    for module in ("inspector.navigator", "inspector.commands"):
        monkeypatch.setattr(f"{module}.PLACES", shown)
