"""What the application's own tests share."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.inspector.pictures import Pictures

LATER = frozenset({"admission", "query", "actions", "journal"})
"""Places that came, or come, after most pictures were taken."""


@pytest.fixture
def pictures(snapshot: SnapshotAssertion, request: pytest.FixtureRequest) -> Pictures:
    """Compares what an application shows, as often as a test asks, with pictures of it."""
    return Pictures(snapshot, request)


@pytest.fixture(autouse=True)
def places_of_pictures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new place changes the line of places in every picture, and not what the pictures are about.

    A module whose pictures are of such a place says so: `PLACES_TOO = ("admission",)`.
    """
    if not {"snap_compare", "pictures"} & set(request.fixturenames):
        return
    from inspector.screens import PLACES

    hidden = LATER - set(getattr(request.module, "PLACES_TOO", ()))
    shown = tuple(place for place in PLACES if place.name not in hidden)
    for module in ("inspector.navigator", "inspector.commands"):
        monkeypatch.setattr(f"{module}.PLACES", shown)
