"""Fixtures of the lineage tests."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from persistence.engines import copies


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The temporary directory of this test, and of the processes it starts; nothing is left in it."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def no_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_arguments: Any, **_named: Any) -> Any:
        raise AssertionError("a copy was made")

    monkeypatch.setattr(copies, "make", never)
