"""Builds the gallery: `python -m inspector.demo.build FOLDER CLOCK [--live]`, run as a child of the demo.

A child, because it writes stores: a process that reads a store must never open its file another way. With
`--live` it goes on writing the store that is looked at while it grows, until its standard input ends.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from inspector.demo import gallery, harbour, live, managed, stars, trouble

__all__ = ["build"]

_Builder = Callable[[Path, Path, float], dict[str, int]]
_BUILDERS: dict[str, _Builder] = {
    "harbour": harbour.build,
    "night-watch": live.build,
    "stars": stars.build,
    **trouble.BUILDERS,
    **managed.BUILDERS,
}


def build(folder: Path, clock: float) -> tuple[gallery.Card, ...]:
    """Writes every store of the gallery into `folder`, which is there and empty, and its index."""
    cards = []
    for card in gallery.CARDS:
        path = folder / card.file
        counts = _BUILDERS[card.name](path, folder / card.name, clock)
        holds = ", ".join(f"{number:,} {what}" for what, number in counts.items())
        cards.append(replace(card, store=str(path), size=path.stat().st_size, holds=holds))
    gallery.write_index(folder, cards, clock)
    return tuple(cards)


def main(folder: Path, clock: float, *, stays: bool) -> None:
    """Builds, says `built` in a line of its own, and writes on if it is to stay."""
    built = build(folder, clock)
    sys.stdout.write("built\n")
    sys.stdout.flush()
    if stays:
        growing = next(card for card in built if card.live)
        asyncio.run(live.watch(Path(growing.store), live.PACE))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), stays="--live" in sys.argv[3:])
