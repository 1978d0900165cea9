"""What the tests of the gated commands share: a managed store, and the words that open the gate."""

from __future__ import annotations

from pathlib import Path

from tests.inspector.actions.managed import desk

__all__ = ["AS_KIM", "GO", "managed_store"]

AS_KIM = ("--profile", "acme-desk-fresh-run", "--owner", "kim")
GO = ("--allow-writes", "--confirm", "acme-desk")


def managed_store(tmp_path: Path) -> Path:
    """A store of acme-desk's in a directory of its own."""
    return desk(tmp_path / "desk" / "managed.db")
