"""How slow the machine is must not decide what these tests see."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from persistence.reading import fences, sorting


@pytest.fixture(autouse=True)
def no_patience_is_lost(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing counts as costly, and no run as slow, unless a test says so."""
    monkeypatch.setattr(fences, "CHEAP", 1e9)
    monkeypatch.setattr(sorting, "PATIENCE", 1e9)
    yield
